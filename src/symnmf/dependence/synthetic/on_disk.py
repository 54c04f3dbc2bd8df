"""The paper's benchmark matrices written to disk, for sizes that do not fit in memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from symnmf import storage
from symnmf.dependence.correlation_on_disk import OnProgress, write_abs_correlation
from symnmf.dependence.synthetic.model import (
    FRACTION,
    SAMPLES,
    FactorModel,
    check_benchmark,
    heavy_factors,
    largest,
    radii_sq,
    score_blocks,
    unit_block,
)
from symnmf.errors import InvalidFile
from symnmf.operators.dense import wrap
from symnmf.resources import require_disk
from symnmf.storage.matrix_format import PROGRESS, read_stored_matrix
from symnmf.storage.matrix_writer import MatrixWriter, tidy

#: Row blocks between two saves.
BLOCKS = 16


#: Folder of intermediate files.
SCRATCH = "scratch"


def generate(
    kind: str,
    n: int,
    folder: str | Path,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    dense: bool = False,
    on_progress: OnProgress | None = None,
) -> Path:
    """Write the matrix of :func:`symnmf.benchmark_matrix` to a folder, piece by piece.

    The draws are the same as in memory. The TPDM is written as its factor B, the correlation as S,
    or as its factor if that is smaller and no correlation is negative. True labels and the
    permutation are stored with it. A call that is killed resumes when it is repeated.

    Arguments:
        kind, n, seed, samples: arguments of :func:`symnmf.benchmark_matrix`.
        folder: folder of the matrix, which :func:`symnmf.open_matrix` opens.
        dense: whether to write S in every case.
        on_progress: function called with the completed fraction, from 0 to 1.

    Returns:
        The folder.

    Raises:
        InvalidFile: the folder holds another matrix.
        NotEnough: the matrix does not fit on the disk.

    Example:
        >>> import tempfile, symnmf as sn
        >>> folder = generate("tpdm", 64, tempfile.mkdtemp(), seed=7, samples=4000)
        >>> sn.open_matrix(folder)
        GramOperator(n=64, dtype=float32)
    """
    check_benchmark(kind, n, samples)
    folder = Path(folder)
    identity = {"benchmark": kind, "n": n, "seed": seed, "samples": samples, "dense": dense}
    if (folder / storage.MANIFEST).exists():
        description = read_stored_matrix(folder).description
        if any(description.get(key) != value for key, value in identity.items()):
            raise InvalidFile(
                str(folder), f"holds another matrix: {description}", "Choose a new folder"
            )
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        (folder / "radii.npy.part").unlink(missing_ok=True)
        tidy(folder)
        return folder
    model = FactorModel.draw(n, seed)
    companions = {"labels": model.labels, "permutation": model.permutation}
    notify = on_progress or (lambda share: None)
    with storage.lock(folder):
        if kind == "tpdm" and not dense:
            return _write_factor(model, samples, folder, identity, companions, notify)
        scratch = folder / SCRATCH
        width = int(FRACTION * samples) if kind == "tpdm" else samples
        smaller = kind == "corr" and not dense and 2 * samples < n
        if not (folder / PROGRESS).exists():
            require_disk(folder, 4.0 * n * (width + (samples if smaller else n)))
        if kind == "tpdm":
            if (scratch / storage.MANIFEST).exists() and read_stored_matrix(
                scratch
            ).description != identity:
                shutil.rmtree(scratch)  # of an unfinished run with other options
            if not (scratch / storage.MANIFEST).exists():
                _write_factor(model, samples, scratch, identity, {}, lambda x: notify(x / 2))
            rows = wrap(np.load(scratch / "data.npy", mmap_mode="r", allow_pickle=False))
            options: dict[str, Any] = {"gram": False, "divisor": 1.0, "intensity": 0.0}
            fourth = 0.0
        else:
            rows, fourth = _write_scores(model, samples, scratch, identity, lambda x: notify(x / 2))
            options = {"gram": False if dense else None}
        options |= {"companions": companions, "on_progress": lambda x: notify(0.5 + x / 2)}
        write_abs_correlation(folder, rows, fourth, identity, **options)
        del rows
        shutil.rmtree(scratch)
    return folder


class _Tally:
    """A running sum over blocks that survives a kill: sum and number of blocks in one file."""

    def __init__(self, path: Path, length: int):
        self.path = path
        saved = np.load(path, allow_pickle=False) if path.exists() else np.zeros(length + 1)
        self.total, self.blocks = saved[:-1], int(saved[-1])

    def save(self) -> None:
        with storage.atomic(self.path) as temporary, temporary.open("wb") as file:
            np.save(file, np.append(self.total, self.blocks), allow_pickle=False)


def _write_factor(
    model: FactorModel,
    samples: int,
    folder: Path,
    identity: dict[str, Any],
    companions: dict[str, np.ndarray],
    on_progress: OnProgress,
) -> Path:
    """Write B of the TPDM: radii in one pass over the blocks, rows in another."""
    writer = MatrixWriter(folder, (model.n, int(FRACTION * samples)), "float32", identity)
    tally = _Tally(folder / "radii.npy.part", samples)
    Z, blocks = heavy_factors(model, samples), list(model.blocks())
    left = [block for block, _ in blocks[tally.blocks :]]
    for part in radii_sq(model, Z, left):
        tally.total += part
        tally.blocks += 1
        if tally.blocks % BLOCKS == 0 or tally.blocks == len(blocks):
            tally.save()
            on_progress(0.9 * tally.blocks / len(blocks))
    places, radii = largest(tally.total)
    for begin in range(0, len(blocks), BLOCKS):
        if f"blocks {begin}" in writer.done:
            continue
        for block, rows in blocks[begin : begin + BLOCKS]:
            writer.array[rows] = unit_block(model, Z, places, radii, block, torch.float32).numpy()
        writer.note(f"blocks {begin}")
        on_progress(0.9 + 0.1 * begin / len(blocks))
    made = writer.finish("gram", description=identity, companions=companions)
    tally.path.unlink()
    return made


def _write_scores(
    model: FactorModel,
    samples: int,
    folder: Path,
    identity: dict[str, Any],
    on_progress: OnProgress,
) -> tuple[torch.Tensor, float]:
    """Write z-scores of the Gaussian model to a scratch file; return them and Σ_t ‖x_t‖⁴."""
    writer = MatrixWriter(folder, (model.n, samples), "float32", identity)
    tally = _Tally(folder / "squares.npy.part", samples)
    blocks = list(model.blocks())[tally.blocks :]
    parts = score_blocks(model, samples, [block for block, _ in blocks])
    for m, ((block, rows), part) in enumerate(zip(blocks, parts, strict=True), start=1):
        writer.array[rows] = part.to(torch.float32).numpy()
        tally.total += part.square().sum(dim=0).numpy()
        tally.blocks = block + 1
        if m % BLOCKS == 0 or m == len(blocks):
            writer.array.flush()
            tally.save()
            on_progress(m / len(blocks))
    return wrap(writer.array), float(tally.total @ tally.total)
