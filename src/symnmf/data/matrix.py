"""Reading a dependence matrix from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

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
        >>> read_matrix(path).loc["a", "b"]
        np.float64(0.5)
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InvalidFile(
            str(path), f"has the ending {path.suffix!r}", f"Use one of {', '.join(FORMATS)}"
        )
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path")
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        if path.suffix == ".npz":
            return sp.load_npz(path)
        if path.suffix == ".csv":
            return pd.read_csv(path, index_col=0)
        return _named_rows(pd.read_parquet(path))
    except (OSError, ValueError, KeyError, pd.errors.ParserError) as broken:
        reason = str(broken).splitlines()[0] if str(broken) else type(broken).__name__
        raise InvalidFile(str(path), f"cannot be read: {reason}", "Check the file") from broken


def _named_rows(table: pd.DataFrame) -> pd.DataFrame:
    """A parquet table without a named index has the names in its first column."""
    first = table.iloc[:, 0] if table.shape[1] else None
    if first is not None and not pd.api.types.is_numeric_dtype(first):
        return table.set_index(table.columns[0])
    return table
