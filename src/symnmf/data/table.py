"""Tables of users: files, data frames and arrays become names, dates and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.file_formats import read_file
from symnmf.data.frames import from_frame
from symnmf.data.header_rows import RawTable
from symnmf.data.layouts import understand
from symnmf.data.table_model import Reading, Table
from symnmf.errors import InvalidFile, InvalidTable

#: Beginning of an address on the network.
ADDRESS = re.compile(r"[a-z][a-z0-9+]+://", re.IGNORECASE)


def load_table(table: Any, reading: Reading | None = None) -> Table:
    """Read names, dates and numbers of a table.

    Arguments:
        table: a path; an array, a tensor or a list of rows; a pandas, polars or arrow table; or a
            mapping from names to numbers.
        reading: what the caller says about the table.

    Raises:
        InvalidTable: the table has rows, columns or cells that cannot be used.
        InvalidFile: the file is missing or cannot be read.
    """
    return understand(raw_table(table, reading or Reading()), reading or Reading())


def raw_table(table: Any, reading: Reading) -> RawTable:
    """The cells of a table, before its columns are understood."""
    if isinstance(table, str) and ADDRESS.match(table):
        raise InvalidFile(table, "is an address", "Download the file, and pass its path")
    if isinstance(table, str | Path):
        found = read_file(Path(table), reading.sheet)
        raw = found if isinstance(found, RawTable) else from_frame(found)
        return raw
    table = _as_array(table)
    if isinstance(table, np.ndarray) and table.dtype.names is None:
        if table.ndim != 2:
            raise InvalidTable(
                "table", f"has {table.ndim} dimension(s)", "Pass an array of shape (dates, names)"
            )
        names = [str(j) for j in range(table.shape[1])]
        return from_frame(pd.DataFrame(table, columns=names))
    return from_frame(_to_pandas(table))


def _as_array(table: Any) -> Any:
    """Lists of rows and tensors as arrays; any other table unchanged."""
    if isinstance(table, list | tuple):
        try:
            return np.array(table)
        except ValueError as uneven:
            raise InvalidTable(
                "table", "is a list of rows of different lengths", "Give every row as many numbers"
            ) from uneven
    if hasattr(table, "__array__") and not hasattr(table, "columns") and not _is_series(table):
        return np.asanyarray(table)
    return table


def _is_series(table: Any) -> bool:
    return hasattr(table, "to_frame")


def _to_pandas(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, pd.Series) and table.index.nlevels > 1:
        return table.to_frame("value")
    if isinstance(table, Mapping | np.ndarray):
        try:
            return pd.DataFrame(table)
        except ValueError as uneven:
            raise InvalidTable(
                "table",
                "has columns of different lengths, or of single numbers",
                "Pass as many numbers for each name",
            ) from uneven
    import narwhals as nw

    table = table.collect() if hasattr(table, "collect") else table
    try:
        frame: pd.DataFrame = nw.from_native(table, eager_only=True).to_pandas()
        return frame
    except (TypeError, ValueError) as wrong:
        raise InvalidTable(
            "table",
            "is None" if table is None else f"is of the type {type(table).__name__}",
            "Pass a path, an array, or a pandas, polars or arrow table",
        ) from wrong
