"""The phases of the sketched solver, each with its own state, and which may follow which.

The work on the surrogate T comes first, start by start: :class:`SeedRace`, :class:`SurrogateFit`,
:class:`ColumnExchange`. Where the first start is not near the floor, the seeds of the others join
it (:class:`MoreSeeds`) in one batch (:class:`SurrogatePolish`). The best start is then checked on S
(:class:`FirstCheck`) and refined by the phases of :mod:`symnmf.solvers.sketch_refinement`.
``TRANSITIONS``, at the end, is the whole machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import torch
from torch import Tensor

from symnmf.solvers.column_exchange import exchange_column
from symnmf.solvers.sketch_newton import Pool
from symnmf.solvers.sketch_refinement import (
    CorrectedFit,
    CorrectedNewton,
    ExactNewton,
    Finish,
    FirstCheck,
)
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_seeds import seed_batch, seeds_of_start
from symnmf.solvers.sketch_state import PATIENCE, TRANSITIONS, Phase, SketchState, Starts
from symnmf.solvers.sketch_steps import Candidate, Dual, SketchWork, admm_step

__all__ = [
    "TRANSITIONS",
    "ColumnExchange",
    "CorrectedFit",
    "CorrectedNewton",
    "ExactNewton",
    "Finish",
    "FirstCheck",
    "MoreSeeds",
    "Phase",
    "SeedRace",
    "SketchState",
    "Starts",
    "SurrogateFit",
    "SurrogatePolish",
    "finish_start",
]


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
        """Try a seed, or all of a small problem; after the last one, begin the fit."""
        start, draws = len(state.starts.excesses), work.schedule.kmeans_draws
        seeds = seeds_of_start(work.problem, start, work.n_init, draws)
        batch = None
        if self.tried == 0 and 1 < len(seeds) * draws <= work.pool_room:
            batch = seed_batch(work.problem, [start], work.n_init, draws)
        tried = [work.trial(seeds[self.tried]())] if batch is None else work.trials(batch)
        leader, starts = self.leader, state.starts
        for seed in tried:
            before, leader = leader, seed.or_better(leader, work.schedule.race_excess)
            if start == 0:
                starts = self._with_loser(work, starts, before if leader is seed else seed)
        assert leader is not None
        if self.tried + len(tried) < len(seeds):
            return state.enter(SeedRace(self.tried + len(tried), leader), starts=starts)
        fit = SurrogateFit.begin(work, leader.H)
        return state.enter(fit, H=leader.H, SH=None, starts=starts)

    @staticmethod
    def _with_loser(work: SketchWork, starts: Starts, loser: Candidate | None) -> Starts:
        """The starts with a seed that may be polished later, as far as there is room."""
        room = min(work.pool_room, work.schedule.pool_size) - 1
        if loser is None or room < 1:
            return starts
        seeds = sorted((*starts.seeds, loser), key=lambda c: c.excess)
        return replace(starts, seeds=tuple(seeds[:room]))

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
            if self._is_over(work.schedule, state.starts, excess):
                return self._leave(work, state, excess)
        H, dual = admm_step(state.H, TH, self.dual)
        return state.enter(SurrogateFit(dual, self.steps + 1, excess), H=H, SH=None)

    def _is_over(self, schedule: Schedule, starts: Starts, excess: float) -> bool:
        if excess <= schedule.rough_excess and starts.near_floor(schedule):
            return True  # it serves the agreement
        least = max(schedule.admm_min_gain, schedule.admm_min_gain_share * excess)
        settled = self.steps > 0 and self.excess - excess < least
        return settled or self.steps >= schedule.admm_max_steps

    def _leave(self, work: SketchWork, state: SketchState, excess: float) -> SketchState:
        """Good fits are done, rough ones are polished, poor ones are offered exchanges."""
        if excess <= work.schedule.rough_excess:
            return finish_start(work, state, excess, self.dual)
        if excess <= work.schedule.poor_excess:
            return state.enter(MoreSeeds(Candidate.of(state.H, excess), ()))
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
        return state.enter(MoreSeeds(leader, ()), H=leader.H, SH=None)

    def best(self, H: Tensor) -> Candidate | None:
        """The best fit so far."""
        return self.leader


@dataclass
class MoreSeeds(Phase):
    """Each iteration tries the seed of one more start; none where the first start was good.

    Attributes:
        fit: fit of the start so far.
        tried: the seeds of the starts after it.
    """

    fit: Candidate
    tried: tuple[Candidate, ...]

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """Try a seed, or all of a small problem; after the last one, begin to polish."""
        done, draws = len(state.starts.excesses), work.schedule.pool_draws
        start = done + 1 + len(self.tried)
        room = work.pool_room - 1
        if done == 0 and start < work.start_count and len(self.tried) < room:
            left, batch = range(start, work.start_count), None
            if not self.tried and len(left) <= room:
                batch = seed_batch(work.problem, left, work.n_init, draws)
            if batch is not None:
                return state.enter(MoreSeeds(self.fit, tuple(work.trials(batch))))
            seeds = seeds_of_start(work.problem, start, work.n_init, draws)
            return state.enter(MoreSeeds(self.fit, (*self.tried, work.trial(seeds[0]()))))
        room = min(room - len(self.tried), work.schedule.pool_size - 1)
        lost = state.starts.seeds[: max(0, room)] if done == 0 else ()
        factors = [self.fit, *self.tried, *lost]
        owners = (0, *range(1, 1 + len(self.tried)), *(0 for _ in lost))
        pool = Pool.at(work.T, [c.H for c in factors])
        starts = replace(state.starts, seeds=())
        return state.enter(SurrogatePolish(0, pool, owners), starts=starts)

    def best(self, H: Tensor) -> Candidate | None:
        """The best fit so far."""
        return min((self.fit, *self.tried), key=lambda c: c.excess)


@dataclass
class SurrogatePolish(Phase):
    """Newton steps on the surrogate, of all starts in one batch, until they gain little.

    Attributes:
        steps: number of Newton steps.
        pool: the factors.
        owners: the start to which each of them belongs, from the first that is not finished.
    """

    steps: int
    pool: Pool
    owners: tuple[int, ...]

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Newton step of the factors that still gain."""
        active = self.pool.active(PATIENCE)
        if not len(active) or self.steps >= work.schedule.polish_max_steps:
            return self._leave(work, state)
        frob_sq = work.problem.S.frob_sq()
        least = work.schedule.polish_min_gain * (self.pool.value + frob_sq).clamp(min=0)
        pool = self.pool.stepped(work.T, work.T, work.schedule.polish_cg_iters, active, least)
        after = SurrogatePolish(self.steps + 1, pool, self.owners)
        return state.enter(after, H=pool.H[pool.best].T, SH=None)

    def _leave(self, work: SketchWork, state: SketchState) -> SketchState:
        """Finish each start with the best of its factors; keep the next best for S."""
        pool, schedule = self.pool, work.schedule
        errors = (1 + pool.value / work.problem.S.frob_sq()).clamp(min=0).tolist()
        order = sorted(range(len(errors)), key=lambda m: errors[m])
        chosen = [next(m for m in order if self.owners[m] == o) for o in sorted({*self.owners})]
        for m in chosen[:-1]:
            excess = work.excess_of(errors[m])
            state = replace(state, starts=state.starts.with_start(pool.factor(m), excess, schedule))
        near = errors[order[0]] * (1 + schedule.finish_within)
        spare = [m for m in order[1:] if errors[m] <= near][: schedule.finish_starts - 1]
        others = tuple(Candidate(pool.factor(m), work.excess_of(errors[m]), 0.0) for m in spare)
        last = chosen[-1]
        state = state.enter(self, H=pool.factor(last), SH=None)
        return finish_start(work, state, work.excess_of(errors[last]), None, others)

    def best(self, H: Tensor) -> Candidate | None:
        """The best factor, relative to which nothing else is known."""
        return Candidate(H, float(self.pool.value.min()), 0.0)


