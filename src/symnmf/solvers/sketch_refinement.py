"""The phases of the sketched solver that work with S, after the surrogate is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from symnmf.solvers.sketch_newton import Pool
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_state import PATIENCE, Phase, SketchState
from symnmf.solvers.sketch_steps import Candidate, Correction, Dual, SketchWork, admm_step


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
        if work.finishes(self.excess):
            finish = Finish.begin(work, state)
            return finish.step(work, state.enter(finish), rng)
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
    """Gauss–Newton steps with S, until the run ends.

    Attributes:
        finished: whether the Newton steps on S that follow the criterion were made before.
    """

    finished: bool = False

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
    """Newton steps on S, of the best factors in one batch, as long as they gain.

    Attributes:
        steps: number of Newton steps.
        pool: the factors.
        done: whether none of them gains any more; the run then ends at the next check.
    """

    steps: int
    pool: Pool
    done: bool

    @property
    def may_stop(self) -> bool:  # type: ignore[override]
        """When no factor gains any more."""
        return self.done

    @classmethod
    def begin(cls, work: SketchWork, state: SketchState) -> Finish:
        """The factor of the state and the next best ones."""
        S, others = work.problem.S, state.starts.others
        pool = Pool.at(S, [state.H], state.SH)
        if others:
            pool = pool.joined(Pool.at(S, [c.H for c in others]))
        return cls(0, pool, False)

    def check_every(self, schedule: Schedule) -> int:
        """A few steps; at once when no factor gains any more."""
        return 0 if self.done else schedule.finish_check_every

    def step(self, work: SketchWork, state: SketchState, rng: torch.Generator) -> SketchState:
        """A Newton step of the factors that still gain; then of the best one alone."""
        S, schedule, pool = work.problem.S, work.schedule, self.pool
        least = work.problem.bounds.resolution * S.frob_sq()
        gain = work.finish_min_gain * (pool.value + S.frob_sq())
        active = pool.active(PATIENCE)
        if self.done:
            active = torch.tensor([0], device=pool.value.device)
        pool = pool.stepped(S, work.T, schedule.finish_cg_iters, active, gain.clamp(min=least))
        steps, best = self.steps + 1, pool.best
        done = self.done or steps >= schedule.finish_max_steps or not len(pool.active(PATIENCE))
        if done and len(pool.value) > 1:
            pool, best = pool.only(torch.tensor([best], device=pool.value.device)), 0
        starts = replace(state.starts, others=())
        after = Finish(steps, pool, done)
        return state.enter(after, H=pool.factor(best), SH=pool.product(best), starts=starts)

    def react(self, work: SketchWork, state: SketchState) -> SketchState:
        """Where the gradient is still above its gate, Gauss–Newton steps with S."""
        return state.enter(ExactNewton(True)) if self.done else state

    def best(self, H: Tensor) -> Candidate | None:
        """The best factor, relative to which nothing else is known."""
        return Candidate(H, float(self.pool.value.min()), 0.0)
