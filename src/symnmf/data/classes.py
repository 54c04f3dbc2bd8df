"""Known classes of the instruments, such as sectors."""

from __future__ import annotations

import warnings
from pathlib import Path

from symnmf.data.name_tables import AMOUNT_WORDS, OTHER_WORDS, WEIGHT_WORDS, NameTable, spoken
from symnmf.data.number_text import is_number_text
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

    The columns of names and of classes are found by their headings (ticker, name, …; sector,
    class, …), else names are in the first column and classes in the second. A first line without
    known headings is taken for a name with its class if another name has the same class. Names
    without a class are left out, with a warning.

    Arguments:
        path: path of a text file, a workbook, a .parquet or .feather file.

    Raises:
        InvalidFile: the file is missing or cannot be read, a name has two classes, or every name
            has a class of its own, as in a table of numbers.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "sectors.csv"
        >>> _ = path.write_text("ticker,sector\\nXOM,energy\\nKO,food\\n")
        >>> read_classes(path)
        {'XOM': 'energy', 'KO': 'food'}
    """
    table = NameTable.read(Path(path), "class")
    first, second = _roles(table)
    table.check_no_observations(first, second)
    unknown = table.names_column() is None and table.headed(CLASS_COLUMNS) is None
    if unknown and table.headings[second] in table.columns[second]:
        table = table.with_first_line()
    _check_heading(table, second)
    found: dict[str, str] = {}
    empty = 0
    rows = zip(table.columns[first], table.columns[second], table.places, strict=True)
    for name, kind, place in rows:
        if name and not kind:
            empty += 1
        elif name and found.setdefault(name, kind) != kind:
            raise InvalidFile(
                str(path), f"{place} gives {name!r} a second class", "Keep one of them"
            )
    if not found:
        raise InvalidFile(
            str(path), "gives no name a class", "Write a name and a class in each line"
        )
    _check_shared(path, found)
    if empty:
        warnings.warn(
            f"{path}: {counted(empty, 'name has', 'names have')} an empty class: left out of the "
            "comparison",
            DataWarning,
            stacklevel=2,
        )
    return found


def _check_heading(table: NameTable, column: int) -> None:
    """Raise an error for a column of numbers such as prices and weights."""
    heading, cells = table.headings[column], table.columns[column]
    known = table.headed(CLASS_COLUMNS) is None and any(
        words.search(spoken(heading)) for words in (WEIGHT_WORDS, AMOUNT_WORDS, OTHER_WORDS)
    )
    if known and any(map(is_number_text, cells)):
        raise InvalidFile(
            str(table.path),
            f"the column {heading!r} holds numbers and no classes",
            "Pass a table with a name and a class in each line, with a heading such as 'sector'",
        )


def _check_shared(path: str | Path, found: dict[str, str]) -> None:
    """Raise an error if the classes are numbers with decimals, or none has two names."""
    fractions = all("." in kind and is_number_text(kind) for kind in found.values())
    alone = len(found) > 2 and len(set(found.values())) == len(found)
    if fractions or alone:
        name, kind = next(iter(found.items()))
        problem = "holds numbers" if fractions else "has a class of its own for every name"
        raise InvalidFile(
            str(path),
            f"{problem}, such as {kind!r} for {name!r}: these are no classes",
            "Pass a table with a name and a class in each line, with a heading such as 'sector'",
        )


def _roles(table: NameTable) -> tuple[int, int]:
    """Columns of the names and of the classes, by their headings where these are known."""
    names, classes = table.names_column(), table.headed(CLASS_COLUMNS)
    if names is None:
        names = 0 if classes is None or classes > 0 else 1
    if classes is None:
        classes = 1 if names == 0 else 0
    return names, classes
