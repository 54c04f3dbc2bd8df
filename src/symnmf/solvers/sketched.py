"""Sketch, seed, fit, refine: the work is done on a surrogate of S, the checks on S."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver
from symnmf.options import option
from symnmf.solvers.sketch_phases import (
    ExactNewton,
    Finish,
    Phase,
    SeedRace,
    SketchState,
    Starts,
    SurrogateFit,
)
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_steps import SketchWork


@dataclass(frozen=True)
class Sketched(Solver[SketchState]):
    """A fit of a low-rank-plus-diagonal surrogate, from a spectral seed, refined on S.

        T = U Φ Uᵀ + diag(d)               from the spectrum that the certificate needs anyway
        H₀ = a·P + c·u₁1ᵀ                  P: groups of the rows of U, by k-means
        ADMM with T                        no product of S
        ADMM with T + Π R + R Π − Π R Π,   R = S − T,   Π: columns of H at the last check

    The last surrogate is exact on the columns of H, costs one product of S at each check, and has
    the stationary points of S. Where T is S (a Gram operator not much wider than k) there is
    nothing to correct. What ADMM does not settle is left to Gauss–Newton steps, first with the
    corrected surrogate, then with S; far from the floor Newton steps on S take the place of both.

    1. Every start begins with a race of seeds: groups of the spectral embedding (whitened and
       scaled, with and without the leading direction), NNDSVD, the paper's random start.
    2. A fit that is not near the floor is offered moves: the most redundant column is given up
       for the group that the residual shows, if that helps. Newton steps on T follow, in one
       batch with the other seeds and starts.
    3. Of several starts the best is refined; of equally good ones below an excess of 0.001 the
       one with sharper groups. Their labels give the ``agreement`` of the certificate. After a
       start near the floor the others serve the agreement alone: they end there, and
       none begins after three that agree.
    4. Where the criterion is met far from the floor, which the gate allows below 10 000 rows,
       Newton steps on S follow while they pay, from the best starts in turn.

    The phases and their order are in :mod:`symnmf.solvers.sketch_phases`.

    Arguments:
        penalty: ρ of ADMM against the size of HᵀH.
        cg_iters: steps of conjugate gradients in a Gauss–Newton step.
        n_init: most starts; they cost time, but no products of S where T is not S.
        precision: ``"fast"`` ends where the criterion is met; ``"balanced"`` goes on while a Newton
            step lowers the error by 0.002 % (below 10 000 rows, and where the floor is not
            reached); ``"best"`` goes on while it lowers the error by 0.0001 %, for every size.
        schedule: the constants of the method, which are not options of the registry.
    """

    penalty: float = option(2.0, above=0)
    cg_iters: int = option(10, whole=True, at_least=1)
    n_init: int = option(1, whole=True, at_least=1, at_most=10_000)
    precision: str = option("balanced", choices=("fast", "balanced", "best"))
    schedule: Schedule = Schedule()

    warm_up = 0

    def work(self, problem: Problem) -> SketchWork:
        """The problem with the options, for the phases."""
        return SketchWork(
            problem, self.penalty, self.cg_iters, self.n_init, self.schedule, self.precision
        )

    def init_state(self, problem: Problem) -> SketchState:
        """At the start factor; a factor given by the caller is the only seed of the first start."""
        H = problem.H0.clone()
        phase: Phase = SeedRace(0, None)
        if isinstance(problem.start, Tensor):
            phase = SurrogateFit.begin(self.work(problem), H)
        return SketchState(H, None, phase, Starts.none(problem.S.n, H.device))

    def should_check(self, state: SketchState, iterations: int) -> bool:
        """When the surrogate is fitted, and from then on after a few steps."""
        return iterations >= state.phase.check_every(self.schedule)

    def may_stop(self, state: SketchState) -> bool:
        """Not while the surrogate is being fitted: the next start may do better."""
        return state.phase.may_stop

    def step(self, problem: Problem, state: SketchState, rng: torch.Generator) -> SketchState:
        """A seed with its trial, a step on the surrogate, a move, or a corrected step."""
        return state.phase.step(self.work(problem), state, rng)

    def react(self, problem: Problem, state: SketchState, check: Check) -> SketchState:
        """Where ADMM does not settle, Gauss–Newton steps; where those do not, steps with S."""
        return state.phase.react(self.work(problem), state)

    def improve(self, problem: Problem, state: SketchState, check: Check) -> SketchState:
        """Newton steps on S, where they promise a smaller error."""
        excess = problem.bounds.excess(check.error)
        phase, work = state.phase, self.work(problem)
        finished = isinstance(phase, Finish) or (isinstance(phase, ExactNewton) and phase.finished)
        if finished or not work.finishes(excess):
            return state
        return state.enter(Finish.begin(work, state))

    def interrupted(self, state: SketchState) -> SketchState:
        """The best of the starts and seeds so far."""
        if state.phase.may_stop or isinstance(state.phase, Finish):  # the driver has the best
            return state
        found = [c for c in (state.starts.best, state.phase.best(state.H)) if c is not None]
        if not found:
            return state
        return replace(state, H=min(found, key=lambda c: c.excess).H, SH=None)

    def start_count(self, state: SketchState) -> int:
        """Number of finished starts."""
        return max(1, len(state.starts.excesses))

    def agreement(self, state: SketchState) -> float | None:
        """Mean pairwise ARI of the labels of the starts that are nearly as good as the best."""
        return state.starts.agreement(self.schedule)
