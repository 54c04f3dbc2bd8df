"""Tables with a row for each name: its class, its weight."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mode

import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.fields import field_name
from symnmf.data.file_formats import read_file, read_rows
from symnmf.data.long_tables import NAME_COLUMNS
from symnmf.data.number_text import is_number_text
from symnmf.errors import InvalidFile

#: Headings of weights, and of amounts of money, which are weights in another unit.
WEIGHT_WORDS = re.compile(
    r"\b(weights?|weighting|wgt|wt|allocations?|gewicht\w*|poids|peso|anteil)\b|^(w|%|pct)$|"
    r"(%|\b(percent|pct|share)) of (?!change)"
)
AMOUNT_WORDS = re.compile(
    r"\b(value|exposure|notional|mv|mkt val|nav|amount|kurswert|marktwert|valeur|valor|valore)\b"
)
#: Headings of numbers that are no weights.
OTHER_WORDS = re.compile(
    r"\b(price|close|last|mark|shares|quantity|qty|units|volume|margin|confidence|beta|rank|id|no|"
    r"number|account|cost|basis|gains?|loss|change|yield|mult|pos|stück|kurs)\b|p/l|p&l"
)


@dataclass(frozen=True)
class NameTable:
    """A table of text with a row for each name.

    Attributes:
        path: path of the file.
        what: what the file gives each name, in a word.
        headings: names of the columns.
        columns: the cells of each column.
        places: where each row is, in words.
    """

    path: Path
    what: str
    headings: list[str]
    columns: list[list[str]]
    places: list[str]

    @classmethod
    def read(cls, path: Path, what: str) -> NameTable:
        """Read a text file, a workbook, a .parquet or .feather file.

        Raises:
            InvalidFile: the file is missing, cannot be read, or has a single column.
        """
        table = cls(path, what, *(_text_rows(path, what) or _frame(path)))
        if len(table.columns) < 2:
            raise InvalidFile(
                str(path),
                f"has {len(table.columns)} column",
                f"Write a name and a {what} in each line",
            )
        return table

    @property
    def words(self) -> list[str]:
        """The headings in one spelling."""
        return [field_name(heading) for heading in self.headings]

    def headed(self, known: tuple[str, ...] | list[str]) -> int | None:
        """The column whose heading is the first of some known ones."""
        words = self.words
        return next((words.index(word) for word in known if word in words), None)

    def names_column(self) -> int | None:
        """The column of names by its heading."""
        return self.headed(NAME_COLUMNS)

    def with_first_line(self) -> NameTable:
        """The table whose first line is no heading, but a row as the others."""
        columns = [[h, *cells] for h, cells in zip(self.headings, self.columns, strict=True)]
        places = ["the first line", *self.places]
        return replace(self, headings=[""] * len(columns), columns=columns, places=places)

    def check_no_observations(self, first: int, second: int) -> None:
        """Raise an error for a table of dates and numbers, which gives nothing to a name."""
        names, cells = self.columns[first], self.columns[second]
        dates = sum(way_of(name) is not None for name in names)
        fractions = sum("." in cell and is_number_text(cell) for cell in cells)
        if names and dates > 0.8 * len(names) and fractions > 0.8 * len(cells):
            raise InvalidFile(
                str(self.path),
                f"holds dates and numbers such as {names[-1]!r} and {cells[-1]!r}",
                f"Pass a table with a name and a {self.what} in each line",
            )


def _text_rows(path: Path, what: str) -> tuple[list[str], list[list[str]], list[str]] | None:
    """A text file or a workbook by its rows, which need not hold a number."""
    cells = read_rows(path)
    if cells is None:
        return None
    rows = [[cell.strip() for cell in cells.row(i)] for i in range(len(cells))]
    widths = [len(row) for row in rows]
    usual = mode([n for n in widths if n > 1] or [1])
    begin = next((i for i, n in enumerate(widths) if n > max(1, 0.5 * usual)), 0)
    rest = list(range(begin, len(rows)))
    if usual > 2:  # notes below the table, and headings of its parts, have one cell
        rest = [i for i in rest if sum(map(bool, rows[i])) > 1]
    width = max(len(rows[i]) for i in rest)
    padded = [(rows[i] + [""] * width)[:width] for i in rest]
    places = [f"{cells.unit} {cells.numbers[i]}" for i in rest]
    headings = padded[0]
    if what == "weight" and any(map(is_number_text, headings[1:])):
        headings = [""] * width  # the first line is a position
    else:
        padded, places = padded[1:], places[1:]
    return headings, [[row[j] for row in padded] for j in range(width)], places


def _frame(path: Path) -> tuple[list[str], list[list[str]], list[str]]:
    """A file that holds a data frame."""
    frame = read_file(path)
    assert isinstance(frame, pd.DataFrame)
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    columns = [_texts(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return [str(c) for c in frame.columns], columns, [f"row {i}" for i in range(len(frame))]


def _texts(column: pd.Series) -> list[str]:
    return ["" if c is None or c != c else str(c).strip() for c in column]


def spoken(heading: str) -> str:
    """A heading in small letters, with its words apart: PercentOfNAV is percent of nav."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", heading).lower().strip()
