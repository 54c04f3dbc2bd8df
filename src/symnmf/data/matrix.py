"""Reading a dependence matrix from a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd

from symnmf.data.foreign import map_npy, read_npz, read_parquet, reading
from symnmf.errors import InvalidFile

FORMATS = (".npy", ".npz", ".csv", ".parquet")


def read_matrix(path: str | Path) -> Any:
    """A square matrix from a file, in a form that :func:`symnmf.as_operator` takes.

    ``.npy`` is mapped read-only, ``.npz`` is a scipy sparse matrix; ``.csv`` and ``.parquet`` are
    tables whose first column (or index) holds the names of the rows. No pickle is loaded.

    Arguments:
        path: the file.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "S.csv"
        >>> _ = path.write_text("name,a,b\\na,1,0.5\\nb,0.5,1\\n")
        >>> float(read_matrix(path).loc["a", "b"])
        0.5
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InvalidFile(
            str(path), f"has the ending {path.suffix!r}", f"Use one of {', '.join(FORMATS)}"
        )
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path")
    with reading(path):
        if path.suffix == ".npy":
            return map_npy(path)
        if path.suffix == ".npz":
            return read_npz(path)
        if path.suffix == ".csv":
            return _read_csv(path)
        return _named_rows(read_parquet(path))


def _read_csv(path: Path) -> pd.DataFrame:
    """Names from the first row and the first column, as they are written."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        head = next(csv.reader(file), [])
    if head and all(_is_number(cell) for cell in head):
        raise InvalidFile(
            str(path), "has no names in its first row", "Write names in the first row and column"
        )
    body = pd.read_csv(
        path, header=None, skiprows=1, dtype={0: str}, na_filter=False, encoding="utf-8-sig"
    )
    if body.shape[1] != len(head):
        raise InvalidFile(
            str(path),
            f"has {len(head)} cells in its first row and {body.shape[1]} in the others",
            "The first row needs a corner cell and one name a column",
        )
    body = body.set_index(0)
    body.columns = pd.Index(head[1:])
    return body.rename_axis(None)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _named_rows(table: pd.DataFrame) -> pd.DataFrame:
    """A parquet table without a named index has the names in its first column."""
    first = table.iloc[:, 0] if table.shape[1] else None
    if first is not None and not pd.api.types.is_numeric_dtype(first):
        return table.set_index(table.columns[0])
    return table


def read_classes(path: str | Path) -> dict[str, str]:
    """Class of each name, from a .csv with the two in its first columns and a line of headings.

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
                    str(path), f"line {line} has {len(row)} cell", "Write a name and a class"
                )
            if found.get(row[0], row[1]) != row[1]:
                raise InvalidFile(
                    str(path), f"line {line} gives {row[0]!r} a second class", "Keep one of them"
                )
            found[row[0]] = row[1]
    return found
