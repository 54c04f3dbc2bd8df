"""Non-negative least squares for many right sides at once, solved exactly."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.numerics import row_chunks

#: Numbers in the small systems that are factorized at a time, and most exchanges.
SYSTEMS, EXCHANGES = 1 << 18, 100


def nnls_rows(A: Tensor, F: Tensor, start: Tensor) -> Tensor:  # (k, k), (n, k), (n, k) -> (n, k)
    """argmin_{x ≥ 0} xᵀA x − 2 f_iᵀx for every row f_i of F, by block principal pivoting.

    Each row keeps a passive set (where x may be positive), begun at that of ``start``. All
    entries that violate optimality change sides at once while that makes progress, then only
    the last one, which is certain to end. Rows are solved together: outside its passive set
    the system of a row is the identity. In float64.

    Arguments:
        A: positive definite.
        F: right sides.
        start: a guess whose positive entries begin passive.

    Reference: Kim and Park (2011), doi:10.1137/110821172.
    """
    out = torch.empty_like(F)
    wide = A.to(torch.float64)
    for part in row_chunks(len(F), A.shape[0] ** 2, SYSTEMS):
        out[part] = _pivot(wide, F[part].to(torch.float64), start[part] > 0).to(F.dtype)
    return out


def _pivot(A: Tensor, F: Tensor, passive: Tensor) -> Tensor:
    n, k = F.shape
    X = torch.zeros_like(F)
    todo = torch.arange(n, device=F.device)
    fewest = torch.full((n,), k + 1, device=F.device)
    chances = torch.full((n,), 3, device=F.device)
    small = 1e-12 * float(F.abs().max())
    for _ in range(EXCHANGES):
        P, right = passive[todo], F[todo]
        X[todo] = _solve(A, right, P)
        dual = X[todo] @ A - right
        wrong = torch.where(P, X[todo] < 0, dual < -small)
        count = wrong.sum(dim=1)
        keep = count > 0
        todo, wrong, count = todo[keep], wrong[keep], count[keep]
        if not len(todo):
            break
        better = count < fewest[todo]
        fewest[todo] = torch.where(better, count, fewest[todo])
        left = torch.where(better, 3, chances[todo] - 1)
        chances[todo] = left
        last = k - 1 - wrong.flip(1).to(torch.int8).argmax(dim=1)
        single = torch.zeros_like(wrong).scatter_(1, last[:, None], True)
        passive[todo] ^= torch.where((left >= 0)[:, None], wrong, single)
    return X.clamp_(min=0)


def _solve(A: Tensor, right: Tensor, passive: Tensor) -> Tensor:
    """X on the passive set of each row, zero elsewhere."""
    P = passive.to(A.dtype)
    systems = P[:, :, None] * A * P[:, None, :]
    systems.diagonal(dim1=1, dim2=2).add_(1 - P)
    L = torch.linalg.cholesky(systems)
    x: Tensor = torch.cholesky_solve((right * P)[:, :, None], L)[:, :, 0]
    return x * P
