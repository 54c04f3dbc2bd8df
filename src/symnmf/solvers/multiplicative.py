"""Family 1: multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.contract import Problem, Solver, State
from symnmf.objective import gradient, inner64
from symnmf.solvers.checks import positive


@dataclass(frozen=True)
class MultiplicativeUpdate(Solver):
    """Dampened multiplicative update.

        H ← ½ H ∘ (1 + S H / (H HᵀH + ε))

    ε is ``eps`` times s^{3/2}, s the scale of S, so that the update commutes with scaling S.

    Arguments:
        eps: guard of the division, for S of scale one; the paper's is float32 epsilon.

    Reference: He et al. (2011), doi:10.1109/TNN.2011.2172457.
    """

    eps: float = 1.2e-7

    def __post_init__(self) -> None:
        positive(self, "eps")

    def init_state(self, problem: Problem) -> State:
        """At the start factor."""
        return State(problem.H0.clone(), None)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        SH = problem.S.matmul(state.H) if state.SH is None else state.SH
        return State(multiply(state.H, SH, self.eps * problem.S.scale() ** 1.5), None)


@dataclass(frozen=True)
class TraceNormUpdate(MultiplicativeUpdate):
    """Multiplicative update of f(H) + λ (tr S − ‖H‖²)².

        H ← ½ H ∘ (1 + (S H + λ tr(S) H) / (H HᵀH + λ ‖H‖² H + ε))

    Arguments:
        lam: λ; the paper's update fails from 1 on.
    """

    lam: float = 1e-4

    def __post_init__(self) -> None:
        positive(self, "eps", "lam")

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        H = state.H
        SH = problem.S.matmul(H) if state.SH is None else state.SH
        pull = self.lam * problem.S.trace()
        push = self.lam * inner64(H, H)
        eps = self.eps * problem.S.scale() ** 1.5
        below = (H @ (H.T @ H)).add_(H, alpha=push).add_(eps)
        ratio = torch.add(SH, H, alpha=pull).div_(below)
        return State(ratio.add_(1.0).mul_(H).mul_(0.5), None)


@dataclass(frozen=True)
class ExponentiatedGradient(Solver):
    """Mirror descent with negative entropy.

        H ← H ∘ exp(−η ∇f)

    Arguments:
        step_size: η against 1 / max(4 S H), so that no exponent is large.
        eta: η itself; overrides ``step_size``.

    Reference: Kivinen and Warmuth (1997), doi:10.1006/inco.1996.2612.
    """

    step_size: float = 0.5
    eta: float | None = None

    def __post_init__(self) -> None:
        positive(self, "step_size", "eta")

    def init_state(self, problem: Problem) -> State:
        """At the start factor."""
        return State(problem.H0.clone(), None)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        SH = problem.S.matmul(state.H) if state.SH is None else state.SH
        eta = self.eta or self.step_size / (4 * float(SH.max()))
        return State(gradient(state.H, SH).mul_(-eta).exp_().mul_(state.H), None)


def multiply(H: Tensor, SH: Tensor, eps: float) -> Tensor:  # (n, k)
    """½ H ∘ (1 + SH / (H HᵀH + ε))."""
    ratio = SH.clamp(min=0).div_((H @ (H.T @ H)).add_(eps))  # S may be negative by rounding
    return ratio.add_(1.0).mul_(H).mul_(0.5)
