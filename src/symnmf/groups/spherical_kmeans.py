"""Spherical K-means on the rows of S, known through products alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from symnmf.contract import Problem, whole
from symnmf.errors import DegenerateWarning
from symnmf.labels import indicator
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.recommend import angular_collapse, one_direction
from symnmf.seeds import torch_stream

#: The paper's rule: stop when the objective drops by less than this fraction of itself.
DROP = 1e-4
MOST_PASSES = 100


@dataclass(frozen=True)
class HardGroups:
    """A partition of the rows of S by direction.

    Attributes:
        labels: (n,) group of each row; −1 for a row of zeros.
        objective: Σ_i (1 − cos(s_i, c)) over rows and their centroids.
        sum_norms: Σ_k ‖Σ_{i∈k} s̃_i‖, s̃ rows of unit length: what spherical K-means maximizes.
        sum_norms_sq: Σ_k ‖Σ_{i∈k} s̃_i‖² / n_k: what orthogonal SymNMF maximizes.
        passes: of Lloyd, of the best start.
        converged: whether the objective stopped falling.
        spread: (‖S‖² − λ₁²) / ‖S‖², the mean squared sine of the angle between a row and the
            leading direction; ``bound`` is (tr S / λ₁ − 1)², its upper bound for definite S.
        degenerate: rows have nearly one direction; the partition means little.
    """

    labels: Tensor
    objective: float
    sum_norms: float
    sum_norms_sq: float
    passes: int
    converged: bool
    spread: float
    bound: float
    degenerate: bool


def spherical_kmeans(S: Any, k: int, *, seed: int = 0, n_init: int = 1) -> HardGroups:
    """Hard groups of the rows of S by their directions: Lloyd's passes from k-means++ in cosine.

    A pass is two products of S with k columns; rows are normalized in the products, not in a copy.

    Arguments:
        S: matrix or operator, as for :func:`symnmf.factorize`.
        k: number of groups.
        seed: of the starts.
        n_init: number of starts; the best is returned.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> spherical_kmeans(S, 2).labels.unique(return_counts=True)[1]
        tensor([3, 3])
    """
    problem = Problem(as_operator(S), k, seed)
    n_init = whole("n_init", n_init, 1, 10_000, "from 1 to 10000")
    rows = UnitRows(problem.S)
    left, right = angular_collapse(problem)
    degenerate = one_direction(problem)
    starts = (torch_stream(seed, "spherical", start) for start in range(n_init))
    runs = [lloyd(rows, _centres(rows, k, rng)) for rng in starts]
    labels, objective, passes, converged = min(runs, key=lambda run: run[1])
    if degenerate:
        warnings.warn(
            f"the rows of S have nearly one direction ((‖S‖² − λ₁²) / ‖S‖² = {left:.2g}), so that "
            "every partition by direction is about as good: use factorize, which fits magnitudes",
            DegenerateWarning,
            stacklevel=2,
        )
    norms, squares = partition_objectives(rows, labels, k)
    return HardGroups(labels, objective, norms, squares, passes, converged, left, right, degenerate)


class UnitRows:
    """The rows of S at unit length: inner products with them, through products of S."""

    def __init__(self, S: SymmetricOperator):
        self.S = S
        norms = S.row_norms()
        self.known = norms > torch.finfo(S.dtype).eps * norms.max()
        self.scale = torch.where(self.known, 1 / norms, 0)  # (n,)

    def sums(self, weights: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """Σ_i w_ic s̃_i for each column."""
        return self.S.matmul(weights * self.scale[:, None])

    def cosines(self, directions: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """⟨s̃_i, d / ‖d‖⟩ for each direction."""
        size = torch.linalg.vector_norm(directions, dim=0).clamp_(
            min=torch.finfo(self.S.dtype).tiny
        )
        return self.S.matmul(directions / size) * self.scale[:, None]


def partition_objectives(rows: UnitRows, labels: Tensor, k: int) -> tuple[float, float]:
    """Σ ‖s_k‖ and Σ ‖s_k‖² / n_k of a partition, s_k the sum of its rows at unit length.

    The first is the objective of spherical K-means, the second that of SymNMF with orthogonal
    columns (the founding paper's theorems in section 6).
    """
    member = indicator(labels, k, rows.S.dtype)
    norms = torch.linalg.vector_norm(rows.sums(member), dim=0).to(torch.float64)
    sizes = member.sum(dim=0, dtype=torch.float64)
    return float(norms.sum()), float((norms.square() / sizes.clamp(min=1)).sum())


def lloyd(rows: UnitRows, directions: Tensor) -> tuple[Tensor, float, int, bool]:
    """Labels, objective, passes, and whether it settled, from (n, k) first directions."""
    k, cosine = directions.shape[1], rows.cosines(directions)
    before = float("inf")
    for passes in range(1, MOST_PASSES + 1):
        best = cosine.max(dim=1)
        labels = torch.where(rows.known, best.indices, -1)
        objective = float(torch.where(rows.known, 1 - best.values, 0).sum(dtype=torch.float64))
        if before - objective <= DROP * before < float("inf") or objective <= 0:
            return labels, objective, passes, True
        before = objective
        member = indicator(labels, k, rows.S.dtype)
        empty = (member.sum(dim=0) == 0).nonzero()[:, 0]
        if len(empty):  # a group without members takes one of the rows that fit worst
            worst = torch.where(rows.known, best.values, 2).topk(len(empty), largest=False)
            member[worst.indices, empty] = 1
        cosine = rows.cosines(rows.sums(member))
    return labels, objective, passes, False


def _centres(rows: UnitRows, k: int, rng: torch.Generator) -> Tensor:  # (n, k)
    """K-means++ in cosine: a row far from the centres so far is the likeliest next one."""
    n, S = rows.S.n, rows.S
    far = rows.known.to(torch.float64)
    chosen = torch.zeros(n, k, dtype=S.dtype, device=S.device)
    for j in range(k):
        weights = far.cumsum(0)
        if not float(weights[-1]) > 0:
            break
        draw = torch.rand(1, generator=rng, dtype=torch.float64).to(weights) * weights[-1]
        i = min(int(torch.searchsorted(weights, draw)), n - 1)
        chosen[i, j] = 1
        cosine = rows.cosines(rows.sums(chosen[:, j : j + 1]))[:, 0]
        far = torch.minimum(far, (1 - cosine.to(torch.float64)).clamp_(min=0) * rows.known)
    return rows.sums(chosen)
