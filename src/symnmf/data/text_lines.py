"""Text files as rows of cells: separator and line numbers are found from the content."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mode

import numpy as np
import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.number_text import PLAIN, is_missing, is_number_text
from symnmf.errors import InvalidFile

#: Separators of columns that are tried, in order of preference, and their names.
SEPARATORS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'", "~": "'~'", "^": "'^'"}
#: Rows at the beginning and at the end of a file from which its structure is found.
HEAD_ROWS, TAIL_ROWS = 200, 60
#: Cells of the first rows that are examined to choose the separator.
EXAMINED_CELLS = 4000
#: Length of a line from which on numpy counts its separators.
LONG_LINE = 500
#: Columns of text up to which their cells are cut out of the lines.
SPLIT_COLUMNS = 4
#: Words that pandas reads as missing numbers; other spellings are recognized afterwards.
PANDAS_MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]


@dataclass
class CellRows:
    """Rows of cells of a file.

    Attributes:
        source: name of the file.
        unit: ``"line"`` of a text file or ``"row"`` of a sheet.
        numbers: number of each row in the file, from 1; rows without content are left out.
        separator: separator of a text file; empty for a sheet.
        notes: what was decided.
        cautions: what a person should know, and is warned of.
        lines: lines of a text file in which no cell goes over several lines; else empty.
        rows: the cells, where they are not taken from the lines.
    """

    source: str
    unit: str
    numbers: list[int]
    separator: str = ""
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    _widths: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def row(self, i: int) -> list[str]:
        """The cells of a row, without the empty ones at its end."""
        cells = self.rows[i] if self.rows else split(self.lines[i].decode(), self.separator)
        return stripped(cells)

    def widths(self) -> np.ndarray:  # (rows, 2)
        """Number of cells of each row, without and with the empty ones at its end."""
        if self._widths is None:
            self._widths = np.array([self._count(i) for i in range(len(self))])
        return self._widths

    def _count(self, i: int) -> tuple[int, int]:
        if self.rows:
            return len(self.row(i)), len(self.rows[i])
        line, mark = self.lines[i], self.separator.encode()
        if b'"' in line or mark == b" ":
            cells = split(line.decode(), self.separator)
            return len(stripped(cells)), len(cells)
        count = _occurrences(line, mark) + 1
        if line[-1:] != mark and not line[-1:].isspace():
            return count, count
        return len(self.row(i)), count

    def same(self, i: int, j: int) -> bool:
        """Whether two rows have the same cells."""
        if self.rows:
            return self.row(i) == self.row(j)
        return self.lines[i].strip() == self.lines[j].strip()

    def frame(self, chosen: Sequence[int], width: int, text: Iterable[int]) -> pd.DataFrame:
        """Some rows as a table: numbers where a column has only plain numbers, else text.

        Arguments:
            chosen: rows, in order.
            width: number of columns.
            text: columns that stay text.
        """
        if self.rows:
            body = [self.rows[i] for i in chosen]
            cells = [(row + [""] * width)[:width] for row in body]
            return pd.DataFrame(np.array(cells, dtype=object).reshape(len(cells), width))
        separator = r"\s+" if self.separator == " " else self.separator
        names = list(range(max(width, int(self.widths()[chosen, 1].max()))))
        text = set(text)
        joined = b"\n".join([self.lines[i] for i in chosen])
        by_hand = (
            len(text) <= SPLIT_COLUMNS < width and self.separator != " " and b'"' not in joined
        )
        found: pd.DataFrame = pd.read_csv(
            io.BytesIO(joined),
            sep=separator,
            header=None,
            names=names,
            index_col=False,
            usecols=[j for j in names if j not in text] if by_hand else None,
            dtype=None if by_hand else dict.fromkeys(text, str) if width > len(text) else str,
            na_values=PANDAS_MISSING,
            keep_default_na=False,
            low_memory=False,
            skipinitialspace=b" " in joined or b"\t" in joined,  # costs a tenth of the time
            skip_blank_lines=False,
        )
        if by_hand:  # a type for one column costs as much as a third of all columns
            if all(kind == np.float64 for kind in found.dtypes):  # one block, not one a column
                found = pd.DataFrame(found.to_numpy(), columns=found.columns)
            for j in sorted(text):
                found.insert(j, j, pd.Series(self._column(chosen, j), dtype=str))
            text = set()
        for j in text:  # a name may be NA
            gone = np.flatnonzero(found[j].isna())
            if len(gone):
                column = found[j].astype(object)
                column.iloc[gone] = [
                    ([*self.row(chosen[i]), *[""] * width])[j] for i in gone.tolist()
                ]
                found[j] = column
        return found if found.shape[1] == width else found.iloc[:, :width]

    def _column(self, chosen: Sequence[int], j: int) -> list[str]:
        """The cells of a column of a file without quotes."""
        mark = self.separator.encode()
        cut = (self.lines[i].split(mark, j + 1) for i in chosen)
        return [cells[j].decode().strip() if j < len(cells) else "" for cells in cut]


def _occurrences(line: bytes, mark: bytes) -> int:
    """How often a character occurs in a line; numpy is faster in long lines."""
    if len(line) < LONG_LINE:
        return line.count(mark)
    return int(np.count_nonzero(np.frombuffer(line, np.uint8) == mark[0]))


def split(line: str, separator: str) -> list[str]:
    """The cells of a line."""
    if separator == " ":
        if '"' not in line:
            return line.split()
        cells = next(csv.reader([" ".join(line.split())], delimiter=" "), [])
        return [cell.strip() for cell in cells]
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    return [cell.strip() for cell in cells]


def stripped(cells: list[str]) -> list[str]:
    """Cells without the empty ones at the end."""
    end = len(cells)
    while end and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def text_rows(text: bytes, source: str, notes: list[str]) -> CellRows:
    """The rows of the text of a file.

    Arguments:
        text: the text, in UTF-8.
        source: name of the file.
        notes: what was decided so far; continued.

    Raises:
        InvalidFile: the text is empty, or is a web page or another document.
    """
    end = text[-4000:]
    if end.rstrip(b" \t\r\n")[-1:] in (b"\x1a", b"\x00"):
        text = text[: len(text) - len(end) + len(end.rstrip(b"\x1a\x00 \t\r\n"))]
    if not text[:4000].strip() and not text.strip():
        raise InvalidFile(source, "is empty", "Pass a file with a header and rows")
    _check_markup(text[:2000].decode(errors="replace"), source)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = text.split(b"\n")
    separator = _declared(lines[0].decode())
    skip = 0 if separator is None else 1
    numbered = [
        (i + 1, line) for i, line in enumerate(lines) if i >= skip and line.strip(b" \t\x0b\x0c,;|")
    ]
    if not numbered:
        raise InvalidFile(source, "is empty", "Pass a file with a header and rows")
    head = [line.decode() for _, line in numbered[:HEAD_ROWS]]
    if separator is None:
        separator = find_separator(head)
        if separator == "" and all(re.fullmatch(r'".*"', line.strip()) for line in head):
            inner = [line.strip()[1:-1].replace('""', '"') for line in head]
            if separator := find_separator(inner):
                numbered = [(i, line.strip()[1:-1].replace(b'""', b'"')) for i, line in numbered]
                notes.append("quotes around whole lines removed")
    separator = separator or ","
    if separator == " " and _wide_gaps(head):
        separator = "\t"
        numbered = [(i, re.sub(rb"\s{2,}", b"\t", line.strip())) for i, line in numbered]
        notes.append("columns separated by two spaces and more")
    elif separator != ",":
        numbered = _without_frame(numbered) if separator == "|" else numbered
        notes.append(f"columns separated by {SEPARATORS.get(separator, 'spaces')}")
    numbers = [i for i, _ in numbered]
    rows = CellRows(source, "line", numbers, separator, notes)
    rows.lines = [line for _, line in numbered]
    if b'"' in text and any(line.count(b'"') % 2 for line in rows.lines):
        return _with_long_cells(lines[skip:], rows, skip)
    return rows


def _without_frame(numbered: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Lines without the frame that programs of the terminal, and Markdown, draw around cells."""
    inner = [(i, line.strip()) for i, line in numbered if line.strip(b"-+|:= \t")]
    if not all(line[:1] == line[-1:] == b"|" for _, line in inner[:2]):
        return numbered
    return [(i, line.removeprefix(b"|").removesuffix(b"|")) for i, line in inner]


