"""A solver that shows each of its states to an observer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver, State
from symnmf.testing.expectations import calling


@dataclass(frozen=True)
class ObservedSolver(Solver[Any]):
    """A solver that runs as its inner solver does and calls a function after each step.

    An error of a method becomes an AssertionError that names the method.

    Arguments:
        inner: the solver that makes the steps.
        observe: function called with the problem and the state after each step.

    Example:
        >>> from symnmf.engine import solve
        >>> from symnmf.operators import as_operator
        >>> class Idle(Solver[State]):
        ...     def init_state(self, problem):
        ...         return State(problem.H0.clone(), None)
        ...     def step(self, problem, state, rng):
        ...         return state
        >>> seen = []
        >>> idle = ObservedSolver(Idle(), lambda problem, state: seen.append(state.H.shape))
        >>> _ = solve(Problem(as_operator(torch.eye(3)), 2), idle, max_iter=2)
        >>> len(seen), seen[0]
        (2, torch.Size([3, 2]))
    """

    inner: Solver[Any]
    observe: Callable[[Problem, Any], None] = field(repr=False)

    def __post_init__(self) -> None:
        # The driver reads both from the solver that it is given.
        object.__setattr__(self, "check_every", self.inner.check_every)
        object.__setattr__(self, "warm_up", self.inner.warm_up)

    @property
    def least_entry(self) -> float:
        """That of the inner solver."""
        return self.inner.least_entry

    def init_state(self, problem: Problem) -> State:
        """The inner solver's first state."""
        with calling(self._name("init_state"), "a State"):
            state: State = self.inner.init_state(problem)
        return state

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """A step of the inner solver, observed."""
        with calling(self._name("step"), "a State"):
            after: State = self.inner.step(problem, state, rng)
        self.observe(problem, after)
        return after

    def should_check(self, state: State, iterations: int) -> bool:
        """Whether the inner solver asks for a check."""
        return self.inner.should_check(state, iterations)

    def may_stop(self, state: State) -> bool:
        """Whether the inner solver allows the run to end."""
        return self.inner.may_stop(state)

    def interrupted(self, state: State) -> State:
        """The inner solver's state to report."""
        found: State = self.inner.interrupted(state)
        return found

    def agreement(self, state: State) -> float | None:
        """How far the inner solver's starts agree."""
        return self.inner.agreement(state)

    def start_count(self, state: State) -> int:
        """Number of the inner solver's starts."""
        return self.inner.start_count(state)

    def reaction_counts(self, state: State) -> dict[str, int]:
        """How often the inner solver has reacted."""
        return self.inner.reaction_counts(state)

    def react(self, problem: Problem, state: State, check: Check) -> State:
        """The reaction of the inner solver to a check."""
        with calling(self._name("react"), "a State"):
            answer: State = self.inner.react(problem, state, check)
        return answer

    def improve(self, problem: Problem, state: State, check: Check) -> State:
        """The state with which the inner solver goes on after a check that meets the criterion."""
        with calling(self._name("improve"), "a State"):
            better: State = self.inner.improve(problem, state, check)
        return better

    def _name(self, method: str) -> str:
        return f"{type(self.inner).__name__}.{method}"
