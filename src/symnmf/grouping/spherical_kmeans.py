"""Spherical K-means on the rows of S, through products with S alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from symnmf.core.kmeans import Partition, lloyd, spread
from symnmf.core.labels import indicator
from symnmf.core.problem import Problem
from symnmf.display import Brief
from symnmf.errors import DegenerateWarning
from symnmf.grouping.centre_exchange import exchange_centres
from symnmf.numerics import torch_stream
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.options import choice, whole_number
from symnmf.planning.recommendation import angular_collapse, one_direction

#: The paper's rule: stop when the objective drops by less than this fraction of itself.
LEAST_RELATIVE_DROP = 1e-4
MAX_PASSES = 100
#: How the first centres are chosen: the best of two draws for each, with exchanges afterwards; or
#: the only draw.
SEEDINGS = ("greedy", "plain")
#: Draws for each first centre, and the most rounds of exchanges, if it is greedy.
TRIALS, EXCHANGE_ROUNDS = 2, 3


@dataclass(frozen=True, repr=False)
class HardGroups(Brief):
    """A partition of the rows of S by direction.

    Attributes:
        labels: (n,) group of each row; −1 for a row of zeros.
        objective: Σ_i (1 − cos(s_i, c)) over rows and their centroids.
        sum_norms: Σ_k ‖Σ_{i∈k} s̃_i‖, s̃ rows of unit length: what spherical K-means maximizes.
        sum_norms_sq: Σ_k ‖Σ_{i∈k} s̃_i‖² / n_k: what orthogonal SymNMF maximizes.
        passes: number of Lloyd passes of the best start.
        converged: whether the objective stopped falling.
        spread: (‖S‖² − λ₁²) / ‖S‖², the mean squared sine of the angle between a row and the
            leading direction.
        bound: (tr S / λ₁ − 1)², the upper bound of ``spread`` for a positive semidefinite S.
        degenerate: whether the rows have nearly one direction, so that the partition means little.
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


def spherical_kmeans(
    S: Any, k: int, *, seed: int = 0, n_init: int = 1, seeding: str = "greedy"
) -> HardGroups:
    """Hard groups of the rows of S by direction: Lloyd's passes from k-means++ in cosine distance.

    A pass costs two products of S with k columns; rows are normalized in the products, not in a
    copy of S. The first centres cost about three products, a round of exchanges two
    (``symnmf bench seeding``).

    Arguments:
        S: matrix or operator, as for :func:`symnmf.factorize`.
        k: number of groups.
        seed: seed of the starts.
        n_init: number of starts; the best partition is returned.
        seeding: ``"greedy"`` takes the best of two draws for each first centre, and exchanges
            centres between the first passes; ``"plain"`` takes the only draw and exchanges none,
            as in the founding paper.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> spherical_kmeans(S, 2).labels.unique(return_counts=True)[1]
        tensor([3, 3])
    """
    choice("seeding", seeding, SEEDINGS)
    problem = Problem(as_operator(S), k, seed)
    n_init = whole_number("n_init", n_init, 1, 10_000)
    rows = UnitRows(problem.S)
    left, right = angular_collapse(problem)
    degenerate = one_direction(problem)
    starts = (torch_stream(seed, "spherical", start) for start in range(n_init))
    runs = [one_start(rows, k, rng, seeding) for rng in starts]
    best = min(runs, key=lambda run: rows.objective(run.fit))
    if degenerate:
        warnings.warn(
            f"the rows of S have nearly one direction ((‖S‖² − λ₁²) / ‖S‖² = {left:.2g}), so that "
            "all partitions by direction are about equally good: use symnmf.factorize, which also "
            "fits magnitudes",
            DegenerateWarning,
            stacklevel=2,
        )
    norms, squares = partition_objectives(rows, best.labels, k)
    return HardGroups(
        labels=best.labels,
        objective=rows.objective(best.fit),
        sum_norms=norms,
        sum_norms_sq=squares,
        passes=best.passes,
        converged=best.settled,
        spread=left,
        bound=right,
        degenerate=degenerate,
    )


def one_start(rows: UnitRows, k: int, rng: torch.Generator, seeding: str) -> Partition:
    """One start: k-means++ in cosine distance, exchanges of centres, then Lloyd's passes."""
    trials, rounds = (1, 0) if seeding == "plain" else (TRIALS, EXCHANGE_ROUNDS)
    centres = rows.directions(spread(rows, k, rng, trials), k)
    passes = 0
    for _ in range(rounds):
        found = lloyd(rows, centres, k, 1, _never)
        passes += 1
        centres, exchanges = exchange_centres(rows, found, k)
        if not exchanges:
            break
    found = lloyd(rows, centres, k, MAX_PASSES, ObjectiveSettled(rows))
    return replace(found, passes=passes + found.passes)


