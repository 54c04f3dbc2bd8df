"""Cases whose best factor is known without iterating."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import (
    error,
    error_resolution,
    gradient,
    gradient_resolution,
    projected_norm,
)
from symnmf.core.problem import Problem
from symnmf.defaults import EVENTS_A_GROUP
from symnmf.operators import GramOperator, unwrap

#: Maximum number of one-column products spent on the leading eigenvector.
POWER_STEPS = 200


@dataclass(frozen=True)
class ExactFactor:
    """A factor with the least error of all factors with k columns, and the reason why."""

    H: Tensor
    reason: str


def exact_factor(problem: Problem) -> ExactFactor | None:
    """The best factor, where S has a form for which it is known; None otherwise.

    The cases are a Gram matrix of a non-negative factor B with at most k columns (H is then B
    itself, not a copy, unless columns are missing), a diagonal matrix, a block diagonal matrix of
    rank-one blocks, and k = 1. The test costs a few rows of S.

    Arguments:
        problem: S, k, seed and start.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> exact_factor(Problem(sn.as_operator(np.diag([3.0, 2.0, 1.0])), 2)).H
        tensor([[1.7321, 0.0000],
                [0.0000, 1.4142],
                [0.0000, 0.0000]], dtype=torch.float64)
    """
    for case in (_nonnegative_gram, _diagonal, _rank_one_blocks, _leading_vector):
        found = case(problem)
        if found is not None:
            return found
    return None


def _nonnegative_gram(problem: Problem) -> ExactFactor | None:
    S = unwrap(problem.S)
    if not (isinstance(S, GramOperator) and S.d is None and S.m <= problem.k):
        return None
    if bool(S.rows.total(lambda piece, _: (piece < 0).sum())):
        return None
    reason = (
        f"S = B Bᵀ with a non-negative B of {S.m} columns, so H = B is exact for every k from "
        f"{S.m} on. Its factors are single events, not groups: choose k below "
        f"{max(2, S.m // EVENTS_A_GROUP)}, or use more exceedances"
    )
    return ExactFactor(_padded(S.rows.each(lambda piece, _: piece.clone()), problem.k), reason)


def _diagonal(problem: Problem) -> ExactFactor | None:
    S, k = problem.S, problem.k
    d = S.diag()
    if abs(float(d.to(torch.float64).square().sum()) / S.frob_sq() - 1) > 1e-14:
        return None
    largest = d.clamp(min=0).topk(k)
    H = torch.zeros(S.n, k, dtype=S.dtype, device=S.device)
    H[largest.indices, torch.arange(k, device=S.device)] = largest.values.sqrt()
    return ExactFactor(H, "S is diagonal: every group is one instrument, the largest first")


def _rank_one_blocks(problem: Problem) -> ExactFactor | None:
    """Each row of such a matrix determines its whole block: S_ij = h_i h_j."""
    S, k = problem.S, problem.k
    diagonal = S.diag()
    left = diagonal > 0
    everything = torch.arange(S.n, device=S.device)
    columns: list[Tensor] = []
    while bool(left.any()):
        if len(columns) == k:
            return None
        i = int((diagonal * left).argmax())
        h = S.block(everything[i : i + 1], everything)[0] / diagonal[i].sqrt()
        small = torch.finfo(S.dtype).eps * h.max()
        h = torch.where(h > small, h, 0)
        if not bool(left[h > 0].all()):
            return None
        if not torch.allclose(h[h > 0].square(), diagonal[h > 0], rtol=1e-5, atol=0):
            return None
        left &= h == 0
        columns.append(h)
    if not columns:
        return None
    H = _padded(torch.stack(columns, dim=1), k)
    if error(H, S.matmul(H), S.frob_sq()) > error_resolution(S.dtype):
        return None
    blocks = "one block" if len(columns) == 1 else f"{len(columns)} blocks"
    return ExactFactor(H, f"S consists of {blocks} of rank one: one factor each, error 0")


def _leading_vector(problem: Problem) -> ExactFactor | None:
    if problem.k > 1:
        return None
    S, v = problem.S, problem.spectrum.vectors[:, :1].abs()
    rounding = max(8.0, S.n**0.5)  # rounding of a sum of n products
    for _ in range(POWER_STEPS):
        v = v / torch.linalg.vector_norm(v)
        Sv = S.matmul(v)
        size = max(0.0, float(torch.linalg.vecdot(v, Sv, dim=0))) ** 0.5
        H, SH = v * size, Sv * size
        if projected_norm(H, gradient(H, SH)) <= rounding * gradient_resolution(H, SH):
            reason = "k = 1: the best factor is the leading eigenvector, which is not negative"
            return ExactFactor(H, reason)
        v = Sv
    return None


def _padded(H: Tensor, k: int) -> Tensor:
    """H, with columns of zeros appended where it has fewer than k columns."""
    missing = k - H.shape[1]
    return H if missing == 0 else torch.nn.functional.pad(H, (0, missing))
