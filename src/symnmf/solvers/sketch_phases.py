"""The phases of the sketched solver, each with its own state, and which may follow which.

The work on the surrogate T comes first, start by start: :class:`SeedRace`, :class:`SurrogateFit`,
:class:`ColumnExchange`, :class:`SurrogatePolish`. The best start is then checked on S
(:class:`FirstCheck`) and refined: :class:`CorrectedFit`, :class:`CorrectedNewton`,
:class:`ExactNewton`. Where the criterion is met far from the floor, :class:`Finish` takes what
further steps on S gain. ``TRANSITIONS``, at the end, is the whole machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import torch
from torch import Tensor

from symnmf.core.labels import hard_labels
from symnmf.core.solver import Checkpointable, State
from symnmf.solvers.column_exchange import exchange_column
from symnmf.solvers.sketch_newton import NewtonPoint, newton_step
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_seeds import seeds_of_start
from symnmf.solvers.sketch_steps import Candidate, Correction, Dual, SketchWork, admm_step


@dataclass
class Starts(Checkpointable):
    """The finished starts.

    Attributes:
        labels: (starts, n) their groups.
        excesses: on the surrogate.
        best: the best of them, until it is refined.
        others: the next best, by excess; they are finished on S after the best.
    """

    labels: Tensor
    excesses: tuple[float, ...]
    best: Candidate | None
    others: tuple[Candidate, ...]

    @classmethod
    def none(cls, n: int, device: torch.device) -> Starts:
        """Before the first start is finished."""
        return cls(torch.empty(0, n, dtype=torch.int32, device=device), (), None, ())

    def with_start(self, H: Tensor, excess: float, schedule: Schedule) -> Starts:
        """The starts with one more."""
        labels, margins = hard_labels(H)
        this = Candidate(H, excess, float(margins.mean()))
        near = min(excess, *self.excesses, inf) <= schedule.tie_excess
        best = this.or_better(self.best, schedule.tie_excess if near else 0.0)
        known = () if self.best is None else (self.best,)
        others = [c for c in (*known, *self.others, this) if c is not best]
        others.sort(key=lambda c: c.excess)
        return Starts(
            torch.cat([self.labels, labels.to(torch.int32)[None]]),
            (*self.excesses, excess),
            best,
            () if near else tuple(others[: schedule.finish_starts - 1]),
        )


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


@dataclass
class SeedRace(Phase):
    """Each iteration tries one seed of the start; the best one is then fitted.

    Attributes:
        tried: number of seeds that were tried.
        leader: the best of them.
    """

    tried: int
    leader: Candidate | None

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """Try a seed; after the last one, begin the fit."""
        start = len(state.starts.excesses)
        seeds = seeds_of_start(work.problem, start, work.n_init, work.schedule.kmeans_draws)
        seed = work.trial(seeds[self.tried]())
        leader = seed.or_better(self.leader, work.schedule.race_excess)
        if self.tried + 1 < len(seeds):
            return state.enter(SeedRace(self.tried + 1, leader))
        return state.enter(SurrogateFit.begin(work, leader.H), H=leader.H, SH=None)

    def best(self, H: Tensor) -> Candidate | None:
        """The best seed so far."""
        return self.leader


@dataclass
class SurrogateFit(Phase):
    """ADMM on the surrogate, until it gains little.

    Attributes:
        dual: scaled dual of ADMM.
        steps: number of ADMM steps.
        excess: excess at the last measurement.
    """

    dual: Dual
    steps: int
    excess: float

    @classmethod
    def begin(cls, work: SketchWork, H: Tensor) -> SurrogateFit:
        """Before the first step."""
        return cls(work.fresh_dual(H), 0, inf)

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A step of ADMM, after a measurement now and then."""
        TH = work.T.matmul(state.H)
        excess = self.excess
        if self.steps % work.schedule.admm_measure_every == 0:
            excess = work.excess(state.H, TH)
            if self._is_over(work.schedule, excess):
                return self._leave(work, state, excess)
        H, dual = admm_step(state.H, TH, self.dual)
        return state.enter(SurrogateFit(dual, self.steps + 1, excess), H=H, SH=None)

    def _is_over(self, schedule: Schedule, excess: float) -> bool:
        least = max(schedule.admm_min_gain, schedule.admm_min_gain_share * excess)
        settled = self.steps > 0 and self.excess - excess < least
        return settled or self.steps >= schedule.admm_max_steps

    def _leave(self, work: SketchWork, state: SketchState, excess: float) -> SketchState:
        """Good fits are done, rough ones are polished, poor ones are offered exchanges."""
        if excess <= work.schedule.rough_excess:
            return finish_start(work, state, excess, self.dual)
        if excess <= work.schedule.poor_excess:
            return state.enter(SurrogatePolish(0, excess))
        return state.enter(ColumnExchange(0, Candidate.of(state.H, excess)))

    def best(self, H: Tensor) -> Candidate | None:
        """The factor with its last excess."""
        return Candidate(H, self.excess, 0.0)


