"""Dates as people write them, read in one way for a whole column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.date_words import MONTH_OF, QUARTER_OF
from symnmf.data.number_text import is_missing
from symnmf.data.two_digit_years import days_of_months, full_year, in_one_order, with_centuries

#: Orders of a date that is written with numbers only, such as 01/02/2024.
ORDERS = ("month-first", "day-first")

#: The order of dates such as 24-12-31, with years of two digits.
YEAR_FIRST = "year-first"

_TIME = (
    r"(?:(?:[TD,:]|\s)\s*(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})"
    r"(?:[:.](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[ap]\.?\s?m\.?)?)?"
    r"\s*(?P<zone>Z|(?:UTC|GMT)?[+-]\d{1,2}:?(?:\d{2})?|UTC|GMT|[A-Z]{3,4})?"
    r"(?:\[[\w/]+\]|\s?\([\w ]+\)|\s[A-Z]\w+/\w+)?"
)
_WEEKDAY = r"(?:[^\W\d]{2,10}\.?,?\s+)?"
_WORD = r"(?P<word>[^\W\d_]{3,12})\.?"
#: Ways to write a date: name → pattern.
PATTERNS = {
    "iso": rf"(?P<year>\d{{4}})[-/. ]\s?(?P<month>\d{{1,2}})[-/. ]\s?(?P<day>\d{{1,2}})\.?{_TIME}",
    "eight": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:\.0)?",
    "eight time": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})[T ](?P<hour>\d{2}):?"
    r"(?P<minute>\d{2})(?::?(?P<second>\d{2}))?(?P<zone>Z)?",
    "signs": r"(?P<year>\d{4})[年년]\s?(?P<month>\d{1,2})[月월]"
    rf"(?:\s?(?P<day>\d{{1,2}})[日일])?{_TIME}",
    "numbers": rf"{_WEEKDAY}(?P<first>\d{{1,2}})(?P<mark>[-/. ])\s?(?P<second_>\d{{1,2}})(?P=mark)"
    rf"\s?(?P<year>\d{{4}}|\d{{2}}){_TIME}",
    "day word year": rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|º)?[-/ ]*(?:de |of )?{_WORD}"
    rf",?[-/' ]*(?:de |of )?(?P<year>\d{{4}}|\d{{2}})(?: ?г\.?)?{_TIME}",
    "word day year": rf"{_WEEKDAY}{_WORD}[- ](?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[- ]+"
    rf"(?P<year>\d{{4}}){_TIME}",
    "word day time year": rf"{_WEEKDAY}{_WORD}\s+(?P<day>\d{{1,2}})\s+(?P<hour>\d{{2}}):"
    r"(?P<minute>\d{2}):(?P<second>\d{2})\s+(?:(?P<zone>[A-Z]{3,4})\s+)?(?P<year>\d{4})",
    "year word day": rf"(?P<year>\d{{4}})[-/ ]?{_WORD}[-/ ]?(?P<day>\d{{1,2}}){_TIME}",
    "word year": rf"{_WORD}[-/' ]*(?P<year>\d{{4}}|\d{{2}})",
    "year word": rf"(?P<year>\d{{4}})[-/ ]?{_WORD}",
    "year month": r"(?P<year>\d{4})[-/]?[mM]?(?P<month>\d{1,2})",
    "month year": r"(?P<month>\d{1,2})[-/](?P<year>\d{4})",
    "year quarter": r"(?P<year>\d{4})[-: /]?[qQkKtT](?P<quarter>[1-4])",
    "quarter year": r"[qQkKtT](?P<quarter>[1-4])[-: /']?(?P<year>\d{4}|\d{2})",
    "nth quarter": r"(?P<quarter>[1-4])\.? ?(?:q|qtr|quarter|quartal|kvartal|kwartał|trimestre|"
    r"trimestr|trim\.?)[-: /']?(?P<year>\d{4}|\d{2})",
    "roman quarter": r"(?P<roman>iv|i{1,3})[-: /]\s?(?P<year>\d{4})",
    "half year": r"(?:(?P<year>\d{4})[- ]?[hs](?P<half_year>[12])|[hs](?P<half_year_>[12])[- /]?"
    r"(?P<year_>\d{4}))",
    "year week": r"(?P<year>\d{4})[-: ]?(?:W|KW|week) ?(?P<week>\d{2}|\d)(?:-?(?P<weekday>[1-7]))?",
    "week year": r"(?:W|KW|week) ?(?P<week>\d{1,2})[-/ ]+(?P<year>\d{4})",
    "year day": r"(?P<year>\d{4})-(?P<year_day>\d{3})",
    "year": r"(?:FY\s?)(?P<year>\d{4})",
}
_PLAIN_NUMBER, _EIGHT = re.compile(r"[-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?"), re.compile(r"\d{8}(\.0)?")
_COMPILED = {name: re.compile(text, re.IGNORECASE) for name, text in PATTERNS.items()}
_PLAIN_DATE = re.compile(r"(?:1[7-9]|2[01])[0-9]{2}-[0-9]{2}-[0-9]{2}")
#: Two dates of an interval, as 31.12.2024 23:00 - 01.01.2025 00:00.
_INTERVAL = re.compile(r"(.{8,32}?)(?:\s+(?:[-–—]|to|bis|until)\s+|/)(.{8,32})", re.IGNORECASE)
_DAY = timedelta(days=1)
#: Years of the calendars of the West.
YEARS = (1700, 2200)
#: Longest step in terms of the usual one, of dates at even steps and of dates that are not.
EVEN_STEPS, UNEVEN_STEPS = 2.0, 10.0


@dataclass(frozen=True)
class ReadDates:
    """The dates of a column.

    Attributes:
        stamps: (T,) datetime64[ns], as the clock of the place shows them; NaT where there is none.
        notes: what had to be decided.
        bad: rows whose cell is no date in the way of the others.
        doubt: the cell that may be month first or day first, if nothing decides it.
    """

    stamps: np.ndarray
    notes: tuple[str, ...] = ()
    bad: tuple[int, ...] = ()
    doubt: str | None = None


def way_of(text: str) -> str | None:
    """The way a date is written: a key of :data:`PATTERNS`; None if it is no date.

    Example:
        >>> way_of("2024-01-02"), way_of("Jan-90"), way_of("31.12.2024"), way_of("AAPL")
        ('iso', 'word year', 'numbers', None)
    """
    text = _without_signs(text)
    if len(text) > 60 or not any(c.isdigit() for c in text):
        return None
    if _PLAIN_NUMBER.fullmatch(text) and not _EIGHT.fullmatch(text):
        return None
    for name, pattern in _COMPILED.items():
        found = pattern.fullmatch(text)
        if found is None:
            continue
        parts = found.groupdict()
        if "word" in parts and parts["word"].lower() not in MONTH_OF:
            continue
        if name == "year month" and text.isdigit():
            continue  # 202401 is a number: see numeric_dates
        if name == "eight" and not "17000101" <= text[:8] <= "22001231":
            continue
        return name
    return None


def _without_signs(cell: str) -> str:
    """A cell without the signs that keep a spreadsheet from changing it, as in ="2024-01-02".

    Of an interval it is the beginning.
    """
    text = cell.strip().strip("'\"=")
    return text if (both := _ends(text)) is None else both[0]


def _ends(text: str) -> tuple[str, str] | None:
    """Beginning and end of an interval; None for anything else."""
    found = _INTERVAL.fullmatch(text) if 18 < len(text) < 70 else None
    if found is None or not all(_matches(end) for end in found.groups()):
        return None
    return found[1], found[2]


def _matches(text: str) -> bool:
    return any(pattern.fullmatch(text.strip()) for pattern in _COMPILED.values())


def read_dates(column: pd.Series, order: str | None = None) -> ReadDates | None:
    """Read a column of text as dates; None unless nearly all cells are dates.

    Arguments:
        column: the cells; datetime objects are taken as they are.
        order: ``"month-first"`` or ``"day-first"`` for dates such as 01/02/2024; by default the
            only order that fits all cells, or the one in which the rows are in order of time.
    """
    codes, cells = pd.factorize(column.to_numpy(dtype=object), use_na_sentinel=False)
    if (plain := _plain_dates(cells)) is not None:
        return ReadDates(plain[codes])
    filled = np.array([not is_missing(cell) for cell in cells], dtype=bool)
    if not filled.any():
        return None
    ways = [_way(cell) if full else None for cell, full in zip(cells, filled, strict=True)]
    known = [way for way in ways if way is not None]
    if len(known) < 0.8 * filled.sum():
        return None
    main = max(dict.fromkeys(known), key=known.count)  # the first of equally many
    alike = {main, "iso", "stamp"} if main in ("iso", "stamp") else {main}
    wrong = np.array([f and w not in alike for f, w in zip(filled, ways, strict=True)])
    parts = [
        None if w or not f else _parts(c) for c, w, f in zip(cells, wrong, filled, strict=True)
    ]
    rows_bad = wrong[codes]
    doubt, notes = None, []
    if main == "numbers":
        chosen, doubt = _order(parts, codes, order)
        if chosen is None:
            return None
        if doubt is None and order is None and _differs(parts):
            notes.append(f"dates read {chosen.replace('-', ' ')}")
        stamps = [None if p is None else _stamp(_ordered(p, chosen)) for p in parts]
    else:
        stamps = [None if p is None else _stamp(p) for p in parts]
    if main == "word year" and days_of_months(parts):
        return None
    for j, (stamp, part) in enumerate(zip(stamps, parts, strict=True)):
        if part is not None and stamp is None:
            rows_bad = rows_bad | (codes == j)
    stamps = _with_zones(stamps, notes)
    if _short(parts, stamps):
        stamps = _centuries(stamps, codes)
        years = [s.year for s in stamps if s is not None]
        notes.append(f"years of two digits read as {min(years)} to {max(years)}")
    if any(isinstance(c, str) and _ends(c.strip()) is not None for c in cells[:1]):
        notes.append("intervals take the date of their beginning")
    out = np.array([np.datetime64("NaT") if s is None else s for s in stamps], "datetime64[us]")
    return ReadDates(
        out[codes].astype("datetime64[ns]"), tuple(notes), tuple(np.flatnonzero(rows_bad)), doubt
    )


def _plain_dates(cells: Any) -> np.ndarray | None:
    """The stamps of cells that are all dates as 2024-12-31; None for others."""
    if not len(cells) or not all(isinstance(c, str) and _PLAIN_DATE.fullmatch(c) for c in cells):
        return None
    try:
        return np.array(list(cells), dtype="datetime64[D]").astype("datetime64[ns]")
    except ValueError:
        return None  # there is no such day


def _short(parts: list[Any], stamps: list[Any]) -> bool:
    """Whether years have two digits."""
    given = [p for p, s in zip(parts, stamps, strict=True) if p is not None and s is not None]
    return any(len(p.get("year") or p.get("year_") or "") == 2 for p in given)


def _way(cell: Any) -> str | None:
    if isinstance(cell, str):
        return way_of(cell)
    return "stamp" if hasattr(cell, "year") and hasattr(cell, "month") else None


def _parts(cell: Any) -> dict[str, Any]:
    """The named parts of a date."""
    if not isinstance(cell, str):
        stamp = pd.Timestamp(cell)
        zone = None if stamp.tz is None else stamp.strftime("%z")
        clock = {"hour": str(stamp.hour), "minute": str(stamp.minute), "second": str(stamp.second)}
        days = {"year": str(stamp.year), "month": str(stamp.month), "day": str(stamp.day)}
        return {**days, **clock, "zone": zone}
    text = _without_signs(cell)
    found = _COMPILED[str(way_of(text))].fullmatch(text)
    assert found is not None
    parts = found.groupdict()
    if parts.get("word"):
        parts["month"] = str(MONTH_OF[parts["word"].lower()])
    parts["year"] = parts.get("year") or parts.get("year_")
    if half_year := parts.get("half_year") or parts.get("half_year_"):
        parts["month"] = str(6 * int(half_year))
    if roman := parts.get("roman"):
        parts["quarter"] = str(QUARTER_OF[roman.lower()])
    if parts.get("quarter"):
        parts["month"] = str(3 * int(parts["quarter"]))
    return parts


def _ordered(parts: dict[str, Any], order: str) -> dict[str, Any]:
    first, second, last = parts["first"], parts["second_"], parts["year"]
    if order == YEAR_FIRST:
        return {**parts, "year": first.zfill(2), "month": second, "day": last}
    month, day = (first, second) if order == "month-first" else (second, first)
    return {**parts, "month": month, "day": day}


def _differs(parts: list[Any]) -> bool:
    return any(p is not None and p["first"] != p["second_"] for p in parts)


def _order(parts: list[Any], codes: np.ndarray, order: str | None) -> tuple[str | None, str | None]:
    """The order of day and month, and a cell in doubt if nothing decides it."""
    fits = {}
    short = all(p is None or len(p["year"]) == 2 for p in parts)
    for name in (*ORDERS, *([YEAR_FIRST] if short else [])) if order is None else (order,):
        stamps = [None if p is None else _stamp(_ordered(p, name)) for p in parts]
        if all(p is None or s is not None for p, s in zip(parts, stamps, strict=True)):
            fits[name] = stamps
    if not fits:
        return (ORDERS[0] if order is None else order), None
    if len(fits) == 1:
        return next(iter(fits)), None
    made = list(fits.values())
    if all(other == made[0] for other in made[1:]):
        return next(iter(fits)), None
    sorted_in = [name for name, stamps in fits.items() if _in_order(stamps, codes, short)]
    if len(sorted_in) == 1:
        return sorted_in[0], None
    steps = {name: _regular(fits[name]) for name in sorted_in}
    even = [name for name, longest in steps.items() if longest <= EVEN_STEPS]
    if len(even) == 1 and all(steps[name] >= UNEVEN_STEPS for name in steps if name not in even):
        return even[0], None
    first = next(p for p in parts if p is not None and p["first"] != p["second_"])
    return ORDERS[
        0
    ], f"{first['first']}{first['mark']}{first['second_']}{first['mark']}{first['year']}"


def _in_order(stamps: list[Any], codes: np.ndarray, short: bool) -> bool:
    """Whether the dates of the rows never fall, or never rise."""
    known = [stamps[c].replace(tzinfo=None) for c in codes if stamps[c] is not None]
    return in_one_order(with_centuries(known) if short else known)


def _regular(stamps: list[Any]) -> float:
    """The longest step between dates in terms of the usual one."""
    steps = np.diff(np.unique([s.replace(tzinfo=None) for s in stamps if s is not None]))
    seconds = np.array([step.total_seconds() for step in steps])
    return float(seconds.max() / np.median(seconds)) if len(seconds) else 1.0


def _stamp(parts: dict[str, Any]) -> datetime | None:
    """A date with its time of day; None if there is no such day."""
    from datetime import date, timezone

    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year = full_year(year)
    if not YEARS[0] <= year <= YEARS[1]:
        return None
    hour, minute, second = (int(parts.get(p) or 0) for p in ("hour", "minute", "second"))
    half = (parts.get("half") or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        if parts.get("week"):
            day = date.fromisocalendar(year, int(parts["week"]), int(parts.get("weekday") or 5))
        elif parts.get("year_day"):
            day = date(year, 1, 1) + (int(parts["year_day"]) - 1) * _DAY
            if day.year != year:
                return None
        else:
            day = date(year, int(parts.get("month") or 12), int(parts.get("day") or 1))
            if not parts.get("day"):  # a month, quarter or year ends on its last day
                following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
                day = following - _DAY
        extra = timedelta(days=1) if hour == 24 else timedelta()
        part = int((parts.get("part") or "0")[:6].ljust(6, "0"))
        stamp = datetime(day.year, day.month, day.day, hour % 24, minute, second, part) + extra
    except (ValueError, OverflowError):
        return None
    offset = _offset(parts.get("zone"))
    return stamp if offset is None else stamp.replace(tzinfo=timezone(offset))


def _offset(zone: str | None) -> timedelta | None:
    if not zone:
        return None
    if zone.upper() in ("Z", "UTC", "GMT"):
        return timedelta()
    zone = zone.upper().removeprefix("UTC").removeprefix("GMT")
    if zone[0] not in "+-":
        return None
    digits = zone[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return size if zone[0] == "+" else -size


def _with_zones(stamps: list[Any], notes: list[str]) -> list[Any]:
    """Stamps without zones: the local clock, or UTC where offsets differ within the day."""
    zoned = [s for s in stamps if s is not None and s.tzinfo is not None]
    if not zoned:
        return stamps
    offsets = {s.utcoffset() for s in zoned}
    midnight = all((s.hour, s.minute) == (0, 0) for s in zoned)
    if len(offsets) > 1 and not midnight:
        notes.append("times with different offsets from UTC converted to UTC")
        from datetime import UTC

        return [s if s is None else s.astimezone(UTC).replace(tzinfo=None) for s in stamps]
    if offsets != {timedelta()}:
        notes.append("dates taken as the local clock shows them, without the offset from UTC")
    return [s if s is None else s.replace(tzinfo=None) for s in stamps]


def _centuries(stamps: list[Any], codes: np.ndarray) -> list[Any]:
    """Stamps of distinct cells in their centuries, by the order of the rows."""
    rows = [c for c in codes if stamps[c] is not None]
    moved = list(stamps)
    for c, stamp in zip(rows, with_centuries([stamps[c] for c in rows]), strict=True):
        moved[c] = stamp
    return moved


def shift_eastern(stamps: np.ndarray) -> tuple[np.ndarray, str | None]:
    """Midnights of a place east of Greenwich, stored as the evening before in UTC, put right.

    Such daily stamps are all in the afternoon and fall on Sunday to Thursday, never on Friday.

    Arguments:
        stamps: (T,) datetime64[ns].

    Returns:
        The stamps, and what was done; None if nothing.

    Example:
        >>> days = pd.bdate_range("2024-01-01", periods=20).to_numpy()
        >>> fixed, note = shift_eastern(days - np.timedelta64(9, "h"))
        >>> bool((fixed == days).all()), note is not None
        (True, True)
    """
    if len(stamps) < 5 or np.isnat(stamps).any():
        return stamps, None
    days = stamps.astype("datetime64[D]")
    hours = (stamps - days) / np.timedelta64(1, "h")
    weekday = (days.astype(np.int64) + 3) % 7  # Monday is 0
    if not ((hours >= 12).all() and np.ptp(hours) <= 1):
        return stamps, None
    if not (weekday == 6).any() or (weekday == 4).any() or (weekday == 5).any():
        return stamps, None
    moved = (days + np.timedelta64(1, "D")).astype("datetime64[ns]")
    return moved, (
        f"dates moved to the next day: every row is at {hours[0]:g} h on Sunday to Thursday, which "
        "is midnight in a time zone east of Greenwich"
    )
