"""The state of the sketched solver: the factor, its phase, and the finished starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import torch
from torch import Tensor

from symnmf.core.labels import agreement, hard_labels
from symnmf.core.solver import Checkpointable, State
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_steps import Candidate, SketchWork

#: Newton steps in a row that gain little before a factor is left as it is.
PATIENCE = 2
#: Phase → the phases that may follow it; filled where all of them are known.
TRANSITIONS: dict[type[Phase], tuple[type[Phase], ...]] = {}


@dataclass
class Starts(Checkpointable):
    """The finished starts.

    Attributes:
        labels: (starts, n) their groups.
        excesses: on the surrogate.
        best: the best of them, until it is refined.
        others: the next best factors, which are finished on S with the best.
        seeds: seeds of the first start that lost its race, and may be polished with it.
    """

    labels: Tensor
    excesses: tuple[float, ...]
    best: Candidate | None
    others: tuple[Candidate, ...]
    seeds: tuple[Candidate, ...]

    @classmethod
    def none(cls, n: int, device: torch.device) -> Starts:
        """Before the first start is finished."""
        return cls(torch.empty(0, n, dtype=torch.int32, device=device), (), None, (), ())

    def near_floor(self, schedule: Schedule) -> bool:
        """Whether one of them is near the floor: the others then serve the agreement alone."""
        return min(self.excesses, default=inf) <= schedule.rough_excess

    def with_start(self, H: Tensor, excess: float, schedule: Schedule) -> Starts:
        """The starts with one more."""
        labels, margins = hard_labels(H)
        best = self.best
        if best is None or not self.near_floor(schedule):
            near = min(excess, *self.excesses, inf) <= schedule.tie_excess
            this = Candidate(H, excess, float(margins.mean()))
            best = this.or_better(best, schedule.tie_excess if near else 0.0)
        labels = torch.cat([self.labels, labels.to(torch.int32)[None]])
        return Starts(labels, (*self.excesses, excess), best, (), ())

    def agreement(self, schedule: Schedule) -> float | None:
        """Mean pairwise ARI of the labels of the starts that are nearly as good as the best."""
        good = self._good(schedule)
        return agreement(self.labels[good]) if len(good) > 1 else None

    def agree(self, schedule: Schedule) -> bool:
        """Whether more starts would add nothing: one is near the floor, and others confirm it."""
        if not self.near_floor(schedule) or len(self._good(schedule)) < schedule.agreement_starts:
            return False
        return (self.agreement(schedule) or 0.0) >= schedule.agreement_enough

    def _good(self, schedule: Schedule) -> list[int]:
        most = min(self.excesses, default=0.0) + schedule.agreement_excess
        return [m for m, excess in enumerate(self.excesses) if excess <= most]


@dataclass
class SketchState(State):
    """The factor, the phase with its own state, and the finished starts."""

    phase: Phase
    starts: Starts

    def enter(self, phase: Phase, **changes: Any) -> SketchState:
        """The state in another phase, or in the same phase with another state."""
        now, after = type(self.phase), type(phase)
        assert after is now or after in TRANSITIONS[now], f"{after} cannot follow {now}"
        return replace(self, phase=phase, **changes)


class Phase(Checkpointable, ABC):
    """A phase: the state that it needs, its step, and its answer to a stagnant check."""

    #: Whether a stagnant check may end the run: not while the next start may do better.
    may_stop: ClassVar[bool] = False

    def check_every(self, schedule: Schedule) -> int:
        """Iterations between checks on S."""
        return schedule.surrogate_check_every

    @abstractmethod
    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """One iteration; ``state.phase`` is this phase."""

    def react(self, work: SketchWork, state: SketchState) -> SketchState:
        """The answer to a stagnant check; the same object means that there is none."""
        return state

    def best(self, H: Tensor) -> Candidate | None:
        """The best fit of this phase on the surrogate, ``H`` being the factor of the state."""
        return None
