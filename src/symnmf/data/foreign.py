"""Files of others: looked at before they are read, so that small files cannot fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from symnmf.errors import InvalidFile, SymnmfError
from symnmf.memory import free_memory

#: What a file unpacks to may be this large without a question, and beyond it this many times the
#: file: zeros shrink a thousand times, numbers and names a few times.
PLAIN_BYTES, RATIO = 64 << 20, 100
#: Longest cell of a table of text.
CELL_BYTES = 10_000
#: Parts of a sparse matrix, and rows it may have for each stored entry.
PARTS = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets", "_is_array")
ROWS_AN_ENTRY = 100


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong with a file of others is one kind of error that names it.

    Readers of other libraries raise what they like on damaged files, so everything is caught.
    """
    try:
        yield
    except SymnmfError:
        raise
    except Exception as broken:
        words = str(broken).splitlines()
        reason = words[0][:200] if words else type(broken).__name__
        raise InvalidFile(str(path), f"cannot be read: {reason}", "Check the file") from broken


def check_expansion(path: Path, need: float) -> None:
    """Refuse a file that unpacks to far more than it is, or than there is memory for."""
    size, free = path.stat().st_size, free_memory()
    if need > max(PLAIN_BYTES, RATIO * size) or (free is not None and need > free / 2):
        raise InvalidFile(
            str(path),
            f"has {size / 1e6:.3g} MB and unpacks to {need / 1e6:.3g} MB",
            "Check where it comes from, or write the matrix as .npy",
        )


def map_npy(path: Path) -> np.ndarray:
    """A .npy file mapped read-only; no other format, whatever the file says it is."""
    mapped: np.ndarray = np.lib.format.open_memmap(path, mode="r")
    return mapped


def read_npz(path: Path) -> Any:
    """A scipy sparse matrix from its .npz, each part compared with its header first."""
    with ZipFile(path) as archive:
        parts = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wrong = [name for name in parts if name not in PARTS]
        if wrong or len(parts) != len(archive.infolist()):
            raise InvalidFile(
                str(path), "is no sparse matrix of scipy", "Write it with scipy.sparse.save_npz"
            )
        check_expansion(path, sum(info.file_size for info in parts.values()))
        arrays = {name: _member(archive, info) for name, info in parts.items()}
    return _sparse(path, arrays)


def _member(archive: ZipFile, info: Any) -> np.ndarray:
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
        shape, fortran, dtype = read(file)
        left = info.file_size - file.tell()
        if dtype.hasobject or min(shape, default=1) < 0 or prod(shape) * dtype.itemsize != left:
            raise ValueError(f"{info.filename} says {dtype} {shape} and holds {left} bytes")
        values = np.frombuffer(bytearray(file.read(left)), dtype=dtype)  # to be written to
    return values.reshape(shape, order="F" if fortran else "C")


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> Any:
    import scipy.sparse as sp

    form = arrays["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    shape = tuple(int(length) for length in arrays["shape"])
    entries = arrays["data"].size
    if min(shape, default=0) < 1 or max(shape) > ROWS_AN_ENTRY * (entries + 1):
        raise ValueError(f"shape {shape} with {entries} entries")
    if form == "coo":
        return sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    if form == "dia":
        return sp.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
    kinds = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}
    if form not in kinds:
        raise InvalidFile(str(path), f"has the format {form!r}", f"Use {', '.join(kinds)}")
    made = kinds[form]((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    made.check_format(full_check=True)
    return made


def read_parquet(path: Path) -> pd.DataFrame:
    """A table of numbers, dates and words: nothing nested, nothing that unpacks without end."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        head = pq.ParquetFile(file)
        schema, rows = head.schema_arrow, head.metadata.num_rows
        check_expansion(path, 8.0 * max(0, rows) * max(1, len(schema)))
        words = []
        for column in schema:
            kind = column.type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                words.append(column.name)
            elif not _plain(kind):
                raise InvalidFile(
                    str(path),
                    f"column {column.name[:40]!r} holds {str(column.type)[:60]}",
                    "Write numbers, dates and words, one a cell",
                )
        file.seek(0)
        table = pq.ParquetFile(file, read_dictionary=words).read()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in words:
            _check_words(path, name, column)
    frame: pd.DataFrame = table.cast(schema).to_pandas()
    return frame


def _plain(kind: Any) -> bool:
    """Whether a column of arrow is one number, date or word a cell."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal)
    return any(test(kind) for test in (*tests, pa.types.is_decimal, pa.types.is_null))


def _check_words(path: Path, name: str, column: Any) -> None:
    """Refuse words that are no words, before they are repeated in every cell."""
    for chunk in column.chunks:
        words = getattr(chunk, "dictionary", chunk)
        longest = max((len(word) for word in words.to_pylist() if word), default=0)
        check_expansion(path, float(len(chunk)) * longest)
        if longest > CELL_BYTES:
            raise InvalidFile(
                str(path),
                f"column {name[:40]!r} has a cell of {longest} characters",
                f"Cells have up to {CELL_BYTES}",
            )
