"""Numbers as people write them: decimal commas, thousands marks, percent and currency signs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from symnmf.errors import InvalidTable, spelled

#: Cells that represent a missing number, in lower case: of spreadsheets, vendors and languages.
MISSING_WORDS = frozenset(
    [
        "na",
        "n/a",
        "#n/a",
        "n.a.",
        "n.a",
        "n/d",
        "nd",
        "nan",
        "-nan",
        "+nan",
        "null",
        "(null)",
        "none",
        "nil",
        "loading...",
        "missing",
        "<na>",
        "nat",
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "...",
        "?",
        "*",
        ":",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
        "#spill!",
        "#calc!",
        "#getting_data",
        "#n/d",
        "#wert!",
        "#nv",
        "#bezug!",
        "#zahl!",
        "1.#qnan",
        "-1.#qnan",
        "1.#ind",
        "-1.#ind",
        "1.#inf_nan",
        "\\n",
        "nullo",
        "nv",
        "k.a.",
        "s/d",
        "s.d.",
        "n.v.",
        "not_available",
        *("nm", "n.m.", "n.m", "n/m", "closed", "market closed", "holiday", "bank holiday"),
        *("no trade", "no trades", "not traded", "suspended", "halted", "delisted", "pending"),
    ]
)
#: Beginnings of longer messages of data vendors in place of a number.
MISSING_BEGINNINGS = ("#n/a ", "no data", "not available", "not applicable", "n/a ", "#error")
#: Characters that are taken for a minus, and for a space.
MINUS, SPACES = "−–﹣－‐‑", "\u00a0\u202f\u2009\u2007 "
#: Signs and codes of currencies before or after a number.
CURRENCY = (
    r"(?:[$€£¥￥₹₽₩₪฿₺円元원]|US\$|A\$|C\$|HK\$|R\$|USD|EUR|GBP|GBX|GBp|CHF|JPY|CAD|AUD|SEK|NOK|DKK|CNY|"
    r"HKD|INR|BRL|ZAR|SGD|PLN|RUB|TRY|MXN|KRW|TWD|THB|ILS|HUF|CZK|NZD|Rs\.?|kr\.?|zł|Kč|Ft|lei)"
)

_SIGNED = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?:{CURRENCY})?\s*(?P<inner>\()?(?P<sign2>[+-])?\s*"
    rf"(?P<body>[\d.,'’ ]*\d[\d.,'’ ]*(?:[eEdD][+-]?\d+)?)\s*(?P<after>-)?\s*(?:{CURRENCY})?\s*"
    rf"(?P<shut>\))?\s*(?P<percent>[%‰])?(?P<last>-)?\s*(?P<close>\))?\s*\*{{0,4}}"
)
#: Parentheses around a number, and inside a currency sign or before a percent sign.
_PAIRS = (("open", "inner"), ("shut", "close"))
PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_UNMARKED = re.compile(r"[-+]?\d*[.,]?\d*(?:[eE][-+]?\d+)? ?%?")
_THREES = re.compile(r"\d{1,3}(?:([.,'’ ])\d{3})(?:\1\d{3})*")
#: Lakh and crore, as 12,34,567.
_TWOS = re.compile(r"\d{1,2}(?:(,)\d{2})+,\d{3}")
#: Text that a spreadsheet is told not to change, as ="1.5" and '1.5.
_HELD = re.compile(r"=\"(.*)\"|'([^']+)")


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a table are written.

    Attributes:
        decimal: the decimal mark, ``"."`` or ``","``.

    Example:
        >>> NumberStyle(",").parse("1.234,5"), NumberStyle(".").parse("(1,234.5)")
        ((1234.5, False), (-1234.5, False))
        >>> NumberStyle(".").parse("2.5 %"), NumberStyle(".").parse("1,5")
        ((0.025, True), None)
    """

    decimal: str = "."

    def parse(self, text: str) -> tuple[float, bool] | None:
        """The number of a cell and whether it was a percentage; None for anything else."""
        found = _SIGNED.fullmatch(_plain(text))
        if found is None:
            return None
        opened, closed = (sum(bool(found[p]) for p in pair) for pair in _PAIRS)
        if opened != closed or opened > 1:
            return None
        value = self._body(found["body"].strip())
        if value is None:
            return None
        signs = [s for s in (found[p] for p in ("sign", "sign2", "after", "last")) if s]
        if len(signs) > 1 or (signs and opened):
            return None
        if opened or "-" in signs:
            value = -value
        scale = {"%": 100.0, "‰": 1000.0}.get(found["percent"] or "", 1.0)
        return value / scale, bool(found["percent"])

    def _body(self, body: str) -> float | None:
        """Digits with marks; marks of thousands must stand between groups of three."""
        exponent = ""
        if match := re.search(r"[eEdD][+-]?\d+$", body):
            body, exponent = body[: match.start()], f"e{match[0][1:]}"
        whole, mark, rest = body.partition(self.decimal)
        if rest and not rest.isdigit():
            return None
        if whole and not whole.isdigit():
            threes = _THREES.fullmatch(whole) or _TWOS.fullmatch(whole)
            if threes is None or threes[1] == self.decimal:
                return None
            whole = whole.replace(threes[1], "")
        if not whole and not rest:
            return None
        return float(f"{whole or '0'}{'.' if mark else ''}{rest}{exponent}")


def is_missing(cell: Any) -> bool:
    """Whether a cell represents a missing number.

    Example:
        >>> is_missing("#N/A"), is_missing(""), is_missing(None), is_missing("0")
        (True, True, True, False)
    """
    if cell is None or cell is pd.NaT or cell is pd.NA:
        return True
    if isinstance(cell, float):
        return cell != cell
    if not isinstance(cell, str):
        return False
    word = cell.strip(f" \t\"'%{SPACES}").lower()
    return not word or word in MISSING_WORDS or word.startswith(MISSING_BEGINNINGS)