def _wide_gaps(lines: Sequence[str]) -> bool:
    """Whether cells with single spaces, such as names of two words, stand two spaces apart."""
    single = {len(line.split()) for line in lines}
    double = {len(re.split(r"\s{2,}", line.strip())) for line in lines}
    return len(single) > 1 and len(double) == 1 and min(double) > 2


def _with_long_cells(lines: list[bytes], rows: CellRows, skipped: int) -> CellRows:
    """Rows of a file in which a cell in quotes goes over several lines."""
    reader = csv.reader(
        (line.decode() + "\n" for line in lines), delimiter=rows.separator, strict=True
    )
    numbers, cells, begin = [], [], 1 + skipped
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                numbers.append(begin)
                cells.append([" ".join(cell.split()) for cell in row])
            begin = reader.line_num + 1 + skipped
    except csv.Error as broken:
        raise InvalidFile(
            rows.source, f"has a quote that is not closed, from line {begin} on", "Close the quote"
        ) from broken
    rows.numbers, rows.rows, rows.lines = numbers, cells, []
    return rows


def _declared(line: str) -> str | None:
    """The separator that Excel declares in the first line, such as ``sep=;``."""
    found = re.fullmatch(r'"?sep=(.)"?', line.strip(), re.IGNORECASE)
    if found is None and line.strip().lower() == "sep=":
        return "\t"
    return found[1] if found else None