def _never(before: Tensor | None, labels: Tensor, fit: Tensor) -> bool:
    """The iteration ends by its number of passes."""
    return False


class UnitRows:
    """The rows of S at unit length: sums of rows and cosines, through products of S."""

    def __init__(self, S: SymmetricOperator):
        self.S = S
        norms = S.row_norms()
        self.known = norms > torch.finfo(S.dtype).eps * norms.max()
        self.scale = torch.where(self.known, 1 / norms, 0)  # (n,)

    def __len__(self) -> int:
        return self.S.n

    def sums(self, weights: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """Σ_i w_ic s̃_i for each column."""
        return self.S.matmul(weights * self.scale[:, None])

    def cosines(self, directions: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """⟨s̃_i, d / ‖d‖⟩ for each direction."""
        size = torch.linalg.vector_norm(directions, dim=0).clamp_(
            min=torch.finfo(self.S.dtype).tiny
        )
        return self.S.matmul(directions / size) * self.scale[:, None]

    def weights(self) -> Tensor:  # (n,)
        """One for every row that is not zero."""
        return self.known.to(torch.float64)

    def directions(self, places: Tensor, k: int) -> Tensor:  # (n, k)
        """Some rows of S as directions; the remaining columns are zero."""
        chosen = torch.zeros(self.S.n, k, dtype=self.S.dtype, device=self.S.device)
        chosen[places, torch.arange(len(places), device=places.device)] = 1
        return self.sums(chosen)

    def distances(self, places: Tensor) -> Tensor:  # (p,) -> (n, p)
        """1 − cosine between all rows and the given rows; one product of S with p columns.

        Several rows are read as a block, one row is a product with a single column.
        """
        if len(places) > 1:
            everything = torch.arange(self.S.n, device=self.S.device)
            chosen = self.S.block(places, everything).T * self.scale[places]
        else:
            chosen = self.directions(places, 1)
        cosine = self.cosines(chosen).to(torch.float64)
        return (1 - cosine).clamp_(min=0) * self.known[:, None]

    def nearest(self, centres: Tensor) -> tuple[Tensor, Tensor]:  # (n, k) -> (n,), (n,)
        """The centre with the largest cosine, and the cosine; one product of S."""
        best = self.cosines(centres).max(dim=1)
        return torch.where(self.known, best.indices, -1), best.values

    def centres(self, labels: Tensor, k: int, fit: Tensor) -> Tensor:  # (n, k)
        """Sum of the rows of each group; an empty group gets a badly fitted row. One product."""
        member = indicator(labels, k, self.S.dtype)
        empty = (member.sum(dim=0) == 0).nonzero()[:, 0]
        if len(empty):
            worst = torch.where(self.known, fit, 2).topk(len(empty), largest=False)
            member[worst.indices, empty] = 1
        return self.sums(member)

    def objective(self, fit: Tensor) -> float:
        """Σ_i (1 − cos(s_i, c)) over rows and their centres."""
        return float(torch.where(self.known, 1 - fit, 0).sum(dtype=torch.float64))


def partition_objectives(rows: UnitRows, labels: Tensor, k: int) -> tuple[float, float]:
    """Σ ‖s_k‖ and Σ ‖s_k‖² / n_k of a partition, where s_k is the sum of its unit rows.

    The first is the objective of spherical K-means, the second that of SymNMF with orthogonal
    columns (the founding paper's theorems in section 6).
    """
    member = indicator(labels, k, rows.S.dtype)
    norms = torch.linalg.vector_norm(rows.sums(member), dim=0).to(torch.float64)
    sizes = member.sum(dim=0, dtype=torch.float64)
    return float(norms.sum()), float((norms.square() / sizes.clamp(min=1)).sum())


class ObjectiveSettled:
    """The paper's stopping rule: the objective drops by less than a fraction of itself."""

    def __init__(self, rows: UnitRows):
        self.rows, self.before = rows, float("inf")

    def __call__(self, labels: Tensor | None, new: Tensor, fit: Tensor) -> bool:
        """Whether the pass that ended with these cosines is the last."""
        objective, before = self.rows.objective(fit), self.before
        self.before = objective
        return before - objective <= LEAST_RELATIVE_DROP * before < float("inf") or objective <= 0
