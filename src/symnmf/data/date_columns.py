"""The column of dates of a table: where it is, and what its cells mean."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.date_parts import NARROW, separate_parts, with_times
from symnmf.data.date_text import ReadDates, read_dates, shift_eastern, way_of
from symnmf.data.header_rows import LISTED, RawTable, is_number_type
from symnmf.data.number_text import NumberStyle, is_missing, read_numbers
from symnmf.data.numeric_dates import DATE_NAMES, numeric_dates
from symnmf.data.table_model import Reading
from symnmf.errors import InvalidTable, offered, spelled

#: Cells by which a column is recognized as dates.
TRIED_CELLS = 30


class _Doubtful(Exception):
    """A column that may hold dates in an unknown form."""


def take_dates(raw: RawTable, reading: Reading) -> np.ndarray | None:
    """The dates of the rows; their columns are taken out of the table.

    Arguments:
        raw: the table; it is changed.
        reading: what the caller said about the table.

    Returns:
        (T,) datetime64; None for a table without dates.

    Raises:
        InvalidTable: a row has no date, or dates are written in several ways.
    """
    found: list[tuple[int, np.ndarray]] = []
    gone: list[int] = []
    wanted = None if reading.columns is None else reading.columns[0]
    doubts: list[tuple[int, str]] = []
    if wanted is None and (parts := separate_parts(raw)) is not None:
        raw.select([j for j in range(len(raw.names)) if j not in parts[0]])
        return parts[1]
    dtypes, last = list(raw.frame.dtypes), len(raw.frame) - 1
    begins, ends = (raw.frame.iloc[i].to_numpy(dtype=object) for i in (0, last))
    order = list(enumerate(raw.names))
    if wanted is not None:
        order = [(j, name) for j, name in order if name.strip() == wanted]
    same = [(j, name) for j, name in order if _one_text(raw, j, begins[j], ends[j])]
    for j, name in [pair for pair in order if pair not in same] if same else order:
        counts = begins[j] in (0, 1, 2) and ends[j] == begins[j] + last
        named = bool(DATE_NAMES.fullmatch(name.strip()))
        if j and is_number_type(dtypes[j]) and not (named or counts):
            continue
        column = raw.frame.iloc[:, j]
        try:
            read, is_counter = _dates_of(raw, j, column, name, reading)
        except _Doubtful as doubt:
            doubts.append((j, str(doubt)))
            continue
        if read is not None:
            found.append((j, read))
        elif is_counter:
            gone.append(j)
    for j, name in [] if found or doubts else same:
        read, _ = _dates_of(raw, j, raw.frame.iloc[:, j], name, reading)
        if read is not None:
            found.append((j, read))
    if doubts and not found:
        name = raw.names[doubts[0][0]]
        raise InvalidTable(
            raw.argument,
            doubts[0][1],
            f"Write dates as 2024-12-31, or leave the column out{_drop_words(name)}",
        )
    if doubts:
        gone += [j for j, _ in doubts]
        names = ", ".join(repr(raw.names[j]) for j, _ in doubts)
        raw.notes.append(f"columns that repeat parts of the date left out: {names}")
    if len(found) > 1:
        _check_date_each(raw, [j for j, _ in found])
        spoken = [pair for pair in found if DATE_NAMES.fullmatch(raw.names[pair[0]].strip())]
        chosen = (spoken or found)[0]
        others = ", ".join(repr(raw.names[j]) for j, _ in found if j != chosen[0])
        raw.notes.append(f"dates taken from {raw.names[chosen[0]]!r}, not from {others}")
        gone += [j for j, _ in found]
        found = [chosen]
    stamps = found[0][1] if found else None
    raw.date_name = raw.names[found[0][0]].strip() if found else raw.date_name
    gone += [j for j, _ in found]
    if stamps is not None:
        stamps = with_times(raw, stamps, gone)
        stamps, note = shift_eastern(stamps)
        if note:
            raw.notes.append(note)
        gone += _calendar_parts(raw, stamps, gone)
    if gone:
        raw.select([j for j in range(len(raw.names)) if j not in set(gone)])
    return stamps


def _one_text(raw: RawTable, j: int, first: Any, last: Any) -> bool:
    """Whether all cells are the same text, as the time at which the file was made."""
    if not isinstance(first, str) or first != last or len(raw.frame) < 3:
        return False
    return bool((raw.frame.iloc[:, j] == first).all())


def _calendar_parts(raw: RawTable, stamps: np.ndarray, gone: list[int]) -> list[int]:
    """Columns that repeat a part of the date: its year, month, day, weekday and the like."""
    if len(stamps) < 5 or np.isnat(stamps).any():
        return []
    days = pd.DatetimeIndex(stamps)
    parts: list[Any] = [
        days.year,
        days.month,
        days.day,
        days.day_of_week,
        days.day_of_week + 1,
        days.quarter,
    ]
    parts += [days.isocalendar().week, days.day_of_year, days.hour]
    known = [np.asarray(part, dtype=np.float64) for part in parts]
    begins = {float(part[0]) for part in known}
    found = []
    for j, cell in enumerate(raw.frame.iloc[0].to_numpy(dtype=object)):
        if j in gone or not isinstance(cell, int | float | np.number | str):
            continue
        number = NumberStyle().parse(cell) if isinstance(cell, str) else (cell.real, False)
        if number is None or number[0] not in begins:
            continue  # most columns are passed over here
        values = read_numbers(raw.frame.iloc[:, j], NumberStyle()).values
        if any(np.array_equal(values, part) and np.ptp(part) > 0 for part in known):
            found.append(j)
    if found:
        names = ", ".join(repr(raw.names[j]) for j in found)
        raw.notes.append(f"columns that repeat parts of the date left out: {names}")
    return found


def _dates_of(
    raw: RawTable, j: int, column: pd.Series, name: str, reading: Reading
) -> tuple[np.ndarray | None, bool]:
    """Dates of a column, or whether it counts the rows."""
    if isinstance(column.dtype, pd.PeriodDtype):
        return np.asarray(column.dt.to_timestamp(how="end").dt.normalize(), "datetime64[ns]"), False
    if pd.api.types.is_datetime64_any_dtype(column):
        if column.isna().any():
            _no_date(raw, int(np.flatnonzero(column.isna())[0]))
        return _local(raw, column), False
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_complex_dtype(column):
        return None, False
    if not is_number_type(column):
        some = [c for c in column.iloc[: 4 * TRIED_CELLS] if not is_missing(c)][:TRIED_CELLS]
        hits = sum(not isinstance(c, str) or way_of(c) is not None for c in some)
        texts = all(isinstance(c, str) or hasattr(c, "year") for c in some)
        if some and texts and hits >= 0.8 * len(some):
            found = read_dates(column, reading.dates)
            if found is not None and not (found.bad and way_of(str(some[0])) == "eight"):
                return _checked(raw, found, column), False
        if DATE_NAMES.fullmatch(name.strip()) and any(_rounded(c) for c in some):
            raise _Doubtful(
                f"column {name!r} has numbers such as {some[0]!r}, whose last digits are lost"
            )
        if j > 0 and not DATE_NAMES.fullmatch(name.strip()) and raw.frame.shape[1] > NARROW:
            return None, False
        read = read_numbers(column, NumberStyle())
        if len(read.bad):
            return None, False
        values = read.values
    else:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    counted = numeric_dates(values, name, j == 0)
    if counted is None:
        return None, False
    if counted.doubt:
        raise _Doubtful(counted.doubt)
    raw.notes.append(counted.note)
    return counted.stamps, counted.stamps is None


def _rounded(cell: Any) -> bool:
    """Whether a number was shortened by a spreadsheet, as 1.70415E+12."""
    return isinstance(cell, str) and bool(re.fullmatch(r"\d[.,]?\d*[eE]\+?\d+", cell.strip()))


def _drop_words(name: str) -> str:
    return f": {spelled('drop', name)}" if offered("drop") else ""


def _local(raw: RawTable, column: pd.Series) -> np.ndarray:
    """Stamps as the local clock shows them."""
    if column.dt.tz is not None:
        if str(column.dt.tz) not in ("UTC", "utc", "Etc/UTC"):
            raw.notes.append(f"dates taken as the clock of {column.dt.tz} shows them")
        column = column.dt.tz_localize(None)
    return np.asarray(column.to_numpy(), dtype="datetime64[ns]")


def _checked(raw: RawTable, found: ReadDates, column: pd.Series) -> np.ndarray:
    """Dates without gaps and without doubt."""
    if found.doubt is not None:
        i = next(
            i
            for i, c in enumerate(column)
            if isinstance(c, str) and c.strip().startswith(found.doubt)
        )
        raise InvalidTable(
            raw.argument,
            f"{raw.place(i)} has the date {found.doubt!r}, which may be month first or day first",
            f"Write dates as 2024-12-31, or pass {spelled('dates', 'day-first')} or "
            f"{spelled('dates', 'month-first')}",
        )
    if found.bad:
        cells = [f"{str(column.iloc[i])[:40]!r} ({raw.place(i)})" for i in found.bad[:LISTED]]
        more = f" and {len(found.bad) - LISTED} more" if len(found.bad) > LISTED else ""
        what = (
            "1 cell is no date" if len(found.bad) == 1 else f"{len(found.bad)} cells are no dates"
        )
        known = (c for i, c in enumerate(column) if i not in found.bad and not is_missing(c))
        good = next((f" as {str(c)[:40]!r} is" for c in known), "")
        raise InvalidTable(
            raw.argument,
            f"{what}{good}: {', '.join(cells)}{more}",
            "Write all dates in one way, as 2024-12-31",
        )
    empty = np.flatnonzero(np.isnat(found.stamps))
    if len(empty):
        _no_date(raw, int(empty[0]))
    raw.notes += found.notes
    return found.stamps


def _no_date(raw: RawTable, i: int) -> None:
    raise InvalidTable(raw.argument, f"{raw.place(i)} has no date", "Give every row its date")


def _check_date_each(raw: RawTable, columns: list[int]) -> None:
    """Raise an error for a table with a column of dates for each instrument."""
    if len(columns) >= 2 and len(columns) * 2 == len(raw.names) and np.all(np.diff(columns) == 2):
        raise InvalidTable(
            raw.argument,
            f"has {len(columns)} columns of dates, one for each instrument",
            "Bring the instruments to common dates: one column of dates, then one for each of them",
        )
