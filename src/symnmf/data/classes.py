"""Known classes of the instruments, such as sectors."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.fields import field_name
from symnmf.data.file_formats import read_file
from symnmf.data.header_rows import RawTable
from symnmf.data.long_tables import NAME_COLUMNS
from symnmf.data.number_text import find_style, is_number_text
from symnmf.display import counted
from symnmf.errors import DataWarning, InvalidFile

#: Names of columns of classes, in order of preference.
CLASS_COLUMNS = (
    "class", "sector", "gics sector", "industry", "group", "category", "classification",
    "gics industry", "icb industry", "sub industry", "region", "country", "cluster", "label",
    "type",
)  # fmt: skip


def read_classes(path: str | Path) -> dict[str, str]:
    """Read the class of each name from a file.

    The file has a header line, and columns of names and of classes in any order: they are found by
    their headings (ticker, name, …; sector, class, …), else names are in the first column and
    classes in the second. Names without a class are left out, with a warning.

    Arguments:
        path: path of a text file, a workbook, a .parquet or .feather file.

    Raises:
        InvalidFile: the file is missing or cannot be read, or a name has two classes.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "sectors.csv"
        >>> _ = path.write_text("ticker,sector\\nXOM,energy\\nKO,food\\n")
        >>> read_classes(path)
        {'XOM': 'energy', 'KO': 'food'}
    """
    return _read_words(Path(path), "class")


def _read_words(path: Path, what: str) -> dict[str, str]:
    """A word for each name: its class, or its weight."""
    names, columns, places = _columns(path, what)
    if len(columns) < 2:
        raise InvalidFile(
            str(path), f"has {len(columns)} column", f"Write a name and a {what} in each line"
        )
    first, second = _roles(names)
    _check_words(path, columns[first], columns[second], what)
    found: dict[str, str] = {}
    empty = 0
    for name, kind, place in zip(columns[first], columns[second], places, strict=True):
        if not name:
            continue
        if not kind:
            empty += 1
            continue
        if found.get(name, kind) != kind:
            raise InvalidFile(
                str(path), f"{place} gives {name!r} a second {what}", "Keep one of them"
            )
        found[name] = kind
    if not found:
        raise InvalidFile(
            str(path), f"gives no name a {what}", f"Write a name and a {what} in each line"
        )
    if empty:
        warnings.warn(
            f"{path}: {counted(empty, 'name has', 'names have')} an empty class: left out of the "
            "comparison",
            DataWarning,
            stacklevel=2,
        )
    return found


def _check_words(path: Path, names: list[str], kinds: list[str], what: str) -> None:
    """Raise an error for a table of dates and numbers, which gives no name a class or weight."""
    dates = sum(way_of(name) is not None for name in names)
    fractions = sum("." in kind and is_number_text(kind) for kind in kinds)
    if names and dates > 0.8 * len(names) and fractions > 0.8 * len(kinds):
        folder = "the folder of a run, or " if what == "class" else ""
        raise InvalidFile(
            str(path),
            f"holds dates and numbers such as {names[-1]!r} and {kinds[-1]!r}",
            f"Pass {folder}a table with a name and a {what} in each line",
        )


def _columns(path: Path, what: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Headings, columns of text, and the place of each row."""
    raw = _plain_rows(path, what)
    if raw is not None:
        return raw
    found = read_file(path)
    if isinstance(found, RawTable):  # pragma: no cover - text is read by its rows
        frame, names = found.frame, found.names
        places = [found.place(i) for i in range(len(frame))]
    else:
        frame = found if isinstance(found.index, pd.RangeIndex) else found.reset_index()
        names = [str(c) for c in frame.columns]
        places = [f"row {i}" for i in range(len(frame))]
    return names, [_texts(frame.iloc[:, j]) for j in range(frame.shape[1])], places


def _plain_rows(path: Path, what: str) -> tuple[list[str], list[list[str]], list[str]] | None:
    """A text file or a workbook by its rows, which need not hold a number."""
    from symnmf.data.file_formats import read_rows

    cells = read_rows(path)
    if cells is None:
        return None
    rows = [cells.row(i) for i in range(len(cells))]
    width = max(map(len, rows))
    if width < 2:
        return rows[0], [[r[0] for r in rows]], []
    for i, row in enumerate(rows):
        if len(row) < 2 and i == 0:
            raise InvalidFile(
                str(path),
                f"line {cells.numbers[i]} has {len(row)} cell",
                f"Write a name and a {what} in each line",
            )
    padded = [(row + [""] * width)[:width] for row in rows]
    body = padded[1:]
    return (
        padded[0],
        [[r[j].strip() for r in body] for j in range(width)],
        [f"{cells.unit} {n}" for n in cells.numbers[1:]],
    )


def _texts(column: pd.Series) -> list[str]:
    return ["" if c is None or c != c else str(c).strip() for c in column]


def _roles(names: list[str]) -> tuple[int, int]:
    """Columns of the names and of the classes, by their headings where these are known."""
    words = [field_name(name) for name in names]
    kinds = [j for word in CLASS_COLUMNS for j in range(len(words)) if words[j] == word]
    labels = [j for word in NAME_COLUMNS for j in range(len(words)) if words[j] == word]
    if labels and kinds:
        return labels[0], kinds[0]
    if labels:
        return labels[0], next(j for j in range(len(words)) if j != labels[0])
    if kinds:
        return next(j for j in range(len(words)) if j != kinds[0]), kinds[0]
    return 0, 1


def read_weights(path: str | Path) -> dict[str, float]:
    r"""Read the weight of each name from a file, such as the positions of a portfolio.

    Arguments:
        path: path of a table with a column of names and a column of numbers.

    Raises:
        InvalidFile: the file is missing or cannot be read, or a weight is no number.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "weights.csv"
        >>> _ = path.write_text("ticker;weight\nXOM;0,25\nKO;75 %\n")
        >>> read_weights(path)
        {'XOM': 0.25, 'KO': 0.75}
    """
    found: dict[str, float] = {}
    words = _read_words(Path(path), "weight")
    style = find_style(words.values(), ";")
    for name, cell in words.items():
        number = style.parse(cell)
        if number is None:
            raise InvalidFile(
                str(path), f"the weight of {name!r} is {cell!r}", "Write a number for each name"
            )
        found[name] = number[0]
    return found
