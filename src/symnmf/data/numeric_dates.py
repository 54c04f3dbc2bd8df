"""Columns of numbers that are dates or count the rows, and are no instruments."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

#: Names of columns that hold dates, and of columns that count the rows, in lower case.
DATE_NAMES = re.compile(
    r"<?(trade|trading|as.?of|value|price|obs|observation|ref|reference|business|calendar|local|quote|"
    r"open|close|window|bar|start|begin|end|snapped|event|mess|gmt|utc)?"
    r"[ _.-]?(dates?|window.start|snapped.at|mtu|day|days|weekday|dow|"
    r"day.of.week|hour|minute|time|datetime|timestamp|ts|epoch|year|years|yr|month|months|period|"
    r"periods|quarter|week|yyyymm|yyyymmdd|yearmonth|datum|data|fecha|jour|tag|monat|jahr|dt|caldt|"
    r"zeit|mois|annee|année|jd|mjd|julian|julian.day|woche|mes|año|дата|日付|日期|날짜|asof|"
    r"as of|date.?time|unix|time_period)[ _.-]?"
    r"(utc|gmt|local|\(.*\)|id)?>?",
    re.IGNORECASE,
)
COUNTER_NAMES = re.compile(
    r"(|unnamed: ?\d+.*|index|#|no\.?|nr\.?|num|number|row|rownum|row_?id|rows?|id|obs|n|level_\d|"
    r"idx|key|seq|sequence|x|v1|\.\.\.1|line|_?c0|column1|rn|lfd\.? ?nr\.?|t|step|i)",
    re.IGNORECASE,
)
#: Day 0 of the calendars, the likely one first; Excel's of 1900 counts a 29 February 1900.
DAY_ZEROS = {
    "Excel's day numbers": np.datetime64("1899-12-30"),
    "Excel's day numbers from 1904": np.datetime64("1904-01-01"),
    "days since 1970": np.datetime64("1970-01-01"),
    "days since 1960": np.datetime64("1960-01-01"),
    "Matlab's day numbers": np.datetime64("-001-12-31"),
    "modified Julian days": np.datetime64("1858-11-17"),
}
#: Julian day of 1970-01-01.
JULIAN_1970 = 2440587.5
#: Years in which day numbers must lie.
DAY_YEARS = (1980, 2045)
#: Numbers at even steps below this are a count; above it they may be years or day numbers.
EVEN_LIMIT = 1000.0
#: Units of seconds since 1970, with the range of 1973 to 2100.
EPOCHS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
EPOCH_RANGE = (1e8, 4.2e9)


@dataclass(frozen=True)
class NumericDates:
    """What a column of numbers is, other than an instrument.

    Attributes:
        stamps: (T,) dates; None for a column that counts the rows.
        note: what it was taken for.
        doubt: why it cannot be taken for anything; empty if it can.
    """

    stamps: np.ndarray | None
    note: str
    doubt: str = ""


def numeric_dates(values: np.ndarray, name: str, first: bool) -> NumericDates | None:
    """Decide whether a column of numbers holds dates or counts the rows; None for an instrument.

    Arguments:
        values: (T,) numbers.
        name: name of the column.
        first: whether it is the first column.

    Example:
        >>> found = numeric_dates(np.array([45292.0, 45293, 45294, 45295, 45296]), "Date", True)
        >>> str(found.stamps[0])[:10]
        '2024-01-01'
        >>> numeric_dates(np.array([3.0, 1.0, 2.0]), "AAPL", True) is None
        True
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    named_date = bool(DATE_NAMES.fullmatch(name.strip()))
    named_counter = bool(COUNTER_NAMES.fullmatch(name.strip()))
    whole = bool((values == np.round(values)).all())
    steps = np.diff(values)
    rising, falling = bool((steps > 0).all()), bool((steps < 0).all())
    ordered = rising or falling
    enough = len(values) >= 5 or named_date or named_counter
    if whole and ordered and (np.abs(steps) == 1).all() and not named_date and enough:
        start = float(values.min())
        if start in (0.0, 1.0, 2.0) or (named_counter and start < 1900):
            return NumericDates(None, f"column {name!r} counts the rows and is no instrument")
    small = first and ordered and not named_date and np.abs(values).max() < EVEN_LIMIT
    if small and len(values) >= 10 and _even(steps):
        return NumericDates(None, f"column {name!r} counts the rows and is no instrument")
    stacked = not ordered and named_date and whole and _stacked(values)
    repeated = not ordered and named_date and (_in_order(steps) or first or stacked)
    if not (first or named_date) or not (ordered or repeated) or not enough:
        return None
    found = _as_calendar(values, whole, named_date)
    if found is not None:
        stamps, words = found
        return NumericDates(stamps, f"dates read from {words} in column {name!r}")
    if named_counter and whole and ordered:
        return NumericDates(None, f"column {name!r} counts the rows and is no instrument")
    if (named_date and (first or len(values) >= 10)) or (whole and ordered and len(values) >= 10):
        shown = f"{values[0]:.15g}, {values[1]:.15g}, …, {values[-1]:.15g}"
        return NumericDates(
            None, "", f"column {name!r} ({shown}) looks like dates or row numbers in no known form"
        )
    return None