def _plain(text: str) -> str:
    if held := _HELD.fullmatch(text.strip()):
        text = held[1] or held[2] or ""
    for character in MINUS:
        text = text.replace(character, "-")
    for character in SPACES:
        text = text.replace(character, " ")
    return text.strip()


def is_number_text(text: str) -> bool:
    """Whether a cell is a number in some style.

    Example:
        >>> is_number_text("1.234,5"), is_number_text("$5"), is_number_text("2024-01-02")
        (True, True, False)
    """
    if PLAIN.fullmatch(text):
        return True
    return any(NumberStyle(mark).parse(text) is not None for mark in ".,")


def find_style(
    cells: Iterable[str], separator: str = "", decimal: str | None = None
) -> NumberStyle:
    """The decimal mark of the numbers of a table, from their content.

    Arguments:
        cells: cells of the table.
        separator: separator of the columns of a text file.
        decimal: the mark, where the caller knows it.

    Raises:
        InvalidTable: both marks fit, and give different numbers.

    Example:
        >>> find_style(["1,5", "1.200,25"]).decimal, find_style(["1,234.5"]).decimal
        (',', '.')
    """
    if decimal is not None:
        return NumberStyle(decimal)
    votes: dict[str, str] = {}
    unsure: dict[str, str] = {}
    small_whole = large_whole = False
    for cell in cells:
        found = _SIGNED.fullmatch(_plain(cell))
        if found is None:
            continue
        body = re.sub(r"[eEdD][+-]?\d+$", "", found["body"].strip())
        marks = [c for c in body if c in ".,"]
        if not marks:
            if body.isdigit():
                small_whole |= len(body) <= 3
                large_whole |= len(body) >= 4
            continue
        last, after = marks[-1], len(body) - body.rfind(marks[-1]) - 1
        other = "," if last == "." else "."
        if len(set(marks)) == 2:
            votes.setdefault(last, cell)
        elif len(marks) > 1:
            if _THREES.fullmatch(body) or _TWOS.fullmatch(body):
                votes.setdefault(other, cell)
        elif after != 3 or body.startswith(("0", last)) or body.find(last) > 3 or " " in body:
            votes.setdefault(last, cell)
        else:
            unsure.setdefault(last, cell)
    if len(votes) == 2:
        raise InvalidTable(
            "table",
            f"has numbers with a decimal point and with a decimal comma: {votes['.']!r} and "
            f"{votes[',']!r}",
            "Write all numbers in one way",
        )
    if votes:
        return NumberStyle(next(iter(votes)))
    # Only cells such as 1,234 are left: a thousand and more, or one and a bit.
    if "," in unsure and "." not in unsure and large_whole:
        return NumberStyle(",")
    doubtful = "," in unsure or ("." in unsure and separator == ";" and small_whole)
    if doubtful and not (large_whole and "." in unsure):
        mark = "," if "," in unsure else "."
        raise InvalidTable(
            "table",
            f"{unsure[mark]!r} may be a whole number above a thousand or a number with three "
            "decimals",
            f"{spelled('decimal', mark)} reads {mark!r} as the decimal mark; "
            f"{spelled('decimal', '.' if mark == ',' else ',')} reads it as a mark of thousands",
        )
    return NumberStyle(".")


@dataclass(frozen=True)
class ReadNumbers:
    """The numbers of a column of text.

    Attributes:
        values: (T,) numbers; NaN where a cell is missing or bad.
        bad: rows whose cell is neither a number nor a missing number.
        percent: rows whose number has a percent sign.
        marked: whether a number has thousands marks, a currency sign, parentheses or asterisks.
    """

    values: np.ndarray
    bad: np.ndarray
    percent: np.ndarray
    marked: bool


def read_numbers(cells: pd.Series, style: NumberStyle) -> ReadNumbers:
    """Read a column of text as numbers; plain numbers are read in one call of pandas.

    Arguments:
        cells: the column; cells may also be numbers and None.
        style: how the numbers are written.
    """
    values = np.full(len(cells), np.nan)
    plain: Any = pd.to_numeric(cells, errors="coerce") if style.decimal == "." else None
    rest = np.arange(len(cells))
    if plain is not None and not pd.api.types.is_complex_dtype(plain):
        values = np.array(plain.to_numpy(dtype=np.float64, na_value=np.nan))
        rest = np.flatnonzero(np.isnan(values))
    seen: dict[Any, tuple[float, bool] | None] = {}
    bad, percent, marked = [], [], False
    column = cells.to_numpy(dtype=object)
    for i in rest:
        cell = column[i]
        if is_missing(cell):
            values[i] = np.nan
            continue
        key = cell if isinstance(cell, str) else repr(cell)
        if key not in seen:
            seen[key] = _one(cell, style)
        if seen[key] is None:
            bad.append(int(i))
            continue
        values[i], is_percent = seen[key]  # type: ignore[misc]
        if is_percent:
            percent.append(int(i))
        marked |= isinstance(cell, str) and not _UNMARKED.fullmatch(cell.strip())
    return ReadNumbers(values, np.array(bad, int), np.array(percent, int), marked)


def _one(cell: Any, style: NumberStyle) -> tuple[float, bool] | None:
    if isinstance(cell, bool | np.bool_ | complex | np.complexfloating):
        return None
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in ("inf", "+inf", "-inf", "infinity", "-infinity", "∞", "-∞"):
            return (-np.inf if word.startswith("-") else np.inf), False
        return style.parse(cell)
    try:
        return float(cell), False
    except (TypeError, ValueError):
        return None