def _check_markup(text: str, source: str) -> None:
    begin = text.lstrip().lower()
    kinds = {
        "<!doctype html": "a web page",
        "<html": "a web page",
        "<table": "a web page",
        "<?xml": "an XML document",
        "{\\rtf": "a text document",
        "%pdf": "a PDF document",
    }
    for mark, words in kinds.items():
        if begin.startswith(mark):
            raise InvalidFile(
                source, f"is {words}, not a table", "Open it in a spreadsheet and save it as .csv"
            )
    if begin.startswith("version https://git-lfs"):
        raise InvalidFile(source, "is a pointer of Git LFS, not the table", "Run `git lfs pull`")
    if begin.startswith(("[[", "[{")) or (begin.startswith(("{", "[")) and ":" in begin):
        raise InvalidFile(source, "is JSON, not a table", "Write the table as .csv or .parquet")


def find_separator(lines: Sequence[str]) -> str:
    """The separator that splits the lines into the most regular and readable rows; "" if none.

    Arguments:
        lines: lines of a file.

    Example:
        >>> find_separator(["date;a;b", "2024-01-01;1,5;2,5", "2024-01-02;1,6;2,6"])
        ';'
    """
    best, found = 0.0, ""
    for separator in (*SEPARATORS, " "):
        score = _score(lines, separator)
        if score > best * 1.02:
            best, found = score, separator
    return found


def _score(lines: Sequence[str], separator: str) -> float:
    """Share of the lines with the usual width, times the share of their cells that are values."""
    try:
        most = max(12, 200 * EXAMINED_CELLS // max(1, sum(map(len, lines[:20]))))
        rows = [stripped(split(line, separator)) for line in lines[:most]]
    except csv.Error:
        return 0.0
    wide = [len(row) for row in rows if len(row) > 1]
    if len(wide) < 0.5 * len(rows):
        return 0.0
    usual = mode(wide)
    regular = [row for row in rows if len(row) == usual or len(row) == usual - 1]
    if len(regular) < 2:
        return 0.0
    limit = max(3, EXAMINED_CELLS // usual)
    cells = [cell for row in regular[-limit:] for cell in row[:500]]
    good = sum(is_value(cell) for cell in cells)
    text = sum(
        not is_value(cell) and bool(re.fullmatch(r"[\w .&/^=+()-]{1,40}", cell)) for cell in cells
    )
    readable = (good + 0.5 * text) / max(1, len(cells))
    return len(regular) / len(rows) * readable * (0.9 if separator == " " else 1.0)


def is_value(cell: str) -> bool:
    """Whether a cell is a number, a date or missing."""
    return (
        bool(PLAIN.fullmatch(cell))
        or is_missing(cell)
        or is_number_text(cell)
        or way_of(cell) is not None
    )
