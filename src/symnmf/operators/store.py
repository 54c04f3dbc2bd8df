"""Matrices on disk: written piece by piece, checked, mapped read-only, never copied.

A folder holds ``data.npy``, small files beside it (labels, names), and a manifest that was renamed
into place when everything was there. The manifest has a checksum for each of the fixed row chunks,
so that a process which works on some of the rows reads and checks only those.
"""

from __future__ import annotations

import hashlib
import mmap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import torch

from symnmf import files
from symnmf.errors import InvalidFile
from symnmf.operators.base import SymmetricOperator, row_chunks
from symnmf.operators.dense import DenseOperator, wrap
from symnmf.operators.gram import GramOperator
from symnmf.operators.group import Group
from symnmf.operators.rows import Rows, Source, chunk_edges

KIND, DATA, PROGRESS = "symnmf matrix", "data.npy", "progress.jsonl"
#: Bytes of a tile of a mapped file; two are in use at a time.
TILE_BYTES = 64 << 20
#: Share of the free memory of a device that rows may take to stay there.
RESIDENT = 0.5
#: Largest file of names that is read, in all and for each row.
NAMES_BYTES, NAME_BYTES = 256 << 20, 2000
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class Stored:
    """What the manifest of a matrix says.

    Attributes:
        form: ``"dense"`` (the file is S) or ``"gram"`` (it is B of S = B Bᵀ + shift·I).
        shape, dtype: of the array in the file.
        shift: added to the diagonal of B Bᵀ.
        chunks: SHA-256 of the bytes of each fixed row chunk.
        frob_sq, total: ‖S‖² and the sum of the entries of S, of a dense matrix.
        smallest: least entry of the file.
        names: of the rows, or None.
        about: what it is and how it was made, in words and numbers.
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
    about: dict[str, Any]


def open_matrix(
    folder: str | Path,
    *,
    group: Group | None = None,
    device: torch.device | str | None = None,
    tile_bytes: int = TILE_BYTES,
    verify: bool = True,
) -> SymmetricOperator:
    """The matrix in a folder, mapped read-only; with a group, the rows of this process.

    Size, header and checksums are looked at before anything is mapped.

    Arguments:
        folder: as written by ``symnmf generate`` or :class:`symnmf.operators.writer.Writer`.
        group: processes to share the rows with.
        device: where to compute, by default where the group does; rows that fit there stay there,
            others are moved tile by tile.
        tile_bytes: size of a tile; about two are in use at a time.
        verify: check the checksums, which reads the rows once.

    Example:
        >>> import tempfile, symnmf as sn
        >>> folder = sn.write_matrix(Path(tempfile.mkdtemp()) / "S", np.eye(3), form="dense")
        >>> open_matrix(folder).trace()
        3.0
    """
    folder = Path(folder)
    stored = read_stored(folder)
    data = folder / DATA
    source = Source.of(data) if data.is_file() else None
    _, offset = _check_header(data, stored)
    n, width = stored.shape
    edges = chunk_edges(n)
    share = range(len(edges) - 1) if group is None else group.share()
    if verify:
        _verify(data, stored, offset, share)
    begin, stop = edges[share.start], edges[share.stop]
    mapped = np.lib.format.open_memmap(data, mode="r")
    local = wrap(mapped[begin:stop])
    ahead: _Ahead | None = _Ahead(mapped, offset, begin)
    place = torch.device(device or ("cpu" if group is None else group.device))
    if place.type == "cuda" and local.nbytes < RESIDENT * torch.cuda.mem_get_info(place)[0]:
        local, ahead = local.to(place), None
    itemsize = mapped.dtype.itemsize
    if group is None:
        pieces = list(row_chunks(n, width * itemsize, tile_bytes))
        rows = Rows(local, pieces, place, ahead)
    else:
        rows = Rows.shared_out(local, n, group, device=place, ahead=ahead)
    rows.source = source
    names = stored.names
    made: SymmetricOperator
    if stored.form == "dense":
        made = DenseOperator.of(rows, stored.frob_sq, stored.total, names)
    else:
        shift = torch.full((n,), stored.shift, dtype=rows.dtype) if stored.shift else None
        made = GramOperator(rows, shift, names)
    made.about = stored
    return made


def shard(S: SymmetricOperator, group: Group) -> SymmetricOperator:
    """An operator that every process has made, with the rows of this process only.

    Arguments:
        S: dense or Gram, in memory.
        group: the processes.
    """
    if not isinstance(S, DenseOperator | GramOperator):
        raise InvalidFile(
            "S", f"{type(S).__name__} cannot be shared out", "Use a dense or Gram matrix"
        )
    edges, share = chunk_edges(S.n), group.share()
    mine = S.rows.whole[edges[share.start] : edges[share.stop]]
    # A chunk begins where it would in the whole array: products may depend on the alignment.
    pad = edges[share.start] * mine.shape[1] % 64
    room = torch.empty(pad + mine.numel(), dtype=mine.dtype, device=group.device)
    data = room[pad:].view(mine.shape).copy_(mine)
    rows = Rows.shared_out(data, S.n, group, device=group.device)
    made: SymmetricOperator
    if isinstance(S, DenseOperator):
        made = DenseOperator.of(rows, S.frob_sq(), S.mean() * S.n**2, S.names)
    else:
        d = None if S.d is None else S.d.to(group.device)
        made = GramOperator(rows, d, S.names)
    made.about = S.about
    return made


def read_stored(folder: Path) -> Stored:
    """The manifest of a matrix, with its small files checked."""
    if not (folder / files.MANIFEST).is_file():
        unfinished = (folder / PROGRESS).is_file()
        raise InvalidFile(
            str(folder),
            "holds an unfinished matrix" if unfinished else "holds no matrix",
            "Run the same command again to go on" if unfinished else "Check the folder",
        )
    small, content = files.read_manifest(folder, KIND)
    try:
        most = min(NAMES_BYTES, NAME_BYTES * int(content["shape"][0]))
        names = files.read_json(small["names"], most) if "names" in small else None
        stored = Stored(
            form=str(content["form"]),
            shape=(int(content["shape"][0]), int(content["shape"][1])),
            dtype=str(content["dtype"]),
            shift=float(content["shift"]),
            chunks=tuple(str(c) for c in content["chunks"]),
            frob_sq=float(content["frob_sq"]),
            total=float(content["total"]),
            smallest=float(content["smallest"]),
            names=None if names is None else tuple(names),
            about=dict(content["about"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(str(folder), "has no complete manifest", "Write it again") from broken
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
        raise InvalidFile(str(folder), "describes no matrix of ours", "Check the folder")
    return stored


def _check_header(path: Path, stored: Stored) -> tuple[int, int]:
    """Size and beginning of the data, after comparing the file with its description."""
    if not path.is_file() or path.is_symlink():
        raise InvalidFile(str(path), "is missing", "The folder is not complete")
    with path.open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
            shape, fortran, dtype = read(file)
        except (ValueError, AttributeError, SyntaxError, TokenError, RecursionError) as broken:
            raise InvalidFile(str(path), "is no .npy file", "Write it again") from broken
        offset = file.tell()
    said = (stored.shape, False, np.dtype(stored.dtype).str)
    if (tuple(shape), bool(fortran), dtype.str) != said:
        raise InvalidFile(
            str(path),
            f"holds {dtype.name} {tuple(shape)}, not {stored.dtype} {stored.shape}",
            "It is not the file of this manifest: restore it, or write it again",
        )
    size = offset + stored.shape[0] * stored.shape[1] * dtype.itemsize
    if path.stat().st_size != size:
        raise InvalidFile(
            str(path),
            f"has {path.stat().st_size} bytes instead of {size}",
            "It was cut off or replaced: restore it, or write it again",
        )
    return size, offset


def _verify(path: Path, stored: Stored, offset: int, share: range) -> None:
    """Compare the checksums of some chunks; reading releases the interpreter, so in threads."""
    edges = chunk_edges(stored.shape[0])
    width = stored.shape[1] * DTYPES[stored.dtype].itemsize
    if len(stored.chunks) != len(edges) - 1:
        raise InvalidFile(str(path), "has no complete checksums", "Write it again")

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


class _Ahead:
    """Asks the system to read rows of a map that will be needed next, and to let go of others."""

    def __init__(self, mapped: np.ndarray, offset: int, begin: int):
        self.map = getattr(mapped, "_mmap", None)
        self.row = mapped.shape[1] * mapped.itemsize
        self.first = offset + begin * self.row

    def __call__(self, rows: slice) -> None:
        if self.map is None or not hasattr(mmap, "MADV_WILLNEED"):
            return
        begin = self.first + rows.start * self.row
        begin -= begin % mmap.PAGESIZE
        length = min(self.first + rows.stop * self.row, len(self.map)) - begin
        if length > 0:
            self.map.madvise(mmap.MADV_WILLNEED, begin, length)
