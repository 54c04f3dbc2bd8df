"""Writing a matrix to a folder, piece by piece, so that a kill loses little and a full disk shows.

See :mod:`symnmf.operators.store` for what is in the folder.
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
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf import files
from symnmf.errors import InvalidFile, InvalidMatrix, NotEnough
from symnmf.operators.base import row_chunks
from symnmf.operators.dense import DenseOperator
from symnmf.operators.rows import chunk_edges
from symnmf.operators.store import DATA, DTYPES, KIND, PROGRESS

PART, BESIDE = f"{DATA}.part", "rows.npy.part"


class Writer:
    """Writes an array to a folder in units, in any order; what is done survives a kill.

    The file is preallocated, so that a full disk shows at the start. Every unit is on the disk
    before it is noted as done; opened again, a writer knows the units that are done and what was
    recorded for them. :meth:`finish` sums and checks the chunks, and renames.

    Arguments:
        folder: made when missing; it must not hold a finished matrix.
        shape: of the array.
        dtype: ``"float32"`` or ``"float64"``.
        identity: what makes this matrix this matrix; another one is refused.
    """

    def __init__(
        self, folder: str | Path, shape: tuple[int, int], dtype: str, identity: Mapping[str, Any]
    ):
        self.folder, self.shape, self.dtype = Path(folder), shape, dtype
        with files.writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / files.MANIFEST).exists():
            raise InvalidFile(
                str(self.folder), "already holds a matrix", "Choose another folder, or remove it"
            )
        tidy(self.folder)
        head = {"identity": dict(identity), "shape": list(shape), "dtype": dtype}
        self.done: dict[str, Any] = {}
        self._resume(head)
        self.array = self._open()

    def _open(self) -> np.memmap:
        part = self.folder / PART
        try:
            array = np.lib.format.open_memmap(part, mode="r+")
        except Exception as broken:  # headers are parsed in ways that raise what they like
            raise self._foreign(f"{PART} is no .npy file") from broken
        if (array.shape, array.dtype.name) != (tuple(self.shape), self.dtype):
            raise self._foreign(f"{PART} has shape {array.shape}")
        return array

    def _foreign(self, problem: str) -> InvalidFile:
        return InvalidFile(str(self.folder), problem, "Choose another folder, or remove it")

    def _resume(self, head: Mapping[str, Any]) -> None:
        """Read the notes of an earlier writer, or begin."""
        notes, part, data = (self.folder / name for name in (PROGRESS, PART, DATA))
        if notes.is_file() and data.is_file() and not part.exists():
            os.replace(data, part)  # killed between the two renames of finish
        if notes.is_file() and part.is_file():
            found = _notes(notes)
            if found and found[0] != head:
                other = str(found[0].get("identity"))[:200]
                raise self._foreign(f"holds another unfinished matrix: {other}")
            self.done = {note["unit"]: note["record"] for note in found[1:]}
            if found:  # without a last line that was cut off
                files.write_text(notes, "".join(json.dumps(note) + "\n" for note in found))
                return
        self._allocate()
        files.write_text(notes, json.dumps(head) + "\n")

    def _allocate(self) -> None:
        part = self.folder / PART
        header = np.lib.format.header_data_from_array_1_0(np.empty((0, 0), dtype=self.dtype))
        header["shape"] = self.shape
        size = self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize
        try:
            with part.open("wb") as file:
                np.lib.format.write_array_header_1_0(file, header)
                size += file.tell()
                file.flush()
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as broken:
            part.unlink(missing_ok=True)
            if broken.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise _disk_full(self.folder, size) from broken
            with files.writing(self.folder):
                raise

    def note(self, unit: str, record: Any = None) -> None:
        """Say that a unit is written; ``record`` is kept with it."""
        self.array.flush()
        files.about_to("note")
        line = json.dumps({"unit": unit, "record": record})
        path = self.folder / PROGRESS
        with files.writing(self.folder), path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[unit] = record

    def replace(self, unit: str, rows: slice, values: np.ndarray) -> None:
        """Overwrite rows from what they held: a kill in between leaves the new rows beside it."""
        if f"ready {unit}" not in self.done:
            with files.atomic(self.folder / BESIDE) as temporary, temporary.open("wb") as file:
                np.save(file, values, allow_pickle=False)
            self.note(f"ready {unit}")
        self.array[rows] = np.load(self.folder / BESIDE, allow_pickle=False)
        self.note(unit)

    def discard(self) -> None:
        """Remove everything that was written."""
        del self.array
        for name in (PROGRESS, PART, BESIDE):
            (self.folder / name).unlink(missing_ok=True)

    def finish(
        self,
        form: str,
        *,
        shift: float = 0.0,
        about: Mapping[str, Any] | None = None,
        names: Sequence[str] | None = None,
        beside: Mapping[str, np.ndarray] | None = None,
    ) -> Path:
        """Sum, check and rename: from here on it is a matrix.

        Arguments:
            form, shift: see :class:`Stored`.
            about: what it is, for people.
            names: of the rows.
            beside: small arrays to keep with it, by name.
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
                str(self.folder), f"entries from {smallest:g} on", "They must be finite and not < 0"
            )
        described = {}
        for name, array in (beside or {}).items():
            with (
                files.atomic(self.folder / f"{name}.npy") as temporary,
                temporary.open("wb") as file,
            ):
                np.save(file, array, allow_pickle=False)
            described[name] = f"{name}.npy"
        if names is not None:
            files.write_text(self.folder / "names.json", json.dumps(list(names)))
            described["names"] = "names.json"
        del self.array
        files.about_to("rename")
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
            "about": dict(about or {}),
        }
        files.write_manifest(self.folder, KIND, described, content)
        tidy(self.folder)
        return self.folder


