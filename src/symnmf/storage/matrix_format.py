"""Format of matrices on disk, which are written in pieces, verified, and mapped read-only.

A folder holds ``data.npy``, small companion files (labels, names), and a manifest that is renamed
into place when everything else is written. The manifest has a checksum for each of the fixed row
chunks, so that a process that works on some of the rows reads and verifies only those.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import torch

from symnmf.errors import InvalidFile
from symnmf.numerics import chunk_edges
from symnmf.provenance import Provenance
from symnmf.storage.kinds import MATRIX
from symnmf.storage.manifest import MANIFEST, read_manifest
from symnmf.storage.untrusted import read_json

#: File of the array, and journal of an unfinished array.
DATA, PROGRESS = MATRIX.files[0], "progress.jsonl"


#: Maximum bytes of the file of names, in total and per row.
NAMES_BYTES, NAME_BYTES = 256 << 20, 2000


#: Types of the array.
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class StoredMatrix(Provenance):
    """The content of the manifest of a matrix.

    Attributes:
        form: ``"dense"`` (the file is S) or ``"gram"`` (the file is B of S = B Bᵀ + shift·I).
        shape, dtype: shape and type of the array in the file.
        shift: number added to the diagonal of B Bᵀ.
        chunks: SHA-256 of the bytes of each fixed row chunk.
        frob_sq, total: squared norm and sum of the entries of the array.
        smallest: smallest entry of the array.
        names: names of the rows, or None.
        description: origin of the matrix, as words and numbers.
    """

    form: str
    shape: tuple[int, int]
    dtype: str
    shift: float
    chunks: tuple[str, ...]
    frob_sq: float
    total: float
    smallest: float
    names: tuple[str, ...] | None
    description: dict[str, Any]

    @property
    def is_tail(self) -> bool:
        """Whether the matrix was generated as a TPDM, or is described as one."""
        return "tpdm" in (self.description.get("benchmark"), self.description.get("kind"))

    @property
    def steps(self) -> tuple[str, ...]:  # type: ignore[override]
        """The content of the folder, in a sentence."""
        return (f"{self.form} matrix of {self.shape[0]} rows on disk",)


def read_stored_matrix(folder: Path) -> StoredMatrix:
    """Read and validate the manifest of a matrix, and verify its small files.

    Raises:
        InvalidFile: the folder does not contain a complete matrix.
    """
    if not (folder / MANIFEST).is_file():
        unfinished = (folder / PROGRESS).is_file()
        raise InvalidFile(
            str(folder),
            f"contains {'an unfinished' if unfinished else 'no'} matrix",
            "Run the same command again to resume" if unfinished else "Check the folder",
        )
    small, content = read_manifest(folder, MATRIX.name)
    try:
        most = min(NAMES_BYTES, NAME_BYTES * int(content["shape"][0]))
        names = read_json(small["names"], most) if "names" in small else None
        stored = StoredMatrix(
            form=str(content["form"]),
            shape=(int(content["shape"][0]), int(content["shape"][1])),
            dtype=str(content["dtype"]),
            shift=float(content["shift"]),
            chunks=tuple(str(c) for c in content["chunks"]),
            frob_sq=float(content["frob_sq"]),
            total=float(content["total"]),
            smallest=float(content["smallest"]),
            names=None if names is None else tuple(names),
            description=dict(content["about"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(
            str(folder), "does not have a complete manifest", "Write the matrix again"
        ) from broken
    n, width = stored.shape
    numbers = (stored.frob_sq, stored.total, stored.smallest, stored.shift)
    good = (
        stored.form in ("dense", "gram")
        and stored.dtype in DTYPES
        and n >= 2
        and width >= 1
        and all(isfinite(x) for x in numbers)
        and stored.frob_sq > 0
        and stored.shift >= 0
        and (stored.form == "gram" or (width == n and stored.smallest >= 0))
        and (names is None or (len(names) == n and all(isinstance(x, str) for x in names)))
    )
    if not good:
        raise InvalidFile(str(folder), "does not describe a valid matrix", "Check the folder")
    return stored


def _check_header(path: Path, stored: StoredMatrix) -> tuple[int, int]:
    """Size of the file and offset of the data, after comparing the header with the manifest."""
    if not path.is_file() or path.is_symlink():
        raise InvalidFile(str(path), "is missing", "The folder is not complete")
    with path.open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
            shape, fortran, dtype = read(file)
        except (ValueError, AttributeError, SyntaxError, TokenError, RecursionError) as broken:
            raise InvalidFile(str(path), "is not a .npy file", "Write the matrix again") from broken
        offset = file.tell()
    expected = (stored.shape, False, np.dtype(stored.dtype).str)
    if (tuple(shape), bool(fortran), dtype.str) != expected:
        raise InvalidFile(
            str(path),
            f"holds {dtype.name} {tuple(shape)}, not {stored.dtype} {stored.shape}",
            "It does not belong to this manifest: restore it, or write it again",
        )
    size = offset + stored.shape[0] * stored.shape[1] * dtype.itemsize
    if path.stat().st_size != size:
        raise InvalidFile(
            str(path),
            f"has {path.stat().st_size} bytes instead of {size}",
            "It was truncated or replaced: restore it, or write it again",
        )
    return size, offset


def _verify(path: Path, stored: StoredMatrix, offset: int, share: range) -> None:
    """Verify the checksums of some chunks, in threads: reading releases the interpreter lock."""
    edges = chunk_edges(stored.shape[0])
    width = stored.shape[1] * DTYPES[stored.dtype].itemsize
    if len(stored.chunks) != len(edges) - 1:
        raise InvalidFile(str(path), "does not have a checksum for each chunk", "Write it again")

    def wrong(chunk: int) -> bool:
        begin, stop = offset + edges[chunk] * width, offset + edges[chunk + 1] * width
        return _digest(path, begin, stop) != stored.chunks[chunk]

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        bad = [chunk for chunk, w in zip(share, pool.map(wrong, share), strict=True) if w]
    if bad:
        rows = f"rows {edges[bad[0]]} to {edges[bad[0] + 1] - 1}"
        raise InvalidFile(
            str(path),
            f"is damaged or was replaced: the checksum of {rows} is wrong",
            "Restore it, or write it again",
        )


def _digest(path: Path, begin: int, stop: int) -> str:
    digest, buffer = hashlib.sha256(), bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        while begin < stop:
            got = file.readinto(memoryview(buffer)[: min(len(buffer), stop - begin)])
            if not got:
                break
            digest.update(memoryview(buffer)[:got])
            begin += got
    return digest.hexdigest()
