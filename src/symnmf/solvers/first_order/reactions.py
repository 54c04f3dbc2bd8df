"""Reactions: how a first-order solver answers a stagnant check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Checkpointable
from symnmf.options import check_options, option
from symnmf.solvers.first_order.rules import Squares

if TYPE_CHECKING:
    from symnmf.solvers.first_order.composition import FirstOrderState

#: The paper's ε, of float32: floor of the median square, and the least decrease that is measured.
EPS = 1.2e-7


@dataclass
class ReactionState(Checkpointable):
    """``times``: how often the reaction has changed the state of the solver."""

    times: int


ReactionStateT = TypeVar("ReactionStateT", bound=ReactionState)


class Reaction(ABC, Generic[ReactionStateT]):
    """An answer to a stagnant check, which changes the state of the solver in place."""

    #: What it is counted as in a result.
    counted_as: ClassVar[str]
    #: Whether it works on the sum of squared gradients, which not every rule has.
    needs_squares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def init(self) -> ReactionStateT:
        """The state of the reaction before the first check."""

    @abstractmethod
    def react(
        self, problem: Problem, state: FirstOrderState[Any], own: ReactionStateT, check: Check
    ) -> bool:
        """Change ``state`` and ``own``, its own state; whether ``state`` was changed."""


@dataclass
class Streak(ReactionState):
    """``checks``: stagnant ones in a row, the last of them at iteration ``last``."""

    checks: int
    last: int

    def count(self, check: Check, interval: int) -> None:
        """Count a stagnant check, from one again if the check before it was not stagnant."""
        self.checks = self.checks + 1 if check.iteration - self.last <= interval else 1
        self.last = check.iteration


@dataclass(frozen=True)
class Grow(Reaction[Streak]):
    """Double the fraction of S that a step sees, when noise is what stops it (AdaptGrow).

        φ ← min(2φ, 1) after ``grow_after`` stagnant checks in a row with the gradient above
        ``grow_margin`` times its gate

    Arguments:
        grow_after: number of checks; the paper's is 3.
        grow_margin: multiple of the gradient's gate.

    Reference: Friedlander and Schmidt (2012), arXiv:1104.2373; Byrd et al. (2012).
    """

    grow_after: int = option(3, whole=True, at_least=1)
    grow_margin: float = option(1.0, above=0)

    counted_as: ClassVar[str] = "growths"

    def init(self) -> Streak:
        """No check yet."""
        return Streak(0, 0, -1)

    def react(
        self, problem: Problem, state: FirstOrderState[Any], own: Streak, check: Check
    ) -> bool:
        """Count, and grow when it is time."""
        own.count(check, state.interval)
        if (
            state.sample.phi >= 1.0
            or own.checks < self.grow_after
            or check.kkt_ratio <= self.grow_margin
        ):
            return False
        state.sample.phi = min(2 * state.sample.phi, 1.0)
        own.checks = 0
        return True


@dataclass
class ResetState(ReactionState):
    """``mass``: ΣG after the last reset; ``error``: then; ``done``: resets are over."""

    mass: float
    error: float
    done: bool


@dataclass(frozen=True)
class Reset(Reaction[ResetState]):
    """Recalibrate AdaGrad's accumulator to the gradient of now (Piecewise AdaGrad).

        G ← max(c·g ∘ g, c·median(g ∘ g))

    A reset fires at a stagnant check when its gate is open and the median of g ∘ g is above ε, the
    spacing of float32; then not before ΣG has doubled, and never again once a reset did not lower
    the error by more than ε.

    Arguments:
        memory_iters: c.
        gate: ``"margin"`` (gradient above ``margin`` times its gate), ``"cap"`` (error below 0.5)
            or ``"none"``.
        margin: the paper's c_r, one of 3, 10, 30.
        full_batch_only: whether to wait until a step sees all of S; otherwise a reset can fire
            between steps that see a part of it.
    """

    memory_iters: float = option(10.0, above=0)
    gate: str = option("margin", choices=("margin", "cap", "none"))
    margin: float = option(3.0, above=0)
    full_batch_only: bool = option(True)

    counted_as: ClassVar[str] = "resets"
    needs_squares: ClassVar[bool] = True

    def init(self) -> ResetState:
        """No reset yet."""
        return ResetState(0, 0.0, float("inf"), False)

    def react(
        self, problem: Problem, state: FirstOrderState[Squares], own: ResetState, check: Check
    ) -> bool:
        """Reset, if all conditions hold."""
        waiting = self.full_batch_only and state.sample.phi < 1.0
        if own.done or waiting or not self._open(check):
            return False
        G = state.rule_state.G
        mass = float(G.sum(dtype=G.dtype))
        if mass < 2 * own.mass:
            return False
        if check.error > own.error - EPS:
            own.done = True
            return False
        g = gradient(state.H, state.product(problem.S))
        squares = g.mul_(problem.S.scale() ** -1.5).square_()
        median = float(squares.median())
        if median <= EPS:
            return False
        G.copy_(squares.clamp_(min=median).mul_(self.memory_iters))
        own.mass, own.error = float(G.sum()), check.error
        return True

    def _open(self, check: Check) -> bool:
        if self.gate == "margin":
            return check.kkt_ratio > self.margin
        return self.gate == "none" or check.error < 0.5


@dataclass(frozen=True)
class Anneal(Reaction[Streak]):
    """Shrink a constant step that prevents the gradient from falling: η ← η · anneal.

    A rule that forgets makes steps of the same size for ever and circles around the answer; the
    paper tunes η for each matrix and size instead.

    Arguments:
        anneal: factor of η; 1 leaves η as it is.
        anneal_after: checks with a risen error before each shrinkage.
    """

    anneal: float = option(0.5, at_least=0.01, at_most=1)
    anneal_after: int = option(3, whole=True, at_least=1)

    counted_as: ClassVar[str] = "shrinkages"

    def init(self) -> Streak:
        """No check yet."""
        return Streak(0, 0, -1)

    def react(
        self, problem: Problem, state: FirstOrderState[Any], own: Streak, check: Check
    ) -> bool:
        """Shrink, when the gradient is above its gate and the error has risen."""
        if check.kkt_ratio < 1.0 or check.decrease > 0:
            return False
        own.checks += 1
        if own.checks < self.anneal_after:
            return False
        state.eta *= self.anneal
        own.checks = 0
        return True
