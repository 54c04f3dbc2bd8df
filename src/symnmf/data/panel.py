"""A table of prices or returns, checked, with a record of everything that was done to it."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symnmf.errors import InvalidFile, InvalidInput, InvalidTable

KINDS = ("returns", "prices")
RETURNS = ("log", "simple")
MISSING = ("error", "drop-columns", "drop-rows", "pairwise")
#: Fewest observations and instruments from which a dependence can be estimated.
FEWEST_ROWS, FEWEST_COLUMNS = 3, 2
#: Cells that stand for a missing number in a csv file.
BLANK = {"", "na", "n/a", "nan", "null", "none", "-"}


@dataclass(frozen=True)
class PanelSummary:
    """What came in, what was done, what came out.

    Attributes:
        form: ``"wide"`` (dates × names) or ``"long"`` (date, name, value).
        kind: ``"returns"`` or ``"prices"``, as the caller said.
        rows_in, columns_in, rows, columns: before and after.
        missing: number of missing cells that came in.
        first, last: the first and last date, where there are dates.
        dropped: names of the columns that were left out.
        steps: sentences, in order.
    """

    form: str
    kind: str
    rows_in: int
    columns_in: int
    rows: int
    columns: int
    missing: int
    first: str | None
    last: str | None
    dropped: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    """Returns of named instruments over time.

    Attributes:
        values: (T, n) returns in float64; NaN only under the policy ``"pairwise"``.
        names: of the n instruments.
        dates: (T,) datetime64, or None when the table has none.
        summary: what was done.
    """

    values: np.ndarray
    names: tuple[str, ...]
    dates: np.ndarray | None
    summary: PanelSummary

    def date_words(self, rows: np.ndarray) -> list[str]:
        """Dates of some rows, or their numbers."""
        if self.dates is None:
            return [str(int(r)) for r in rows]
        return [str(d) for d in np.datetime_as_string(self.dates[rows], unit="D")]


@dataclass
class _Work:
    """A table on its way: columns by name, dates, and what has been said so far."""

    names: list[str]
    values: np.ndarray  # (T, n)
    dates: np.ndarray | None
    form: str
    steps: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def read_panel(
    table: Any,
    *,
    kind: str,
    returns: str = "log",
    missing: str = "error",
    max_missing: float = 0.0,
) -> Panel:
    """Returns from a file or a table of prices or returns.

    Wide tables have a row for each date (in the first column or the index) and a column for each
    instrument; long ones have three columns: date, name, value. Which it is, is found out and said.

    Arguments:
        table: path of a .csv or .parquet file, or a pandas, polars or arrow table, or a (T, n)
            array (rows in order of time).
        kind: ``"returns"`` or ``"prices"``: never guessed.
        returns: of prices: ``"log"`` or ``"simple"``.
        missing: what to do about missing numbers: ``"error"``; ``"drop-columns"`` with more than
            the fraction ``max_missing`` of them, then the rows that still have some;
            ``"drop-rows"``; ``"pairwise"`` keeps them for estimators that can. They are never
            filled with zeros.
        max_missing: for ``"drop-columns"``.

    Example:
        >>> import pandas as pd
        >>> days = pd.date_range("2024-01-01", periods=4)
        >>> prices = pd.DataFrame({"a": [1.0, 2, 4, 2], "b": [3.0, 3, 4, 5]}, index=days)
        >>> read_panel(prices, kind="prices").values.round(2)[:, 0].tolist()
        [0.69, 0.69, -0.69]
    """
    _choice("kind", kind, KINDS)
    _choice("returns", returns, RETURNS)
    _choice("missing", missing, MISSING)
    if not (isinstance(max_missing, int | float) and 0 <= max_missing < 1):
        raise InvalidInput("max_missing", f"got {max_missing!r}", "Pass a fraction from 0 to 1")
    work = _load(table)
    rows_in, columns_in = work.values.shape
    _check_names(work)
    _check_numbers(work)
    _sort_dates(work)
    holes = int(np.isnan(work.values).sum())
    if kind == "prices":
        _check_prices(work)
    _missing(work, missing, max_missing)
    if kind == "prices":
        _to_returns(work, returns)
    _drop_constant(work)
    rows, columns = work.values.shape
    if rows < FEWEST_ROWS or columns < FEWEST_COLUMNS:
        raise InvalidTable(
            "table",
            f"{rows} observations of {columns} instruments are left"
            + (f" ({work.steps[-1]})" if work.steps else ""),
            f"At least {FEWEST_ROWS} observations of {FEWEST_COLUMNS} instruments are needed",
        )
    first, last = (
        (None, None) if work.dates is None else (_day(work.dates[0]), _day(work.dates[-1]))
    )
    summary = PanelSummary(
        form=work.form,
        kind=kind,
        rows_in=rows_in,
        columns_in=columns_in,
        rows=rows,
        columns=columns,
        missing=holes,
        first=first,
        last=last,
        dropped=tuple(work.dropped),
        steps=tuple(work.steps),
    )
    return Panel(np.ascontiguousarray(work.values), tuple(work.names), work.dates, summary)


def _choice(argument: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidInput(argument, f"got {value!r}", f"Choose one of {', '.join(known)}")


# Reading.


def _load(table: Any) -> _Work:
    if isinstance(table, str | Path):
        return _from_frame(_read_file(Path(table)))
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InvalidTable("table", f"has {table.ndim} dimension(s)", "Pass (dates, names)")
        names = [str(j) for j in range(table.shape[1])]
        return _wide(pd.DataFrame(table, columns=names), None)
    return _from_frame(_to_pandas(table))


def _read_file(path: Path) -> pd.DataFrame:
    if path.suffix not in (".csv", ".parquet"):
        raise InvalidFile(str(path), f"has the ending {path.suffix!r}", "Use .csv or .parquet")
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path")
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return _read_csv(path)
    except InvalidFile:
        raise
    except (OSError, ValueError, KeyError, EOFError) as broken:
        reason = str(broken).splitlines()[0] if str(broken) else type(broken).__name__
        raise InvalidFile(str(path), f"cannot be read: {reason}", "Check the file") from broken


def _read_csv(path: Path) -> pd.DataFrame:
    """Cells as they are written: names keep their zeros, and rows must have equal lengths."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        header = next(rows, None)
        if not header:
            raise InvalidFile(str(path), "is empty", "Give it a header and rows")
        body = []
        for number, row in enumerate(rows, start=2):
            if not row:
                continue
            if len(row) != len(header):
                raise InvalidFile(
                    str(path),
                    f"line {number} has {len(row)} cells, the header {len(header)}",
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


def _from_frame(frame: pd.DataFrame) -> _Work:
    """Wide or long, with the dates in the index or in the first column."""
    if frame.empty:
        raise InvalidTable("table", f"has shape {frame.shape}", "Give it rows and columns")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=[str(n or "date") for n in frame.index.names])
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


