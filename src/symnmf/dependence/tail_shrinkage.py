"""Thresholding of a tail dependence matrix: entries that may be chance become zero.

The level b of independent instruments is removed first, (S − b) / (1 − b), so that entries without
dependence lie around zero. One threshold λ for all entries is then chosen by cross-validation in
time: S is estimated from a half of the blocks of rows, thresholded, and compared with the estimate
from the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.errors import InvalidInput
from symnmf.numerics import numpy_stream
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.resources import require_memory

#: Names of the ways to shrink.
SHRINKAGES = ("none", "soft", "adaptive", "baseline")
#: Exponent of adaptive thresholding (Rothman, Levina and Zhu, 2009, use 1 to 4).
ADAPTIVE_EXPONENT = 2.0
#: Rows of a block, splits into halves, and thresholds that cross-validation tries.
BLOCK_ROWS, SPLITS, GRID = 21, 4, 21


def thresholded(S: Tensor, threshold: float, kind: str = "soft") -> Tensor:  # (n, n)
    """Entries above a threshold, shrunk; the diagonal is kept.

        soft: max(0, s − λ),   adaptive: max(0, s − λ (λ / s)²)

    Adaptive thresholding leaves large entries nearly unchanged.

    Arguments:
        S: matrix with non-negative entries.
        threshold: threshold λ.
        kind: ``"soft"`` or ``"adaptive"``.

    Example:
        >>> import torch
        >>> thresholded(torch.tensor([[1.0, 0.4], [0.4, 1.0]]), 0.2, "adaptive")
        tensor([[1.0000, 0.3500],
                [0.3500, 1.0000]])

    Reference: Rothman, Levina and Zhu (2009), doi:10.1198/jasa.2009.0101; for the TPDM Pawley
    (2024), thesis, University of Bath.
    """
    cut = S.new_tensor(threshold)
    if kind == "adaptive":
        cut = cut * (cut / S.clamp(min=float(cut) or 1.0)) ** ADAPTIVE_EXPONENT
    out = (S - cut).clamp_(min=0)
    out.diagonal().copy_(S.diagonal())
    return out


def above_level(S: Tensor, level: float) -> Tensor:  # (n, n)
    """(S − b) / (1 − b) with unit diagonal: the dependence above the level b."""
    return ((S - level) / (1 - level)).fill_diagonal_(1.0)


def cross_validated_threshold(
    T: int,
    of_rows: Callable[[np.ndarray], SymmetricOperator],
    kind: str,
    level: float = 0.0,
    seed: int = 0,
) -> float:
    """The threshold whose thresholded estimate of one half of the rows is nearest to the other.

    Arguments:
        T: number of rows.
        of_rows: function that estimates S from some rows.
        kind: ``"soft"`` or ``"adaptive"``.
        level: level of independent instruments, which is removed first.
        seed: seed of the splits.
    """
    grid = np.linspace(0, 1, GRID) ** 2 * 0.8
    losses = np.zeros(GRID)
    blocks = np.arange(T) // BLOCK_ROWS
    for split in range(SPLITS):
        rng = numpy_stream(seed, "threshold", split)
        chosen = rng.permutation(blocks[-1] + 1)[: (blocks[-1] + 1) // 2]
        half = np.isin(blocks, chosen)
        matrices = [
            above_level(of_rows(np.flatnonzero(part)).to_dense().double(), level)
            for part in (half, ~half)
        ]
        for first, second in (matrices, matrices[::-1]):
            for at, threshold in enumerate(grid):
                gap = thresholded(first, float(threshold), kind) - second
                losses[at] += float(gap.square().sum())
    return float(grid[int(losses.argmin())])


def shrunk(
    S: SymmetricOperator,
    shrinkage: str | float,
    panel: Panel,
    of_rows: Callable[[np.ndarray], SymmetricOperator],
) -> DenseOperator:
    """S after shrinkage, as a dense operator whose steps say what was done.

    Arguments:
        S: tail dependence matrix.
        shrinkage: ``"soft"``, ``"adaptive"``, ``"baseline"``, or the threshold of ``"soft"``.
        panel: the returns that S was estimated from.
        of_rows: function that estimates S from some rows of the panel.

    Raises:
        InvalidInput: the threshold is not between 0 and 1.
    """
    from symnmf.dependence.independence import independence_level

    require_memory(16 * S.n**2, f"the shrunk matrix of {S.n} instruments", "Do not shrink")
    about = S.provenance
    assert isinstance(about, TailEstimate)
    dense = S.to_dense()
    if shrinkage == "baseline":
        level = independence_level(panel, about)
        step = f"the level of independent instruments, {level:.3g}, removed"
        matrix = above_level(dense, level).clamp_(min=0)
    else:
        kind = shrinkage if isinstance(shrinkage, str) else "soft"
        if isinstance(shrinkage, str):
            level = independence_level(panel, about)
            threshold = cross_validated_threshold(len(panel.values), of_rows, kind, level)
            matrix = thresholded(above_level(dense, level), threshold, kind)
            step = (
                f"the level of independent instruments, {level:.3g}, removed; {kind} threshold "
                f"{threshold:.3g}, chosen by cross-validation"
            )
        else:
            threshold = float(shrinkage)
            if not 0 <= threshold < 1:
                raise InvalidInput(
                    "shrinkage", f"got {shrinkage!r}", "Pass a number from 0 to below 1"
                )
            matrix = thresholded(dense, threshold, kind)
            step = f"soft threshold {threshold:.3g}, given"
    left = int((matrix > 0).sum() - S.n) // 2
    pairs = S.n * (S.n - 1) // 2
    steps = (*about.steps, step, f"{left} of {pairs} pairs are left above zero")
    return DenseOperator(matrix.to(S.dtype), S.names, provenance=replace(about, steps=steps))
