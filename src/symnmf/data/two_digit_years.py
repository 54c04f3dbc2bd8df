"""Years of two digits: one stated rule that does not depend on the day on which a file is read.

1. 30 to 99 are 1930 to 1999, and 00 to 29 are 2000 to 2029, as spreadsheets read them.
2. Where the rows then are out of order, but are in order with a century more after every fall of
   half a century, that is done; and no date lies after 2068.
3. Days of trading decide between centuries: the one in which no date is a Saturday or Sunday is
   taken, if dates of the other are.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

#: Years of two digits from here on belong to the twentieth century.
FIRST_OF_1900 = 30
#: Latest year that a date with a year of two digits may have.
LATEST = 2068
#: Dates from which weekdays are evidence.
ENOUGH_DAYS = 10
#: Dates without a year, at least, and their longest step in days, by which they are recognized.
SOME_DAYS, LONGEST_STEP = 5, 45


def full_year(year: int) -> int:
    """The year of two digits as spreadsheets read it.

    Example:
        >>> full_year(29), full_year(30)
        (2029, 1930)
    """
    return year + (2000 if year < FIRST_OF_1900 else 1900)


def in_one_order(stamps: list[datetime]) -> bool:
    """Whether dates never fall, or never rise."""
    return all(a <= b for a, b in pairwise(stamps)) or all(a >= b for a, b in pairwise(stamps))


def with_centuries(stamps: list[datetime]) -> list[datetime]:
    """Dates with years of two digits, in the order of the rows, each in its century.

    Arguments:
        stamps: dates by the first part of the rule of this module.

    Example:
        >>> days = [datetime(2028, 1, 31), datetime(2029, 1, 31), datetime(1930, 1, 31)]
        >>> [d.year for d in with_centuries(days)]
        [2028, 2029, 2030]
    """
    later = _later(stamps)
    if stamps and max(s.year + more for s, more in zip(stamps, later, strict=True)) > LATEST:
        later = [more - 100 for more in later]
    found = _moved(stamps, later) or stamps
    if len(found) < ENOUGH_DAYS or not _weekends(found):
        return found
    for years in (-100, 100):
        other = _moved(found, [years] * len(found))
        if other and max(s.year for s in other) <= LATEST and not _weekends(other):
            return other
    return found


def _later(stamps: list[datetime]) -> list[int]:
    """Years to add to each date, by which dates are in order of time; zeros if there are none."""
    unchanged = [0] * len(stamps)
    if in_one_order(stamps):
        return unchanged
    for rows in (stamps, stamps[::-1]):
        more = [0]
        for before, after in pairwise(rows):
            more.append(more[-1] + (100 if after.year < before.year - 50 else 0))
        keys = [(s.year + m, s.timetuple()[1:6]) for s, m in zip(rows, more, strict=True)]
        if all(a <= b for a, b in pairwise(keys)):
            return more if rows is stamps else more[::-1]
    return unchanged


def _moved(stamps: list[datetime], years: list[int]) -> list[datetime]:
    """Dates some years later; none if there is no such day."""
    try:
        return [s.replace(year=s.year + more) for s, more in zip(stamps, years, strict=True)]
    except ValueError:
        return []


def _weekends(stamps: list[Any]) -> bool:
    """Whether days of trading, as the steps between them show, fall on Saturdays and Sundays."""
    days = np.unique(np.array([s.replace(tzinfo=None) for s in stamps], dtype="datetime64[D]"))
    steps = np.diff(days).astype(np.int64)
    if len(days) < ENOUGH_DAYS or np.median(steps) != 1 or steps.max() < 3:
        return False
    weekday = (days.astype(np.int64) + 3) % 7
    return bool((weekday >= 5).any())


def days_of_months(parts: list[Any]) -> bool:
    """Whether cells such as Mar-01, in order of appearance, are days of March and not years."""
    given = [(int(p["month"]), int(p["year"])) for p in parts if p is not None]
    if len(given) < SOME_DAYS or max(number for _, number in given) > 31:
        return False
    months = np.diff([12 * number + month for month, number in given])
    days = np.diff([31 * month + number for month, number in given])
    in_order = (months > 0).all() or (months < 0).all()
    near = (days % 372 <= LONGEST_STEP).all() or (-days % 372 <= LONGEST_STEP).all()
    return not in_order and bool(near)
