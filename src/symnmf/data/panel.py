"""A validated table of returns, with a record of every change made to it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symnmf.data.missing_numbers import apply_policy, check_complete, drop_columns, drop_empty
from symnmf.data.plausibility import check_kind, drop_sentinels, infer_kind, note_twins
from symnmf.data.suspect_rows import treat_suspects
from symnmf.data.suspects import JUMPS, Suspect
from symnmf.data.table import load_table
from symnmf.data.table_model import Reading, Table, day, moment
from symnmf.defaults import MAX_MISSING, MISSING, MISSING_POLICIES
from symnmf.display import Brief, counted, html_table
from symnmf.errors import DataWarning, InvalidInput, InvalidTable
from symnmf.options import choice

#: Kinds of tables; ``"auto"`` is found from the numbers.
KINDS = ("returns", "prices", "values", "auto")


#: Returns that are computed from prices.
RETURNS = ("log", "simple")


#: Minimum of observations and instruments from which a dependence can be estimated.
MIN_ROWS, MIN_COLUMNS = 3, 2
#: A gap between two dates is this many times the usual step, and longer than so many days.
GAP_STEPS, GAP_DAYS = 10, 15


@dataclass(frozen=True, repr=False)
class PanelSummary(Brief):
    """Shape of a table before and after reading, and the steps in between.

    Attributes:
        form: ``"wide"`` (dates × names) or ``"long"`` (date, name, value).
        kind: ``"returns"``, ``"prices"`` or ``"values"``.
        rows_in, columns_in: shape of the table.
        rows, columns: shape of the panel.
        missing: number of missing cells in the table.
        first, last: first and last date; None without dates.
        dropped: names of the columns that were left out.
        steps: descriptions of the changes, in order.
        cautions: what a person should know before believing the answer.
        suspects: returns that are probably errors: splits, wrong figures, stale stretches.
        lost: share of the numbers that were left out because others are missing.
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
    cautions: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    lost: float = 0.0


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

    def __repr__(self) -> str:
        T, n = self.values.shape
        span = ""
        if self.dates is not None and T:
            span = f", {day(self.dates[0])} to {day(self.dates[-1])}"
        return f"Panel({T} observations of {n} instruments{span})"

    def _repr_html_(self) -> str:
        rows = [(str(i), step) for i, step in enumerate(self.summary.steps, 1)]
        rows += [("caution", words) for words in self.summary.cautions]
        return html_table(repr(self), rows)

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
    start: str | None = None,
    end: str | None = None,
    jumps: str = "keep",
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    decimal: str | None = None,
    dates: str | None = None,
    sheet: str | None = None,
) -> Panel:
    """Read returns from a file or a table of prices or returns.

    Wide tables have a row for each date and a column for each instrument (or the reverse); long
    tables have a row for each date and name. The form, the separator, the decimal mark and the
    dates are found from the content and recorded in the summary.

    Arguments:
        table: path of a text file (.csv, .txt, .tsv, also as .gz), a workbook (.xlsx, .xls),
            a .parquet or .feather file; a pandas, polars or arrow table; or a (T, n) array with
            rows in order of time.
        kind: ``"returns"``; ``"prices"``; ``"values"`` for numbers that are taken as they are,
            such as river levels or delays; ``"auto"`` finds out whether they are prices or returns.
        returns: returns that are computed from prices, ``"log"`` or ``"simple"``.
        missing: policy for missing numbers. ``"error"`` raises an error; ``"drop-columns"`` drops
            columns with more than the fraction ``max_missing`` of missing numbers, then the rows
            and columns with the most gaps until none is left; ``"drop-rows"`` drops rows;
            ``"pairwise"`` leaves them to estimators that accept missing numbers. They are never
            replaced by zeros, and returns are not taken across a gap of an instrument.
        max_missing: fraction that ``"drop-columns"`` tolerates in a column.
        start, end: first and last date, such as ``"2015"`` or ``"2015-06-30"``.
        jumps: what to do with returns that are probably errors (unadjusted splits, wrong figures
            that are put right): ``"keep"`` names them, ``"mask"`` sets them to the median of the
            instrument (to missing under ``"pairwise"``), ``"error"`` raises an error.
        columns: names of the columns of a long table: date, name, value.
        drop: names of columns to leave out.
        decimal: the decimal mark, ``"."`` or ``","``.
        dates: ``"day-first"`` or ``"month-first"``, where the content does not decide it.
        sheet: name of the sheet of a workbook.

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
    choice("jumps", jumps, JUMPS)
    if not (isinstance(max_missing, int | float) and 0 <= max_missing < 1):
        raise InvalidInput("max_missing", f"got {max_missing!r}", "Pass a fraction from 0 to 1")
    work = load_table(table, Reading.of(columns, decimal, dates, sheet, drop, kind))
    rows_in, columns_in = work.values.shape
    _check_names(work)
    check_numbers(work)
    drop_sentinels(work)
    sort_dates(work)
    between(work, start, end)
    holes = int(np.isnan(work.values).sum())
    drop_empty(work)
    if kind == "auto":
        kind = infer_kind(work)
        work.steps.insert(1, f"numbers taken as {kind}, by their behaviour")
    check_kind(work, kind)
    if missing == "error":
        check_complete(work)
    if kind == "prices":
        to_returns(work, returns)
    else:
        _note_gaps(work, "rows")
    suspects = treat_suspects(work, kind, returns, jumps, missing)
    lost = apply_policy(work, missing, max_missing)
    drop_constant(work)
    note_twins(work)
    rows, columns_left = work.values.shape
    if rows < MIN_ROWS or columns_left < MIN_COLUMNS:
        raise InvalidTable(
            "table",
            f"{counted(rows, 'observation')} of {counted(columns_left, 'instrument')} "
            f"{'is' if rows == 1 else 'are'} left{_why_few(work, columns_left)}",
            f"At least {MIN_ROWS} observations of {MIN_COLUMNS} instruments are needed",
        )
    first, last = (None, None) if work.dates is None else (day(work.dates[0]), day(work.dates[-1]))
    for caution in work.cautions:
        warnings.warn(caution, DataWarning, stacklevel=2)
    summary = PanelSummary(
        form=work.form,
        kind=kind,
        rows_in=rows_in,
        columns_in=columns_in,
        rows=rows,
        columns=columns_left,
        missing=holes,
        first=first,
        last=last,
        dropped=tuple(work.dropped),
        steps=tuple(work.steps),
        cautions=tuple(work.cautions),
        suspects=suspects,
        lost=lost,
    )
    return Panel(np.ascontiguousarray(work.values), tuple(work.names), work.dates, summary)


def _why_few(work: Table, columns: int) -> str:
    """The step after which too little is left, or the sheet that was read."""
    sheets = [step for step in work.steps if step.startswith("sheet ")]
    said = sheets if columns < MIN_COLUMNS and sheets else work.steps[-1:]
    return f" ({said[0]})" if said else ""


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


def check_numbers(work: Table) -> None:
    """Raise an error where a number is infinite."""
    extremes = [f.reduce(work.values, axis=None, initial=0.0) for f in (np.fmin, np.fmax)]
    if np.isinf(extremes).any():
        i, j = np.argwhere(np.isinf(work.values))[0]
        raise InvalidTable(
            "table",
            f"{work.row_words(i)}, column {work.names[j]!r} is infinite",
            "Correct the number, or leave the cell empty",
        )


def sort_dates(work: Table) -> None:
    """Sort the rows by date; a row that occurs twice counts once."""
    if work.dates is None:
        return
    if (np.diff(work.dates) < np.timedelta64(0)).any():
        work.keep_rows(np.argsort(work.dates, kind="stable"))
        work.steps.append("rows sorted by date")
    same = np.flatnonzero(np.diff(work.dates) == np.timedelta64(0))
    if not len(same):
        return
    equal = [np.array_equal(work.values[i], work.values[i + 1], equal_nan=True) for i in same]
    if not all(equal):
        i = int(same[equal.index(False)])
        where = (
            "" if work.numbers is None else f", in {work.row_words(i)} and {work.row_words(i + 1)}"
        )
        raise InvalidTable(
            "table",
            f"the date {moment(work.dates[i])} occurs more than once{where}",
            "Keep one row for each date" + _clock_words(work.dates[i]),
        )
    once = np.ones(len(work.dates), dtype=bool)
    once[same + 1] = False
    work.keep_rows(once)
    work.steps.append(
        f"{counted(len(same), 'row that occurs', 'rows that occur')} twice counted once"
    )


def _clock_words(stamp: np.datetime64) -> str:
    """What may make times of day occur twice."""
    if " " not in moment(stamp):
        return ""
    return "; where clocks went back, write times with their offset from UTC"


def between(work: Table, start: str | None, end: str | None) -> None:
    """Keep the rows from one date to another."""
    if start is None and end is None:
        return
    if work.dates is None:
        name = "start" if start is not None else "end"
        raise InvalidInput(name, "the table has no dates", "Leave it out")
    chosen = np.ones(len(work.dates), dtype=bool)
    if start is not None:
        chosen &= work.dates >= _date("start", start).astype("datetime64[ns]")
    if end is not None:
        limit = _date("end", end)
        chosen &= work.dates < (limit + 1).astype("datetime64[ns]")
    if not chosen.any():
        first, last = day(work.dates[0]), day(work.dates[-1])
        raise InvalidInput(
            "start" if start is not None else "end",
            f"no row is between {start or 'the beginning'} and {end or 'the end'}",
            f"The table goes from {first} to {last}",
        )
    if not chosen.all():
        work.keep_rows(chosen)
        assert work.dates is not None
        words = f"{day(work.dates[0])} to {day(work.dates[-1])}"
        work.steps.append(f"{counted(len(work.dates), 'row')} from {words} used")


def _date(argument: str, text: Any) -> np.datetime64:
    """A date with the unit in which it is given: a year, a month or a day."""
    words = str(text).strip()[:10]
    try:
        stamp = np.datetime64(words)
    except ValueError:
        stamp = np.datetime64("NaT")
    if np.isnat(stamp) or not words[:4].isdigit():
        raise InvalidInput(argument, f"got {text!r}", "Write a date as 2015, 2015-06 or 2015-06-30")
    return stamp


def to_returns(work: Table, returns: str) -> None:
    """Replace prices by returns."""
    before = int(np.isnan(work.values).sum())
    _note_gaps(work, "returns")
    with np.errstate(over="ignore", invalid="ignore"):
        if returns == "log":
            changes = np.diff(np.log(work.values), axis=0)
        else:
            changes = work.values[1:] / work.values[:-1] - 1
    work.values = changes
    work.dates = None if work.dates is None else work.dates[1:]
    work.numbers = None if work.numbers is None else work.numbers[1:]
    check_numbers(work)
    work.steps.append(f"{returns} returns of prices")
    after = int(np.isnan(work.values).sum())
    if before:
        work.steps.append(
            f"{counted(after, 'return is', 'returns are')} missing next to "
            f"{counted(before, 'missing price')}"
        )
        empty = np.isnan(work.values).all(axis=1)
        if empty.any():
            work.keep_rows(~empty)


def _note_gaps(work: Table, noun: str) -> None:
    """Say where dates are missing for much longer than usual."""
    if work.dates is None or len(work.dates) < 10:
        return
    steps = np.diff(work.dates)
    usual = np.median(steps.astype(np.int64)).astype("timedelta64[ns]")
    gaps = np.flatnonzero(
        (steps > GAP_STEPS * usual)
        & (steps > np.timedelta64(GAP_DAYS, "D").astype("timedelta64[ns]"))
    )
    if not len(gaps):
        return
    longest = int(gaps[np.argmax(steps[gaps])])
    span = f"{day(work.dates[longest])} to {day(work.dates[longest + 1])}"
    over = "returns go across them" if noun == "returns" else "rows are missing there"
    work.cautions.append(
        f"{counted(len(gaps), 'gap')} in the dates, the longest from {span}: {over}"
    )


def drop_constant(work: Table) -> None:
    """Leave out columns that never change."""
    with np.errstate(invalid="ignore", over="ignore"):
        high = np.fmax.reduce(work.values, axis=0, initial=-np.inf)  # passes over missing numbers
        low = np.fmin.reduce(work.values, axis=0, initial=np.inf)
        size = np.maximum(np.abs(high), np.abs(low))
        constant = ~(high - low > 1e-12 * size)
    drop_columns(work, constant, "without any change")
