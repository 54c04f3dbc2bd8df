"""A validated table of returns, with a record of every change made to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symnmf.data.table import Table, day, load_table
from symnmf.defaults import MAX_MISSING, MISSING, MISSING_POLICIES
from symnmf.errors import InvalidInput, InvalidTable, offered, spelled
from symnmf.options import choice

#: Kinds of tables.
KINDS = ("returns", "prices")


#: Returns that are computed from prices.
RETURNS = ("log", "simple")


#: Minimum of observations and instruments from which a dependence can be estimated.
MIN_ROWS, MIN_COLUMNS = 3, 2


@dataclass(frozen=True)
class PanelSummary:
    """Shape of a table before and after reading, and the steps in between.

    Attributes:
        form: ``"wide"`` (dates × names) or ``"long"`` (date, name, value).
        kind: ``"returns"`` or ``"prices"``, as the caller declared.
        rows_in, columns_in: shape of the table.
        rows, columns: shape of the panel.
        missing: number of missing cells in the table.
        first, last: first and last date; None without dates.
        dropped: names of the columns that were left out.
        steps: descriptions of the changes, in order.
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
        names: names of the n instruments.
        dates: (T,) datetime64, or None if the table has no dates.
        summary: record of the changes to the table.
    """

    values: np.ndarray
    names: tuple[str, ...]
    dates: np.ndarray | None
    summary: PanelSummary

    def rows(self, begin: int, stop: int) -> Panel:
        """The panel restricted to the rows from ``begin`` to before ``stop``."""
        dates = None if self.dates is None else self.dates[begin:stop]
        return replace(self, values=self.values[begin:stop], dates=dates)

    def at(self, rows: np.ndarray) -> Panel:
        """A panel of the given rows, in any number and order, without dates."""
        return replace(self, values=self.values[rows], dates=None)

    def with_values(self, values: np.ndarray) -> Panel:
        """A panel with the same names and dates and other values."""
        return replace(self, values=values)

    def date_words(self, rows: np.ndarray) -> list[str]:
        """Dates of some rows as text; row numbers without dates."""
        if self.dates is None:
            return [str(int(r)) for r in rows]
        return [str(d) for d in np.datetime_as_string(self.dates[rows], unit="D")]


def read_panel(
    table: Any,
    *,
    kind: str,
    returns: str = "log",
    missing: str = MISSING,
    max_missing: float = MAX_MISSING,
) -> Panel:
    """Read returns from a file or a table of prices or returns.

    Wide tables have a row for each date (in the first column or the index) and a column for each
    instrument; long tables have three columns: date, name, value. The form is detected and recorded
    in the summary.

    Arguments:
        table: path of a .csv or .parquet file, a pandas, polars or arrow table, or a (T, n) array
            with rows in order of time.
        kind: ``"returns"`` or ``"prices"``; never guessed.
        returns: returns that are computed from prices, ``"log"`` or ``"simple"``.
        missing: policy for missing numbers. ``"error"`` raises an error; ``"drop-columns"`` drops
            columns with more than the fraction ``max_missing`` of missing numbers, then rows that
            still have some; ``"drop-rows"`` drops rows; ``"pairwise"`` leaves them to estimators
            that accept missing numbers. They are never replaced by zeros.
        max_missing: fraction that ``"drop-columns"`` tolerates in a column.

    Raises:
        InvalidTable: the table has rows, columns or cells that cannot be used.
        InvalidFile: the file is missing or cannot be read.
        InvalidInput: another argument is invalid.

    Example:
        >>> import pandas as pd
        >>> days = pd.date_range("2024-01-01", periods=4)
        >>> prices = pd.DataFrame({"a": [1.0, 2, 4, 2], "b": [3.0, 3, 4, 5]}, index=days)
        >>> read_panel(prices, kind="prices").values.round(2)[:, 0].tolist()
        [0.69, 0.69, -0.69]
    """
    choice("kind", kind, KINDS)
    choice("returns", returns, RETURNS)
    choice("missing", missing, MISSING_POLICIES)
    if not (isinstance(max_missing, int | float) and 0 <= max_missing < 1):
        raise InvalidInput("max_missing", f"got {max_missing!r}", "Pass a fraction from 0 to 1")
    work = load_table(table)
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
    if rows < MIN_ROWS or columns < MIN_COLUMNS:
        raise InvalidTable(
            "table",
            f"{rows} observations of {columns} instruments are left"
            + (f" ({work.steps[-1]})" if work.steps else ""),
            f"At least {MIN_ROWS} observations of {MIN_COLUMNS} instruments are needed",
        )
    first, last = (None, None) if work.dates is None else (day(work.dates[0]), day(work.dates[-1]))
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


def _check_names(work: Table) -> None:
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


def _invalid_cell(work: Table, bad: np.ndarray, text: str, remedy: str) -> None:
    """Raise an error for the first bad cell; ``{}`` in the text stands for its number."""
    if bad.any():
        i, j = np.argwhere(bad)[0]
        what = text.format(f"{work.values[i, j]:g}")
        place = f"{_row_words(work, i)}, column {work.names[j]!r}"
        raise InvalidTable("table", f"{place} is {what}", remedy)


def _check_numbers(work: Table) -> None:
    remedy = "Correct the number, or leave the cell empty"
    _invalid_cell(work, np.isinf(work.values), "infinite", remedy)


def _sort_dates(work: Table) -> None:
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
            f"the date {day(work.dates[same[0]])} occurs more than once",
            "Keep one row for each date",
        )


def _check_prices(work: Table) -> None:
    returns = "kind='returns'" if offered("kind") else "the table with --returns"
    remedy = f"Prices are positive; pass {returns} if these are returns"
    _invalid_cell(work, work.values <= 0, "{}, which is not a price", remedy)


def _missing(work: Table, policy: str, tolerated: float) -> None:
    holes = np.isnan(work.values)
    if not holes.any() or policy == "pairwise":
        if holes.any():
            work.steps.append(f"{int(holes.sum())} missing numbers left for pairwise estimates")
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
            f"Pass {spelled('missing', 'drop-columns')}, or the policy drop-rows or pairwise",
        )
    if policy == "drop-columns":
        _drop(work, holes.mean(axis=0) > tolerated, f"with more than {100 * tolerated:g} % missing")
        holes = np.isnan(work.values)
    full = ~holes.any(axis=1)
    if not full.all():
        work.values = work.values[full]
        work.dates = None if work.dates is None else work.dates[full]
        work.steps.append(f"{int((~full).sum())} rows with missing numbers left out")


def _to_returns(work: Table, returns: str) -> None:
    if returns == "log":
        work.values = np.diff(np.log(work.values), axis=0)
    else:
        with np.errstate(over="ignore"):
            work.values = work.values[1:] / work.values[:-1] - 1
    work.dates = None if work.dates is None else work.dates[1:]
    _check_numbers(work)
    work.steps.append(f"{returns} returns of prices")


def _drop_constant(work: Table) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        high, low = (
            f(work.values, axis=0, initial=s, where=~np.isnan(work.values))
            for f, s in ((np.max, -np.inf), (np.min, np.inf))
        )
        size = np.maximum(np.abs(high), np.abs(low))
        constant = ~(high - low > 1e-12 * size)
    _drop(work, constant, "that never change")


def _drop(work: Table, which: np.ndarray, words: str) -> None:
    if not which.any():
        return
    gone = [name for name, out in zip(work.names, which, strict=True) if out]
    work.dropped += gone
    work.names = [name for name, out in zip(work.names, which, strict=True) if not out]
    work.values = work.values[:, ~which]
    shown = ", ".join(gone[:5]) + (", …" if len(gone) > 5 else "")
    work.steps.append(f"{len(gone)} columns {words} left out: {shown}")


def _row_words(work: Table, i: int) -> str:
    return f"row {i}" if work.dates is None else f"row {i} ({day(work.dates[i])})"