def _long(frame: pd.DataFrame) -> _Work | None:
    """(date, name, value) in any order of the three columns, or None."""
    roles: dict[str, int] = {}
    for j in range(3):
        column = frame.iloc[:, j]
        if "date" not in roles and _as_dates(column) is not None:
            roles["date"] = j
        elif "value" not in roles and _numeric(column) and not _all_text(column):
            roles["value"] = j
        elif "name" not in roles and not _numeric(column):
            roles["name"] = j
    if len(roles) != 3:
        return None
    dates = _as_dates(frame.iloc[:, roles["date"]])
    names = frame.iloc[:, roles["name"]].astype(str).str.strip()
    values = _numbers(frame.iloc[:, [roles["value"]]])[:, 0]
    assert dates is not None
    if len(np.unique(dates)) == len(dates):  # a row for each date is a wide table
        return None
    places = pd.MultiIndex.from_arrays([dates, names])
    if places.has_duplicates:
        day, name = places[places.duplicated()][0]
        raise InvalidTable(
            "table",
            f"{name!r} has several values on {_day(np.datetime64(day))}",
            "Keep one value for each date and name",
        )
    wide = pd.Series(values, index=places).unstack()
    work = _Work(
        [str(c) for c in wide.columns],
        wide.to_numpy(dtype=np.float64),
        np.asarray(wide.index.to_numpy(), dtype="datetime64[ns]"),
        "long",
    )
    work.steps.append(f"read as a long table: {len(values)} values of {wide.shape[1]} names")
    return work


def _wide(frame: pd.DataFrame, dates: np.ndarray | None) -> _Work:
    names = [str(c).strip() for c in frame.columns]
    work = _Work(names, np.empty((len(frame), 0)), dates, "wide")
    work.values = _numbers(frame)
    where = "without dates, rows in order of time" if dates is None else "a row for each date"
    work.steps.append(f"read as a wide table, {where}: {len(frame)} rows, {len(names)} columns")
    return work


