"""Family 6: splitting the constraint from the factorization."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from symnmf.contract import Check, Problem, Solver, State
from symnmf.solvers.checks import positive
from symnmf.solvers.coordinate import CoupledState, TwoFactor, hals_sweep


@dataclass
class SplitState(State):
    """``H`` is the feasible factor W of the updates; ``U`` the scaled dual."""

    U: Tensor
    rho: float


@dataclass(frozen=True)
class ADMM(Solver):
    """Alternating direction method of multipliers with the consensus V = W, W ≥ 0.

        V ← (2 S W + ρ (W − U)) (2 WᵀW + ρ I)⁻¹
        W ← [V + U]₊
        U ← U + V − W

    Differences from the paper (its appendix C):

    1. ρ is ``penalty`` · n·s / k, s the scale of S: the size of tr(WᵀW) / k at a good fit.
       ``rho`` sets it outright; the paper's values are 50 and 500.

    Arguments:
        penalty: ρ against the size of WᵀW.
        rho: ρ itself; overrides ``penalty``.

    Reference: Boyd et al. (2011), doi:10.1561/2200000016.
    """

    penalty: float = 1.0
    rho: float | None = None

    def __post_init__(self) -> None:
        positive(self, "penalty", "rho")

    def init_state(self, problem: Problem) -> SplitState:
        """W at the start factor, no dual."""
        return self.start_at(problem, problem.H0.clone())

    def start_at(self, problem: Problem, H: Tensor) -> SplitState:
        """W at a factor, which is not copied; no dual."""
        rho = self.rho or self.penalty * problem.S.n * problem.entry_scale**2
        return SplitState(H, None, torch.zeros_like(H), rho)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S and one k×k inverse."""
        assert isinstance(state, SplitState)
        SW = problem.S.matmul(state.H) if state.SH is None else state.SH
        W, U = consensus(state.H, SW, state.U, state.rho)
        return SplitState(W, None, U, state.rho)


@dataclass
class SurrogateState(CoupledState):
    """``refining``: the steps are on S itself."""

    refining: bool


@dataclass(frozen=True)
class LAI(TwoFactor):
    """HALS on a low-rank surrogate of S, then on S.

        S ≈ U Λ Uᵀ (leading eigenpairs),   S H ≈ U (Λ (UᵀH))

    A step on the surrogate costs no product. It is judged on S like every solver, and answers
    stagnation by going on with S itself.

    Arguments:
        rank: of the surrogate; k by default, as in the paper.
        refine: whether to go on with S; 0 is the paper's form.

    Reference: Hayashi et al. (2024), as cited by the paper.
    """

    rank: int | None = None
    refine: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self, "rank")

    def init_state(self, problem: Problem) -> SurrogateState:
        """At the scaled start factor, on the surrogate."""
        return SurrogateState(*self.begin(problem), False)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """A sweep with the surrogate's product, or with S."""
        assert isinstance(state, SurrogateState)
        if state.refining:
            SW = problem.S.matmul(state.H) if state.SH is None else state.SH
        else:
            SW = self._surrogate(problem, state.H)
        return replace(state, H=hals_sweep(state.H, SW, state.alpha), SH=None)

    def react(self, problem: Problem, state: State, check: Check) -> State:
        """Go over to S; there, couple the factors more strongly."""
        assert isinstance(state, SurrogateState)
        if self.refine and not state.refining:
            return replace(state, refining=True)
        return super().react(problem, state, check)

    def _surrogate(self, problem: Problem, H: Tensor) -> Tensor:
        rank = self.rank or problem.k
        U = problem.spectrum.vectors[:, :rank]
        values = problem.spectrum.values[: U.shape[1], None].to(H.dtype)
        return U @ (values * (U.T @ H))


def consensus(W: Tensor, SW: Tensor, U: Tensor, rho: float) -> tuple[Tensor, Tensor]:
    """The next W and U; U is overwritten. The k×k inverse is made in float64."""
    system = (W.T @ W).to(torch.float64).mul_(2.0)
    system.diagonal().add_(rho)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(system)).to(W.dtype)
    V = (W - U).mul_(rho).add_(SW, alpha=2.0) @ inverse  # (n, k)
    U.add_(V)  # V + U: its positive part is W, its negative part the next dual
    W = U.clamp(min=0)
    return W, U.sub_(W)
