"""Axes of a drawn figure: kind, range, ticks, and places in pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np

from symnmf.plot.style import short_names
from symnmf.report.svg_text import plain_text, text_width

#: A date at the beginning of a text.
DATE = re.compile(r"\d{4}-\d\d-\d\d")
#: Units of date ticks in days, from a day to a century.
DATE_STEPS = (1, 7, 14, 30.44, 91.3, 182.6, 365.25, 730.5, 1826.25, 3652.5, 7305, 18262.5, 36525)
#: Digits as exponents.
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass
class Axis:
    """One axis of a panel.

    Attributes:
        kind: ``"linear"``, ``"log"``, ``"date"`` or ``"category"``.
        low, high: ends of the range; logarithms on a log scale, days for dates, places for
            categories.
        settings: what the figure says about the axis.
        words: the categories, in their order.
        start, stop: pixels of the two ends.
    """

    kind: str
    low: float
    high: float
    settings: dict[str, Any]
    words: tuple[str, ...] = ()
    start: float = 0.0
    stop: float = 1.0

    def place(self, value: Any) -> float:
        """Pixels of a value of the data; NaN for a value that the axis does not have."""
        return self.at(self.number(value))

    def at(self, number: float) -> float:
        """Pixels of a number in units of the range."""
        share = (number - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.stop - self.start)

    def number(self, value: Any) -> float:
        """A value of the data in units of the range."""
        return number_of(value, self.kind, self.words)

    def places(self, values: list[Any]) -> np.ndarray:  # (m,)
        """Pixels of many values."""
        share = (numbers_of(values, self.kind, self.words) - self.low) / (
            (self.high - self.low) or 1.0
        )
        return self.start + share * (self.stop - self.start)

    def spaced(self, upright: bool, size: float = 12.0, most: int = 24) -> list[tuple[float, str]]:
        """Ticks as pixels and words; as many as have room beside each other.

        Arguments:
            upright: whether the words stand one above the other (a vertical axis, or words that
                are turned), so that the height of the words counts and not their width.
            size: font size.
            most: maximum number of characters of a word.
        """
        if self.settings.get("showticklabels") is False:
            return []
        inside = [
            (self.at(number), word)
            for number, word in self._candidates(upright, size)
            if min(self.low, self.high) - 1e-9 <= number <= max(self.low, self.high) + 1e-9
        ]
        words = short_names([word for _, word in inside], most)
        found = [(at, word) for (at, _), word in zip(inside, words, strict=True)]
        found.sort()
        if len(found) < 2:
            return found
        step = 1
        while step < len(found) and not _apart(found[::step], upright, size):
            step += 1
        return found[::step]

    def _candidates(self, upright: bool, size: float) -> list[tuple[float, str]]:
        given = self.settings.get("tickvals")
        if given is not None:
            words = self.settings.get("ticktext") or [short_number(float(v)) for v in given]
            pairs = zip(given, words, strict=True)
            return [(self.number(v), plain_text(str(word))) for v, word in pairs]
        if self.kind == "category":
            return [(float(i), word) for i, word in enumerate(self.words)]
        room = max(2, int(abs(self.stop - self.start) / (3.2 * size if upright else 6 * size)))
        if self.kind == "log":
            return log_marks(self.low, self.high, room)
        if self.kind == "date":
            return date_marks(self.low, self.high, room)
        return linear_marks(self.low, self.high, room, self.settings)


def number_of(value: Any, kind: str, words: tuple[str, ...] = ()) -> float:
    """A value of the data as a number on an axis of a kind; NaN where it has none."""
    if value is None:
        return float("nan")
    if kind == "category":
        if isinstance(value, str):
            word = plain_text(value)
            return float(words.index(word)) if word in words else float("nan")
        return float(value)
    if kind == "date":
        if isinstance(value, str):
            return float(np.datetime64(value[:19], "s").astype(np.int64)) / 86400.0
        return float(value)
    number = float(value)
    if kind == "log":
        return log10(number) if number > 0 else float("nan")
    return number


def numbers_of(values: list[Any], kind: str, words: tuple[str, ...] = ()) -> np.ndarray:  # (m,)
    """Values of the data as numbers on an axis of a kind; NaN where there is none."""
    if kind == "date" and values and all(isinstance(v, str) for v in values):
        seconds = np.array([v[:19] for v in values], dtype="datetime64[s]").astype(np.int64)
        return np.asarray(seconds / 86400.0)
    if kind in ("linear", "log"):
        numbers = np.array([np.nan if v is None else v for v in values], dtype=float)
        if kind == "linear":
            return numbers
        logs: np.ndarray = np.full(len(numbers), np.nan)
        np.log10(numbers, out=logs, where=numbers > 0)
        return logs
    return np.array([number_of(v, kind, words) for v in values], dtype=float)


def kind_of(values: list[Any], settings: dict[str, Any]) -> str:
    """Kind of an axis: what the figure says, or what its values are."""
    said = settings.get("type")
    if said in ("linear", "log", "date", "category"):
        return str(said)
    words = [v for v in values if isinstance(v, str)]
    if not words:
        return "linear"
    if len(words) == len([v for v in values if v is not None]) and all(map(DATE.match, words)):
        return "date"
    try:
        [float(v) for v in words]
    except ValueError:
        return "category"
    return "linear"


def range_of(
    numbers: np.ndarray, kind: str, settings: dict[str, Any], *, zero: bool, pad: float
) -> tuple[float, float]:
    """Ends of an axis: what the figure says, or the data with some room.

    Arguments:
        numbers: values in units of the range.
        kind: kind of the axis.
        settings: what the figure says about it.
        zero: whether zero belongs to the range (bars, or ``rangemode``).
        pad: share of the range that is added on either side.
    """
    said = settings.get("range")
    if said is not None:
        ends = [number_of(v, kind) if kind == "date" else float(v) for v in said]
        return ends[0], ends[1]
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    if zero and kind == "linear":
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) * pad or (0.0 if high > low else 0.5)
    grounded = zero and kind == "linear"
    low, high = (
        low if grounded and low == 0 else low - room,
        high if grounded and high == 0 else high + room,
    )
    return (high, low) if settings.get("autorange") == "reversed" else (low, high)


def linear_marks(
    low: float, high: float, room: int, settings: dict[str, Any] | None = None
) -> list[tuple[float, str]]:
    """Ticks at multiples of 1, 2 or 5 times a power of ten.

    Example:
        >>> linear_marks(0, 10, 5)[:3]
        [(0.0, '0'), (2.0, '2'), (4.0, '4')]
    """
    low, high = min(low, high), max(low, high)
    span = high - low
    if not isfinite(span) or span <= 0:
        return []
    raw = span / max(1, room)
    tens = 10.0 ** floor(log10(raw))
    step = next(tens * m for m in (1, 2, 5, 10) if tens * m >= raw * 0.999)
    form = str((settings or {}).get("tickformat") or "")
    percent = form.endswith("%")
    marks = []
    for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1):
        value = i * step
        words = f"{100 * value:g} %" if percent else short_number(float(f"{value:.10g}"))
        marks.append((value, words + str((settings or {}).get("ticksuffix") or "")))
    return marks


def log_marks(low: float, high: float, room: int) -> list[tuple[float, str]]:
    """Ticks at powers of ten, at 1, 2 and 5 times them over a short range.

    Example:
        >>> [word for _, word in log_marks(0, 1, 5)]
        ['1', '2', '5', '10']
    """
    low, high = min(low, high), max(low, high)
    first, last = floor(low), ceil(high)
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    jump = 1 if len(steps) > 1 else max(1, ceil((last - first + 1) / max(1, room)))
    marks = []
    for tens in range(first, last + 1, jump):
        for step in steps:
            at = log10(step) + tens
            if low - 1e-9 <= at <= high + 1e-9:
                plain = -3 <= tens <= 4
                power = f"10{str(tens).translate(RAISED)}"
                marks.append((at, short_number(float(f"{step}e{tens}")) if plain else power))
    return marks


def date_marks(low: float, high: float, room: int) -> list[tuple[float, str]]:
    """Ticks at years, months or days.

    Example:
        >>> [word for _, word in date_marks(0, 1500, 5)]
        ['1970', '1971', '1972', '1973', '1974']
    """
    low, high = min(low, high), max(low, high)
    wanted = (high - low) / max(1, room)
    step = next((s for s in DATE_STEPS if s >= wanted), DATE_STEPS[-1])
    marks = []
    if step >= 365:
        years = max(1, round(step / 365.25))
        first = int(np.datetime64(int(low), "D").astype("datetime64[Y]").astype(int)) + 1970
        last = int(np.datetime64(ceil(high), "D").astype("datetime64[Y]").astype(int)) + 1970
        for year in range(first - first % years, last + years, years):
            day = float(np.datetime64(f"{year:04d}-01-01", "D").astype(int))
            if low <= day <= high:
                marks.append((day, f"{year}"))
    elif step >= 30:
        months = max(1, round(step / 30.44))
        first = int(np.datetime64(int(low), "D").astype("datetime64[M]").astype(int))
        last = int(np.datetime64(ceil(high), "D").astype("datetime64[M]").astype(int))
        for month in range(first - first % months, last + months, months):
            when = np.datetime64(month, "M")
            day = float(when.astype("datetime64[D]").astype(int))
            if low <= day <= high:
                marks.append((day, str(when)))
    else:
        for day in range(ceil(low), floor(high) + 1, int(step)):
            marks.append((float(day), str(np.datetime64(day, "D"))))
    return marks


def short_number(value: float) -> str:
    """A number as a tick, with a true minus sign.

    Example:
        >>> short_number(-0.25), short_number(20000)
        ('−0.25', '20,000')
    """
    text = f"{value:,.10g}" if abs(value) >= 1000 and value == int(value) else f"{value:.6g}"
    return text.replace("-", "−")


def cut(word: str, most: int) -> str:
    """A word of at most ``most`` characters."""
    return word if len(word) <= most else f"{word[: most - 1]}…"


def _apart(found: list[tuple[float, str]], upright: bool, size: float) -> bool:
    """Whether neighbouring words have room."""
    for (a, first), (b, second) in pairwise(found):
        need = 1.12 * size if upright else (text_width(first, size) + text_width(second, size)) / 2
        if b - a < need + (0 if upright else 0.5 * size):
            return False
    return True
