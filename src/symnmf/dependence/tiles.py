"""Absolute correlation written to disk tile by tile, for matrices that do not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.correlation import TILE, product64, tile_sums
from symnmf.dependence.shrinkage import RATIO, ledoit_wolf_intensity
from symnmf.errors import InvalidInput
from symnmf.operators.base import row_chunks
from symnmf.operators.rows import chunk_edges
from symnmf.operators.writer import Writer, begun

#: ‖|R| − R‖² against ‖R‖² that no error in float32 can show.
NEGLIGIBLE = 1e-8
#: And the lowest correlation that is left as it is.
LOWEST = -0.1
#: Called with the share that is done, from 0 to 1.
Report = Callable[[float], None]


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
    beside: Mapping[str, np.ndarray] | None = None,
    report: Report | None = None,
) -> Path:
    """|R| of z-scores, shrunk by Ledoit–Wolf when n / T > 0.1, in a folder.

    Only the upper tiles are multiplied. What one pass over them can know is noted in that pass:
    ‖R‖² for the shrinkage, and what negative correlations weigh. Where that is nothing (1e-8 of
    ‖R‖²) and it is smaller, the factor of S = B Bᵀ + α·I is written instead of S. A killed run goes
    on where it was.

    Arguments:
        folder: for the matrix.
        scores: (n, T) float32 z-scores; may be mapped.
        fourth: Σ_t ‖x_t‖⁴.
        identity: what makes this matrix this matrix.
        gram: write the factor (True) or S (False); by default what is smaller, where it may.
        divisor: of the products of scores; T by default.
        intensity: of the shrinkage; by the rule when None.
        names: of the rows.
        beside: small arrays to keep with it.
        report: told how much is done.
    """
    n, samples = scores.shape
    narrow = 2 * samples < n if gram is None else gram
    if gram is None and begun(folder) == (n, n):
        narrow = False  # an earlier run found negative correlations
    writer = Writer(folder, (n, n) if not narrow else (n, samples), "float32", identity)
    sums = _multiply(writer, scores, divisor or samples, not narrow, report)
    frob_sq, negative, off = float(sums[0]), int(sums[1]), float(sums[2])
    lowest = min(writer.done[f"row {a}"][3] for a in range(-(-n // TILE)))
    if narrow and (off > NEGLIGIBLE * frob_sq or lowest < LOWEST):
        if gram:
            raise InvalidInput(
                "gram", f"{negative} correlations are negative", "Their sizes need the dense form"
            )
        writer.discard()
        again: dict[str, Any] = {
            "divisor": divisor,
            "intensity": intensity,
            "names": names,
            "beside": beside,
            "report": report,
        }
        return write_abs_correlation(folder, scores, fourth, identity, gram=False, **again)
    alpha = intensity
    if alpha is None:
        shrinks = n / samples > RATIO
        alpha = ledoit_wolf_intensity(frob_sq, fourth, n, samples) if shrinks else 0.0
    about = {"intensity": alpha, "negative": negative, **identity}
    if narrow:
        about["left as they are"] = f"negative ones, {off / frob_sq:.1e} of ‖S‖² off their size"
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
    return writer.finish(form, shift=shift, about=about, names=names, beside=beside)


def _multiply(
    writer: Writer, scores: Tensor, divisor: float, keep: bool, report: Report | None
) -> np.ndarray:  # (3,)
    """Every upper tile of R: summed, and written as |R| where it is kept."""
    n = len(scores)
    parts = list(row_chunks(n, 1, TILE))
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
        if report is not None:
            report(1 - (1 - (a + 1) / len(parts)) ** 2)
    total: np.ndarray = np.sum([writer.done[f"row {a}"][:3] for a in range(len(parts))], axis=0)
    return total
