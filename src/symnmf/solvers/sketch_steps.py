"""The steps that the phases of the sketched solver share."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.labels import hard_labels
from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.core.solver import Checkpointable, State
from symnmf.operators import SymmetricOperator
from symnmf.operators.lowrank import CorrectedOperator
from symnmf.solvers.newton import PGNCG, CurvatureState
from symnmf.solvers.sketch_newton import objectives, products
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.splitting import ADMM, consensus, consensus_rows


@dataclass
class Candidate(Checkpointable):
    """A fit on the surrogate.

    Attributes:
        H: (n, k) its factor.
        excess: on the surrogate.
        sharpness: mean margin of its labels.
    """

    H: Tensor
    excess: float
    sharpness: float

    @classmethod
    def of(cls, H: Tensor, excess: float) -> Candidate:
        """A factor with the sharpness of its groups."""
        return cls(H, excess, float(hard_labels(H)[1].mean()))

    def or_better(self, other: Candidate | None, within: float) -> Candidate:
        """The better of two fits; of two that differ by at most ``within``, the sharper one."""
        if other is None or self.excess < other.excess - within:
            return self
        tie = self.excess <= other.excess + within
        return self if tie and self.sharpness > other.sharpness else other


@dataclass
class Dual(Checkpointable):
    """The scaled dual of ADMM (n, k), and its penalty."""

    U: Tensor
    rho: float


@dataclass
class Correction(Checkpointable):
    """What a check on S adds to the surrogate: the factor there, and the correction P."""

    anchor: Tensor
    P: Tensor


@dataclass(frozen=True)
class SketchWork:
    """A problem with the options of the solver, and the steps that phases are made of.

    Arguments:
        problem: S, k, seed and start.
        penalty: penalty of ADMM.
        cg_iters: steps of conjugate gradients in a Gauss–Newton step.
        n_init: number of starts without the warm start.
        schedule: the constants of the phases.
        precision: ``"fast"``, ``"balanced"`` or ``"best"``.
    """

    problem: Problem
    penalty: float
    cg_iters: int
    n_init: int
    schedule: Schedule
    precision: str = "balanced"

    @property
    def finish_min_gain(self) -> float:
        """Gain of a Newton step on S below which it does not pay."""
        best = self.precision == "best"
        return self.schedule.finish_min_gain_best if best else self.schedule.finish_min_gain

    @property
    def pool_room(self) -> int:
        """Number of factors that may be polished at the same time."""
        entries = self.problem.S.n * self.problem.k
        return max(1, self.schedule.pool_entries // entries)

    def finishes(self, excess: float | None) -> bool:
        """Whether Newton steps on S follow a check that meets the criterion."""
        if self.precision == "fast" or excess is None or self.problem.k == 1:
            return False
        if self.precision == "best":
            return True
        small = self.problem.S.n < self.schedule.finish_max_rows
        return small and excess > self.schedule.finish_excess

    @property
    def T(self) -> SymmetricOperator:
        """The surrogate; S itself where its products cost no more."""
        return self.problem.surrogate

    @property
    def start_count(self) -> int:
        """Number of starts, the warm start included."""
        return self.n_init + (self.problem.warm_start is not None)

    def excess(self, H: Tensor, TH: Tensor) -> float:
        """Excess with T H in place of S H; the error itself where the excess has no scale."""
        return self.excess_of(error(H, TH, self.problem.S.frob_sq()))

    def excess_of(self, value: float) -> float:
        """Excess of an error; the error itself where the excess has no scale."""
        excess = self.problem.bounds.excess(value)
        return value if excess is None else excess

    def fresh_dual(self, H: Tensor) -> Dual:
        """The dual at the beginning of ADMM."""
        state = ADMM(penalty=self.penalty).start_at(self.problem, H)
        return Dual(state.U, state.rho)

    def trial(self, H: Tensor) -> Candidate:
        """A few steps of ADMM on the surrogate."""
        dual = self.fresh_dual(H)
        for _ in range(self.schedule.trial_steps):
            H, dual = admm_step(H, self.T.matmul(H), dual)
        return Candidate.of(H, self.excess(H, self.T.matmul(H)))

    def trials(self, H: Tensor) -> list[Candidate]:  # (b, k, n)
        """:meth:`trial` of several factors that are stored as rows, as one batch."""
        U, rho = torch.zeros_like(H), self.fresh_dual(H[0]).rho
        for _ in range(self.schedule.trial_steps):
            H, U = consensus_rows(H, products(self.T, H), U, rho)
        values = 1 + objectives(H, products(self.T, H)) / self.problem.S.frob_sq()
        found = zip(H, values.clamp(min=0).tolist(), strict=True)
        return [Candidate.of(rows.T.contiguous(), self.excess_of(value)) for rows, value in found]

    def newton_step(
        self, T: SymmetricOperator, state: State, rng: torch.Generator
    ) -> tuple[Tensor, Tensor | None]:
        """The next H by a Gauss–Newton step with T, and S H, which is known only where T is S."""
        problem, exact = self.problem, T is self.problem.S
        before = CurvatureState(
            state.H,
            state.SH if exact else None,
            theta=state.H,
            eta=1.0,
            unit=problem.entry_scale,
            method_state=Checkpointable(),
        )
        twin = problem if exact else problem.on(T)
        after = PGNCG(cg_iters=self.cg_iters).step(twin, before, rng)
        return after.H, after.SH if exact else None

    def corrected(
        self, state: State, correction: Correction | None
    ) -> tuple[SymmetricOperator, Correction | None]:
        """The surrogate that is exact at the last check, and its correction.

        Where S H is known, which it is after a check, the correction is made anew. Where the
        surrogate is S there is nothing to correct.
        """
        T, S = self.T, self.problem.S
        if T is S:
            return T, None
        if correction is None or state.SH is not None:
            P = CorrectedOperator.correction(T, state.H, state.product(S))
            correction = Correction(state.H, P)
        return CorrectedOperator(T, correction.anchor, correction.P), correction


def admm_step(H: Tensor, TH: Tensor, dual: Dual) -> tuple[Tensor, Dual]:
    """The next factor and dual; the tensor of the dual is overwritten."""
    H, U = consensus(H, TH, dual.U, dual.rho)
    return H, Dual(U, dual.rho)