def finish_start(
    work: SketchWork,
    state: SketchState,
    excess: float,
    dual: Dual | None,
    others: tuple[Candidate, ...] = (),
) -> SketchState:
    """Add a start to the finished ones; begin the next start, or check the best one on S.

    Arguments:
        work: problem and options.
        state: state whose factor is the fit.
        excess: excess of the fit on the surrogate.
        dual: dual of the fit where it is from ADMM alone; the refinement then continues with it.
        others: factors that are finished on S with the best one.
    """
    starts = state.starts.with_start(state.H, excess, work.schedule)
    agreed = work.problem.warm_start is None and starts.agree(work.schedule)
    if len(starts.excesses) < work.start_count and not agreed:
        return state.enter(SeedRace(0, None), starts=starts)
    best = starts.best
    assert best is not None
    starts = replace(starts, best=None, others=others)
    if best.H is state.H and dual is not None:
        return state.enter(FirstCheck(dual, excess), starts=starts)
    fresh = FirstCheck(work.fresh_dual(best.H), best.excess)
    return state.enter(fresh, H=best.H, SH=None, starts=starts)


TRANSITIONS |= {
    SeedRace: (SurrogateFit,),
    SurrogateFit: (ColumnExchange, MoreSeeds, SeedRace, FirstCheck),
    ColumnExchange: (MoreSeeds,),
    MoreSeeds: (SurrogatePolish,),
    SurrogatePolish: (SeedRace, FirstCheck),
    FirstCheck: (CorrectedFit, Finish),
    CorrectedFit: (CorrectedNewton, Finish),
    CorrectedNewton: (ExactNewton, Finish),
    ExactNewton: (Finish,),
    Finish: (ExactNewton,),
}
