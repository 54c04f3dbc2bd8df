"""Tables in memory as cells: the index of a data frame, and the levels of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.header_rows import RawTable
from symnmf.data.numeric_dates import numeric_dates
from symnmf.display import counted
from symnmf.errors import InvalidTable


def from_frame(frame: Any) -> RawTable:
    """The cells of a pandas table; its index becomes the first column unless it counts the rows.

    Raises:
        InvalidTable: the table is empty.
    """
    if frame.empty:
        raise InvalidTable(
            "table",
            f"has {counted(frame.shape[0], 'row')} and {counted(frame.shape[1], 'column')}",
            "Pass a table with rows and columns",
        )
    index, columns = frame.index, frame.columns
    levels: list[list[str]] = []
    if columns.nlevels > 1:
        levels = [[str(v) for v in columns.get_level_values(i)] for i in range(columns.nlevels)]
        distinct = max(levels, key=lambda level: len(set(level)))
        names = list(distinct)
    else:
        names = [_column_name(c) for c in columns]
    body = frame.reset_index(drop=True)
    body.columns = pd.RangeIndex(len(names))
    front: list[pd.Series] = []
    for level in reversed(range(index.nlevels)):
        values, name = index.get_level_values(level), index.names[level]
        if index.nlevels == 1 and _counts(values, str(name or "")):
            continue
        front.insert(0, values.to_series().reset_index(drop=True))
        names.insert(0, str(name or ("name" if level else "date")))
        levels = [["", *row] for row in levels]
    body = pd.concat([*front, body], axis=1)
    body.columns = pd.RangeIndex(len(names))
    return RawTable(names, body, levels)


def _column_name(column: Any) -> str:
    return "" if column is None or (isinstance(column, float) and column != column) else str(column)


def _counts(values: Any, name: str) -> bool:
    """Whether an index holds row numbers and no dates."""
    if isinstance(values, pd.RangeIndex):
        return True
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    found = numeric_dates(np.asarray(values, dtype=np.float64), name or "index", True)
    return found is None or found.stamps is None
