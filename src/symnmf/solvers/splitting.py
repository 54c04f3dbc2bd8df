"""Family 6: splitting the constraint from the factorization."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver, State
from symnmf.numerics import cross64, symmetric_eigen, torch_stream
from symnmf.options import option
from symnmf.solvers.coordinate import CoupledState, TwoFactor, hals_sweep


@dataclass
class SplitState(State):
    """``H`` is the feasible factor W of the updates; ``U`` the scaled dual."""

    U: Tensor
    rho: float


@dataclass(frozen=True)
class ADMM(Solver[SplitState]):
    """Alternating direction method of multipliers with the consensus V = W, W ≥ 0.

        V ← (2 S W + ρ (W − U)) (2 WᵀW + ρ I)⁻¹
        W ← [V + U]₊
        U ← U + V − W

    Differences from the paper (its appendix C):

    1. ρ is ``penalty`` · n·s / k, s the scale of S: the size of tr(WᵀW) / k at a good fit.
       ``rho`` sets ρ itself; the paper's values are 50 and 500.

    Arguments:
        penalty: ρ against the size of WᵀW.
        rho: ρ itself; overrides ``penalty``.

    Reference: Boyd et al. (2011), doi:10.1561/2200000016.
    """

    penalty: float = option(1.0, above=0)
    rho: float | None = option(None, above=0)

    def init_state(self, problem: Problem) -> SplitState:
        """W at the start factor, no dual."""
        return self.start_at(problem, problem.H0.clone())

    def start_at(self, problem: Problem, H: Tensor) -> SplitState:
        """W at a factor, which is not copied; no dual."""
        return SplitState(H, None, torch.zeros_like(H), self.rho_of(problem))

    def rho_of(self, problem: Problem) -> float:
        """ρ of a problem."""
        return self.rho or self.penalty * problem.S.n * problem.entry_scale**2

    def step(self, problem: Problem, state: SplitState, rng: torch.Generator) -> SplitState:
        """One product with S and one k×k inverse."""
        W, U = consensus(state.H, state.product(problem.S), state.U, state.rho)
        return SplitState(W, None, U, state.rho)


@dataclass
class SurrogateState(CoupledState):
    """State of LAI.

    Attributes:
        refining: whether the steps are on S itself.
        vectors, values: eigenpairs of the surrogate; None for those of the spectrum.
    """

    refining: bool
    vectors: Tensor | None
    values: Tensor | None


@dataclass(frozen=True)
class LAI(TwoFactor[SurrogateState]):
    """HALS on a low-rank surrogate of S, then on S.

        S ≈ U Λ Uᵀ (leading eigenpairs),   S H ≈ U (Λ (UᵀH))

    A step on the surrogate costs no product. The criterion is evaluated on S, as for every solver,
    and stagnation is answered by steps on S itself.

    Differences from the paper (its appendix C):

    1. The eigenpairs are those of the spectrum, which the certificate needs anyway.
       ``sketch="randomized"`` finds them by a randomized range finder, as the paper does, which
       states neither its additional columns nor its power steps; ours are the usual ones.

    Arguments:
        rank: rank of the surrogate; k by default, as in the paper.
        refine: whether to continue on S; the paper's form does not.
        sketch: where the eigenpairs come from: ``"spectrum"`` or ``"randomized"``.
        oversampling: columns of the range finder in addition to the rank.
        power_steps: its multiplications with S before the last.

    Reference: Hayashi et al. (2024), as cited by the paper.
    """

    rank: int | None = option(None, whole=True, at_least=1)
    refine: bool = option(True)
    sketch: str = option("spectrum", choices=("spectrum", "randomized"))
    oversampling: int = option(10, whole=True, at_least=0)
    power_steps: int = option(2, whole=True, at_least=0)

    def init_state(self, problem: Problem) -> SurrogateState:
        """At the start factor, on the surrogate."""
        vectors, values = None, None
        if self.sketch == "randomized":
            rank = self.rank or problem.k
            vectors, values = range_finder(problem, rank, self.oversampling, self.power_steps)
        return SurrogateState(*self.begin(problem), False, vectors, values)

    def step(self, problem: Problem, state: SurrogateState, rng: torch.Generator) -> SurrogateState:
        """A sweep with the surrogate's product, or with S."""
        SW = state.product(problem.S) if state.refining else self._surrogate(problem, state)
        return replace(state, H=hals_sweep(state.H, SW, state.alpha), SH=None)

    def react(self, problem: Problem, state: SurrogateState, check: Check) -> SurrogateState:
        """Change to S; there, couple the factors more strongly."""
        if self.refine and not state.refining:
            return replace(state, refining=True)
        return super().react(problem, state, check)

    def _surrogate(self, problem: Problem, state: SurrogateState) -> Tensor:
        U, values = state.vectors, state.values
        if U is None or values is None:
            U = problem.spectrum.vectors[:, : self.rank or problem.k]
            values = problem.spectrum.values[: U.shape[1]].to(U.dtype)
        return U @ (values[:, None] * (U.T @ state.H))


def range_finder(
    problem: Problem, rank: int, oversampling: int, power_steps: int
) -> tuple[Tensor, Tensor]:  # (n, rank), (rank,)
    """The largest eigenpairs of S on the range of S^{1 + q} Ω, Ω Gaussian: 2 + q products.

    Arguments:
        problem: S and the seed.
        rank: number of eigenpairs.
        oversampling: columns of Ω in addition to the rank.
        power_steps: q.

    Reference: Halko, Martinsson and Tropp (2011), doi:10.1137/090771806, algorithms 4.1 and 5.3.
    """
    S = problem.S
    width = min(S.n, rank + oversampling)
    draw = torch.randn(S.n, width, generator=torch_stream(problem.seed, "range"), dtype=S.dtype)
    Q = torch.linalg.qr(S.matmul(draw.to(S.device)))[0]
    for _ in range(power_steps):
        Q = torch.linalg.qr(S.matmul(Q))[0]
    small = cross64(Q, S.matmul(Q))
    values, rotation = symmetric_eigen((small + small.T) / 2)
    values, rotation = values.flip(0)[:rank], rotation.flip(1)[:, :rank]
    return Q @ rotation.to(Q.dtype), values.to(Q.dtype)


def consensus(W: Tensor, SW: Tensor, U: Tensor, rho: float) -> tuple[Tensor, Tensor]:
    """The next W and U; U is overwritten. The k×k inverse is made in float64."""
    system = (W.T @ W).to(torch.float64).mul_(2.0)
    system.diagonal().add_(rho)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(system)).to(W.dtype)
    V = (W - U).mul_(rho).add_(SW, alpha=2.0) @ inverse  # (n, k)
    U.add_(V)  # V + U: its positive part is W, its negative part the next dual
    W = U.clamp(min=0)
    return W, U.sub_(W)


def consensus_rows(
    W: Tensor, SW: Tensor, U: Tensor, rho: float | Tensor
) -> tuple[Tensor, Tensor]:  # (b, k, n)
    """:func:`consensus` for several factors that are stored as rows; U is overwritten.

    Arguments:
        W, SW, U: factors, their products and duals.
        rho: ρ of all of them, or (b, 1, 1) of each.
    """
    system = torch.bmm(W, W.mT).to(torch.float64).mul_(2.0)
    system.diagonal(dim1=1, dim2=2).add_(rho[:, :, 0] if isinstance(rho, Tensor) else rho)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(system)).to(W.dtype)
    U.add_(torch.bmm(inverse, (W - U).mul_(rho).add_(SW, alpha=2.0)))
    W = U.clamp(min=0)
    return W, U.sub_(W)
