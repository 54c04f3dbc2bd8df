"""Reading a dependence matrix from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.file_formats import read_file
from symnmf.data.header_rows import LISTED, RawTable
from symnmf.data.number_text import NumberStyle, find_style, is_missing, read_numbers
from symnmf.errors import InvalidFile, offered
from symnmf.storage.untrusted import map_npy, read_npz, reading


def read_matrix(path: str | Path) -> Any:
    """Read a square matrix from a file, in a form that :func:`symnmf.as_operator` accepts.

    A ``.npy`` file is mapped read-only, a ``.npz`` file holds a scipy sparse matrix; text files,
    workbooks, ``.parquet`` and ``.feather`` files are tables whose first column (or index) holds
    the names of the rows. A matrix of which only one triangle is filled is completed. No pickle is
    loaded.

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
    if path.suffix.lower() in (".npy", ".npz"):
        if not path.is_file():
            raise InvalidFile(str(path), "does not exist", "Check the path")
        with reading(path):
            return map_npy(path) if path.suffix.lower() == ".npy" else read_npz(path)
    found = read_file(path)
    with reading(path):
        if isinstance(found, RawTable):
            S = _from_cells(found, str(path))
            unnamed = isinstance(S.columns, pd.RangeIndex)
            S = completed(S, str(path))
            return S.to_numpy() if unnamed else S
        return completed(_named_rows(found), str(path))


def _from_cells(raw: RawTable, source: str) -> pd.DataFrame:
    """The matrix of a text file or a sheet; names are taken as they are written."""
    style = _style(raw)
    first = [str(c).strip() for c in raw.frame.iloc[:, 0]]
    names = [name.strip() for name in raw.names]
    labelled = len(first) + 1 == len(names)
    if not labelled and len(first) != len(names):
        _not_square(source, (len(first), len(names) - 1))
    columns = range(1 if labelled else 0, len(names))
    values = np.empty((len(raw.frame), len(columns)))
    bad = []
    for place, j in enumerate(columns):
        column = raw.frame.iloc[:, j]
        read = read_numbers(column, style)
        values[:, place] = read.values
        bad += [(int(i), j) for i in read.bad]
    if bad:
        bad.sort()
        cells = [
            f"{raw.place(i)}, column {names[j]!r} is {str(raw.frame.iloc[i, j])[:40]!r}"
            for i, j in bad[:LISTED]
        ]
        more = f" and {len(bad) - LISTED} more cells" if len(bad) > LISTED else ""
        raise InvalidFile(source, f"{'; '.join(cells)}, not a number{more}", "Correct the cells")
    if values.shape[0] != values.shape[1]:
        _not_square(source, values.shape)
    above = names[1:] if labelled else names
    unnamed = names == [str(j) for j in range(len(names))]
    if not labelled:
        return pd.DataFrame(values) if unnamed else pd.DataFrame(values, above, above)
    if unnamed or [n.lower() for n in first] == [n.lower() for n in above]:
        above = first
    return pd.DataFrame(values, first, above)


def _style(raw: RawTable) -> NumberStyle:
    cells = [
        c
        for j in range(1, raw.frame.shape[1])
        if raw.frame.dtypes.iloc[j].kind not in "fiu"
        for c in raw.frame.iloc[:50, j]
        if isinstance(c, str) and not is_missing(c)
    ]
    return find_style(cells[:5000], raw.separator)


def _not_square(source: str, shape: tuple[int, ...]) -> None:
    words = "kind='prices' or kind='returns'" if offered("kind") else "--prices or --returns"
    raise InvalidFile(
        source,
        f"has {shape[0]} rows and {shape[1]} columns: it is no square matrix",
        f"Pass a table of prices or returns with {words}",
    )


def _named_rows(table: pd.DataFrame) -> pd.DataFrame:
    """A table of a file without a named index has the names in its first column."""
    first = table.iloc[:, 0] if table.shape[1] else None
    if first is not None and not pd.api.types.is_numeric_dtype(first):
        table = table.set_index(table.columns[0])
    elif isinstance(table.index, pd.RangeIndex) and table.shape[0] == table.shape[1]:
        table = table.set_axis(table.columns, axis=0)
    return table


def completed(S: pd.DataFrame, source: str) -> pd.DataFrame:
    """A matrix whose columns are in the order of its rows and whose triangles are both filled.

    Arguments:
        S: the matrix; NaN where a cell is empty.
        source: name of the file, for the error.

    Raises:
        InvalidFile: the matrix is not square.

    Example:
        >>> half = pd.DataFrame([[1.0, np.nan], [0.5, 1.0]], list("ab"), list("ab"))
        >>> float(completed(half, "S.csv").loc["a", "b"])
        0.5
    """
    if S.shape[0] != S.shape[1]:
        _not_square(source, S.shape)
    rows, columns = [str(v) for v in S.index], [str(v) for v in S.columns]
    S = S.set_axis(rows, axis=0).set_axis(columns, axis=1).rename_axis(None)
    if rows != columns and sorted(rows) == sorted(columns) and len(set(rows)) == len(rows):
        S = S[rows]
    values = S.to_numpy()
    if values.dtype.kind != "f":
        return S
    empty = np.isnan(values)
    zero = values == 0
    for triangle in (np.tri(len(values), k=-1, dtype=bool), ~np.tri(len(values), dtype=bool)):
        if (
            len(values) > 2
            and zero[triangle].all()
            and not empty.any()
            and not zero[triangle.T].all()
        ):
            return pd.DataFrame(np.where(triangle, values.T, values), S.index, S.columns)
    strict = np.tri(len(values), k=-1, dtype=bool)
    for triangle in (strict, strict.T):
        rest = ~triangle & ~np.eye(len(values), dtype=bool)
        if empty[triangle].all() and not empty[rest].any() and len(values) > 1:
            values = np.where(triangle, values.T, values)
            return pd.DataFrame(values, S.index, S.columns)
    return S
