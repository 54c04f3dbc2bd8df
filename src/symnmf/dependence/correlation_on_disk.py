"""Absolute correlation written to disk tile by tile, for matrices that do not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.shrinkage import SHRINKAGE_RATIO, ledoit_wolf_intensity
from symnmf.dependence.tiles import TILE_ROWS, tile_sums
from symnmf.errors import InvalidInput
from symnmf.numerics import chunk_edges, product64, row_chunks
from symnmf.storage.matrix_writer import MatrixWriter, begun

#: Ratio ‖|R| − R‖² / ‖R‖² that is not visible in a float32 error.
NEGLIGIBLE = 1e-8


#: Lowest correlation whose sign may be ignored.
LOWEST = -0.1


#: Function called with the completed fraction of the work, from 0 to 1.
OnProgress = Callable[[float], None]


def write_abs_correlation(
    folder: str | Path,
    scores: Tensor,
    fourth: float,
    identity: Mapping[str, Any],
    *,
    gram: bool | None = None,
    divisor: float | None = None,
    intensity: float | None = None,
    names: Sequence[str] | None = None,
    companions: Mapping[str, np.ndarray] | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Write |R| of z-scores to a folder, with Ledoit–Wolf shrinkage if n / T > 0.1.

    Only the tiles in the upper triangle are multiplied. The same pass computes ‖R‖² for the
    shrinkage and the weight of negative correlations. If that weight is negligible (1e-8 of ‖R‖²)
    and it is smaller, the factor of S = B Bᵀ + α·I is written instead of S. A run that was killed
    is resumed.

    Arguments:
        folder: folder of the matrix.
        scores: (n, T) float32 z-scores; may be mapped.
        fourth: Σ_t ‖x_t‖⁴.
        identity: values that identify the matrix.
        gram: whether to write the factor (True) or S (False); by default the smaller of the two,
            if no correlation is negative.
        divisor: divisor of the products of scores; by default T.
        intensity: intensity of the shrinkage; by default that of the rule above.
        names: names of the rows.
        companions: small arrays to store with the matrix, by name.
        on_progress: function called with the completed fraction.

    Returns:
        The folder.
    """
    n, samples = scores.shape
    narrow = 2 * samples < n if gram is None else gram
    if gram is None and begun(folder) == (n, n):
        narrow = False  # a previous run found negative correlations
    writer = MatrixWriter(folder, (n, n) if not narrow else (n, samples), "float32", identity)
    sums = _multiply(writer, scores, divisor or samples, not narrow, on_progress)
    frob_sq, negative, off = float(sums[0]), int(sums[1]), float(sums[2])
    lowest = min(writer.done[f"row {a}"][3] for a in range(-(-n // TILE_ROWS)))
    if narrow and (off > NEGLIGIBLE * frob_sq or lowest < LOWEST):
        if gram:
            raise InvalidInput(
                "gram",
                f"{negative} correlations are negative",
                "Their absolute values need the dense form: pass gram=False",
            )
        writer.discard()
        again: dict[str, Any] = {
            "divisor": divisor,
            "intensity": intensity,
            "names": names,
            "companions": companions,
            "on_progress": on_progress,
        }
        return write_abs_correlation(folder, scores, fourth, identity, gram=False, **again)
    alpha = intensity
    if alpha is None:
        shrinks = n / samples > SHRINKAGE_RATIO
        alpha = ledoit_wolf_intensity(frob_sq, fourth, n, samples) if shrinks else 0.0
    description = {"intensity": alpha, "negative": negative, **identity}
    if narrow:
        description["left as they are"] = (
            f"negative entries, {off / frob_sq:.1e} of ‖S‖² from their absolute values"
        )
    edges = chunk_edges(n)
    for c, (begin, stop) in enumerate(pairwise(edges)):
        if f"scaled {c}" in writer.done:
            continue
        rows = slice(begin, stop)
        if narrow:
            values = (scores[rows] * ((1 - alpha) / samples) ** 0.5).numpy()
        else:
            values = writer.array[rows] * np.float32(1 - alpha)
            values[np.arange(stop - begin), np.arange(begin, stop)] = 1.0
        writer.replace(f"scaled {c}", rows, values)
    form, shift = ("gram", alpha) if narrow else ("dense", 0.0)
    return writer.finish(
        form, shift=shift, description=description, names=names, companions=companions
    )


def _multiply(
    writer: MatrixWriter, scores: Tensor, divisor: float, keep: bool, on_progress: OnProgress | None
) -> np.ndarray:  # (3,)
    """Sum every tile of R in the upper triangle, and with ``keep`` write it as |R|."""
    n = len(scores)
    parts = list(row_chunks(n, 1, TILE_ROWS))
    for a, rows in enumerate(parts):
        if f"row {a}" in writer.done:
            continue
        sums, lowest = np.zeros(3), 1.0
        for columns in parts[a:]:
            tile = product64(scores[rows], scores[columns]).div_(divisor)
            sums += tile_sums(tile, rows != columns)
            lowest = min(lowest, float(tile.min()))
            if keep:
                size = tile.abs_().to(torch.float32).numpy()
                writer.array[rows, columns] = size
                writer.array[columns, rows] = size.T
        writer.note(f"row {a}", [*sums.tolist(), lowest])
        if on_progress is not None:
            on_progress(1 - (1 - (a + 1) / len(parts)) ** 2)
    total: np.ndarray = np.sum([writer.done[f"row {a}"][:3] for a in range(len(parts))], axis=0)
    return total
