"""Tables of users: files, data frames and arrays become names, dates and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.file_formats import read_file
from symnmf.data.frames import from_frame
from symnmf.data.header_rows import RawTable
from symnmf.data.layouts import understand
from symnmf.data.table_model import Reading, Table
from symnmf.errors import InvalidTable


def load_table(table: Any, reading: Reading | None = None) -> Table:
    """Read names, dates and numbers of a table.

    Arguments:
        table: a path, an array, or a pandas, polars or arrow table.
        reading: what the caller says about the table.

    Raises:
        InvalidTable: the table has rows, columns or cells that cannot be used.
        InvalidFile: the file is missing or cannot be read.
    """
    return understand(raw_table(table, reading or Reading()), reading or Reading())


def raw_table(table: Any, reading: Reading) -> RawTable:
    """The cells of a table, before its columns are understood."""
    if isinstance(table, str | Path):
        found = read_file(Path(table), reading.sheet)
        raw = found if isinstance(found, RawTable) else from_frame(found)
        return raw
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InvalidTable(
                "table", f"has {table.ndim} dimension(s)", "Pass an array of shape (dates, names)"
            )
        names = [str(j) for j in range(table.shape[1])]
        return from_frame(pd.DataFrame(table, columns=names))
    return from_frame(_to_pandas(table))


def _to_pandas(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    import narwhals as nw

    try:
        frame: pd.DataFrame = nw.from_native(table, eager_only=True).to_pandas()
        return frame
    except (TypeError, ValueError) as wrong:
        raise InvalidTable(
            "table",
            f"is a {type(table).__name__}",
            "Pass a path, an array, or a pandas, polars or arrow table",
        ) from wrong
