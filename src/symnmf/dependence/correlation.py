"""Absolute Pearson correlation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.dependence.shrinkage import RATIO, ledoit_wolf_intensity

#: Side of the square tiles of S, and observations multiplied at a time in float32.
TILE, DEPTH = 1024, 4096


@dataclass(frozen=True)
class Correlation:
    """|R| with unit diagonal, shrunk where asked for.

    Attributes:
        S: (n, n) absolute correlation.
        intensity: Ledoit–Wolf intensity α; off-diagonals are (1 − α)·|R|.
    """

    S: Tensor
    intensity: float


def standardize(X: Tensor) -> Tensor:  # (n, T) -> (n, T)
    """Rows to mean zero and mean square one, in place."""
    X -= X.mean(dim=1, keepdim=True)
    X /= X.square().mean(dim=1, keepdim=True).sqrt_()
    return X


def abs_correlation_of_scores(scores: Tensor, fourth: float, dtype: torch.dtype) -> Correlation:
    """|R| of z-scores, tile by tile, with Ledoit–Wolf shrinkage when n / T > 0.1.

    Partial products are summed in float64, so that the result does not depend on the machine
    beyond 1e-6 even when the scores are float32.

    Arguments:
        scores: (n, T) z-scores; only the upper tiles are multiplied.
        fourth: Σ_t ‖x_t‖⁴ over the observations (columns).
        dtype: of S.
    """
    n, samples = scores.shape
    S = torch.empty(n, n, dtype=dtype, device=scores.device)
    frob_sq = 0.0
    for a in range(0, n, TILE):
        for b in range(a, n, TILE):
            tile = _product(scores[a : a + TILE], scores[b : b + TILE]).div_(samples)
            frob_sq += (1 if a == b else 2) * float(tile.square().sum())
            tile = tile.abs_().to(dtype)
            S[a : a + TILE, b : b + TILE] = tile
            S[b : b + TILE, a : a + TILE] = tile.T
    intensity = 0.0
    if n / samples > RATIO:
        intensity = ledoit_wolf_intensity(frob_sq, fourth, n, samples)
        S.mul_(1.0 - intensity)
    S.fill_diagonal_(1.0)
    return Correlation(S, intensity)


def _product(X: Tensor, Y: Tensor) -> Tensor:
    total = torch.zeros(len(X), len(Y), dtype=torch.float64, device=X.device)
    for begin in range(0, X.shape[1], DEPTH):
        part = slice(begin, begin + DEPTH)
        total += X[:, part] @ Y[:, part].T
    return total
