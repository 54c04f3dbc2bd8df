"""Family 1: multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.contract import Problem, Solver, State
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


def multiply(H: Tensor, SH: Tensor, eps: float) -> Tensor:  # (n, k)
    """½ H ∘ (1 + SH / (H HᵀH + ε))."""
    ratio = SH / (H @ (H.T @ H)).add_(eps)
    return ratio.add_(1.0).mul_(H).mul_(0.5)
