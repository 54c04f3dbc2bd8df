"""Reactions: how a first-order solver answers a stagnant look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symnmf.contract import Check, Memory, Problem
from symnmf.errors import InvalidInput
from symnmf.objective import gradient
from symnmf.solvers.checks import between, positive
from symnmf.solvers.first_order.rules import Squares

if TYPE_CHECKING:
    from symnmf.solvers.first_order.solver import FirstOrderState

GATES = ("margin", "cap", "none")


class Reaction(ABC):
    """Changes the state in place at a stagnant look; True when it did something."""

    @abstractmethod
    def init(self) -> Memory:
        """Memory before the first look."""

    @abstractmethod
    def react(self, problem: Problem, state: FirstOrderState, memory: Memory, check: Check) -> bool:
        """Answer, or not."""


@dataclass
class Streak(Memory):
    """``looks``: stagnant ones in a row, the last of them at iteration ``last``."""

    looks: int
    last: int

    def count(self, check: Check, interval: int) -> None:
        """Count a stagnant look, from one again if the last look was not stagnant."""
        self.looks = self.looks + 1 if check.iteration - self.last <= interval else 1
        self.last = check.iteration


@dataclass(frozen=True)
class Grow(Reaction):
    """Double the fraction of S that a step sees, when noise is what stops it (AdaptGrow).

        φ ← min(2φ, 1) after ``grow_after`` stagnant looks in a row with the gradient above
        ``grow_margin`` times its gate

    Arguments:
        grow_after: looks; the paper's is 3.
        grow_margin: multiple of the gradient's gate.

    Reference: Friedlander and Schmidt (2012), arXiv:1104.2373; Byrd et al. (2012).
    """

    grow_after: int = 3
    grow_margin: float = 1.0

    def __post_init__(self) -> None:
        positive(self, "grow_after", "grow_margin")

    def init(self) -> Streak:
        """No look yet."""
        return Streak(0, -1)

    def react(self, problem: Problem, state: FirstOrderState, memory: Memory, check: Check) -> bool:
        """Count, and grow when it is time."""
        assert isinstance(memory, Streak)
        memory.count(check, state.interval)
        if (
            state.sample.phi >= 1.0
            or memory.looks < self.grow_after
            or check.kkt_ratio <= self.grow_margin
        ):
            return False
        state.sample.phi = min(2 * state.sample.phi, 1.0)
        memory.looks = 0
        return True


@dataclass
class ResetMemory(Memory):
    """``mass``: ΣG after the last reset; ``error``: then; ``done``: resets are over."""

    mass: float
    error: float
    done: bool


@dataclass(frozen=True)
class Reset(Reaction):
    """Recalibrate AdaGrad's accumulator to the gradient of now (Piecewise AdaGrad).

        G ← max(c·g ∘ g, c·median(g ∘ g))

    A reset fires at a stagnant look when its gate is open and the median is above rounding; then
    not before ΣG has doubled, and never again once a reset did not lower the error.

    Arguments:
        memory_iters: c.
        gate: ``"margin"`` (gradient above ``margin`` times its gate), ``"cap"`` (error below 0.5)
            or ``"none"``.
        margin: the paper's c_r, one of 3, 10, 30.
    """

    memory_iters: float = 10.0
    gate: str = "margin"
    margin: float = 3.0

    def __post_init__(self) -> None:
        positive(self, "memory_iters", "margin")
        if self.gate not in GATES:
            raise InvalidInput("Reset.gate", f"got {self.gate!r}", f"Choose of {', '.join(GATES)}")

    def init(self) -> ResetMemory:
        """No reset yet."""
        return ResetMemory(0.0, float("inf"), False)

    def react(self, problem: Problem, state: FirstOrderState, memory: Memory, check: Check) -> bool:
        """Reset, if all conditions hold."""
        assert isinstance(memory, ResetMemory)
        if memory.done or state.sample.phi < 1.0 or not self._open(check):
            return False
        assert isinstance(state.memory, Squares)
        G = state.memory.G
        mass = float(G.sum(dtype=G.dtype))
        if mass < 2 * memory.mass:
            return False
        if check.error > 0.999 * memory.error:
            memory.done = True
            return False
        assert state.SH is not None
        squares = gradient(state.H, state.SH).mul_(problem.S.scale() ** -1.5).square_()
        median = float(squares.median())
        if median <= float(squares.mean()) * 1e-12:
            return False
        G.copy_(squares.clamp_(min=median).mul_(self.memory_iters))
        memory.mass, memory.error = float(G.sum()), check.error
        return True

    def _open(self, check: Check) -> bool:
        if self.gate == "margin":
            return check.kkt_ratio > self.margin
        return self.gate == "none" or check.error < 0.5


@dataclass(frozen=True)
class Anneal(Reaction):
    """Shrink a constant step when it is what keeps the gradient up: η ← η · anneal.

    A rule that forgets makes steps of the same size for ever and circles around the answer; the
    paper tunes η for each matrix and size instead. ``anneal`` near 1 leaves the rule alone.

    Arguments:
        anneal: factor of η.
        anneal_after: looks with a risen error before each shrinkage.
    """

    anneal: float = 0.5
    anneal_after: int = 3

    def __post_init__(self) -> None:
        between(self, 0.01, 1.0, "anneal")
        positive(self, "anneal_after")

    def init(self) -> Streak:
        """No look yet."""
        return Streak(0, -1)

    def react(self, problem: Problem, state: FirstOrderState, memory: Memory, check: Check) -> bool:
        """Shrink, when the gradient is above its gate and the error has risen."""
        assert isinstance(memory, Streak)
        if check.kkt_ratio < 1.0 or check.decrease > 0:
            return False
        memory.looks += 1
        if memory.looks < self.anneal_after:
            return False
        state.eta *= self.anneal
        memory.looks = 0
        return True
