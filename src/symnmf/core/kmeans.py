"""K-means on directions: seeding and Lloyd's iteration for explicit and implicit rows.

Rows are given explicitly (:class:`ExplicitRows`, for a spectral embedding) or through products with
an operator (``UnitRows`` of :mod:`symnmf.grouping.spherical_kmeans`, for the rows of S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import torch
from torch import Tensor

from symnmf.numerics import row_chunks

#: Maximum of Lloyd's passes, and the fraction of points that may still move when it stops.
MAX_LLOYD_PASSES, MOVING_FRACTION = 30, 1e-3
#: Sample size for many points, in total and per group, and the passes over all points afterwards.
SAMPLE_SIZE, SAMPLE_PER_GROUP, PASSES_ON_ALL = 20_000, 50, 3


class Directions(Protocol):
    """Rows of unit length, accessed through cosines and centres."""

    def __len__(self) -> int:
        """Number of rows."""

    def weights(self) -> Tensor:  # (n,)
        """Weights of the first draw of k-means++: 1, or 0 for a row without a direction."""

    def distances(self, places: Tensor) -> Tensor:  # (p,) -> (n, p)
        """1 − cosine between all rows and some of them, never negative."""

    def nearest(self, centres: Tensor) -> tuple[Tensor, Tensor]:
        """Label of the nearest centre of each row (−1 without a direction), and the cosine."""

    def centres(self, labels: Tensor, k: int, fit: Tensor) -> Tensor:
        """Mean directions of k groups; an empty group gets one of the rows that fit worst."""


def spread(rows: Directions, k: int, rng: torch.Generator, trials: int) -> Tensor:  # (≤ k,)
    """Greedy k-means++: initial rows, each the best of a few that are drawn by distance.

    Arguments:
        rows: directions to cluster.
        k: number of rows to choose.
        rng: generator on the CPU.
        trials: number of rows drawn for each choice after the first; 1 is plain k-means++.

    Returns:
        Indices of k rows, or of fewer if there are fewer distinct rows.

    Reference: Arthur and Vassilvitskii (2007); the greedy variant is that of scikit-learn.
    """
    far = rows.weights()
    chosen: list[int] = []
    for j in range(k):
        weights = far.to(torch.float64).cumsum(0)
        if not float(weights[-1]) > 0:
            break
        draws = torch.rand(1 if j == 0 else trials, generator=rng, dtype=torch.float64)
        places = torch.searchsorted(weights, draws.to(weights) * weights[-1])
        places = places.clamp_(max=len(rows) - 1)
        near = torch.minimum(far[:, None], rows.distances(places))  # (n, trials)
        best = int(near.sum(dim=0).argmin())
        chosen.append(int(places[best]))
        far = near[:, best].contiguous()
    return torch.tensor(chosen, dtype=torch.int64, device=far.device)


#: Function of the labels before and after a pass and the cosines after it: whether to stop.
Settled = Callable[[Tensor | None, Tensor, Tensor], bool]


@dataclass(frozen=True)
class Partition:
    """Result of Lloyd's iteration.

    Attributes:
        labels: (n,) group of each row; −1 for a row without a direction.
        fit: (n,) cosine between each row and its centre.
        centres: centres of the groups, in the form that the rows use.
        passes: number of passes made.
        settled: whether the rule ended the iteration before the maximum number of passes.
    """

    labels: Tensor
    fit: Tensor
    centres: Tensor
    passes: int
    settled: bool


def lloyd(rows: Directions, centres: Tensor, k: int, passes: int, settled: Settled) -> Partition:
    """Assign rows to the nearest centre and update the centres, until a rule is met.

    Arguments:
        rows: directions to cluster.
        centres: initial centres.
        k: number of groups.
        passes: maximum number of passes.
        settled: rule that ends the iteration.
    """
    labels: Tensor | None = None
    for done in range(1, passes + 1):
        new, fit = rows.nearest(centres)
        stop = settled(labels, new, fit)
        labels = new
        if stop:
            return Partition(labels, fit, centres, done, True)
        centres = rows.centres(labels, k, fit)
    assert labels is not None
    return Partition(labels, fit, centres, passes, False)


class ExplicitRows:
    """Rows of unit length in an array.

    Arguments:
        X: (n, d) rows; rows of zeros have no direction and get an arbitrary label.
    """

    def __init__(self, X: Tensor):
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def weights(self) -> Tensor:
        """One for every row."""
        return torch.ones(len(self.X), dtype=self.X.dtype, device=self.X.device)

    def distances(self, places: Tensor) -> Tensor:
        """1 − ⟨x_i, x_p⟩."""
        return (1 - self.X @ self.X[places].T).clamp_(min=0)

    def nearest(self, centres: Tensor) -> tuple[Tensor, Tensor]:  # (k, d) -> (n,), (n,)
        """The centre with the largest ⟨x_i, c⟩, in chunks of rows."""
        n = len(self.X)
        labels = torch.empty(n, dtype=torch.int64, device=self.X.device)
        fit = torch.empty(n, dtype=self.X.dtype, device=self.X.device)
        for part in row_chunks(n, len(centres)):
            best = (self.X[part] @ centres.T).max(dim=1)
            labels[part], fit[part] = best.indices, best.values
        return labels, fit

    def centres(self, labels: Tensor, k: int, fit: Tensor) -> Tensor:  # (k, d)
        """Mean directions of unit length."""
        X = self.X
        sums = torch.zeros(k, X.shape[1], dtype=X.dtype, device=X.device)
        sums.index_add_(0, labels, X)
        empty = (torch.bincount(labels, minlength=k) == 0).nonzero()[:, 0]
        if len(empty):
            sums[empty] = X[fit.topk(len(empty), largest=False).indices]
        size: Tensor = torch.linalg.vector_norm(sums, dim=1, keepdim=True)
        return sums / size.clamp_(min=torch.finfo(X.dtype).tiny)


def kmeans(X: Tensor, k: int, rng: torch.Generator) -> Tensor:  # (n, d) -> (n,)
    """Labels of k groups of directions, by greedy k-means++ and Lloyd's passes.

    Arguments:
        X: (n, d) rows of unit length; rows of zeros have no direction and get an arbitrary label.
        k: number of groups; fewer are returned if there are fewer distinct rows.
        rng: generator on the CPU.

    Example:
        >>> X = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> labels = kmeans(X, 2, torch.Generator().manual_seed(0))
        >>> bool(labels[0] == labels[2]), bool(labels[0] == labels[1])
        (True, False)
    """
    few = max(SAMPLE_SIZE, SAMPLE_PER_GROUP * k)
    if len(X) <= few:
        return _cluster(X, k, rng).labels
    chosen = torch.randperm(len(X), generator=rng)[:few].to(X.device)
    centres = _cluster(X[chosen], k, rng).centres
    return lloyd(ExplicitRows(X), centres, len(centres), PASSES_ON_ALL, _few_moved).labels


def kmeans_batch(
    X: Tensor, k: int, rngs: Sequence[torch.Generator]
) -> Tensor | None:  # (b, d, n) -> (b, n)
    """:func:`kmeans` of several small sets of directions at the same time, with the same draws.

    Arguments:
        X: (b, d, n) columns of unit length.
        k: number of groups.
        rngs: a generator on the CPU for each set.

    Returns:
        The labels; None where a set has fewer than k distinct columns.

    Example:
        >>> X = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]).expand(2, -1, -1)
        >>> labels = kmeans_batch(X, 2, [torch.Generator().manual_seed(m) for m in range(2)])
        >>> (labels[:, 0] == labels[:, 2]).tolist(), (labels[:, 0] == labels[:, 1]).tolist()
        ([True, True], [False, False])
    """
    b, d, n = X.shape
    places = _spread_batch(X, k, rngs, 2 + int(log(k)))
    if places is None:
        return None
    centres = X.gather(2, places[:, None].expand(-1, d, -1)).mT  # (b, k, d)
    labels = torch.full((b, n), -1, device=X.device)
    going = torch.arange(b, device=X.device)  # the sets that are not settled
    tiny = torch.finfo(X.dtype).tiny
    for _ in range(MAX_LLOYD_PASSES):
        fit, new = torch.bmm(centres, X).max(dim=1)
        moved = (new != labels[going]).sum(dim=1) > MOVING_FRACTION * n
        labels[going] = new
        left = moved.nonzero()[:, 0]
        if not len(left):
            break
        if len(left) < len(going):
            going, X, new, fit = going[left], X[left], new[left], fit[left]
        member = torch.zeros(len(X), k, n, dtype=X.dtype, device=X.device)
        sums = torch.bmm(member.scatter_(1, new[:, None], 1), X.mT)
        empty = member.sum(dim=2) == 0
        if bool(empty.any()):  # they get the columns that fit worst, in their order
            worst = fit.argsort(dim=1)[:, :k].gather(1, (empty.cumsum(1) - 1).clamp_(min=0))
            worst = X.gather(2, worst[:, None].expand(-1, d, -1)).mT
            sums = torch.where(empty[:, :, None], worst, sums)
        centres = sums / torch.linalg.vector_norm(sums, dim=2, keepdim=True).clamp_(min=tiny)
    return labels


def _spread_batch(
    X: Tensor, k: int, rngs: Sequence[torch.Generator], trials: int
) -> Tensor | None:  # (b, k)
    """:func:`spread` of each set; None where one has fewer than k distinct columns."""
    b, d, n = X.shape
    count = 1 + trials * (k - 1)
    drawn = [torch.rand(count, generator=rng, dtype=torch.float64) for rng in rngs]
    draws = torch.stack(drawn).to(X.device)
    far = torch.ones(b, n, dtype=X.dtype, device=X.device)
    chosen = []
    for j in range(k):
        weights = far.to(torch.float64).cumsum(1)
        if j == k - 1 and not bool((weights[:, -1] > 0).all()):
            return None
        some = draws[:, :1] if j == 0 else draws[:, 1 + trials * (j - 1) : 1 + trials * j]
        places = torch.searchsorted(weights, some * weights[:, -1:])
        places = places.clamp_(max=n - 1)  # (b, trials)
        there = X.gather(2, places[:, None].expand(-1, d, -1)).mT
        near = torch.minimum(far[:, None], torch.bmm(there, X).neg_().add_(1).clamp_(min=0))
        best = near.sum(dim=2).argmin(dim=1, keepdim=True)  # (b, 1)
        chosen.append(places.gather(1, best))
        far = near.gather(1, best[:, :, None].expand(-1, -1, n))[:, 0]
    return torch.cat(chosen, dim=1)


def _cluster(X: Tensor, k: int, rng: torch.Generator) -> Partition:
    """Greedy k-means++ and Lloyd's passes until few labels change."""
    rows = ExplicitRows(X)
    places = spread(rows, k, rng, trials=2 + int(log(k)))
    return lloyd(rows, X[places], len(places), MAX_LLOYD_PASSES, _few_moved)


def _few_moved(before: Tensor | None, labels: Tensor, fit: Tensor) -> bool:
    """Whether few labels changed."""
    return before is not None and int((before != labels).sum()) <= MOVING_FRACTION * len(labels)
