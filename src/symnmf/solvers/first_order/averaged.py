"""Averaging of iterates, as a wrapper around any solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver, State

#: The paper starts to average below this error (its appendix D).
AVERAGE_BELOW = 0.1


@dataclass
class AveragedState(State):
    """``H`` is the average once ``count`` > 0, the inner factor before."""

    inner: State
    count: int


@dataclass(frozen=True)
class Averaged(Solver[AveragedState]):
    """Suffix averaging of Polyak and Ruppert.

        A ← A + (H − A) / T′ from the first check with an error below 0.1 on

    Arguments:
        inner: the solver that makes the iterates.

    Reference: Polyak and Juditsky (1992), doi:10.1137/0330046.
    """

    inner: Solver[Any]

    @property
    def least_entry(self) -> float:
        """That of the inner solver."""
        return self.inner.least_entry

    def init_state(self, problem: Problem) -> AveragedState:
        """At the start of the inner solver."""
        inner = self.inner.init_state(problem)
        return AveragedState(inner.H, None, inner, 0)

    def step(self, problem: Problem, state: AveragedState, rng: torch.Generator) -> AveragedState:
        """A step of the inner solver, then of the average."""
        if state.count == 0:
            state.inner.SH = state.SH  # the driver checked the inner factor
            if state.SH is not None:
                now = error(state.H, state.SH, problem.S.frob_sq())
                state.count = int(now < AVERAGE_BELOW)
                state.H = state.H.clone() if state.count else state.H
        inner = self.inner.step(problem, state.inner, rng)
        if state.count == 0:
            return AveragedState(inner.H, None, inner, 0)
        state.count += 1
        average = state.H.lerp_(inner.H, 1.0 / state.count)
        return AveragedState(average, None, inner, state.count)

    def react(self, problem: Problem, state: AveragedState, check: Check) -> AveragedState:
        """The inner solver's answer."""
        inner = self.inner.react(problem, state.inner, check)
        if inner is state.inner:
            return state
        return AveragedState(state.H, state.SH, inner, state.count)

    def reaction_counts(self, state: AveragedState) -> dict[str, int]:
        """Those of the inner solver."""
        return self.inner.reaction_counts(state.inner)
