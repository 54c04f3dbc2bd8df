"""A table while it is being read, and what the caller says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symnmf.data.date_text import ORDERS
from symnmf.errors import InvalidInput
from symnmf.options import choice


@dataclass
class Table:
    """A table while it is being read.

    Attributes:
        names: names of the columns.
        values: (T, n) numbers; NaN where a number is missing.
        dates: (T,) datetime64, or None.
        form: ``"wide"`` or ``"long"``.
        numbers: number of each row in its file; None where the rows are not those of a file.
        unit: what the file calls a row: ``"line"`` or ``"row"``.
        steps: descriptions of the changes so far.
        cautions: changes that a person should know of, which become warnings.
        dropped: names of the columns that were left out.
    """

    names: list[str]
    values: np.ndarray  # (T, n)
    dates: np.ndarray | None
    form: str
    numbers: np.ndarray | None = None
    unit: str = "row"
    steps: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def keep_rows(self, chosen: np.ndarray) -> None:
        """Keep some rows, given as a mask or as an order."""
        self.values = self.values[chosen]
        self.dates = None if self.dates is None else self.dates[chosen]
        self.numbers = None if self.numbers is None else self.numbers[chosen]

    def row_words(self, i: int) -> str:
        """A row as its file counts it, with its date."""
        if self.form == "long" and self.dates is not None:
            return day(self.dates[i])
        row = f"{self.unit} {i if self.numbers is None else self.numbers[i]}"
        return row if self.dates is None else f"{row} ({moment(self.dates[i])})"


@dataclass(frozen=True)
class Reading:
    """What the caller says about a table.

    Attributes:
        columns: names of the columns of a long table: date, name, value.
        decimal: the decimal mark.
        dates: ``"day-first"`` or ``"month-first"``, for dates such as 01/02/2024.
        sheet: sheet of a workbook.
        drop: names of columns to leave out.
        kind: kind of the numbers, by which a column of a long table is chosen.
    """

    columns: tuple[str, str, str] | None = None
    decimal: str | None = None
    dates: str | None = None
    sheet: str | None = None
    drop: tuple[str, ...] = ()
    kind: str = "auto"

    @classmethod
    def of(
        cls,
        columns: str | Sequence[str] | None = None,
        decimal: str | None = None,
        dates: str | None = None,
        sheet: str | None = None,
        drop: str | Sequence[str] = (),
        kind: str = "auto",
    ) -> Reading:
        """Check what the caller said.

        Raises:
            InvalidInput: one of the arguments cannot be used.
        """
        three = _words(columns)
        if columns is not None and len(three) != 3:
            raise InvalidInput(
                "columns", f"got {columns!r}", "Pass three names: date, name and value"
            )
        if decimal is not None:
            choice("decimal", decimal, (".", ","))
        if dates is not None:
            choice("dates", dates, ORDERS)
        found: Any = tuple(three) if columns is not None else None
        return cls(found, decimal, dates, sheet, tuple(_words(drop)), kind)


def _words(given: str | Sequence[str] | None) -> list[str]:
    if given is None:
        return []
    words = given.split(",") if isinstance(given, str) else list(given)
    return [str(word).strip() for word in words if str(word).strip()]


def moment(stamp: Any) -> str:
    """A date as text, with its time of day unless that is midnight."""
    text = str(np.datetime_as_string(np.datetime64(stamp), unit="ms"))
    date, time = text.split("T")
    return date if time == "00:00:00.000" else f"{date} {time.removesuffix('.000')}"


def day(stamp: Any) -> str:
    """A date as text."""
    return str(np.datetime_as_string(np.datetime64(stamp), unit="D"))