def require_disk(folder: Path, need: float) -> None:
    """Refuse what the disk of a folder cannot hold."""
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if need > _free(folder):
        raise _disk_full(folder, need)


def _free(folder: Path) -> float:
    disk = os.statvfs(folder)
    return float(disk.f_bavail * disk.f_frsize)


def _disk_full(folder: Path, need: float) -> NotEnough:
    return NotEnough(
        f"{folder}: the matrix needs {need / 1e9:.3g} GB of disk and {_free(folder) / 1e9:.3g} GB "
        "are free. Choose a folder on a larger disk, or a smaller matrix."
    )


def tidy(folder: Path) -> None:
    """Remove what killed writers leave: temporary files, and notes beside a finished matrix."""
    for file in folder.glob(".*.tmp"):
        file.unlink(missing_ok=True)
    if (folder / files.MANIFEST).exists():
        for name in (PROGRESS, BESIDE):
            (folder / name).unlink(missing_ok=True)


def begun(folder: str | Path) -> tuple[int, int] | None:
    """Shape of the unfinished array in a folder, if there is one."""
    path = Path(folder) / PROGRESS
    found = _notes(path) if path.is_file() else []
    shape: list[int] = found[0].get("shape", []) if found else []
    return (shape[0], shape[1]) if len(shape) == 2 else None


def _notes(path: Path) -> list[Any]:
    """The notes that are whole: first what the matrix is, then the units that are done."""
    found: list[Any] = []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            note = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not (isinstance(note, dict) and (not found or {"unit", "record"} <= note.keys())):
            break
        found.append(note)
    return found


def write_matrix(folder: str | Path, S: Tensor | np.ndarray, **options: Any) -> Path:
    """Write an array that is in memory, whole.

    Arguments:
        folder: made when missing.
        S: (n, n) matrix, or the (n, m) factor B of S = B Bᵀ.
        options: ``form``, ``"dense"`` or ``"gram"``, and what else :meth:`Writer.finish` takes.

    Example:
        >>> import tempfile
        >>> from symnmf.operators.store import open_matrix
        >>> folder = write_matrix(Path(tempfile.mkdtemp()) / "S", np.eye(4), form="dense")
        >>> open_matrix(folder).frob_sq()
        4.0
    """
    array = S.cpu().numpy() if isinstance(S, Tensor) else np.asarray(S)
    if array.ndim != 2 or array.dtype.name not in DTYPES:
        raise InvalidMatrix(
            "S", f"is {array.dtype.name} {array.shape}", "Pass two dimensions of float32 or float64"
        )
    names = options.get("names")
    if names is not None and len(names) != len(array):
        raise InvalidMatrix("names", f"{len(names)} for {len(array)} rows", "Pass one name a row")
    if options.get("form") == "dense":
        array = np.maximum(
            DenseOperator(array).S.numpy(), 0
        )  # checked; rounding below zero is zero
    writer = Writer(folder, (array.shape[0], array.shape[1]), array.dtype.name, {"whole": True})
    try:
        writer.array[:] = array
        return writer.finish(**options)
    except InvalidMatrix:
        writer.discard()
        raise
