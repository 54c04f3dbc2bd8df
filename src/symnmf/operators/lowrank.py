"""A low-rank sketch U Φ Uᵀ + diag(d) of a matrix as an operator, and its correction."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from symnmf.numerics import row_chunks
from symnmf.operators.base import SymmetricOperator

#: Maximum passes that fit core and diagonal to each other, and the change relative to the mean
#: diagonal at which they stop.
MAX_FIT_PASSES, FIT_TOLERANCE = 8, 1e-4


class LowRankOperator(SymmetricOperator):
    """U Φ Uᵀ + diag(d) with orthonormal columns U: a product costs 2·n·p multiplications.

    Arguments:
        U: (n, p) orthonormal columns, shared with the caller.
        core: (p, p) symmetric matrix Φ.
        d: (n,) numbers added to the diagonal.

    Example:
        >>> S = LowRankOperator(torch.eye(2)[:, :1], torch.tensor([[3.0]]), torch.ones(2))
        >>> S.diag()
        tensor([4., 1.])
    """

    def __init__(self, U: Tensor, core: Tensor, d: Tensor):
        self.U, self.core, self.d = U, core.to(U), d.to(U)
        self.n, self.dtype, self.device = len(U), U.dtype, U.device

    @classmethod
    def sketch(cls, U: Tensor, values: Tensor, diag: Tensor) -> LowRankOperator:
        """The T that has the diagonal of S, and UᵀT U = UᵀS U = Λ.

        Both hold when Φ = Λ − Uᵀ diag(d) U and d = diag(S) − diag(U Φ Uᵀ), as in factor analysis;
        a few passes solve for both (approximately if an eigenvector is a single row). Then
        S − T is orthogonal to T, so that ‖S − H Hᵀ‖² = ‖T − H Hᵀ‖² + ‖S − T‖² for H in the span
        of U. Adding d to U Λ Uᵀ itself would count the noise in the leading directions twice.

        Arguments:
            U: (n, p) eigenvectors or Ritz vectors of S.
            values: (p,) their eigenvalues or Ritz values.
            diag: (n,) diagonal of S.
        """
        target, core = diag.to(U), torch.diag(values.to(torch.float64))
        tolerance = FIT_TOLERANCE * float(target.abs().mean())
        made = cls(U, core, torch.zeros_like(target))
        for _ in range(MAX_FIT_PASSES):
            before = made.d
            made = cls(U, made.core, target - made._low_rank_diag)
            if float((made.d - before).abs().max()) <= tolerance:
                return made
            made = cls(U, core - made._core_of_diagonal(), made.d)
        return cls(U, made.core, target - made._low_rank_diag)

    def matmul(self, X: Tensor) -> Tensor:
        """``U (Φ (Uᵀ X)) + d ∘ X``."""
        return (self.U @ (self.core @ (self.U.T @ X))).addcmul_(self.d[:, None], X)

    def left_matmul(self, X: Tensor) -> Tensor:
        """``((X U) Φ) Uᵀ + X ∘ d``."""
        return (((X @ self.U) @ self.core) @ self.U.T).addcmul_(X, self.d)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``U[i] Φ U[j]ᵀ``, plus d where the indices are equal."""
        out = (self.U[i] @ self.core) @ self.U[j].T
        return out + torch.where(i[:, None] == j, self.d[i][:, None], 0)

    def diag(self) -> Tensor:
        """Diagonal of the sum."""
        return self._low_rank_diag + self.d

    @cached_property
    def _low_rank_diag(self) -> Tensor:
        out = torch.empty(self.n, dtype=self.dtype, device=self.device)
        for part in row_chunks(self.n, len(self.core)):
            out[part] = torch.linalg.vecdot(self.U[part] @ self.core, self.U[part])
        return out

    def _core_of_diagonal(self) -> Tensor:  # (p, p)
        """Uᵀ diag(d) U in float64."""
        total = torch.zeros(self.core.shape, dtype=torch.float64, device=self.device)
        for part in row_chunks(self.n, len(self.core)):
            total += (self.U[part] * self.d[part, None]).T @ self.U[part]
        return total

    def frob_sq(self) -> float:
        """‖Φ‖² + 2·⟨d, diag(U Φ Uᵀ)⟩ + ‖d‖²."""
        d, low = self.d.to(torch.float64), self._low_rank_diag.to(torch.float64)
        return float(self.core.to(torch.float64).square().sum() + d @ (2 * low + d))

    def mean(self) -> float:
        """Mean of all entries."""
        sums = self.U.sum(dim=0, dtype=torch.float64)
        low = sums @ self.core.to(torch.float64) @ sums
        return float(low + self.d.sum(dtype=torch.float64)) / self.n**2

    def cost(self) -> float:
        """Two products with U."""
        return 2.0 * self.n * len(self.core)


class CorrectedOperator(SymmetricOperator):
    """T + P Hᵀ + H Pᵀ: a surrogate that agrees with S on the columns of H, and on all rows.

    With R = S − T and Π the projection on the columns of H, the correction is
    Π R + R Π − Π R Π. It depends on S only through S H.

    Arguments:
        T: surrogate of S.
        H: (n, k) columns on which the operators agree.
        P: (n, k) result of :meth:`correction`.
    """

    def __init__(self, T: SymmetricOperator, H: Tensor, P: Tensor):
        self.T, self.H, self.P = T, H, P
        self.n, self.dtype, self.device = T.n, T.dtype, T.device

    @staticmethod
    def correction(T: SymmetricOperator, H: Tensor, SH: Tensor) -> Tensor:  # (n, k)
        """P = C M⁻¹ − H M⁻¹ (HᵀC) M⁻¹ / 2 with C = S H − T H, M = HᵀH; one product of T."""
        C = SH - T.matmul(H)
        gram = (H.T @ H).to(torch.float64)
        inverse = torch.linalg.pinv(gram, hermitian=True, rtol=torch.finfo(H.dtype).eps)
        middle = inverse @ (H.T @ C).to(torch.float64) @ inverse
        middle = (middle + middle.T) / 4
        P: Tensor = (C @ inverse.to(H.dtype)).sub_(H @ middle.to(H.dtype))
        return P

    def matmul(self, X: Tensor) -> Tensor:
        """``T X + P (Hᵀ X) + H (Pᵀ X)``."""
        return self.T.matmul(X).addmm_(self.P, self.H.T @ X).addmm_(self.H, self.P.T @ X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """A block of the sum."""
        half = self.P[i] @ self.H[j].T
        return self.T.block(i, j) + half + self.H[i] @ self.P[j].T

    def frob_sq(self) -> float:
        """‖T‖² + 2⟨T, E⟩ + ‖E‖² with E the correction."""
        TH, gram = self.T.matmul(self.H), self.H.T @ self.H
        cross = self.P.T @ self.H
        inner = 4 * float(torch.linalg.vecdot(TH, self.P, dim=0).sum(dtype=torch.float64))
        square = 2 * float(((self.P.T @ self.P) * gram).sum() + (cross * cross.T).sum())
        return self.T.frob_sq() + inner + square

    def mean(self) -> float:
        """Mean of all entries."""
        sums = self.P.sum(dim=0, dtype=torch.float64) @ self.H.sum(dim=0, dtype=torch.float64)
        return self.T.mean() + 2 * float(sums) / self.n**2