def _stacked(values: np.ndarray) -> bool:
    """Whether dates of eight and more digits begin again, as those of one station after another."""
    if values.min() < 17000101 or len(np.unique(values)) > 0.7 * len(values):
        return False
    return _as_calendar(values, True, True) is not None


def _even(steps: np.ndarray) -> bool:
    """Whether all steps are equal, but for rounding."""
    return bool(np.ptp(steps) <= 1e-6 * np.abs(steps).max())


def _in_order(steps: np.ndarray) -> bool:
    return bool((steps >= 0).all() or (steps <= 0).all())


def _as_calendar(values: np.ndarray, whole: bool, named: bool) -> tuple[np.ndarray, str] | None:
    """Dates of numbers and words for their form; None if no form fits."""
    low, high = float(values.min()), float(values.max())
    if whole:
        number = values.astype(np.int64)
        if low >= 17000101 and high <= 22001231:
            stamps = _ymd(number // 10000, number // 100 % 100, number % 100)
            return None if stamps is None else (stamps, "numbers such as 20241231")
        if low >= 180001 and high <= 220012:
            year, month = number // 100, number % 100
            if ((month >= 1) & (month <= 12)).all():
                return _month_end(year, month), "numbers such as 202412"
        for digits, words in ((10, "2024123123"), (12, "202412312359"), (14, "20241231235959")):
            if low / 10 ** (digits - 4) >= 1700 and high / 10 ** (digits - 4) < 2201:
                stamps = _clock(number, digits)
                if stamps is not None:
                    return stamps, f"numbers such as {words}"
        if low >= 1700001 and high <= 2200366 and named:
            stamps = _year_days(number // 1000, number % 1000)
            if stamps is not None:
                return stamps, "numbers such as 2024366, year and day"
        if (
            low >= 1800
            and high <= (2300 if named else 2075)
            and (np.abs(np.diff(number)) <= 20).all()
        ):
            return _month_end(number, np.full(len(number), 12)), "years"
        for unit, size in EPOCHS.items():
            if EPOCH_RANGE[0] * size <= low and high <= EPOCH_RANGE[1] * size:
                words = f"{unit} since 1970"
                return np.asarray(number.astype(f"datetime64[{unit}]"), "datetime64[ns]"), words
    if low >= 2.4e6 and high <= 2.6e6 and np.abs(np.diff(values)).max() <= 400:
        seconds = np.round((values - JULIAN_1970) * 86400).astype(np.int64)
        if not whole or named:
            half = (
                np.timedelta64(12, "h") if whole else np.timedelta64(0, "h")
            )  # days begin at noon
            stamps = seconds.astype("datetime64[s]") - half
            return stamps.astype("datetime64[ns]"), "Julian days"
    if high < 1e6 and np.abs(np.diff(values)).max() <= 400:
        found = _day_numbers(values)
        if found is not None:
            return found
    if not whole and low >= 1800 and high <= 2200 and np.abs(np.diff(values)).max() <= 1.01:
        found = _point_months(values)
        if found is not None:
            return found
        year = np.floor(values).astype(np.int64)
        start, end = (_years(year + extra) for extra in (0, 1))
        span = (end - start) / np.timedelta64(1, "s")
        seconds = np.round((values - year) * span).astype(np.int64).astype("timedelta64[s]")
        stamps = start.astype("datetime64[s]") + seconds + np.timedelta64(6, "h")
        return stamps.astype("datetime64[D]").astype("datetime64[ns]"), "years with a fraction"
    return None


def _clock(number: np.ndarray, digits: int) -> np.ndarray | None:
    """Dates and times of numbers such as 20241231235959; None if there is no such time."""
    parts = [number // 10 ** (digits - 8 - 2 * i) % 100 for i in range(1, (digits - 8) // 2 + 1)]
    day = number // 10 ** (digits - 8)
    stamps = _ymd(day // 10000, day // 100 % 100, day % 100)
    if stamps is None or any(
        (p >= most).any() for p, most in zip(parts, (25, 60, 60), strict=False)
    ):
        return None
    for part, unit in zip(parts, ("h", "m", "s"), strict=False):
        stamps = stamps + part.astype(f"timedelta64[{unit}]")
    return np.asarray(stamps)


def _point_months(values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Dates of numbers such as 2024.12 (a month) and 2024.4 (a quarter); None for others.

    A fraction of a year at even steps takes other values: 2024.25, 2024.917.
    """
    year = np.floor(values + 1e-6).astype(np.int64)
    part = np.round((values - year) * 100).astype(np.int64)
    if np.abs((values - year) * 100 - part).max() > 1e-4:
        return None
    kinds = set(part.tolist())
    if {10, 20, 30, 40} == kinds:
        return _month_end(year, 3 * part // 10), "numbers such as 2024.4, year and quarter"
    if len(kinds) > 4 and kinds <= set(range(1, 13)):
        return _month_end(year, part), "numbers such as 2024.12, year and month"
    return None


def _day_numbers(values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Dates of day numbers; where several calendars fit, the one without weekends is taken."""
    seconds = np.round(values * 86400).astype(np.int64).astype("timedelta64[s]")
    fits = {}
    for words, zero in DAY_ZEROS.items():
        stamps = zero.astype("datetime64[s]") + seconds
        years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
        if years.min() >= DAY_YEARS[0] and years.max() <= DAY_YEARS[1]:
            fits[words] = stamps
    if not fits:
        return None
    steps = np.abs(np.diff(np.sort(values)))
    if len(values) >= 10 and np.median(steps) <= 1.5 and steps.max() >= 3:  # days of trading
        fits = {words: stamps for words, stamps in fits.items() if not _weekends(stamps)}
    if len(fits) != 1 and "Excel's day numbers" not in fits:
        return None
    words, stamps = next(iter(fits.items()))
    return stamps.astype("datetime64[ns]"), words


def _weekends(stamps: np.ndarray) -> bool:
    """Whether more than a few dates are Saturdays or Sundays."""
    weekday = (stamps.astype("datetime64[D]").astype(np.int64) + 3) % 7
    return bool((weekday >= 5).mean() > 0.05)


def calendar_names(names: list[str]) -> bool:
    """Whether names of columns are numbers that are dates, such as years.

    Example:
        >>> calendar_names(["2019", "2020", "2021"]), calendar_names(["10107", "11850", "12490"])
        (True, False)
    """
    try:
        values = np.array([float(name) for name in names])
    except ValueError:
        return False
    if len(values) < 3:
        return False
    found = numeric_dates(values, "date", True)
    return found is not None and found.stamps is not None


def _years(year: np.ndarray) -> np.ndarray:
    return np.asarray((year - 1970).astype("datetime64[Y]").astype("datetime64[D]"))


def _year_days(year: np.ndarray, day: np.ndarray) -> np.ndarray | None:
    """Dates of year and day of the year; None if there is no such day."""
    stamps = _years(year) + (day - 1).astype("timedelta64[D]")
    if (day < 1).any() or (
        stamps.astype("datetime64[Y]") != _years(year).astype("datetime64[Y]")
    ).any():
        return None
    return np.asarray(stamps.astype("datetime64[ns]"))


def _ymd(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray | None:
    """Dates of year, month and day; None if there is no such day."""
    if ((month < 1) | (month > 12) | (day < 1) | (day > 31)).any():
        return None
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    stamps = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    if (stamps.astype("datetime64[M]") != months).any():
        return None
    return np.asarray(stamps.astype("datetime64[ns]"))


def _month_end(year: np.ndarray, month: np.ndarray) -> np.ndarray:
    following = ((year - 1970) * 12 + month).astype("datetime64[M]").astype("datetime64[D]")
    return np.asarray((following - np.timedelta64(1, "D")).astype("datetime64[ns]"))


def from_parts(
    year: np.ndarray, month: np.ndarray, day: np.ndarray | None = None
) -> np.ndarray | None:
    """Dates of separate columns of year, month and day; None if there is no such day.

    Example:
        >>> str(from_parts(np.array([2024]), np.array([2]), np.array([29]))[0])[:10]
        '2024-02-29'
    """
    if not all(np.isfinite(v).all() and (v == np.round(v)).all() for v in (year, month)):
        return None
    y, m = year.astype(np.int64), month.astype(np.int64)
    if (y < 1700).any() or (y > 2200).any() or (m < 1).any() or (m > 12).any():
        return None
    if day is None:
        return _month_end(y, m)
    if not np.isfinite(day).all():
        return None
    return _ymd(y, m, day.astype(np.int64))
