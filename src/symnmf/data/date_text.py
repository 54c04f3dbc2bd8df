"""Dates as people write them, read in one way for a whole column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.number_text import is_missing

#: Orders of a date that is written with numbers only, such as 01/02/2024.
ORDERS = ("month-first", "day-first")

#: The order of dates such as 24-12-31, with years of two digits.
YEAR_FIRST = "year-first"

_MONTHS = {
    1: "jan january januar janvier janv jän jaen jänner enero ene gennaio gen janeiro januari",
    2: "feb february februar février fevrier févr fév fev febrero febbraio fevereiro februari",
    3: "mar march märz maerz mrz mär mars marzo março marco maart mrt",
    4: "apr april avril avr abril abr aprile",
    5: "may mai mayo maggio mag maio mei",
    6: "jun june juni juin junio giugno giu junho",
    7: "jul july juli juillet juil julio luglio lug julho",
    8: "aug august août aout agosto ago augustus",
    9: "sep sept september septembre septiembre set settembre setembro",
    10: "oct october okt oktober octobre octubre ottobre ott outubro out",
    11: "nov november novembre noviembre novembro",
    12: "dec december dez dezember décembre decembre déc diciembre dic dicembre dezembro",
}
MONTH_OF = {word: month for month, words in _MONTHS.items() for word in words.split()}
_TIME = (
    r"(?:(?:[T,]|\s)\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?|[A-Z]{3,4})?"
    r"(?:\[[\w/]+\])?"
)
_WEEKDAY = r"(?:[^\W\d]{2,10}\.?,?\s+)?"
_WORD = r"(?P<word>[^\W\d_]{3,10})\.?"
#: Ways to write a date: name → pattern.
PATTERNS = {
    "iso": rf"(?P<year>\d{{4}})[-/. ](?P<month>\d{{1,2}})[-/. ](?P<day>\d{{1,2}})\.?{_TIME}",
    "eight": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:\.0)?",
    "eight time": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})[T ](?P<hour>\d{2}):?"
    r"(?P<minute>\d{2})(?::?(?P<second>\d{2}))?(?P<zone>Z)?",
    "numbers": rf"{_WEEKDAY}(?P<first>\d{{1,2}})(?P<mark>[-/. ])\s?(?P<second_>\d{{1,2}})(?P=mark)"
    rf"\s?(?P<year>\d{{4}}|\d{{2}}){_TIME}",
    "day word year": rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|º)?[-/ ]*(?:de |of )?{_WORD}"
    rf",?[-/' ]*(?:de |of )?(?P<year>\d{{4}}|\d{{2}}){_TIME}",
    "word day year": rf"{_WEEKDAY}{_WORD}[- ](?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[- ]+"
    rf"(?P<year>\d{{4}}){_TIME}",
    "year word day": rf"(?P<year>\d{{4}})[-/ ]?{_WORD}[-/ ]?(?P<day>\d{{1,2}}){_TIME}",
    "word year": rf"{_WORD}[-/' ]*(?P<year>\d{{4}}|\d{{2}})",
    "year word": rf"(?P<year>\d{{4}})[-/ ]?{_WORD}",
    "year month": r"(?P<year>\d{4})[-/]?[mM]?(?P<month>\d{1,2})",
    "month year": r"(?P<month>\d{1,2})[-/](?P<year>\d{4})",
    "year quarter": r"(?P<year>\d{4})[-: /]?[qQ](?P<quarter>[1-4])",
    "quarter year": r"[qQ](?P<quarter>[1-4])[-: /']?(?P<year>\d{4}|\d{2})",
    "year week": r"(?P<year>\d{4})[-: ]?W(?P<week>\d{1,2})(?:-(?P<weekday>\d))?",
    "year": r"(?:FY\s?)(?P<year>\d{4})",
}
_PLAIN_NUMBER, _EIGHT = re.compile(r"[-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?"), re.compile(r"\d{8}(\.0)?")
_COMPILED = {name: re.compile(text, re.IGNORECASE) for name, text in PATTERNS.items()}
#: Distance of two dates that counts as midnight of one day, where clocks change.
_DAY = timedelta(days=1)


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
    text = text.strip().strip("'\"")
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


def read_dates(column: pd.Series, order: str | None = None) -> ReadDates | None:
    """Read a column of text as dates; None unless nearly all cells are dates.

    Arguments:
        column: the cells; datetime objects are taken as they are.
        order: ``"month-first"`` or ``"day-first"`` for dates such as 01/02/2024; by default the
            only order that fits all cells, or the one in which the rows are in order of time.
    """
    codes, cells = pd.factorize(column.to_numpy(dtype=object), use_na_sentinel=False)
    filled = np.array([not is_missing(cell) for cell in cells], dtype=bool)
    if not filled.any():
        return None
    ways = [_way(cell) if full else None for cell, full in zip(cells, filled, strict=True)]
    known = [way for way in ways if way is not None]
    if len(known) < 0.8 * filled.sum():
        return None
    main = max(set(known), key=known.count)
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
    for j, (stamp, part) in enumerate(zip(stamps, parts, strict=True)):
        if part is not None and stamp is None:
            rows_bad = rows_bad | (codes == j)
    stamps = _with_zones(stamps, notes)
    short = [p is not None and len(p.get("year") or "") == 2 for p in parts]
    if any(short):
        stamps = _centuries(stamps)
    out = np.array([np.datetime64("NaT") if s is None else s for s in stamps], "datetime64[us]")
    return ReadDates(
        out[codes].astype("datetime64[ns]"), tuple(notes), tuple(np.flatnonzero(rows_bad)), doubt
    )


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
    text = cell.strip().strip("'\"")
    found = _COMPILED[str(way_of(text))].fullmatch(text)
    assert found is not None
    parts = found.groupdict()
    if parts.get("word"):
        parts["month"] = str(MONTH_OF[parts["word"].lower()])
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
    sorted_in = [name for name, stamps in fits.items() if _in_order(stamps, codes)]
    if len(sorted_in) == 1:
        return sorted_in[0], None
    first = next(p for p in parts if p is not None and p["first"] != p["second_"])
    return ORDERS[
        0
    ], f"{first['first']}{first['mark']}{first['second_']}{first['mark']}{first['year']}"


def _in_order(stamps: list[Any], codes: np.ndarray) -> bool:
    """Whether the dates of the rows never fall, or never rise."""
    known = [stamps[c] for c in codes if stamps[c] is not None]
    plain = [s.replace(tzinfo=None) for s in known]
    return all(a <= b for a, b in pairwise(plain)) or all(a >= b for a, b in pairwise(plain))


def _stamp(parts: dict[str, Any]) -> datetime | None:
    """A date with its time of day; None if there is no such day."""
    from datetime import date, timezone

    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < 70 else 1900
    hour, minute, second = (int(parts.get(p) or 0) for p in ("hour", "minute", "second"))
    half = (parts.get("half") or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        if parts.get("week"):
            day = date.fromisocalendar(year, int(parts["week"]), int(parts.get("weekday") or 5))
        else:
            day = date(year, int(parts.get("month") or 12), int(parts.get("day") or 1))
            if not parts.get("day"):  # a month, quarter or year ends on its last day
                following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
                day = following - _DAY
        extra = timedelta(days=1) if hour == 24 else timedelta()
        stamp = datetime(day.year, day.month, day.day, hour % 24, minute, second) + extra
    except (ValueError, OverflowError):
        return None
    offset = _offset(parts.get("zone"))
    return stamp if offset is None else stamp.replace(tzinfo=timezone(offset))


def _offset(zone: str | None) -> timedelta | None:
    if not zone:
        return None
    if zone[0] not in "+-":
        return timedelta() if zone.upper() in ("Z", "UTC", "GMT") else None
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


def _centuries(stamps: list[Any]) -> list[Any]:
    """Years of two digits: no date lies in the future."""
    limit = datetime.now() + 366 * _DAY
    moved = []
    for s in stamps:
        if s is not None and s > limit:
            s = (
                s - timedelta(days=36525)
                if (s.month, s.day) == (2, 29)
                else s.replace(year=s.year - 100)
            )
        moved.append(s)
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
