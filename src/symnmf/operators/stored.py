"""Matrices on disk: opened as operators by mapping, and written from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.distributed.agreement import all_or_none, digest_of, require_same, rows_name
from symnmf.distributed.process_group import ProcessGroup
from symnmf.errors import InvalidMatrix
from symnmf.numerics import CHUNKS, chunk_edges, row_chunks
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator, wrap
from symnmf.operators.devices import fits_on
from symnmf.operators.gram import GramOperator
from symnmf.operators.rows import SAME_COPY, TILE_BYTES, Rows
from symnmf.provenance import Provenance
from symnmf.storage.mapped import MappedFile, ReadAhead
from symnmf.storage.matrix_format import (
    DATA,
    DTYPES,
    StoredMatrix,
    _check_header,
    _verify,
    read_stored_matrix,
)
from symnmf.storage.matrix_writer import MatrixWriter


def open_matrix(
    folder: str | Path,
    *,
    process_group: ProcessGroup | None = None,
    device: torch.device | str | None = None,
    tile_bytes: int = TILE_BYTES,
    verify: bool = True,
    provenance: Provenance | None = None,
) -> SymmetricOperator:
    """Open the matrix in a folder, mapped read-only; with a group, the rows of this process.

    Size, header and checksums are verified before anything is mapped. Processes that share the
    rows compare their manifests first, so that copies which differ are refused by all of them.

    Arguments:
        folder: folder written by ``symnmf generate`` or :func:`symnmf.write_matrix`.
        process_group: processes that share the rows.
        device: device of the computation; by default that of the process group, or the CPU. Rows
            that fit stay on the device, others are moved tile by tile.
        tile_bytes: bytes of a tile; about two tiles are in use at a time.
        verify: whether to verify the checksums, which reads the rows once.
        provenance: origin of S; by default the content of the manifest.

    Raises:
        InvalidFile: the folder does not contain a complete, undamaged matrix, here or in another
            process; or the processes have different copies.

    Example:
        >>> import tempfile, symnmf as sn
        >>> folder = sn.write_matrix(Path(tempfile.mkdtemp()) / "S", np.eye(3), form="dense")
        >>> open_matrix(folder).trace()
        3.0
    """
    data = Path(folder) / DATA
    share = range(CHUNKS) if process_group is None else process_group.share()

    def read() -> tuple[StoredMatrix, MappedFile, int]:
        stored = read_stored_matrix(data.parent)
        source = MappedFile.of(data) if data.is_file() else None
        _, offset = _check_header(data, stored)
        assert source is not None  # the header was read
        if verify:
            _verify(data, stored, offset, share)
        return stored, source, offset

    stored, source, offset = all_or_none(process_group, read)
    require_same(process_group, str(data.parent), _marks(stored), SAME_COPY)
    n, width = stored.shape
    edges = chunk_edges(n)
    begin, stop = edges[share.start], edges[share.stop]
    mapped = np.lib.format.open_memmap(data, mode="r")
    local = wrap(mapped[begin:stop])
    ahead: ReadAhead | None = ReadAhead(mapped, offset, begin)
    place = torch.device(device or ("cpu" if process_group is None else process_group.device))
    if fits_on(place, local.nbytes):
        local, ahead = local.to(place), None
    itemsize = mapped.dtype.itemsize
    if process_group is None:
        pieces = list(row_chunks(n, width * itemsize, tile_bytes))
        rows = Rows(local, pieces, place, ahead)
    else:
        rows = Rows.shared_out(local, n, process_group, device=place, ahead=ahead)
    rows.source = source
    names = stored.names
    made: SymmetricOperator
    if stored.form == "dense":
        made = DenseOperator.of(rows, stored.frob_sq, stored.total, names, provenance or stored)
    else:
        shift = torch.full((n,), stored.shift, dtype=rows.dtype) if stored.shift else None
        made = GramOperator(rows, shift, names, provenance or stored)
    return made


def _marks(stored: StoredMatrix) -> dict[str, str]:
    """What identifies a matrix, from its manifest: the checksums of its rows, and its numbers."""
    edges = chunk_edges(stored.shape[0])
    rows = {
        rows_name(edges[c], edges[c + 1]): mark
        for c, mark in enumerate(stored.chunks[: len(edges) - 1])
        if edges[c] < edges[c + 1]
    }
    shape = f"{stored.form} {stored.shape[0]} × {stored.shape[1]}, {stored.dtype}"
    numbers = digest_of(stored.frob_sq, stored.total, stored.smallest, stored.shift)
    names = "" if stored.names is None else digest_of(list(stored.names))
    return {"its shape": shape, **rows, "its numbers": numbers, "the names of its rows": names}


def write_matrix(folder: str | Path, S: Tensor | np.ndarray, **options: Any) -> Path:
    """Write an array in memory to a folder that :func:`open_matrix` reads.

    Arguments:
        folder: folder of the matrix, created if missing.
        S: (n, n) matrix, or the (n, m) factor B of S = B Bᵀ.
        options: ``form``, ``"dense"`` or ``"gram"``; ``names``, the names of the rows;
            ``description``, a mapping, in which ``"kind": "tpdm"`` says that S is a TPDM.

    Returns:
        The folder.

    Raises:
        InvalidMatrix: the array cannot be used as a matrix of this form.
        InvalidFile: the folder already holds a matrix.

    Example:
        >>> import tempfile
        >>> from symnmf.operators.stored import open_matrix
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
        raise InvalidMatrix(
            "names", f"{len(names)} names for {len(array)} rows", "Pass one name per row"
        )
    if options.get("form") == "dense":
        # The operator validates the array; negative rounding errors become zero.
        array = np.maximum(DenseOperator(array).S.numpy(), 0)
    writer = MatrixWriter(
        folder, (array.shape[0], array.shape[1]), array.dtype.name, {"whole": True}
    )
    try:
        writer.array[:] = array
        return writer.finish(**options)
    except InvalidMatrix:
        writer.discard()
        raise