@dataclass
class ColumnExchange(Phase):
    """Each iteration exchanges a column; the first exchange that does not help is the last.

    Attributes:
        moves: number of exchanges that helped.
        leader: the best fit so far.
    """

    moves: int
    leader: Candidate

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """One exchange and its trial."""
        leader = self.leader
        moved = work.trial(exchange_column(work.T, leader.H, rng))
        helped = leader.excess - moved.excess > work.schedule.exchange_min_gain
        leader = moved if helped else leader
        if helped and self.moves + 1 < work.schedule.exchange_max_moves:
            return state.enter(ColumnExchange(self.moves + 1, leader))
        return state.enter(SurrogatePolish(0, leader.excess), H=leader.H, SH=None)

    def best(self, H: Tensor) -> Candidate | None:
        """The best fit so far."""
        return self.leader


@dataclass
class SurrogatePolish(Phase):
    """Gauss–Newton steps on the surrogate, until they gain little.

    Attributes:
        steps: number of Gauss–Newton steps.
        excess: excess at the last measurement.
    """

    steps: int
    excess: float

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Gauss–Newton step, after a measurement now and then."""
        excess, schedule = self.excess, work.schedule
        if self.steps > 0 and self.steps % schedule.polish_measure_every == 0:
            excess = work.excess(state.H, work.T.matmul(state.H))
            least = max(schedule.polish_min_gain, schedule.polish_min_gain_share * excess)
            settled = self.excess - excess < least
            if settled or self.steps >= schedule.polish_max_steps:
                return finish_start(work, state, excess, None)
        H, SH = work.newton_step(work.T, state, rng)
        return state.enter(SurrogatePolish(self.steps + 1, excess), H=H, SH=SH)

    def best(self, H: Tensor) -> Candidate | None:
        """The factor with its last excess."""
        return Candidate(H, self.excess, 0.0)


def finish_start(
    work: SketchWork, state: SketchState, excess: float, dual: Dual | None
) -> SketchState:
    """Add a start to the finished ones; begin the next start, or check the best one on S.

    Arguments:
        work: problem and options.
        state: state whose factor is the fit.
        excess: excess of the fit on the surrogate.
        dual: dual of the fit where it is from ADMM alone; the refinement then continues with it.
    """
    starts = state.starts.with_start(state.H, excess, work.schedule)
    if len(starts.excesses) < work.start_count:
        return state.enter(SeedRace(0, None), starts=starts)
    best = starts.best
    assert best is not None
    starts = replace(starts, best=None)
    if best.H is state.H and dual is not None:
        return state.enter(FirstCheck(dual, excess), starts=starts)
    fresh = FirstCheck(work.fresh_dual(best.H), best.excess)
    return state.enter(fresh, H=best.H, SH=None, starts=starts)


@dataclass
class FirstCheck(Phase):
    """The surrogate is fitted: the fit is checked on S at once, and then refined.

    Attributes:
        dual: scaled dual of ADMM.
        excess: excess of the fit on the surrogate.
    """

    dual: Dual
    excess: float

    may_stop: ClassVar[bool] = True

    def check_every(self, schedule: Schedule) -> int:
        """At once."""
        return 0

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """The first step of the refinement."""
        refined = CorrectedFit(self.dual, 0, self.excess, None)
        return refined.step(work, state.enter(refined), rng)


@dataclass
class CorrectedFit(Phase):
    """ADMM with the corrected surrogate.

    Attributes:
        dual: scaled dual of ADMM.
        steps: number of ADMM steps.
        excess: excess of the previous fit on the surrogate.
        correction: correction of the last check; None where the surrogate is S.
    """

    dual: Dual
    steps: int
    excess: float
    correction: Correction | None

    may_stop: ClassVar[bool] = True

    def check_every(self, schedule: Schedule) -> int:
        """A few steps."""
        return schedule.refine_check_every

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A step of ADMM; too many of them end the phase."""
        T, correction = work.corrected(state, self.correction)
        TH = state.product(T) if T is work.problem.S else T.matmul(state.H)
        H, dual = admm_step(state.H, TH, self.dual)
        after: Phase = CorrectedFit(dual, self.steps + 1, self.excess, correction)
        if self.steps + 1 >= work.schedule.refine_max_steps:
            after = CorrectedNewton(0, correction)
        return state.enter(after, H=H, SH=None)

    def react(self, work: SketchWork, state: SketchState) -> SketchState:
        """Near the floor, a larger ρ; elsewhere, Gauss–Newton steps.

        Near the floor there is nothing to gain but the gradient: a larger ρ lowers it without
        moving the groups, because only V and W have to meet.
        """
        if self.excess <= work.schedule.rough_excess:
            return state.enter(replace(self, dual=Dual(self.dual.U / 2, 2 * self.dual.rho)))
        return state.enter(CorrectedNewton(0, self.correction))


