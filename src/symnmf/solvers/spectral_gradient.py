"""Projected gradient steps whose length is taken from the last change of the gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from symnmf.core.objective import gradient, objective
from symnmf.core.problem import Problem
from symnmf.core.solver import Solver, State
from symnmf.numerics import inner64
from symnmf.options import option
from symnmf.solvers.line_search import DECREASE, first_step
from symnmf.solvers.quartic import along, line_minimum

#: The longest step, against the one that moves H by its own size.
LONGEST = 1e4


@dataclass
class SpectralState(State):
    """``grad``: ∇f at H; ``eta``: length of the next step; ``recent``: last values of f − ‖S‖²."""

    grad: Tensor
    eta: float
    recent: tuple[float, ...]


@dataclass(frozen=True)
class SpectralProjectedGradient(Solver[SpectralState]):
    """Projected Barzilai–Borwein steps with a search that does not insist on descent.

        D = [H − η ∇f]₊ − H,   H ← H + λ D,   η ← ⟨s, s⟩ / ⟨s, y⟩

    s and y are the changes of H and of ∇f. λ is 1 if f(H + D) is below the largest of the last
    ``memory`` values; otherwise it minimizes f along D, a quartic polynomial whose coefficients
    the one product S (H + D) gives. f is therefore not monotone unless ``memory`` is 1.

    Differences from the references:

    1. The search is exact and costs no further product, where theirs halves λ.

    Arguments:
        memory: number of values of f of which a step has to be below the largest.

    Reference: Barzilai and Borwein (1988), doi:10.1093/imanum/8.1.141; Birgin, Martínez and Raydan
    (2000), doi:10.1137/S1052623497330963; for symmetric NMF arXiv:2606.02887.
    """

    memory: int = option(10, whole=True, at_least=1)

    def init_state(self, problem: Problem) -> SpectralState:
        """At the start factor: one product."""
        H = problem.H0.clone()
        SH = problem.S.matmul(H)
        grad = gradient(H, SH)
        eta = first_step(grad, problem.entry_scale)
        return SpectralState(H, SH, grad, eta, (objective(H, SH),))

    def step(self, problem: Problem, state: SpectralState, rng: torch.Generator) -> SpectralState:
        """One product."""
        H, SH, grad = state.H, state.product(problem.S), state.grad
        D = torch.sub(H, grad, alpha=state.eta).clamp_(min=0).sub_(H)
        there = H + D
        SD = problem.S.matmul(there).sub_(SH)
        coefficients = along(H, D, SH, SD)
        share = _share(coefficients, max(state.recent) - state.recent[-1])
        H = there if share == 1 else torch.add(H, D, alpha=share)
        SH = torch.add(SH, SD, alpha=share)
        after = gradient(H, SH)
        eta = barzilai_borwein(D, (after - grad).div_(share or 1), share)
        longest = LONGEST * first_step(after, problem.entry_scale)
        value = state.recent[-1] + float(np.polyval(coefficients[::-1], share))
        recent = (*state.recent, value)[-self.memory :]
        return SpectralState(H.clamp_(min=0), SH, after, min(eta or longest, longest), recent)


def _share(coefficients: np.ndarray, slack: float) -> float:
    """λ: 1 where f rises by less than ``slack`` and enough of the slope, else the minimizer."""
    rise = float(coefficients.sum())
    if rise <= slack + DECREASE * float(coefficients[1]):
        return 1.0
    return line_minimum(coefficients)


def barzilai_borwein(s: Tensor, y: Tensor, share: float) -> float:
    """⟨s, s⟩ / ⟨s, y⟩; 0 where the curvature along s is not positive or nothing moved.

    Arguments:
        s: direction of the step.
        y: change of the gradient, divided by the share of s that was taken.
        share: that share.
    """
    curvature = inner64(s, y)
    return inner64(s, s) / curvature if share > 0 and curvature > 0 else 0.0
