"""Reading a dependence matrix from a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd

from symnmf.errors import InvalidFile
from symnmf.storage.untrusted import map_npy, read_npz, read_parquet, reading

#: Endings of the files that can be read.
FORMATS = (".npy", ".npz", ".csv", ".parquet")


def read_matrix(path: str | Path) -> Any:
    """Read a square matrix from a file, in a form that :func:`symnmf.as_operator` accepts.

    A ``.npy`` file is mapped read-only, a ``.npz`` file holds a scipy sparse matrix; ``.csv`` and
    ``.parquet`` files are tables whose first column (or index) holds the names of the rows. No
    pickle is loaded.

    Arguments:
        path: path of the file.

    Raises:
        InvalidFile: the file is missing or cannot be read as a matrix.

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
    """Read names from the first row and the first column, without changing them."""
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
            f"has {len(head)} cells in its first row and {body.shape[1]} in the other rows",
            "The first row needs a corner cell and one name per column",
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
