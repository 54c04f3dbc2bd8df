"""Writer of a matrix in a folder, in pieces: a kill loses little, a full disk is found early.

See :mod:`symnmf.storage.matrix_format` for the content of the folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch

from symnmf.errors import InvalidFile, InvalidMatrix
from symnmf.numerics import chunk_edges, row_chunks
from symnmf.resources import disk_full
from symnmf.storage.atomic_files import about_to, atomic, write_text, writing
from symnmf.storage.journal import Journal
from symnmf.storage.kinds import MATRIX
from symnmf.storage.manifest import MANIFEST, write_manifest
from symnmf.storage.matrix_format import DATA, PROGRESS

#: Files of an unfinished matrix: the array, and rows that are about to be replaced.
PART, SPARE_ROWS = f"{DATA}.part", "rows.npy.part"
#: Bytes of zeros written at a time where space cannot be reserved in one call.
ZEROS = 1 << 22


class MatrixWriter:
    """Writes an array to a folder in units, in any order; finished units survive a kill.

    The file is preallocated, so that a full disk is found at the start. Every unit is on the disk
    before it is noted as done. A writer that is opened again knows the finished units and their
    records. :meth:`finish` sums and validates the chunks, and renames the file.

    Arguments:
        folder: folder of the matrix, created if missing; it must not hold a finished matrix.
        shape: shape of the array.
        dtype: ``"float32"`` or ``"float64"``.
        identity: values that identify the matrix.

    Raises:
        InvalidFile: the folder holds a finished matrix, or an unfinished one of another identity.
        NotEnough: the disk cannot hold the matrix.
    """

    def __init__(
        self, folder: str | Path, shape: tuple[int, int], dtype: str, identity: Mapping[str, Any]
    ):
        self.folder, self.shape, self.dtype = Path(folder), shape, dtype
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / MANIFEST).exists():
            raise InvalidFile(
                str(self.folder), "already holds a matrix", "Choose another folder, or remove it"
            )
        tidy(self.folder)
        head = {"identity": dict(identity), "shape": list(shape), "dtype": dtype}
        self.done: dict[str, Any] = {}
        self.journal = Journal(self.folder / PROGRESS)
        self._resume(head)
        self.array = self._open()

    def _open(self) -> np.memmap:
        part = self.folder / PART
        try:
            array = np.lib.format.open_memmap(part, mode="r+")
        except Exception as broken:  # numpy raises errors of many types on damaged headers
            raise self._not_ours(f"{PART} is not a .npy file") from broken
        if (array.shape, array.dtype.name) != (tuple(self.shape), self.dtype):
            raise self._not_ours(f"{PART} has shape {array.shape}")
        return array

    def _not_ours(self, problem: str) -> InvalidFile:
        return InvalidFile(str(self.folder), problem, "Choose another folder, or remove it")

    def _resume(self, head: Mapping[str, Any]) -> None:
        """Read the notes of a previous writer, or begin."""
        notes, part, data = (self.folder / name for name in (PROGRESS, PART, DATA))
        if notes.is_file() and data.is_file() and not part.exists():
            os.replace(data, part)  # killed between the two renames of finish
        if notes.is_file() and part.is_file():
            found = _notes(notes)
            if found and found[0] != head:
                other = str(found[0].get("identity"))[:200]
                raise self._not_ours(f"holds another unfinished matrix: {other}")
            self.done = {note["unit"]: note["record"] for note in found[1:]}
            if found:
                return
        self._allocate()
        write_text(notes, json.dumps(head) + "\n")

    def _allocate(self) -> None:
        part = self.folder / PART
        header = np.lib.format.header_data_from_array_1_0(np.empty((0, 0), dtype=self.dtype))
        header["shape"] = self.shape
        size = self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize
        try:
            with part.open("wb") as file:
                np.lib.format.write_array_header_1_0(file, header)
                size += file.tell()
                _reserve(file, size)
        except OSError as broken:
            part.unlink(missing_ok=True)
            if broken.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise disk_full(self.folder, size) from broken
            with writing(self.folder):
                raise

    def note(self, unit: str, record: Any = None) -> None:
        """Note that a unit is written; ``record`` is stored with it."""
        self.array.flush()
        self.journal.append({"unit": unit, "record": record})
        self.done[unit] = record

    def replace(self, unit: str, rows: slice, values: np.ndarray) -> None:
        """Replace rows by values computed from them; a kill in between can be repeated safely.

        The new rows are first written to another file.
        """
        if f"ready {unit}" not in self.done:
            with atomic(self.folder / SPARE_ROWS) as temporary, temporary.open("wb") as file:
                np.save(file, values, allow_pickle=False)
            self.note(f"ready {unit}")
        self.array[rows] = np.load(self.folder / SPARE_ROWS, allow_pickle=False)
        self.note(unit)

    def discard(self) -> None:
        """Remove everything that was written."""
        del self.array
        for name in (PROGRESS, PART, SPARE_ROWS):
            (self.folder / name).unlink(missing_ok=True)

    def finish(
        self,
        form: str,
        *,
        shift: float = 0.0,
        description: Mapping[str, Any] | None = None,
        names: Sequence[str] | None = None,
        companions: Mapping[str, np.ndarray] | None = None,
    ) -> Path:
        """Sum and validate the chunks, rename the file, and write the manifest.

        Arguments:
            form: ``"dense"`` for the matrix S, ``"gram"`` for its factor B.
            shift: number added to the diagonal of B Bᵀ.
            description: origin of the matrix, as words and numbers.
            names: names of the rows.
            companions: small arrays to store with the matrix, by name.

        Returns:
            The folder.

        Raises:
            InvalidMatrix: an entry is not finite, or is negative in a dense matrix.
        """
        self.array.flush()
        edges = chunk_edges(self.shape[0])
        chunks, frob_sq, total, smallest = [], 0.0, 0.0, float("inf")
        for begin, stop in pairwise(edges):
            part = np.ascontiguousarray(self.array[begin:stop])
            chunks.append(hashlib.sha256(part.data if part.size else b"").hexdigest())
            wide = torch.from_numpy(part)
            for some in row_chunks(len(wide), self.shape[1]):
                piece = wide[some].to(torch.float64)
                frob_sq, total = frob_sq + float(piece.square().sum()), total + float(piece.sum())
                smallest = min(smallest, float(piece.min()))
        if not isfinite(frob_sq) or (form == "dense" and smallest < 0):
            raise InvalidMatrix(
                str(self.folder),
                f"the smallest entry is {smallest:g}",
                "Entries must be finite, and not negative",
            )
        described = {}
        for name, array in (companions or {}).items():
            with (
                atomic(self.folder / f"{name}.npy") as temporary,
                temporary.open("wb") as file,
            ):
                np.save(file, array, allow_pickle=False)
            described[name] = f"{name}.npy"
        if names is not None:
            write_text(self.folder / "names.json", json.dumps(list(names)))
            described["names"] = "names.json"
        del self.array
        about_to("rename")
        os.replace(self.folder / PART, self.folder / DATA)
        content = {
            "form": form,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "shift": shift,
            "chunks": chunks,
            "frob_sq": frob_sq,
            "total": total,
            "smallest": smallest,
            "about": dict(description or {}),
        }
        write_manifest(self.folder, MATRIX.name, described, content)
        tidy(self.folder)
        return self.folder


def _reserve(file: BinaryIO, size: int) -> None:
    """Reserve the disk space of a file: a mapped write cannot report a full disk."""
    file.flush()
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    # macOS does not have this call. Zeros occupy the space; truncating the file would leave a hole.
    zeros = bytes(min(size, ZEROS))
    for begin in range(file.tell(), size, ZEROS):
        file.write(zeros[: size - begin])
    file.flush()


def tidy(folder: Path) -> None:
    """Remove the files that killed writers leave: temporary files, notes of a finished matrix."""
    for file in folder.glob(".*.tmp"):
        file.unlink(missing_ok=True)
    if (folder / MANIFEST).exists():
        for name in (PROGRESS, SPARE_ROWS):
            (folder / name).unlink(missing_ok=True)


def begun(folder: str | Path) -> tuple[int, int] | None:
    """Shape of the unfinished array in a folder; None if there is none."""
    path = Path(folder) / PROGRESS
    found = _notes(path) if path.is_file() else []
    shape: list[int] = found[0].get("shape", []) if found else []
    return (shape[0], shape[1]) if len(shape) == 2 else None


def _notes(path: Path) -> list[Any]:
    """The complete notes: first the identity of the matrix, then the finished units."""
    found: list[Any] = []
    for note in Journal(path).records():
        if not (isinstance(note, dict) and (not found or {"unit", "record"} <= note.keys())):
            break
        found.append(note)
    return found
