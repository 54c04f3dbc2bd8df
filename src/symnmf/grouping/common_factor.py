"""Groups in addition to a common factor: whether one factor more is one group more."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.core.labels import indicator
from symnmf.grouping.held_out import OffDiagonal
from symnmf.operators import SymmetricOperator

#: Rounds of alternating steps. After ten of them a group that does not exist is empty: in 103
#: simulated panels one group too many changed the fit by at most 1e-4 of what was left, and the
#: weakest true group by at least 6e-4.
ROUNDS = 10


def common_and_own(
    S: SymmetricOperator, labels: Tensor, k: int
) -> tuple[Tensor, Tensor]:  # (n,), (n, k)
    """Loadings on a common factor and on the own group, beginning with given groups.

        S_ij ≈ b_i b_j + 1{g(i) = g(j)} l_i l_j,   i ≠ j

    Alternating steps for b, for l, and for the group g(i), which becomes the one that reduces the
    squared error of row i most.

    Arguments:
        S: the dependence matrix.
        labels: (n,) groups from 0 at the beginning; −1 for rows without a group.
        k: number of groups.

    Returns:
        b, and L with l_i in the column of the group of i.
    """
    member = indicator(labels.to(S.device), k, S.dtype)
    diag = S.diag()
    row = S.matmul(torch.ones(S.n, 1, dtype=S.dtype, device=S.device))[:, 0] - diag
    b = row / row.sum().clamp(min=1e-30).sqrt()
    L = member * b[:, None] / 2
    for _ in range(ROUNDS):
        own = L.sum(dim=1)
        image = S.matmul(torch.cat([b[:, None], L], dim=1))
        rest = image[:, 0] - diag * b - (L @ (L.T @ b) - own.square() * b)
        b = _halfway(b, _divide(rest, b @ b - b.square()))
        # Σ_{j∈g, j≠i} (S_ij − b_i b_j) l_j and Σ_{j∈g, j≠i} l_j², for every i and g
        shared = image[:, 1:] - diag[:, None] * L - b[:, None] * (L.T @ b - b[:, None] * L)
        squares = L.square().sum(dim=0) - L.square()
        gain = _divide(shared.clamp(min=0).square(), squares)
        best = gain.argmax(dim=1, keepdim=True)
        member = torch.zeros_like(L).scatter_(1, best, 1.0)
        new = _divide(shared, squares).clamp(min=0)
        before = torch.where(L > 0, L, new)  # of a row that changes its group: the new loading
        L = member * _halfway(before, new)
    return b, L


def group_fit(S: SymmetricOperator, labels: Tensor, k: int, other: OffDiagonal) -> float:
    """Squared correlation of ``common_and_own`` of S with another matrix, off the diagonal.

    Arguments:
        S: matrix of one half of the days.
        labels, k: its groups.
        other: matrix of the other half.
    """
    b, L = common_and_own(S, labels, k)
    image = other.S.matmul(torch.cat([b[:, None], L], dim=1)).to("cpu", torch.float64)
    b, L = b.to("cpu", torch.float64), L.to("cpu", torch.float64)
    diag = b.square() + L.square().sum(dim=1)
    total = b.sum().square() + L.sum(dim=0).square().sum() - diag.sum()
    squares = (
        (b @ b).square()
        + 2 * (L.T @ b).square().sum()
        + L.square().sum(dim=0).square().sum()
        - diag.square().sum()
    )
    cross = b @ image[:, 0] + (L * image[:, 1:]).sum() - other.diag @ diag
    return float(other.fit(total[None], squares[None], cross[None])[0])


def _halfway(old: Tensor, new: Tensor) -> Tensor:
    """The mean of two iterates: x ← R x / ‖x‖² alone would swing around its scale for ever."""
    return (old + new) / 2


def _divide(a: Tensor, b: Tensor) -> Tensor:
    return torch.where(b > 0, a / b.clamp(min=1e-30), 0)
