"""Projected Newton steps for several factors at once; the curvature costs no product of S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import objective
from symnmf.core.solver import Checkpointable
from symnmf.numerics import WIDE_ENTRIES
from symnmf.operators import SymmetricOperator
from symnmf.solvers.sketches import Matrices, Sketches, SmallMatrices

#: One operator for all factors of a batch, or one for each.
Operators = SymmetricOperator | Matrices | SmallMatrices | Sketches
#: Sufficient decrease of the line search, and the most halvings of a step.
DECREASE, HALVINGS = 1e-4, 8
#: Conjugate gradients end when the residual, in the norm of the preconditioner, is this fraction
#: of the first one.
FORCING = 0.1
#: A factor is given up if this many steps like its last one would not reach the best.
STEPS_BEHIND = 10


@dataclass
class Pool(Checkpointable):
    """Factors that are fitted at the same time, as one batch.

    They are stored as rows, Hᵀ: the products of k×k matrices with long rows take a fraction of
    the time of those with many short ones.

    Attributes:
        H, SH: (b, k, n) factors, and their products with the operator of the steps.
        value: (b,) ‖HᵀH‖² − 2⟨H, S H⟩ in float64.
        gain: (b,) decrease of the value by the last step.
        slow: (b,) number of steps in a row that gained little.
    """

    H: Tensor
    SH: Tensor
    value: Tensor
    gain: Tensor
    slow: Tensor

    @classmethod
    def at(cls, S: Operators, H: Sequence[Tensor], SH: Tensor | None = None) -> Pool:
        """Factors before the first step; one product for each, unless they are given.

        Arguments:
            S: operator of the steps.
            H: factors (n, k).
            SH: (n, k) the product of a single factor, if it is known.
        """
        return cls.of_rows(S, torch.stack([X.T for X in H]), None if SH is None else SH.T[None])

    @classmethod
    def of_rows(cls, S: Operators, rows: Tensor, SH: Tensor | None = None) -> Pool:
        """:meth:`at` for factors (b, k, n) that are stored as rows, and their products."""
        known = products(S, rows) if SH is None else SH.contiguous()
        value = objectives(rows, known)
        return cls(rows, known, value, torch.full_like(value, torch.inf), torch.zeros_like(value))

    def factor(self, m: int) -> Tensor:  # (n, k)
        """One of the factors."""
        return self.H[m].T.contiguous()

    def product(self, m: int) -> Tensor:  # (n, k)
        """The product of one of the factors."""
        return self.SH[m].T.contiguous()

    @property
    def best(self) -> int:
        """Index of the factor with the least error."""
        return int(self.value.argmin())

    def active(self, patience: int, problems: int = 1) -> Tensor:  # (m,)
        """Indices of the factors that still gain, and may still become the best of their problem.

        Arguments:
            patience: number of steps in a row that may gain little.
            problems: number of problems; each has as many successive factors as every other.
        """
        least = self.value.view(problems, -1).amin(dim=1, keepdim=True)
        behind = (self.value - STEPS_BEHIND * self.gain).view(problems, -1) > least
        return ((self.slow < patience) & ~behind.flatten()).nonzero()[:, 0]

    def stepped(
        self,
        S: Operators,
        T: Operators,
        cg_iters: int,
        active: Tensor,
        least: Tensor,
    ) -> Pool:
        """The pool after a step of its active factors.

        Arguments:
            S: operator of the steps.
            T: operator of the curvature.
            cg_iters: maximum steps of conjugate gradients.
            active: (m,) indices of the factors that move.
            least: (b,) smallest gain that counts.
        """
        whole = len(active) == len(self.value)
        H, SH, value = (x if whole else x[active] for x in (self.H, self.SH, self.value))
        if not whole:
            S, T = only(S, active), only(T, active)
        H, SH, after = newton_step(S, T, H, SH, value, cg_iters)
        gain = value - after
        slow = torch.where(gain < least[active], self.slow[active] + 1, 0)
        slow = torch.where(gain <= 0, torch.inf, slow)  # no step helps
        if whole:
            return Pool(H, SH, after, gain, slow)
        pairs = zip(self._parts, (H, SH, after, gain, slow), strict=True)
        return Pool(*(old.index_copy(0, active, new) for old, new in pairs))

    def joined(self, other: Pool) -> Pool:
        """Both pools as one."""
        pairs = zip(self._parts, other._parts, strict=True)
        return Pool(*(torch.cat(pair) for pair in pairs))

    @property
    def _parts(self) -> tuple[Tensor, ...]:
        return self.H, self.SH, self.value, self.gain, self.slow

    def only(self, chosen: Tensor) -> Pool:
        """Some of the factors."""
        return Pool(*(part[chosen] for part in self._parts))


def products(S: Operators, X: Tensor) -> Tensor:  # (b, k, n) -> (b, k, n)
    """X S for several X, in one product."""
    if isinstance(S, SymmetricOperator):
        return S.left_matmul(X.flatten(0, 1)).view(X.shape)
    return S.products(X)


def only(S: Operators, chosen: Tensor) -> Operators:
    """The operators of some of the factors."""
    return S if isinstance(S, SymmetricOperator) else S.only(chosen)


def objectives(H: Tensor, SH: Tensor) -> Tensor:  # (b, k, n), (b, k, n) -> (b,)
    """‖HᵀH‖² − 2⟨H, S H⟩ of each factor, summed in float64."""
    if len(H) == 1 and H.numel() > WIDE_ENTRIES:  # by chunks of rows
        value = objective(H[0].T, SH[0].T)
        return torch.tensor([value], dtype=torch.float64, device=H.device)
    wide = H.to(torch.float64)
    gram = wide @ wide.mT
    return gram.square().sum(dim=(1, 2)) - 2 * (wide * SH).sum(dim=(1, 2))


def newton_step(
    S: Operators,
    T: Operators,
    H: Tensor,
    SH: Tensor,
    value: Tensor,
    cg_iters: int,
) -> tuple[Tensor, Tensor, Tensor]:  # (b, k, n), (b, k, n), (b,)
    """The next factors by projected Newton steps, their products and objectives.

        ∇²f[D] ≈ 4 (D HᵀH + H DᵀH + H HᵀD − T D)    on the free entries

    The last two terms are the residual, which a Gauss–Newton step leaves out: where noise or
    non-negativity keep the error far from zero, it is not small. With a surrogate T of S in it the
    conjugate gradients need no product of S. They are preconditioned by D ↦ D (4 HᵀH)⁻¹, and end
    where the curvature does. A direction that does not help is replaced by that of Gauss and
    Newton, whose curvature is never negative; a factor that neither helps stays.

    Arguments:
        S: operator of the steps; one product for each factor, and one more for each halving.
        T: operator of the curvature: S or its surrogate.
        H, SH, value: factors as rows, their products with S and objectives.
        cg_iters: maximum steps of conjugate gradients.

    Reference: Bertsekas (1982), doi:10.1137/0320018 (projected Newton); Steihaug (1983),
        doi:10.1137/0720042 (truncated conjugate gradients).
    """
    gram = (H @ H.mT).mul_(4.0)  # (b, k, k)
    grad = (gram @ H).sub_(SH, alpha=4.0)
    free = ((H > 0) | (grad < 0)).to(H.dtype)
    direction = _directions(H, gram, grad, free, T, cg_iters)
    after = _search(S, H, SH, value, grad, direction)
    stuck = (after[2] >= value).nonzero()[:, 0]
    if len(stuck):
        part = [x[stuck] for x in (H, gram, grad, free)]
        direction = _directions(part[0], part[1], part[2], part[3], None, cg_iters)
        other = _search(only(S, stuck), part[0], SH[stuck], value[stuck], part[2], direction)
        for x, y in zip(after, other, strict=True):
            x[stuck] = y
    return after


def _directions(
    H: Tensor,
    gram: Tensor,
    grad: Tensor,
    free: Tensor,
    residual: Operators | None,
    cg_iters: int,
) -> Tensor:  # (b, k, n)
    """Preconditioned conjugate gradients from zero; without ``residual``, of Gauss and Newton.

    Arguments:
        H: factors as rows.
        gram: (b, k, k) their 4 HᵀH.
        grad: gradients.
        free: 1 for a free entry, 0 for one that stays at zero.
        residual: operator of the curvature of the residual.
        cg_iters: maximum number of steps.
    """
    system = gram.to(torch.float64)
    diagonal = system.diagonal(dim1=1, dim2=2)
    diagonal.add_(10 * torch.finfo(H.dtype).eps * diagonal.sum(dim=1, keepdim=True))
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(system)).to(H.dtype)
    x, r = torch.zeros_like(H), grad.neg().mul_(free)
    p = torch.bmm(inverse, r).mul_(free)
    size = _dot(r, p)
    least, going = FORCING**2 * size, torch.ones_like(size, dtype=torch.bool)
    for step in range(cg_iters):
        cross = torch.bmm(H, p.mT).mul_(4.0)  # 4 Hᵀp
        if residual is not None:
            cross = cross + cross.mT  # H (pᵀH + Hᵀp)
        Ap = torch.bmm(gram, p).baddbmm_(cross, H)
        if residual is not None:
            Ap.sub_(products(residual, p), alpha=4.0)
        Ap.mul_(free)
        curvature = _dot(p, Ap)
        if step == 0:  # a direction of negative curvature is taken as it is
            x = torch.where(curvature <= 0, p, x)
        going = going & (curvature > 0)
        alpha = torch.where(going, size / curvature, 0)
        x.addcmul_(p, alpha)
        if step == cg_iters - 1:
            break
        r.addcmul_(Ap, alpha, value=-1.0)
        z = torch.bmm(inverse, r).mul_(free)
        before, size = size, _dot(r, z)
        going = going & (size > least)
        if not bool(going.any()):
            break
        p.mul_(torch.where(going, size / before, 0)).add_(z)
    return x


def _search(
    S: Operators, H: Tensor, SH: Tensor, value: Tensor, grad: Tensor, direction: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """For each factor the first of η = 1, 1/2, … that decreases its objective enough, or none."""
    found: tuple[Tensor, Tensor, Tensor] | None = None
    left = torch.arange(len(H), device=H.device)
    eta = 1.0
    for _ in range(HALVINGS):
        here, where = (H, direction) if len(left) == len(H) else (H[left], direction[left])
        there = torch.add(here, where, alpha=eta).clamp_(min=0)
        slope = _dot(grad if len(left) == len(H) else grad[left], there - here)[:, 0, 0]
        product = products(S if len(left) == len(H) else only(S, left), there)
        after = objectives(there, product)
        good = (after <= value[left] + DECREASE * slope.to(value.dtype)) & (slope < 0)
        if found is None and bool(good.all()):
            return there, product, after
        if found is None:
            found = (H.clone(), SH.clone(), value.clone())
        for x, y in zip(found, (there, product, after), strict=True):
            x[left[good]] = y[good]
        left = left[~good]
        if not len(left):
            break
        eta /= 2
    assert found is not None
    return found


def _dot(X: Tensor, Y: Tensor) -> Tensor:  # (b, k, n), (b, k, n) -> (b, 1, 1)
    """⟨X, Y⟩ of each factor, for step lengths, summed in the precision of the entries."""
    if len(X) == 1 and X.numel() > WIDE_ENTRIES:  # without an array of the products
        return (X.flatten() @ Y.flatten())[None, None, None]
    return (X * Y).sum(dim=(1, 2), keepdim=True)
