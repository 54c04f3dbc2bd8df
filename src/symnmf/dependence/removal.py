"""Removal of the market or of noise from z-scores."""

from __future__ import annotations

import torch
from torch import Tensor


def without_market(scores: Tensor) -> tuple[Tensor, float]:
    """Standardized scores without their leading component, and its share of the variance."""
    n, samples = scores.shape
    side = scores if n <= samples else scores.T
    values, vectors = torch.linalg.eigh(side @ side.T)
    v = vectors[:, -1:]
    rest = scores - (v @ (v.T @ scores) if n <= samples else (scores @ v) @ v.T)
    return standardize(rest), float(values[-1] / values.sum())


def without_noise(scores: Tensor) -> tuple[Tensor, float]:
    """The correlation with eigenvalues below the Marchenko–Pastur edge set to their mean.

    Returns:
        The correlation matrix and the edge.

    Reference: Laloux et al. (1999), doi:10.1103/PhysRevLett.83.1467.
    """
    n, samples = scores.shape
    edge = (1 + (n / samples) ** 0.5) ** 2
    values, vectors = torch.linalg.eigh(scores @ scores.T / samples)
    below = values < edge
    if bool(below.any()):
        values = torch.where(below, values[below].mean(), values)
    R = (vectors * values) @ vectors.T
    size = R.diagonal().sqrt()
    return R / size / size[:, None], edge


def standardize(X: Tensor) -> Tensor:  # (n, T) -> (n, T)
    """Scale rows to mean zero and mean square one, in place."""
    X -= X.mean(dim=1, keepdim=True)
    X /= X.square().mean(dim=1, keepdim=True).sqrt_()
    return X
