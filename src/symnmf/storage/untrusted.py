"""Readers of untrusted files, which check first that a small file does not fill the memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from symnmf.errors import InvalidFile, SymnmfError
from symnmf.resources import free_memory

#: Largest JSON file that is read.
JSON_BYTES = 4 << 20


def read_json(path: Path, most: int = JSON_BYTES) -> Any:
    """Read an untrusted JSON file of at most ``most`` bytes.

    Raises:
        InvalidFile: the file is missing, too large, or not JSON.
    """
    try:
        if path.exists() and not path.is_file():  # reading a pipe would block
            raise InvalidFile(str(path), "is not a file", "Check the path")
        if path.stat().st_size > most:
            raise InvalidFile(str(path), "is too large for a description", "Use another file")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        if isinstance(broken, FileNotFoundError):
            raise InvalidFile(str(path), "does not exist", "Check the path") from broken
        why = broken.strerror if isinstance(broken, OSError) else "its text is not JSON"
        raise InvalidFile(str(path), f"cannot be read: {why}", "Check it, or run again") from broken


#: Content up to this number of bytes is always unpacked, larger content only up to this multiple
#: of the file size: zeros compress by a factor of a thousand, numbers and names by a small factor.
ALWAYS_UNPACKED_BYTES, MAX_EXPANSION = 64 << 20, 100


#: Maximum length of a text cell of a table.
CELL_BYTES = 10_000


#: Members of the .npz file of a sparse matrix.
PARTS = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets", "_is_array")


#: Maximum rows of a sparse matrix per stored entry.
ROWS_PER_ENTRY = 100


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert any error of a reader into InvalidFile, which names the file.

    Readers of other libraries raise errors of many types on damaged files, so every exception is
    caught.
    """
    try:
        yield
    except SymnmfError:
        raise
    except Exception as broken:
        words = str(broken).splitlines()
        reason = words[0][:200] if words else type(broken).__name__
        wrong = LookupError | AttributeError | TypeError | AssertionError | UnicodeError
        if isinstance(broken, wrong) or re.search(r"\bb['\"]|<class|0x", reason):
            reason = "its content is not that of such a file"  # words of Python help nobody
        remedy = "Check the file"
        if re.search(r"magic bytes|corrupt|truncat", reason, re.IGNORECASE):
            reason, remedy = "it is damaged or was cut off", "Save or download it again"
        reason = reason.rstrip(".")
        raise InvalidFile(str(path), f"cannot be read: {reason}", remedy) from broken


def check_expansion(path: Path, need: float) -> None:
    """Raise InvalidFile if a file unpacks to far more than its size or to half the memory."""
    size, free = path.stat().st_size, free_memory()
    if need > max(ALWAYS_UNPACKED_BYTES, MAX_EXPANSION * size) or (
        free is not None and need > free / 2
    ):
        raise InvalidFile(
            str(path),
            f"has {size / 1e6:.3g} MB and unpacks to {need / 1e6:.3g} MB",
            "Check where it comes from, or write the matrix as .npy",
        )


def map_npy(path: Path) -> np.ndarray:
    """A .npy file, mapped read-only; any other content is an error."""
    mapped: np.ndarray = np.lib.format.open_memmap(path, mode="r")
    return mapped


def read_npz(path: Path) -> Any:
    """A scipy sparse matrix from an .npz file; the size of each member is checked first."""
    with ZipFile(path) as archive:
        parts = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wrong = [name for name in parts if name not in PARTS]
        if wrong or len(parts) != len(archive.infolist()):
            raise InvalidFile(
                str(path), "is not a sparse matrix of scipy", "Write it with scipy.sparse.save_npz"
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
            raise ValueError(f"{info.filename} declares {dtype} {shape} but holds {left} bytes")
        values = np.frombuffer(bytearray(file.read(left)), dtype=dtype)  # a writable copy
    return values.reshape(shape, order="F" if fortran else "C")


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> Any:
    import scipy.sparse as sp

    form = arrays["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    shape = tuple(int(length) for length in arrays["shape"])
    entries = arrays["data"].size
    if min(shape, default=0) < 1 or max(shape) > ROWS_PER_ENTRY * (entries + 1):
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
    """A table of numbers, dates and text from an untrusted .parquet file.

    Raises:
        InvalidFile: a column is nested, or the file unpacks to far more than its size.
    """
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
                raise _not_plain(path, column)
        file.seek(0)
        table = pq.ParquetFile(file, read_dictionary=words).read()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in words:
            _check_words(path, name, column)
    frame: pd.DataFrame = table.cast(schema).to_pandas()
    return frame


def read_arrow(path: Path) -> pd.DataFrame:
    """A table of numbers, dates and text from an untrusted .feather (Arrow) file.

    Raises:
        InvalidFile: a column is nested, or the file unpacks to far more than its size.
    """
    import pyarrow as pa
    import pyarrow.feather as feather

    table = feather.read_table(path, memory_map=False)
    check_expansion(path, float(table.nbytes))
    for column in table.schema:
        kind = column.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (_plain(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise _not_plain(path, column)
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _not_plain(path: Path, column: Any) -> InvalidFile:
    """The error for a column whose cells are lists, records or bytes."""
    kind = re.sub(r"[^a-z].*", "", str(column.type))
    what = {"list": "lists", "struct": "records", "map": "records", "binary": "bytes"}
    words = what.get(kind.removeprefix("large").removeprefix("_"), "neither numbers nor text")
    return InvalidFile(
        str(path),
        f"column {column.name[:40]!r} holds {words}",
        "Write one number, date or text per cell",
    )


def _plain(kind: Any) -> bool:
    """Whether an arrow column has one number or date per cell."""
    import pyarrow as pa

    if getattr(kind, "extension_name", "") == "pandas.period":
        return True
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal)
    return any(test(kind) for test in (*tests, pa.types.is_decimal, pa.types.is_null))


def _check_words(path: Path, name: str, column: Any) -> None:
    """Raise InvalidFile for very long texts, before they are repeated in every cell."""
    for chunk in column.chunks:
        words = getattr(chunk, "dictionary", chunk)
        longest = max((len(word) for word in words.to_pylist() if word), default=0)
        check_expansion(path, float(len(chunk)) * longest)
        if longest > CELL_BYTES:
            raise InvalidFile(
                str(path),
                f"column {name[:40]!r} has a cell of {longest} characters",
                f"A cell may have up to {CELL_BYTES} characters",
            )


@contextmanager
def complete(folder: str | Path, what: str, remedy: str) -> Iterator[None]:
    """Convert missing or ill-typed fields of an untrusted file into InvalidFile.

    Arguments:
        folder: folder or file that is read, for the message.
        what: noun for the expected content.
        remedy: instruction for the caller.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(
            str(folder), f"contains incomplete or invalid data for the {what}", remedy
        ) from broken
