"""Projected Newton steps on S, whose curvature costs no product of S."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import gradient, objective
from symnmf.operators import SymmetricOperator

#: Sufficient decrease of the line search, and the most halvings of a step.
DECREASE, HALVINGS = 1e-4, 8
#: Conjugate gradients end when the residual, in the norm of the preconditioner, is this fraction
#: of the first one.
FORCING = 0.1


@dataclass(frozen=True)
class NewtonPoint:
    """A factor with its product and its objective.

    Attributes:
        H, SH: (n, k) factor and S @ H.
        value: ‖HᵀH‖² − 2⟨H, S H⟩.
    """

    H: Tensor
    SH: Tensor
    value: float

    @classmethod
    def at(cls, S: SymmetricOperator, H: Tensor, SH: Tensor | None = None) -> NewtonPoint:
        """Evaluate a factor; one product of S, unless S H is given."""
        SH = S.matmul(H) if SH is None else SH
        return cls(H, SH, objective(H, SH))


def newton_step(
    S: SymmetricOperator, T: SymmetricOperator, here: NewtonPoint, cg_iters: int
) -> NewtonPoint:
    """The next factor by a projected Newton step; the same object where no step helps.

        ∇²f[D] ≈ 4 (D HᵀH + H DᵀH + H HᵀD − T D)    on the free entries

    The last two terms are the residual, which a Gauss–Newton step leaves out: where noise or
    non-negativity keep the error far from zero, it is not small. With a surrogate T of S in it the
    conjugate gradients need no product of S. They are preconditioned by D ↦ D (4 HᵀH)⁻¹, and end
    where the curvature does. A direction that does not help is replaced by that of Gauss and
    Newton, whose curvature is never negative.

    Arguments:
        S: the matrix; one product, and one more for each halving.
        T: surrogate of S.
        here: where the step begins.
        cg_iters: maximum steps of conjugate gradients.

    Reference: Bertsekas (1982), doi:10.1137/0320018 (projected Newton); Steihaug (1983),
        doi:10.1137/0720042 (truncated conjugate gradients).
    """
    gram = here.H.T @ here.H  # (k, k)
    grad = gradient(here.H, here.SH)
    free = ((here.H > 0) | (grad < 0)).to(here.H.dtype)
    for residual in (T, None):
        direction = _direction(here.H, gram, grad, free, residual, cg_iters)
        there = _search(S, here, grad, direction)
        if there is not None:
            return there
    return here


def _direction(
    H: Tensor,
    gram: Tensor,
    grad: Tensor,
    free: Tensor,
    residual: SymmetricOperator | None,
    cg_iters: int,
) -> Tensor:  # (n, k)
    """Preconditioned conjugate gradients from zero; without ``residual``, of Gauss and Newton."""
    system = gram.to(torch.float64) * 4
    system.diagonal().add_(1e-6 * float(system.diagonal().mean()))
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(system)).to(H.dtype)
    x, r = torch.zeros_like(H), grad.neg().mul_(free)
    p = (r @ inverse).mul_(free)
    size = first = _dot(r, p)
    for step in range(cg_iters):
        Ap = (p @ gram).addmm_(H, p.T @ H)
        if residual is not None:
            Ap.addmm_(H, H.T @ p).sub_(residual.matmul(p))
        Ap.mul_(4.0).mul_(free)
        curvature = _dot(p, Ap)
        if curvature <= 0:
            return p if step == 0 else x
        alpha = size / curvature
        x.add_(p, alpha=alpha)
        r.sub_(Ap, alpha=alpha)
        z = (r @ inverse).mul_(free)
        before, size = size, _dot(r, z)
        if size <= FORCING**2 * first:
            break
        p.mul_(size / before).add_(z)
    return x


def _search(
    S: SymmetricOperator, here: NewtonPoint, grad: Tensor, direction: Tensor
) -> NewtonPoint | None:
    """The first of η = 1, 1/2, … that decreases the objective enough; None if none does."""
    eta = 1.0
    for _ in range(HALVINGS):
        H = torch.add(here.H, direction, alpha=eta).clamp_(min=0)
        slope = _dot(grad, H - here.H)
        if slope >= 0:
            return None
        there = NewtonPoint.at(S, H)
        if there.value <= here.value + DECREASE * slope:
            return there
        eta /= 2
    return None


def _dot(X: Tensor, Y: Tensor) -> float:
    """⟨X, Y⟩ for step lengths, summed in the precision of the entries."""
    return float(torch.dot(X.reshape(-1), Y.reshape(-1)))
