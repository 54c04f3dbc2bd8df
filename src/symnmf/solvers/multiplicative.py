"""Family 1: multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Solver, State
from symnmf.numerics import inner64
from symnmf.options import option


@dataclass(frozen=True)
class MultiplicativeUpdate(Solver[State]):
    """Dampened multiplicative update.

        H ← ½ H ∘ (1 + S H / (H HᵀH + ε))

    ε is ``eps`` times s^{3/2}, s the scale of S, so that the update commutes with scaling S.

    Arguments:
        eps: guard of the division, for S of scale one; the paper's is float32 epsilon.

    Reference: He et al. (2011), doi:10.1109/TNN.2011.2172457.
    """

    eps: float = option(1.2e-7, above=0)

    def init_state(self, problem: Problem) -> State:
        """At the start factor."""
        return State(problem.H0.clone(), None)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        SH = state.product(problem.S)
        return State(multiply(state.H, SH, self.eps * problem.S.scale() ** 1.5), None)


@dataclass(frozen=True)
class TraceNormUpdate(MultiplicativeUpdate):
    """Multiplicative update of f(H) + λ (tr S − ‖H‖²)².

        H ← ½ H ∘ (1 + (S H + λ tr(S) H) / (H HᵀH + λ ‖H‖² H + ε))

    Arguments:
        lam: λ; the paper's update fails from 1 on.
    """

    lam: float = option(1e-4, above=0)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        H = state.H
        SH = state.product(problem.S)
        pull = self.lam * problem.S.trace()
        push = self.lam * inner64(H, H)
        eps = self.eps * problem.S.scale() ** 1.5
        below = (H @ (H.T @ H)).add_(H, alpha=push).add_(eps)
        ratio = torch.add(SH, H, alpha=pull).div_(below)
        return State(ratio.add_(1.0).mul_(H).mul_(0.5), None)


@dataclass(frozen=True)
class ExponentiatedGradient(Solver[State]):
    """Mirror descent with negative entropy.

        H ← H ∘ exp(−η ∇f)

    Arguments:
        step_size: η against 1 / max(4 S H), so that no exponent is large.
        eta: η itself; overrides ``step_size``.

    Reference: Kivinen and Warmuth (1997), doi:10.1006/inco.1996.2612.
    """

    step_size: float = option(0.5, above=0)
    eta: float | None = option(None, above=0)

    def init_state(self, problem: Problem) -> State:
        """At the start factor."""
        return State(problem.H0.clone(), None)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        SH = state.product(problem.S)
        eta = self.eta or self.step_size / (4 * float(SH.max()))
        return State(gradient(state.H, SH).mul_(-eta).exp_().mul_(state.H), None)


def multiply(H: Tensor, SH: Tensor, eps: float) -> Tensor:  # (n, k)
    """½ H ∘ (1 + SH / (H HᵀH + ε))."""
    ratio = SH.clamp(min=0).div_((H @ (H.T @ H)).add_(eps))  # S may be negative by rounding
    return ratio.add_(1.0).mul_(H).mul_(0.5)
