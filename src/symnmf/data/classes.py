"""Known classes of the instruments, such as sectors."""

from __future__ import annotations

import csv
from pathlib import Path

from symnmf.errors import InvalidFile
from symnmf.storage.untrusted import reading


def read_classes(path: str | Path) -> dict[str, str]:
    """Read the class of each name from a .csv file.

    The file has a header line; names are in the first column and classes in the second.

    Arguments:
        path: path of the file.

    Raises:
        InvalidFile: the file is missing, is not UTF-8, or a line does not give one class per name.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "sectors.csv"
        >>> _ = path.write_text("ticker,sector\\nXOM,energy\\nKO,food\\n")
        >>> read_classes(path)
        {'XOM': 'energy', 'KO': 'food'}
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path")
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except ValueError as broken:
        raise InvalidFile(str(path), "is not written in UTF-8", "Save it as UTF-8") from broken
    with reading(path):
        for line, row in enumerate(csv.reader(lines[1:]), start=2):
            if not row:
                continue
            if len(row) < 2:
                raise InvalidFile(
                    str(path),
                    f"line {line} has {len(row)} cell",
                    "Write a name and a class in each line",
                )
            if found.get(row[0], row[1]) != row[1]:
                raise InvalidFile(
                    str(path), f"line {line} gives {row[0]!r} a second class", "Keep one of them"
                )
            found[row[0]] = row[1]
    return found