def _as_dates(column: pd.Series) -> np.ndarray | None:
    """Dates as datetime64, or None when the column holds something else."""
    if pd.api.types.is_datetime64_any_dtype(column):
        stamps = column
    elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    else:
        filled = [v for v in column if not _blank(v)]
        if not filled or not all(isinstance(v, str | date | datetime) for v in filled):
            return None
        if any(isinstance(v, str) and _is_number(v) for v in filled):
            return None
        stamps = pd.to_datetime(column, errors="coerce", format="mixed", utc=False)
        if not pd.api.types.is_datetime64_any_dtype(stamps) or bool(
            (stamps.isna() & ~column.map(_blank)).any()
        ):
            return None
    if stamps.isna().any():
        row = int(np.flatnonzero(stamps.isna())[0])
        raise InvalidTable("table", f"row {row} has no date", "Give every row its date")
    if stamps.dt.tz is not None:
        stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(stamps.to_numpy(), dtype="datetime64[ns]")


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
    """Float64 of every cell; the first that is no number is named."""
    out = np.empty(frame.shape)
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if pd.api.types.is_complex_dtype(column) or pd.api.types.is_bool_dtype(column):
            raise InvalidTable(
                "table", f"column {frame.columns[j]!r} is {column.dtype}", "Real numbers are needed"
            )
        if pd.api.types.is_numeric_dtype(column):
            out[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            continue
        for i, cell in enumerate(column):
            if not _is_number(cell):
                raise InvalidTable(
                    "table",
                    f"row {i}, column {str(frame.columns[j])!r} is {str(cell)[:40]!r}, no number",
                    "Leave the column out, or correct the cell",
                )
            out[i, j] = np.nan if _blank(cell) else float(cell)
    return out


# Checking and repairing.


def _check_names(work: _Work) -> None:
    seen: dict[str, int] = {}
    for j, name in enumerate(work.names):
        if not name:
            raise InvalidTable("table", f"column {j} has no name", "Give every column a name")
        if name in seen:
            raise InvalidTable(
                "table",
                f"the name {name!r} occurs in columns {seen[name]} and {j}",
                "Give every instrument its own name",
            )
        seen[name] = j


def _check_numbers(work: _Work) -> None:
    bad = np.isinf(work.values)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InvalidTable(
            "table",
            f"{_row_words(work, i)}, column {work.names[j]!r} is infinite",
            "Correct the number, or make it missing",
        )


def _sort_dates(work: _Work) -> None:
    if work.dates is None:
        return
    if (np.diff(work.dates) < np.timedelta64(0)).any():
        order = np.argsort(work.dates, kind="stable")
        work.dates, work.values = work.dates[order], work.values[order]
        work.steps.append("rows sorted by date")
    same = np.flatnonzero(np.diff(work.dates) == np.timedelta64(0))
    if len(same):
        raise InvalidTable(
            "table",
            f"the date {_day(work.dates[same[0]])} occurs more than once",
            "Keep one row for each date",
        )


def _check_prices(work: _Work) -> None:
    bad = work.values <= 0
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InvalidTable(
            "table",
            f"{_row_words(work, i)}, column {work.names[j]!r} is {work.values[i, j]:g}: no price",
            "Prices are positive; pass kind='returns' if these are returns",
        )


def _missing(work: _Work, policy: str, most: float) -> None:
    holes = np.isnan(work.values)
    if not holes.any() or policy == "pairwise":
        if holes.any():
            work.steps.append(f"{int(holes.sum())} missing numbers kept, for pairs of instruments")
        return
    if policy == "error":
        columns = np.flatnonzero(holes.any(axis=0))
        worst = int(holes.sum(axis=0).argmax())
        i = int(np.flatnonzero(holes[:, columns[0]])[0])
        raise InvalidTable(
            "table",
            f"{int(holes.sum())} of {holes.size} numbers are missing, in {len(columns)} columns; "
            f"the first is {_row_words(work, i)}, column {work.names[columns[0]]!r}; most "
            f"({int(holes[:, worst].sum())}) are in {work.names[worst]!r}",
            "Choose missing='drop-columns', 'drop-rows' or 'pairwise'",
        )
    if policy == "drop-columns":
        _drop(work, holes.mean(axis=0) > most, f"with more than {100 * most:g} % missing")
        holes = np.isnan(work.values)
    full = ~holes.any(axis=1)
    if not full.all():
        work.values = work.values[full]
        work.dates = None if work.dates is None else work.dates[full]
        work.steps.append(f"{int((~full).sum())} rows with missing numbers left out")


def _to_returns(work: _Work, returns: str) -> None:
    if returns == "log":
        work.values = np.diff(np.log(work.values), axis=0)
    else:
        with np.errstate(over="ignore"):
            work.values = work.values[1:] / work.values[:-1] - 1
    work.dates = None if work.dates is None else work.dates[1:]
    _check_numbers(work)
    work.steps.append(f"{returns} returns of prices")


def _drop_constant(work: _Work) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        high, low = (
            f(work.values, axis=0, initial=s, where=~np.isnan(work.values))
            for f, s in ((np.max, -np.inf), (np.min, np.inf))
        )
        size = np.maximum(np.abs(high), np.abs(low))
        constant = ~(high - low > 1e-12 * size)
    _drop(work, constant, "that never change")


def _drop(work: _Work, which: np.ndarray, words: str) -> None:
    if not which.any():
        return
    gone = [name for name, out in zip(work.names, which, strict=True) if out]
    work.dropped += gone
    work.names = [name for name, out in zip(work.names, which, strict=True) if not out]
    work.values = work.values[:, ~which]
    shown = ", ".join(gone[:5]) + (", …" if len(gone) > 5 else "")
    work.steps.append(f"{len(gone)} columns {words} left out: {shown}")


def _row_words(work: _Work, i: int) -> str:
    return f"row {i}" if work.dates is None else f"row {i} ({_day(work.dates[i])})"


def _day(stamp: Any) -> str:
    return str(np.datetime_as_string(np.datetime64(stamp), unit="D"))
