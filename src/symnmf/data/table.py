"""Tables of users: files and data frames, wide or long, with or without dates."""

from __future__ import annotations

import csv
import re
import warnings
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symnmf.errors import InvalidFile, InvalidTable
from symnmf.storage.untrusted import read_parquet, reading

#: Cells that represent a missing number in a csv file, in lower case.
BLANK = {"", "na", "n/a", "nan", "null", "none", "-"}


#: Whole numbers that are read as dates, such as 20241231, and their pattern as text.
CALENDAR, EIGHT_DIGITS = (17000101, 22001231), re.compile(r"\s*\d{8}\s*")


@dataclass
class Table:
    """A table while it is being read.

    Attributes:
        names: names of the columns.
        values: (T, n) numbers; NaN where a number is missing.
        dates: (T,) datetime64, or None.
        form: ``"wide"`` or ``"long"``.
        steps: descriptions of the changes so far.
        dropped: names of the columns that were left out.
    """

    names: list[str]
    values: np.ndarray  # (T, n)
    dates: np.ndarray | None
    form: str
    steps: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def load_table(table: Any) -> Table:
    """Read names, dates and numbers of a table.

    Arguments:
        table: a path, an array, or a pandas, polars or arrow table.

    Raises:
        InvalidTable: the table has rows, columns or cells that cannot be used.
        InvalidFile: the file is missing or cannot be read.
    """
    if isinstance(table, str | Path):
        return _from_frame(_read_file(Path(table)))
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InvalidTable(
                "table", f"has {table.ndim} dimension(s)", "Pass an array of shape (dates, names)"
            )
        names = [str(j) for j in range(table.shape[1])]
        return _wide(pd.DataFrame(table, columns=names), None)
    return _from_frame(_to_pandas(table))


def _read_file(path: Path) -> pd.DataFrame:
    if path.suffix not in (".csv", ".parquet"):
        raise InvalidFile(str(path), f"has the ending {path.suffix!r}", "Use .csv or .parquet")
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path")
    with reading(path):
        return read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)


