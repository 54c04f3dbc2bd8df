"""A low-rank completion of a partly observed matrix, by its leading directions."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.core.bounds import EDGE
from symnmf.numerics import cross64, symmetric_eigen, torch_stream
from symnmf.operators.observed_entries import ObservedMatrix

#: Most passes over S, and the fall of the norm of what is left that calls for one more.
PASSES, LEAST_FALL = 30, 0.01
#: Directions with a smaller part of the largest eigenvalue are left out.
LEAST_PART = 1e-6


def spectral_completion(S: ObservedMatrix, k: int, seed: int) -> Tensor:  # (n, k)
    """B such that B Bᵀ fits the observed entries of S besides the diagonal.

        Z = W ∘ S + (1 − W) ∘ B Bᵀ besides the diagonal, which is that of B Bᵀ
        Qᵀ Z Q = V Λ Vᵀ,   B ← Z Q V Λ⁻¹ Λ′^(1/2) for the k largest,   Q ← orth(Z Q V)
        Λ′² = Λ² − 4 σ² n,   σ² the mean square of W ∘ (S − B Bᵀ)

    Each pass is a step of subspace iteration for Z and a step of expectation and maximization for
    B. The diagonal is not fitted: what an instrument has for itself is on it alone, does not tell
    the entries that are missing, and would otherwise get directions of its own. Λ′ is what is left
    of Λ without noise: few observed entries would otherwise be fitted exactly, and the others not
    at all. As for the bounds on the error, the edge of noise is raised by a fifth. Where k is not
    much below n / 4 this may leave no direction, and the means of the rows are returned.

    Arguments:
        S: the observed entries.
        k: number of directions.
        seed: seed of the first directions.

    Returns:
        The columns of B; signed.

    Example:
        >>> from symnmf.operators.observed_entries import ObservedEntries
        >>> S = 2 * torch.eye(40) + torch.kron(torch.eye(2), torch.ones(20, 20))
        >>> seen = torch.ones(40, 40, dtype=torch.bool)
        >>> seen[0, 1] = seen[1, 0] = False
        >>> B = spectral_completion(ObservedEntries(S, seen), 2, 0)
        >>> round(float(B[0] @ B[1]), 2)
        1.0

    Reference: Mazumder, Hastie and Tibshirani (2010), Spectral regularization algorithms for
    learning large incomplete matrices, JMLR 11; for the diagonal Zhang, Cai and Wu (2022),
    doi:10.1214/21-AOS2074; for Λ′ Gavish and Donoho (2017), arXiv:1405.7511.
    """
    p = min(S.n, 2 * k + 8)
    Q = torch.randn(S.n, p, generator=torch_stream(seed, "completion"), dtype=S.dtype)
    Q = torch.linalg.qr(Q.to(S.device)).Q
    B = best = S.row_means()
    least = float("inf")
    for number in range(PASSES):
        ZQ, left = S.completed_times(B, Q)
        own = S.left_on_diagonal(B)
        ZQ.sub_(Q * own[:, None])
        left -= float(own.to(torch.float64).square().sum())
        if number == 0:  # the directions are still those of the draw
            Q = torch.linalg.qr(ZQ).Q
            continue
        before = least
        if left < least:
            best, least = B, left
        if not left < (1 - LEAST_FALL) ** 2 * before:
            break
        T = cross64(Q, ZQ)
        values, V = symmetric_eigen((T + T.T) / 2)
        ZQ = ZQ @ V.flip(1).to(Q.dtype)
        B = ZQ[:, :k] * _sizes(values.flip(0)[:k], left / S.n).to(Q)
        Q = torch.linalg.qr(ZQ).Q
    return best


def _sizes(values: Tensor, noise: float) -> Tensor:  # (k,)
    """sqrt(λ′) / λ with λ′² = λ² − 4 σ² n, zero where λ does not exceed the edge of noise.

    Arguments:
        values: eigenvalues λ of S and noise.
        noise: σ² n, the squared norm of a row of the noise.
    """
    least = LEAST_PART * values[0].clamp(min=0)
    shrunk = (values.square() - EDGE**2 * 4 * noise).clamp(min=0).sqrt()
    return torch.where(values > least, shrunk.sqrt() / values.clamp(min=1e-300), 0)
