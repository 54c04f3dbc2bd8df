"""Family 5: curvature, by its diagonal, by past gradients, by Gauss and Newton."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import torch
from torch import Tensor

from symnmf.core.objective import gauss_newton, gradient, hessian_diagonal, objective
from symnmf.core.problem import Problem
from symnmf.core.solver import Checkpointable
from symnmf.numerics import inner64
from symnmf.options import option
from symnmf.solvers.line_search import Point, SearchState, backtrack, begin, first_step
from symnmf.solvers.space import Projected, Space, SpaceSolver

MethodStateT = TypeVar("MethodStateT", bound=Checkpointable)


@dataclass
class CurvatureState(SearchState, Generic[MethodStateT]):
    """State of a curvature method; ``method_state`` is what it carries from step to step."""

    method_state: MethodStateT


@dataclass(frozen=True)
class SecondOrder(SpaceSolver[CurvatureState[MethodStateT]]):
    """θ ← retract(θ + η p), p a direction from curvature, η by Armijo backtracking from 1.

    Where p is not a descent direction, −∇f on the free entries takes its place.

    Arguments:
        space: space in which H stays non-negative.
    """

    space: Space = field(default=Projected(), kw_only=True)

    @abstractmethod
    def init_method_state(self) -> MethodStateT:
        """The state of the method before the first step."""

    @abstractmethod
    def direction(
        self,
        problem: Problem,
        state: CurvatureState[MethodStateT],
        grad_H: Tensor,
        grad: Tensor,
        free: Tensor,
    ) -> Tensor:
        """P on the free entries, from ∇_H f and ∇_θ f."""

    def first_eta(self, state: CurvatureState[MethodStateT]) -> float:
        """Where the search for η begins: twice the last one, at most 1."""
        return min(1.0, 2 * state.eta)

    def init_state(self, problem: Problem) -> CurvatureState[MethodStateT]:
        """At the start factor."""
        theta, H, unit = begin(problem, self.space)
        return CurvatureState(H, None, theta, 1.0, unit, self.init_method_state())

    def step(
        self, problem: Problem, state: CurvatureState[MethodStateT], rng: torch.Generator
    ) -> CurvatureState[MethodStateT]:
        """One product, and one more for each halving."""
        SH = state.product(problem.S)
        here = Point(state.theta, state.H, SH, objective(state.H, SH))
        grad_H = gradient(state.H, SH)
        grad = self._pull(state, grad_H)
        free = self.space.free(state.theta, grad)
        p = self.direction(problem, state, grad_H, grad, free)
        if inner64(p, grad) >= 0:
            p = torch.where(free, -grad, 0).mul_(first_step(grad, state.unit))
        found = backtrack(problem, self.space, here, grad, p, self.first_eta(state), state.unit)
        if found is None:  # the method begins anew, or it would try the same step for ever
            fresh = self.init_method_state()
            return replace(state, H=here.H, SH=here.SH, method_state=fresh)
        there, eta = found
        return replace(state, H=there.H, SH=there.SH, theta=there.theta, eta=eta)

    def _pull(self, state: CurvatureState[MethodStateT], X: Tensor) -> Tensor:
        """X through the derivative of H in θ; X itself where that is the identity."""
        if isinstance(self.space, Projected):
            return X
        return self.space.pull_gradient(state.theta, X.clone(), state.unit)


@dataclass(frozen=True)
class DiagonalNewton(SecondOrder[Checkpointable]):
    """Newton's method with the diagonal of the Hessian, damped.

        p = −∇f / (|d| + λ)

    Differences from the paper (its appendix C):

    1. λ is ``damping`` times the mean of |d|, and the search for η begins at 1 or at twice the
       last η. ``reg`` sets λ itself and ``eta`` the first η of every search; the paper's are 0.5
       and 0.1.

    Arguments:
        damping: λ against the mean of |d|.
        reg: λ itself; overrides ``damping``.
        eta: first η of every search.

    Reference: Levenberg (1944); Marquardt (1963), doi:10.1137/0111030.
    """

    damping: float = option(0.5, above=0)
    reg: float | None = option(None, above=0)
    eta: float | None = option(None, above=0)

    def first_eta(self, state: CurvatureState[Checkpointable]) -> float:
        """The option, where it is given."""
        return super().first_eta(state) if self.eta is None else self.eta

    def init_method_state(self) -> Checkpointable:
        """Empty."""
        return Checkpointable()

    def direction(
        self,
        problem: Problem,
        state: CurvatureState[Checkpointable],
        grad_H: Tensor,
        grad: Tensor,
        free: Tensor,
    ) -> Tensor:
        """The damped Newton step of each entry by itself."""
        diagonal = hessian_diagonal(state.H, problem.S.diag())
        size = self.space.pull_diagonal(state.theta, grad_H, diagonal, state.unit).abs_()
        damping = self.damping * float(size.mean()) if self.reg is None else self.reg
        return torch.where(free, -grad / size.add_(damping), 0)


@dataclass
class Pairs(Checkpointable):
    """Steps s and gradient changes y, oldest first; θ and ∇f of the last step."""

    s: tuple[Tensor, ...]
    y: tuple[Tensor, ...]
    theta: Tensor | None
    grad: Tensor | None


@dataclass(frozen=True)
class LBFGS(SecondOrder[Pairs]):
    """Limited-memory BFGS by the two-loop recursion, on the free entries.

    Differences from the paper (its appendix C):

    1. Directions are restricted to the entries that are not held at zero, where the pairs would
       otherwise turn a step uphill. ``free_only=False`` uses the direction of the recursion as it
       is, as the paper does.
    2. Where no step along the direction is accepted, the pairs are forgotten; the paper does not
       say what happens then.

    Arguments:
        pairs: number of pairs (s, y), two n×k arrays each; the paper's is 100.
        free_only: whether directions are restricted to the free entries.

    Reference: Nocedal and Wright (2006), algorithm 7.4.
    """

    pairs: int = option(10, whole=True, at_least=1)
    free_only: bool = option(True)

    def init_method_state(self) -> Pairs:
        """No pairs."""
        return Pairs((), (), None, None)

    def direction(
        self,
        problem: Problem,
        state: CurvatureState[Pairs],
        grad_H: Tensor,
        grad: Tensor,
        free: Tensor,
    ) -> Tensor:
        """Add the last pair, then run both loops."""
        known = state.method_state
        if known.theta is not None and known.grad is not None:
            s, y = state.theta - known.theta, grad - known.grad
            if inner64(s, y) > 1e-8 * inner64(y, y) ** 0.5 * inner64(s, s) ** 0.5:
                known.s = (*known.s, s)[-self.pairs :]
                known.y = (*known.y, y)[-self.pairs :]
        known.theta, known.grad = state.theta, grad.clone()
        if not known.s:
            return torch.where(free, -grad, 0).mul_(first_step(grad, state.unit))
        if not self.free_only:
            return two_loop(grad.clone(), known.s, known.y).neg_()
        return torch.where(free, two_loop(torch.where(free, grad, 0), known.s, known.y), 0).neg_()


def two_loop(q: Tensor, s: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
    """The inverse Hessian approximation of the pairs, times q; q is overwritten."""
    weights = []
    for a, b in zip(reversed(s), reversed(y), strict=True):
        weights.append(inner64(a, q) / inner64(a, b))
        q.sub_(b, alpha=weights[-1])
    q.mul_(inner64(s[-1], y[-1]) / inner64(y[-1], y[-1]))
    for a, b, weight in zip(s, y, reversed(weights), strict=True):
        q.add_(a, alpha=weight - inner64(b, q) / inner64(a, b))
    return q


@dataclass(frozen=True)
class PGNCG(SecondOrder[Checkpointable]):
    """Projected Gauss–Newton with truncated conjugate gradients.

        (2 JᵀJ) p = −∇f on the free entries, J the derivative of H Hᵀ, by a few CG steps

    The matrix–vector product 4 (D HᵀH + H DᵀH) needs no product with S.

    Arguments:
        cg_iters: steps of conjugate gradients.

    Reference: Eswar et al. (2020), doi:10.1137/19M1254532.
    """

    cg_iters: int = option(10, whole=True, at_least=1)

    def init_method_state(self) -> Checkpointable:
        """Empty."""
        return Checkpointable()

    def direction(
        self,
        problem: Problem,
        state: CurvatureState[Checkpointable],
        grad_H: Tensor,
        grad: Tensor,
        free: Tensor,
    ) -> Tensor:
        """CG from zero, stopped where the curvature ends."""

        def matvec(D: Tensor) -> Tensor:
            curved = gauss_newton(state.H, self._pull(state, D))
            return self.space.pull_gradient(state.theta, curved, state.unit).mul_(free)

        return conjugate_gradients(matvec, torch.where(free, -grad, 0), self.cg_iters)


def conjugate_gradients(matvec: Callable[[Tensor], Tensor], right: Tensor, steps: int) -> Tensor:
    """A few steps towards A x = right for a positive semidefinite A; ``right`` is overwritten."""
    x, r, p = torch.zeros_like(right), right, right.clone()
    size = first = inner64(r, r)
    for _ in range(steps):
        Ap = matvec(p)
        curvature = inner64(p, Ap)
        if curvature <= 0 or size <= 1e-12 * first:
            break
        alpha = size / curvature
        x.add_(p, alpha=alpha)
        r.sub_(Ap, alpha=alpha)
        before, size = size, inner64(r, r)
        p.mul_(size / before).add_(r)
    return x