def _read_csv(path: Path) -> pd.DataFrame:
    """Read cells as text, so that names keep their zeros; rows must have equal lengths."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        header = next(rows, None)
        if not header:
            raise InvalidFile(str(path), "is empty", "Pass a file with a header and rows")
        body = []
        for number, row in enumerate(rows, start=2):
            if not row:
                continue
            if len(row) != len(header):
                raise InvalidFile(
                    str(path),
                    f"line {number} has {len(row)} cells, the header has {len(header)}",
                    "Give every line the same number of cells",
                )
            body.append(row)
    return _frame_of(body, header)


def _frame_of(body: list[list[str]], header: list[str]) -> pd.DataFrame:
    cells = np.array(body, dtype=object).reshape(len(body), len(header))
    frame = pd.DataFrame(cells)
    frame.columns = pd.Index([h.strip() for h in header])
    return frame


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


def _from_frame(frame: pd.DataFrame) -> Table:
    """Read a wide or long frame with dates in the index or in the first column."""
    if frame.empty:
        raise InvalidTable(
            "table", f"has shape {frame.shape}", "Pass a table with rows and columns"
        )
    frame = _with_index(frame)
    columns = list(frame.columns)
    first = frame.iloc[:, 0]
    dates = _as_dates(first)
    if len(columns) == 3 and (long := _long(frame)) is not None:
        return long
    if dates is not None:
        return _wide(frame.iloc[:, 1:], dates)
    if not _numeric(first):
        bad = next(v for v in first if not _is_number(v))
        raise InvalidTable(
            "table",
            f"the first column {columns[0]!r} holds neither dates nor numbers ({bad!r})",
            "Write dates as 2024-12-31, or leave the column out",
        )
    return _wide(frame, None)


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """The index as the first column, unless it consists of row numbers."""
    index = frame.index
    if isinstance(index, pd.RangeIndex):
        return frame
    if index.nlevels == 1:
        column = index.to_series().reset_index(drop=True)
        if _numeric(column) and _as_dates(column) is None:
            return frame.reset_index(drop=True)
    taken = {str(c) for c in frame.columns}
    names = [str(name or "date") for name in index.names]
    names = [f"index {name}" if name in taken else name for name in names]
    return frame.reset_index(names=names)


def _long(frame: pd.DataFrame) -> Table | None:
    """Read (date, name, value) in any order of the three columns; None for another table."""
    roles: dict[str, int] = {}
    for j in range(3):
        column = frame.iloc[:, j]
        if "date" not in roles and _as_dates(column) is not None:
            roles["date"] = j
        elif "value" not in roles and _numeric(column) and not _all_text(column):
            roles["value"] = j
        elif "name" not in roles and not _numeric(column):
            roles["name"] = j
    if "date" in roles and "name" not in roles:  # names may be whole numbers
        rest = [j for j in range(3) if j != roles["date"]]
        whole = [j for j in rest if pd.api.types.is_integer_dtype(frame.iloc[:, j])]
        if (
            len(whole) == 1
            and _numeric(frame.iloc[:, rest[0]])
            and _numeric(frame.iloc[:, rest[1]])
        ):
            roles |= {"name": whole[0], "value": rest[0] + rest[1] - whole[0]}
    if len(roles) != 3:
        return None
    dates = _as_dates(frame.iloc[:, roles["date"]])
    names = frame.iloc[:, roles["name"]].astype(str).str.strip()
    values = _numbers(frame.iloc[:, [roles["value"]]])[:, 0]
    assert dates is not None
    if len(np.unique(dates)) == len(dates):  # one row per date: a wide table
        return None
    places = pd.MultiIndex.from_arrays([dates, names])
    if places.has_duplicates:
        when, name = places[places.duplicated()][0]
        raise InvalidTable(
            "table",
            f"{name!r} has several values on {day(np.datetime64(when))}",
            "Keep one value for each date and name",
        )
    wide = pd.Series(values, index=places).unstack()
    work = Table(
        [str(c) for c in wide.columns],
        wide.to_numpy(dtype=np.float64),
        np.asarray(wide.index.to_numpy(), dtype="datetime64[ns]"),
        "long",
    )
    work.steps.append(f"read as a long table: {len(values)} values of {wide.shape[1]} names")
    return work


def _wide(frame: pd.DataFrame, dates: np.ndarray | None) -> Table:
    names = [str(c).strip() for c in frame.columns]
    work = Table(names, np.empty((len(frame), 0)), dates, "wide")
    work.values = _numbers(frame)
    where = "without dates, rows in order of time" if dates is None else "a row for each date"
    work.steps.append(f"read as a wide table, {where}: {len(frame)} rows, {len(names)} columns")
    return work


def _as_dates(column: pd.Series) -> np.ndarray | None:
    """Dates as datetime64, or None when the column holds something else."""
    if len(column) and all(isinstance(v, str) and EIGHT_DIGITS.fullmatch(v) for v in column):
        column = column.astype("int64")
    if pd.api.types.is_datetime64_any_dtype(column):
        stamps = column
    elif pd.api.types.is_integer_dtype(column):
        if not len(column) or not column.between(*CALENDAR).all():
            return None
        stamps = pd.to_datetime(column.astype(str), errors="coerce", format="%Y%m%d")
        if stamps.isna().any():
            return None
    elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    else:
        filled = [v for v in column if not _blank(v)]
        if not filled or not all(isinstance(v, str | date | datetime) for v in filled):
            return None
        if any(isinstance(v, str) and _is_number(v) for v in filled):
            return None
        parsed = _parse_dates(column)
        if parsed is None:
            return None
        stamps = parsed
    if stamps.isna().any():
        row = int(np.flatnonzero(stamps.isna())[0])
        raise InvalidTable("table", f"row {row} has no date", "Give every row its date")
    if stamps.dt.tz is not None:
        stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(stamps.to_numpy(), dtype="datetime64[ns]")


def _parse_dates(column: pd.Series) -> pd.Series | None:
    """Parse text as dates in one format for the whole column; None if no format fits.

    If both month first and day first fit every row and give different dates, it is an error.
    """
    filled = ~column.map(_blank)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in ({"format": "ISO8601"}, {"dayfirst": False}, {"dayfirst": True}):
            stamps = pd.to_datetime(column, errors="coerce", **options)
            whole = pd.api.types.is_datetime64_any_dtype(stamps) and bool(
                stamps[filled].notna().all()
            )
            if whole and "format" in options:
                return stamps
            if whole:
                found.append(stamps)
    if len(found) == 2 and not found[0].equals(found[1]):
        row = int(np.flatnonzero((found[0] != found[1]) & filled)[0])
        raise InvalidTable(
            "table",
            f"row {row} has the date {column.iloc[row]!r}, which may be month first or day first",
            "Write dates as 2024-12-31",
        )
    return found[0] if found else None


def _blank(value: Any) -> bool:
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return True
    return isinstance(value, str) and value.strip().lower() in BLANK


def _is_number(value: Any) -> bool:
    if _blank(value):
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool | np.bool_)


def _numeric(column: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return True
    return bool(column.map(_is_number).all())


def _all_text(column: pd.Series) -> bool:
    return bool(column.map(_blank).all())


def _numbers(frame: pd.DataFrame) -> np.ndarray:  # (T, n)
    """Every cell as float64; the error names the first cell that is not a number."""
    out = np.empty(frame.shape)
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if pd.api.types.is_complex_dtype(column) or pd.api.types.is_bool_dtype(column):
            raise InvalidTable(
                "table", f"column {frame.columns[j]!r} is {column.dtype}", "Pass real numbers"
            )
        if pd.api.types.is_numeric_dtype(column):
            out[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            continue
        for i, cell in enumerate(column):
            if not _is_number(cell):
                raise InvalidTable(
                    "table",
                    f"row {i}, column {str(frame.columns[j])!r} is {str(cell)[:40]!r}, "
                    "not a number",
                    "Leave the column out, or correct the cell",
                )
            out[i, j] = np.nan if _blank(cell) else float(cell)
    return out


def day(stamp: Any) -> str:
    """A date as text."""
    return str(np.datetime_as_string(np.datetime64(stamp), unit="D"))
