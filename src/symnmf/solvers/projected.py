"""Family 2: gradient steps, plain, with momentum, accelerated."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import gradient, objective
from symnmf.core.problem import Problem
from symnmf.options import option
from symnmf.solvers.line_search import Point, SearchState, backtrack, begin, first_step, point
from symnmf.solvers.space import Projected, Space, SpaceSolver

#: Decreases that a line search can ask for.
ARMIJO = ("projected", "literal")


@dataclass(frozen=True)
class ProjectedGradient(SpaceSolver[SearchState]):
    """Projected gradient descent with Armijo backtracking.

        θ ← retract(θ − η ∇_θ f)

    The search begins at twice the last accepted η.

    Arguments:
        armijo: decrease that the search asks for: ``"projected"``, along the step that the
            projection leaves; ``"literal"``, c·η·‖∇f‖² as in the paper.
        space: space in which H stays non-negative.

    Reference: Lin (2007), doi:10.1162/neco.2007.19.10.2756.
    """

    armijo: str = option("projected", choices=ARMIJO)
    space: Space = Projected()

    def init_state(self, problem: Problem) -> SearchState:
        """At the start factor; η is found at the first step."""
        theta, H, unit = begin(problem, self.space)
        return SearchState(H, None, theta, 0.0, unit)

    def step(self, problem: Problem, state: SearchState, rng: torch.Generator) -> SearchState:
        """One product, and one more for each halving."""
        SH = state.product(problem.S)
        here = Point(state.theta, state.H, SH, objective(state.H, SH))
        grad = self.space.pull_gradient(state.theta, gradient(state.H, SH), state.unit)
        eta = 2 * state.eta or first_step(grad, state.unit)
        literal = self.armijo == "literal"
        found = backtrack(problem, self.space, here, grad, -grad, eta, state.unit, literal=literal)
        there, eta = found or (here, state.eta)
        return SearchState(there.H, there.SH, there.theta, eta, state.unit)


@dataclass
class VelocityState(SearchState):
    """``v``: the velocity that the projection does not see."""

    v: Tensor


@dataclass(frozen=True)
class HeavyBall(SpaceSolver[VelocityState]):
    """Heavy-ball momentum on projected descent: the paper's documented failure.

        v ← β v − η ∇_θ f,   θ ← retract(θ + v)

    The projection stops H at zero while v keeps pointing below it, until H = 0.

    Arguments:
        momentum: β.
        step_size: first step of the root mean square entry, against its final size.
        space: space in which H stays non-negative.

    Reference: Polyak (1964), doi:10.1016/0041-5553(64)90137-5.
    """

    momentum: float = option(0.9, at_least=0, below=1)
    step_size: float = option(0.1, above=0)
    space: Space = Projected()

    def init_state(self, problem: Problem) -> VelocityState:
        """At rest; η is set at the first step and stays."""
        theta, H, unit = begin(problem, self.space)
        return VelocityState(H, None, theta, 0.0, unit, torch.zeros_like(theta))

    def step(self, problem: Problem, state: VelocityState, rng: torch.Generator) -> VelocityState:
        """One product."""
        SH = state.product(problem.S)
        grad = self.space.pull_gradient(state.theta, gradient(state.H, SH), state.unit)
        state.eta = state.eta or 10 * self.step_size * first_step(grad, state.unit)
        state.v.mul_(self.momentum).sub_(grad, alpha=state.eta)
        state.theta = self.space.retract(state.theta.add_(state.v))
        state.H, state.SH = self.space.factor(state.theta, state.unit), None
        return state


@dataclass
class FistaState(SearchState):
    """``last_theta``, ``last_SH``: of the previous iterate; ``tau``: of the extrapolation."""

    last_theta: Tensor
    last_SH: Tensor
    tau: float


@dataclass(frozen=True)
class Fista(SpaceSolver[FistaState]):
    """Accelerated projected gradient with adaptive restart.

        Y = θ + (τ − 1)/τ₊ · (θ − θ₋),   τ₊ = (1 + √(1 + 4τ²)) / 2,   θ ← retract(Y − η ∇f(Y))

    τ falls back to 1 when the objective has risen, and when the search finds no step. In the
    projected space S·Y comes from the two products that are known already.

    Arguments:
        armijo: as for :class:`ProjectedGradient`.
        space: space in which H stays non-negative.

    Reference: Beck and Teboulle (2009), doi:10.1137/080716542; O'Donoghue and Candès (2015),
    arXiv:1204.3982.
    """

    armijo: str = option("projected", choices=ARMIJO)
    space: Space = Projected()

    def init_state(self, problem: Problem) -> FistaState:
        """At the start factor, without momentum."""
        theta, H, unit = begin(problem, self.space)
        SH = problem.S.matmul(H)
        return FistaState(H, SH, theta, 0.0, unit, theta, SH, 1.0)

    def step(self, problem: Problem, state: FistaState, rng: torch.Generator) -> FistaState:
        """One product, and one more for each halving (and for Y, off the projected space)."""
        SH = state.product(problem.S)
        value = objective(state.H, SH)
        tau = (1 + (1 + 4 * state.tau**2) ** 0.5) / 2
        weight = (state.tau - 1) / tau
        ahead = self._ahead(problem, state, SH, weight)
        grad = self.space.pull_gradient(ahead.theta, gradient(ahead.H, ahead.SH), state.unit)
        eta = 2 * state.eta or first_step(grad, state.unit)
        literal = self.armijo == "literal"
        found = backtrack(problem, self.space, ahead, grad, -grad, eta, state.unit, literal=literal)
        if found is None:
            return FistaState(state.H, SH, state.theta, state.eta, state.unit, state.theta, SH, 1.0)
        there, eta = found
        tau = 1.0 if there.value > value else tau
        return FistaState(there.H, there.SH, there.theta, eta, state.unit, state.theta, SH, tau)

    def _ahead(self, problem: Problem, state: FistaState, SH: Tensor, weight: float) -> Point:
        theta = torch.lerp(state.theta, state.last_theta, -weight)
        if not isinstance(self.space, Projected):
            return point(problem, self.space, theta, state.unit)
        product = torch.lerp(SH, state.last_SH, -weight)
        return Point(theta, theta, product, objective(theta, product))
