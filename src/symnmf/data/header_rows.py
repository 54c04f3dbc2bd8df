"""Where the table is in a file: titles above it, rows of names, totals and notes below it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from statistics import mode
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.number_text import PLAIN, is_missing, is_number_text
from symnmf.data.numeric_dates import DATE_NAMES, calendar_names
from symnmf.data.text_lines import HEAD_ROWS, TAIL_ROWS, CellRows
from symnmf.display import counted
from symnmf.errors import InvalidFile

#: Columns up to which all cells are read as text first, so that names keep their zeros.
NARROW = 16
#: Cells of the first rows from which the structure of a file is found.
EXAMINED_CELLS = 20_000
#: Beginnings of rows below a table.
FOOTERS = re.compile(
    r"(grand )?(total|sum|subtotal|average|avg|mean|median|min|max|std|stdev|count|source|note|"
    r"notes|copyright|©|\(c\)|disclaimer|summe|mittelwert|gesamt|moyenne|promedio|quelle|end of|"
    r"eof|\*)\b",
    re.IGNORECASE,
)
#: Cells, one a line, that are numbers without any doubt; eight digits may be a date.
_PLAIN_CELLS = re.compile(rf"(?:(?!\d{{8}}$){PLAIN.pattern}(?:\n(?!\Z)|\Z))+", re.MULTILINE)
#: Cells that are listed in a message.
LISTED = 5


@dataclass
class RawTable:
    """The cells of a table before its columns are understood.

    Attributes:
        names: names of the columns.
        frame: the cells; columns are numbers or text, and are called 0, 1, ….
        levels: rows of names above the columns, where there are several; else empty.
        numbers: number of each row in the file; None for a table in memory.
        unit: ``"line"`` or ``"row"``.
        separator: separator of a text file.
        notes: what was decided so far.
        cautions: what a person should know, and is warned of.
        argument: what errors call the table.
        date_name: name of the column that the dates were taken from.
    """

    names: list[str]
    frame: pd.DataFrame
    levels: list[list[str]] = field(default_factory=list)
    numbers: np.ndarray | None = None
    unit: str = "row"
    separator: str = ""
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    argument: str = "table"
    date_name: str = "date"

    def select(self, stay: list[int]) -> None:
        """Keep some columns."""
        self.frame = self.frame.iloc[:, stay]
        self.frame.columns = pd.RangeIndex(len(stay))
        width = len(self.names)
        self.names = [self.names[j] for j in stay]
        self.levels = [[(level + [""] * width)[j] for j in stay] for level in self.levels]

    def place(self, i: int) -> str:
        """A row as the file counts it, or its position in memory."""
        return f"{self.unit} {i if self.numbers is None else self.numbers[i]}"


def find_table(cells: CellRows) -> RawTable:
    """Find the names and the rows of a table among the rows of a file.

    Arguments:
        cells: rows of the file.

    Raises:
        InvalidFile: there is no table, or its rows have different lengths.
    """
    count = len(cells)
    examined = max(
        40, min(HEAD_ROWS, EXAMINED_CELLS // max(1, cells.widths()[min(count - 1, 20), 0]))
    )
    head = [cells.row(i) for i in range(min(count, examined))]
    full = [sum(map(bool, row)) for row in head]
    usual = mode([n for n in full if n > 1] or [1])
    begin = next((i for i, n in enumerate(full) if n >= max(2, 0.5 * usual)), None)
    if begin is None:
        line = " ".join(cell for cell in head[0] if cell)
        shown = f"{line[:60]!r}" + (" …" if len(line) > 60 or count > 1 else "")
        raise InvalidFile(
            cells.source,
            f"has one column ({shown})",
            "Pass a table with a column for the dates and one for each instrument",
        )
    if begin and _merged_names(head[begin - 1], head[begin]):
        begin -= 1
    kinds = _column_kinds(head[begin + 1 :] or head[begin:])
    first = next((i for i in range(begin, len(head)) if _is_data(head[i], kinds)), None)
    if first is None:
        raise InvalidFile(
            cells.source, "has no row of numbers", "Pass a table with a header and rows of numbers"
        )
    top = [head[i] for i in range(begin, first)]
    if not top and first == begin and _is_names(head[begin:], kinds):
        top, first = [head[begin]], begin + 1
    if len(top) > 1 and top[-1][0] in top[0][1:] and all(map(is_missing, top[-1][1:])):
        first -= 1  # the first row of a triangle without its diagonal
        top.pop()
    width = max(len(row) for row in (head[first : first + 50]))
    if len(top) > 1 and cells.separator == " ":  # no cell above the names of the rows
        top = [["", *row] if len(row) == width - 1 else row for row in top]
    stop, notes, comments = _end_of_table(cells, first, kinds, top, width)
    names, levels = _names(top, width, cells, begin)
    if "..." in names or "…" in names:
        raise InvalidFile(
            cells.source,
            "is a table as it is printed, with columns left out ('...')",
            "Write the whole table to a file, such as .csv",
        )
    if begin:
        cells.notes.append(f"{counted(begin, cells.unit)} above the table left out")
    inside = [i for i in range(first, stop) if i not in set(comments)]
    chosen = [i for i in inside if not (top and cells.same(i, first - 1))]
    if len(chosen) < len(inside):
        cells.notes.append(
            f"{counted(len(inside) - len(chosen), 'repeated row')} of names left out"
        )
    names = _check_widths(cells, chosen, names, levels)
    width = len(names)
    as_text = [j for j in range(width) if width <= NARROW or kinds.get(j) != "number"]
    frame = cells.frame(chosen, width, as_text)
    frame.columns = pd.RangeIndex(width)
    return RawTable(
        names=names,
        frame=frame,
        levels=levels,
        numbers=np.array([cells.numbers[i] for i in chosen]),
        unit=cells.unit,
        separator=cells.separator,
        notes=[*cells.notes, *notes],
        cautions=cells.cautions,
    )


def _merged_names(above: list[str], row: list[str]) -> bool:
    """Whether instruments stand above the fields of each, in cells that go over several columns."""
    words = [cell.lower() for cell in row[1:] if cell]
    names = [cell for cell in above[1:] if cell]
    repeated = len(set(words)) <= len(words) / 2 and all(kind_of(w) == "text" for w in words)
    return repeated and len(names) == len(words) // len(set(words)) > 1


def is_number_type(column: Any) -> bool:
    """Whether a column or its type holds real numbers."""
    if isinstance(column, np.dtype):
        return column.kind in "iuf"
    kind = pd.api.types
    other = kind.is_bool_dtype(column) or kind.is_complex_dtype(column)
    return bool(kind.is_numeric_dtype(column) and not other)


def kind_of(cell: str) -> str:
    """``"blank"``, ``"number"``, ``"date"`` or ``"text"``.

    Example:
        >>> kind_of("1.5"), kind_of("2024-01-02"), kind_of("AAPL"), kind_of("n/a")
        ('number', 'date', 'text', 'blank')
    """
    if _is_plain(cell):
        return "number"
    if is_missing(cell):
        return "blank"
    if way_of(cell) is not None:
        return "date"
    return "number" if is_number_text(cell) else "text"


def _is_plain(cell: str) -> bool:
    """Whether a cell is a number that needs no second look; eight digits may be a date."""
    return _PLAIN_CELLS.fullmatch(cell) is not None


def _column_kinds(rows: list[list[str]]) -> dict[int, str]:
    """The usual kind of the cells of each column."""
    width = max(map(len, rows))
    rows = rows[-max(12, min(60, EXAMINED_CELLS // width)) :]
    kinds = {}
    for j, column in enumerate(zip_longest(*rows)):
        cells = [cell for cell in column if cell is not None]
        if cells and _PLAIN_CELLS.fullmatch("\n".join(cells)):
            kinds[j] = "number"
            continue
        seen = Counter(map(kind_of, cells))
        seen.pop("blank", None)
        kinds[j] = seen.most_common(1)[0][0] if seen else "blank"
    return kinds


def _is_data(row: list[str], kinds: dict[int, str]) -> bool:
    """Whether the cells of a row are of the kinds of their columns."""
    dates = [j for j, kind in kinds.items() if kind == "date"]
    if dates:
        return dates[0] < len(row) and kind_of(row[dates[0]]) == "date"
    numbers = [j for j, kind in kinds.items() if kind == "number" and j < len(row)]
    cells = [kind_of(row[j]) for j in numbers[:200]]
    blank, good = cells.count("blank"), cells.count("number")
    return bool(good and good + blank >= 0.5 * len(cells))


def _is_names(head: list[list[str]], kinds: dict[int, str]) -> bool:
    """Whether the first of rows of numbers holds names such as 10107, above fractions."""
    first, rest = head[0], head[1:]
    corner = kind_of(first[0]) != "number"
    labels = [j for j, kind in kinds.items() if kind == "text"]
    if corner and 0 in labels and "date" not in kinds.values():
        rest_names = [first[j] for j in range(len(first)) if j not in labels]
        if calendar_names(rest_names):
            return True  # years or the like above the columns, instruments in the rows
    if (
        rest
        and corner
        and all(i < len(first) and row[0] == first[i] for i, row in enumerate(rest, 1))
    ):
        return True  # the names above the columns are those of the rows: a matrix
    if len(rest) < 2 or "date" in kinds.values():
        return False
    cells = [cell for cell in first[int(corner) :] if cell]
    whole = all(cell.lstrip("-").isdigit() for cell in cells) and len(set(cells)) == len(cells)
    below = [cell for row in rest[:20] for cell in row]
    fractions = sum("." in cell or "," in cell or "e" in cell.lower() for cell in below)
    return whole and fractions > 0.5 * len(below)


def _is_footer(row: list[str], kinds: dict[int, str]) -> bool:
    """Whether a row below a table is a total, a note or the like."""
    if _is_data(row, kinds):
        return False
    if FOOTERS.match(row[0]) or sum(map(bool, row)) == 1:
        return kind_of(row[0]) != "date"
    dates = [j for j, kind in kinds.items() if kind == "date"]
    if dates:
        cell = row[dates[0]] if dates[0] < len(row) else ""
        return kind_of(cell) == "text"
    return kinds.get(0) == "number" and kind_of(row[0]) == "text"


def _end_of_table(
    cells: CellRows, first: int, kinds: dict[int, str], top: list[list[str]], width: int
) -> tuple[int, list[str], list[int]]:
    """The row after the table, notes about what stands below it, and rows of text within it."""
    count = len(cells)
    stop = count
    while stop > max(first + 1, count - TAIL_ROWS) and _is_footer(cells.row(stop - 1), kinds):
        row = cells.row(stop - 1)
        if top and row[0] in top[0][1:] and all(map(is_missing, row[1:])):
            break  # the last row of a triangle without its diagonal
        stop -= 1
    notes: list[str] = []
    comments: list[int] = []
    if stop == count - TAIL_ROWS:
        stop = count
    narrow = np.flatnonzero(cells.widths()[:stop, 0] < max(2, min(3, 0.4 * width)))
    for i in narrow[narrow > first].tolist():
        if _is_data(cells.row(i), kinds) or kind_of(cells.row(i)[0]) == "date":
            continue  # a row of missing numbers
        follows = i + 1 < stop and cells.widths()[i + 1, 0] >= 0.5 * width
        page = follows and bool(top) and cells.same(i + 1, first - 1)
        if (page and _goes_on(cells, first, i)) or (follows and _is_data(cells.row(i + 1), kinds)):
            comments.append(i)
            continue
        if i - first >= 3 and any(
            _is_data(cells.row(j), kinds) for j in range(i + 1, min(stop, i + 6))
        ):
            cells.cautions.append(
                f"the file has several tables: {cells.unit}s {cells.numbers[first]} to "
                f"{cells.numbers[i - 1]} were read, not those from {cells.unit} "
                f"{cells.numbers[i]} on"
            )
            return i, notes, comments
    if stop < count:
        labels = [next((c for c in cells.row(i) if c), "") for i in range(stop, count)]
        shown = ", ".join(repr(word[:30]) for word in labels[:3]) + (
            ", …" if len(labels) > 3 else ""
        )
        notes.append(f"{counted(count - stop, cells.unit)} below the table left out: {shown}")
    if comments:
        notes.append(f"{counted(len(comments), cells.unit)} of text within the table left out")
    return stop, notes, comments


def _goes_on(cells: CellRows, first: int, title: int) -> bool:
    """Whether the rows of a page, below its title and the names, go on with those before it."""
    if title + 2 >= len(cells):
        return False
    begin, before = cells.row(title + 2)[0], [cells.row(j)[0] for j in range(first, title)]
    return len(begin) == len(before[0]) and begin not in before


def _names(
    top: list[list[str]], width: int, cells: CellRows, begin: int
) -> tuple[list[str], list[list[str]]]:
    """Names of the columns, and all rows of names where there are several."""
    if not top:
        cells.notes.append("no names above the columns: they are called by their place, from 0 on")
        return [], []
    if len(top) == 1:
        return list(top[0]), []
    rows = [(row + [""] * width)[:width] for row in top]
    distinct = [len({c for c in row[1:] if c}) for row in rows]
    dated = [any(DATE_NAMES.fullmatch(cell.strip()) for cell in row[:20]) for row in rows]
    best = max(range(len(rows)), key=lambda i: (distinct[i], dated[i], i))
    names = list(rows[best])
    if not names[0]:
        names[0] = next((row[0] for row in reversed(rows) if row[0]), "")
    number = cells.numbers[begin + best]
    if len(rows) > 1:
        cells.notes.append(f"names of the columns taken from {cells.unit} {number}")
    return names, rows


def _check_widths(
    cells: CellRows, chosen: list[int], names: list[str], levels: list[list[str]]
) -> list[str]:
    """Names for all columns; rows that are longer or shorter than usual are an error."""
    widths = cells.widths()[chosen, 0]
    width = int(widths.max())
    if not names:
        return [str(j) for j in range(width)]
    if (
        len(names) == mode(widths.tolist()) - 1
        and widths.max() == len(names) + 1
        and (not DATE_NAMES.fullmatch(names[0].strip()) or _numbered(cells, chosen))
    ):
        names.insert(0, "")  # R writes no name above the names of the rows
        for level in levels:
            level.insert(0, "")
    long = np.flatnonzero(widths > len(names))
    if len(long):
        _ragged(cells, chosen, widths, long, len(names))
    raw = cells.widths()[chosen, 1]
    short = np.flatnonzero((raw < len(names)) & (raw < mode(raw.tolist())))
    if len(short):
        _ragged(cells, chosen, raw, short, len(names))
    return names


def _numbered(cells: CellRows, chosen: list[int]) -> bool:
    """Whether the first cells of the rows are 1, 2, 3 and so on."""
    return all(cells.row(i)[0] == str(n) for n, i in enumerate(chosen, 1))


def _ragged(
    cells: CellRows, chosen: list[int], widths: np.ndarray, wrong: np.ndarray, usual: int
) -> None:
    """Raise the error for rows of different lengths, with a guess at the cause."""
    places = [f"{cells.unit} {cells.numbers[chosen[i]]} has {widths[i]} cells" for i in wrong]
    listed = ", ".join(places[:LISTED]) + (
        f" and {len(places) - LISTED} more" if len(places) > LISTED else ""
    )
    remedy = "Give every line the same number of cells"
    if len(wrong) == 1 and wrong[0] == len(chosen) - 1 and widths[wrong[0]] < usual:
        remedy = "The last line is not complete: was the file cut off? Save or download it again"
    elif (widths == usual + 1).all():
        remedy = "Has a column no name? Give every column a name"
    elif (widths > usual).mean() > 0.3 and cells.separator == ",":
        remedy = (
            "Decimal commas or thousands marks between separating commas? Save it with ';' between "
            "the columns, or with quotes around the numbers"
        )
    raise InvalidFile(cells.source, f"{listed}; the header has {usual}", remedy)
