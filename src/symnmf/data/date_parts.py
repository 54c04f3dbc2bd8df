"""Dates in several columns: year with month, quarter or week, and times of day beside dates."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from symnmf.data.date_text import read_dates, way_of
from symnmf.data.date_words import MONTH_OF
from symnmf.data.header_rows import RawTable
from symnmf.data.number_text import NumberStyle, read_numbers
from symnmf.data.numeric_dates import from_parts

#: Columns up to which every column is tried as a date.
NARROW = 16
#: Names of the columns of the parts of a date, in lower case.
PART_NAMES = {
    "year": ("year", "yr", "yyyy", "jahr", "année", "annee", "año", "ano", "anno"),
    "month": ("month", "mon", "mm", "mo", "monat", "mois", "mes", "mese"),
    "day": ("day", "dd", "dy", "tag", "dom", "jour", "dia", "giorno"),
    "quarter": ("quarter", "qtr", "quartal", "trimestre"),
    "week": ("week", "isoweek", "iso week", "woche", "kw", "semaine", "semana"),
}
TIME_NAMES = re.compile(
    r"<?(time|hour|hours|hr|hh|he|hhmm|hhmmss|hour.ending|zeit|uhrzeit|stunde|hora|heure|ora)"
    r">?( ?\(.*\))?",
    re.IGNORECASE,
)


def separate_parts(raw: RawTable) -> tuple[list[int], np.ndarray] | None:
    """Columns of year and month (and day), quarter or week, and the dates they make.

    Arguments:
        raw: the table.
    """
    if any(_is_date_cell(raw.frame.iloc[0, j]) for j in range(min(len(raw.names), NARROW))):
        return None
    names = [name.strip().strip("<>").lower() for name in raw.names]
    places = {
        part: next((names.index(w) for w in words if w in names), None)
        for part, words in PART_NAMES.items()
    }
    if places["year"] is None:
        return None
    values = {
        part: _numbers(raw.frame.iloc[:, j], part) for part, j in places.items() if j is not None
    }
    if "month" in values:
        used = ["year", "month", *(["day"] if "day" in values else [])]
        stamps = from_parts(values["year"], values["month"], values.get("day"))
    elif "quarter" in values:
        used = ["year", "quarter"]
        whole = values["quarter"]
        stamps = from_parts(values["year"], np.where((whole >= 1) & (whole <= 4), 3 * whole, 0))
    elif "week" in values and np.isfinite(values["year"] + values["week"]).all():
        used = ["year", "week"]
        cells = [f"{y:.0f}-W{w:02.0f}" for y, w in zip(values["year"], values["week"], strict=True)]
        found = read_dates(pd.Series(cells, dtype=object))
        stamps = None if found is None or found.bad else found.stamps
    else:
        return None
    if stamps is None:
        return None
    raw.notes.append(f"dates read from separate columns of {', '.join(used)}")
    return [int(places[part]) for part in used], stamps  # type: ignore[arg-type]


def _numbers(column: pd.Series, part: str) -> np.ndarray:
    """The numbers of a part; months may be words, quarters such as Q1."""
    read = read_numbers(column, NumberStyle())
    if not len(read.bad):
        return read.values
    cells = [str(c).strip().lower().rstrip(".") for c in column]
    if part == "month":
        return np.array([MONTH_OF.get(c, np.nan) for c in cells], dtype=np.float64)
    if part in ("quarter", "week"):
        found = [re.fullmatch(r"[a-z]{0,2} ?(\d{1,2})", c) for c in cells]
        return np.array([np.nan if m is None else float(m[1]) for m in found])
    return read.values


def _is_date_cell(cell: object) -> bool:
    return hasattr(cell, "year") or (isinstance(cell, str) and way_of(cell) is not None)


def with_times(raw: RawTable, stamps: np.ndarray, gone: list[int]) -> np.ndarray:
    """Dates with the times of day of another column, where a date has several rows.

    Arguments:
        raw: the table; notes are added.
        stamps: (T,) dates.
        gone: columns that are used already; continued.
    """
    several = len(np.unique(stamps)) < len(stamps)
    for j, name in enumerate(raw.names):
        if j in gone or not TIME_NAMES.fullmatch(name.strip()):
            continue
        cells = [str(c).strip() for c in raw.frame.iloc[:, j]]
        spans = _clock(cells)
        if spans is None and several:
            spans = _hours(cells)
        if spans is None:
            continue
        gone.append(j)
        if not spans.any():
            continue
        stamps = stamps + spans
        raw.notes.append(f"times of day taken from column {name!r}")
    return stamps


def _clock(cells: list[str]) -> np.ndarray | None:
    """Times such as 9:30 and 16:00:00."""
    if not all(re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?", c) for c in cells):
        return None
    padded = [c if c.count(":") == 2 else f"{c}:00" for c in cells]
    return np.asarray(pd.to_timedelta(padded).to_numpy(), dtype="timedelta64[ns]")


def _hours(cells: list[str]) -> np.ndarray | None:
    """Times such as 9, 930 and 93000: hours, hours with minutes, and with seconds."""
    if not all(re.fullmatch(r"\d{1,6}(\.0)?", c) for c in cells):
        return None
    number = np.array([int(float(c)) for c in cells])
    if number.max() <= 24:
        hour, minute, second = number, 0 * number, 0 * number
    elif number.max() <= 2400:
        hour, minute, second = number // 100, number % 100, 0 * number
    else:
        hour, minute, second = number // 10000, number // 100 % 100, number % 100
    if (hour > 24).any() or (minute > 59).any() or (second > 59).any():
        return None
    seconds = 3600 * hour + 60 * minute + second
    return np.asarray(seconds.astype("timedelta64[s]").astype("timedelta64[ns]"))
