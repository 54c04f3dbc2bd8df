"""K-means on the directions of points: the groups of a spectral embedding."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor

from symnmf.operators.base import row_chunks

#: Most passes of Lloyd, and the fraction of points that may still move when it stops.
PASSES, MOVING = 30, 1e-3
#: Of many points so many (and so many for each group) are drawn; then a few passes over all.
SAMPLE, SAMPLE_A_GROUP, PASSES_ON_ALL = 20_000, 50, 3


def kmeans(X: Tensor, k: int, rng: torch.Generator) -> Tensor:  # (n, d) -> (n,)
    """Labels of k groups of directions, by greedy k-means++ and Lloyd's passes.

    Arguments:
        X: (n, d) rows of unit length; rows of zeros belong to no direction and get any label.
        k: number of groups; fewer are returned when there are fewer distinct rows.
        rng: generator on the CPU.

    Example:
        >>> X = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> labels = kmeans(X, 2, torch.Generator().manual_seed(0))
        >>> bool(labels[0] == labels[2]), bool(labels[0] == labels[1])
        (True, False)
    """
    few = max(SAMPLE, SAMPLE_A_GROUP * k)
    if len(X) <= few:
        return _lloyd(X, _spread(X, k, rng), PASSES)[0]
    chosen = torch.randperm(len(X), generator=rng)[:few].to(X.device)
    _, centres = _lloyd(X[chosen], _spread(X[chosen], k, rng), PASSES)
    return _lloyd(X, centres, PASSES_ON_ALL)[0]


def _lloyd(X: Tensor, centres: Tensor, passes: int) -> tuple[Tensor, Tensor]:
    """Labels and centres after some passes, fewer when hardly a label changes."""
    k = len(centres)
    labels = torch.full((len(X),), -1, device=X.device)
    for _ in range(passes):
        moved, fit = 0, torch.empty(len(X), dtype=X.dtype, device=X.device)
        for part in row_chunks(len(X), k):
            best = (X[part] @ centres.T).max(dim=1)
            moved += int((best.indices != labels[part]).sum())
            labels[part], fit[part] = best.indices, best.values
        if moved <= MOVING * len(X):
            break
        centres = _centres(X, labels, k, fit)
    return labels, centres


def _spread(X: Tensor, k: int, rng: torch.Generator) -> Tensor:  # (k, d)
    """Greedy k-means++: each next centre is the best of a few drawn by squared distance."""
    trials = 2 + int(log(k))
    far = torch.ones(len(X), dtype=X.dtype, device=X.device)
    centres = torch.zeros(k, X.shape[1], dtype=X.dtype, device=X.device)
    for j in range(k):
        weights = far.to(torch.float64).cumsum(0)
        if not float(weights[-1]) > 0:
            return centres[:j]
        draws = torch.rand(1 if j == 0 else trials, generator=rng, dtype=torch.float64)
        places = torch.searchsorted(weights, draws.to(weights) * weights[-1])
        places = places.clamp_(max=len(X) - 1)
        near = torch.minimum(far[:, None], (1 - X @ X[places].T).clamp_(min=0))  # (n, trials)
        best = int(near.sum(dim=0).argmin())
        centres[j], far = X[places[best]], near[:, best].contiguous()
    return centres


def _centres(X: Tensor, labels: Tensor, k: int, fit: Tensor) -> Tensor:  # (k, d)
    """Mean directions; a group without members takes one of the points that fit worst."""
    sums = torch.zeros(k, X.shape[1], dtype=X.dtype, device=X.device).index_add_(0, labels, X)
    empty = (torch.bincount(labels, minlength=k) == 0).nonzero()[:, 0]
    if len(empty):
        sums[empty] = X[fit.topk(len(empty), largest=False).indices]
    size: Tensor = torch.linalg.vector_norm(sums, dim=1, keepdim=True)
    return sums / size.clamp_(min=torch.finfo(X.dtype).tiny)