@dataclass
class CorrectedNewton(Phase):
    """Gauss–Newton steps with the corrected surrogate.

    Attributes:
        stagnant_checks: number of stagnant checks in this phase.
        correction: correction of the last check; None where the surrogate is S.
    """

    stagnant_checks: int
    correction: Correction | None

    may_stop: ClassVar[bool] = True

    def check_every(self, schedule: Schedule) -> int:
        """A few steps."""
        return schedule.newton_check_every

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Gauss–Newton step."""
        T, correction = work.corrected(state, self.correction)
        H, SH = work.newton_step(T, state, rng)
        return state.enter(CorrectedNewton(self.stagnant_checks, correction), H=H, SH=SH)

    def react(self, work: SketchWork, state: SketchState) -> SketchState:
        """After some stagnant checks, steps with S."""
        checks = self.stagnant_checks + 1
        if checks < work.schedule.newton_stagnant_checks:
            return state.enter(CorrectedNewton(checks, self.correction))
        return state.enter(ExactNewton())


@dataclass
class ExactNewton(Phase):
    """Gauss–Newton steps with S, until the run ends."""

    may_stop: ClassVar[bool] = True

    def check_every(self, schedule: Schedule) -> int:
        """A few steps."""
        return schedule.exact_check_every

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Gauss–Newton step."""
        H, SH = work.newton_step(work.problem.S, state, rng)
        return state.enter(self, H=H, SH=SH)


@dataclass
class Finish(Phase):
    """Newton steps on S after the criterion is met, as long as they gain: first the best start.

    Attributes:
        steps: number of steps of this start.
        slow: number of steps in a row that gained little.
        leader: the best finished start, with its error in place of the excess.
        done: whether every start is finished; the run then ends at the next check.
    """

    steps: int
    slow: int
    leader: Candidate | None
    done: bool

    @property
    def may_stop(self) -> bool:  # type: ignore[override]
        """When every start is finished."""
        return self.done

    def check_every(self, schedule: Schedule) -> int:
        """A few steps; at once when every start is finished."""
        return 0 if self.done else schedule.finish_check_every

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Newton step; after the last one of a start, the next start or the end."""
        S, schedule = work.problem.S, work.schedule
        here = NewtonPoint.at(S, state.H, state.SH)
        there = newton_step(S, work.T, here, schedule.finish_cg_iters)
        error = 1.0 + there.value / S.frob_sq()
        gain = (here.value - there.value) / S.frob_sq()
        least = max(work.finish_min_gain * error, work.problem.bounds.resolution)
        slow = self.slow + 1 if gain < least else 0
        last = slow >= 2 or there is here or self.steps + 1 >= schedule.finish_max_steps
        behind = self.leader is not None and self._is_behind(error, gain)
        if not (last or behind):
            after = Finish(self.steps + 1, slow, self.leader, self.done)
            return state.enter(after, H=there.H, SH=there.SH)
        this = Candidate(there.H, error, 0.0)
        leader = this if self.leader is None or error < self.leader.excess else self.leader
        if state.starts.others:
            following, *rest = state.starts.others
            starts = replace(state.starts, others=tuple(rest))
            after = Finish(0, 0, leader, False)
            return state.enter(after, H=following.H, SH=None, starts=starts)
        SH = there.SH if leader is this else None
        return state.enter(Finish(0, 0, leader, True), H=leader.H, SH=SH)

    def _is_behind(self, error: float, gain: float) -> bool:
        """Whether ten more steps like the last one would not reach the leader."""
        assert self.leader is not None
        return error - 10 * gain > self.leader.excess

    def best(self, H: Tensor) -> Candidate | None:
        """The best finished start."""
        return self.leader


#: Phase → the phases that may follow it.
TRANSITIONS: dict[type[Phase], tuple[type[Phase], ...]] = {
    SeedRace: (SurrogateFit,),
    SurrogateFit: (ColumnExchange, SurrogatePolish, SeedRace, FirstCheck),
    ColumnExchange: (SurrogatePolish,),
    SurrogatePolish: (SeedRace, FirstCheck),
    FirstCheck: (CorrectedFit, Finish),
    CorrectedFit: (CorrectedNewton, Finish),
    CorrectedNewton: (ExactNewton, Finish),
    ExactNewton: (Finish,),
    Finish: (),
}
