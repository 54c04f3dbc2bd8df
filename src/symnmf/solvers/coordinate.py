"""Family 4: block coordinate descent on two coupled factors, W = H at the end.

    min_{H, W ≥ 0} ‖S − W Hᵀ‖² + α ‖H − W‖²

W is the previous H. α is ``coupling`` · n·s / k, n·s / k being the size of ‖h_j‖² at a good fit.

Differences from the paper (its appendix C):

1. α begins small, where the answers are better, and doubles at every stagnant check with the
   gradient above its gate, where H and W circle around each other. ``alpha`` fixes it; the paper's
   values are 10² to 10⁴.
2. The start factor is multiplied by the number that fits S best: half the size, as the paper's
   start is, makes the first least-squares steps twice too large. ``rescale_start=False`` leaves
   it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor

from symnmf.core.objective import best_scale
from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver, State
from symnmf.options import option
from symnmf.solvers.nnls import nnls_rows


@dataclass
class CoupledState(State):
    """``alpha``: the coupling in use."""

    alpha: float


CoupledT = TypeVar("CoupledT", bound=CoupledState)


@dataclass(frozen=True)
class TwoFactor(Solver[CoupledT]):
    """What HALS and ANLS share: the start and the coupling.

    Arguments:
        coupling: α against the size of ‖h_j‖², at first.
        alpha: α itself, which then never changes; overrides ``coupling``.
        rescale_start: whether to multiply the start factor by the number that fits S best.
    """

    coupling: float = option(0.1, above=0)
    alpha: float | None = option(None, above=0)
    rescale_start: bool = option(True)

    def begin(self, problem: Problem) -> tuple[Tensor, Tensor, float]:
        """The start factor, its product, and α."""
        H = problem.H0
        SH = problem.S.matmul(H)
        scale = (best_scale(H, SH) or 1.0) if self.rescale_start else 1.0
        size = problem.S.n * problem.entry_scale**2
        return H * scale, SH * scale, self.alpha or self.coupling * size

    def react(self, problem: Problem, state: CoupledT, check: Check) -> CoupledT:
        """Couple the factors more strongly, until a step would be lost in rounding."""
        largest = problem.S.n * problem.entry_scale**2 / torch.finfo(state.H.dtype).eps
        if self.alpha is not None or check.kkt_ratio < 1.0 or state.alpha >= largest:
            return state
        return replace(state, alpha=2 * state.alpha)


@dataclass(frozen=True)
class HALS(TwoFactor[CoupledState]):
    """Hierarchical alternating least squares: one column after the other, in closed form.

        h_j ← [(S w_j − Σ_{l≠j} ⟨w_l, w_j⟩ h_l + α w_j) / (‖w_j‖² + α)]₊

    Reference: Cichocki and Phan (2009); Kim, He and Park (2014), doi:10.1007/s10898-013-0035-4.
    """

    def init_state(self, problem: Problem) -> CoupledState:
        """At the scaled start factor."""
        return CoupledState(*self.begin(problem))

    def step(self, problem: Problem, state: CoupledState, rng: torch.Generator) -> CoupledState:
        """One product and one sweep over the columns."""
        SW = state.product(problem.S)
        return CoupledState(hals_sweep(state.H, SW, state.alpha), None, state.alpha)


def hals_sweep(W: Tensor, SW: Tensor, alpha: float, gram: Tensor | None = None) -> Tensor:  # (n, k)
    """All columns once; n·k² operations and no residual. ``gram`` is WᵀW, or an estimate of it."""
    G = W.T @ W if gram is None else gram
    H = W.T.contiguous()  # columns as rows: each is read whole
    target = torch.add(SW, W, alpha=alpha).T.contiguous()
    size = G.diagonal().tolist()
    for j, norm in enumerate(size):
        rest = torch.addmv(target[j], H.T, G[j], alpha=-1).add_(H[j], alpha=norm)
        torch.clamp(rest.div_(norm + alpha), min=0, out=H[j])
    return H.T.contiguous()


@dataclass(frozen=True)
class ANLS(TwoFactor[CoupledState]):
    """Alternating non-negative least squares, each solved exactly.

        H ← argmin_{H ≥ 0} ‖S − W Hᵀ‖² + α ‖H − W‖²

    Row i is a problem of k unknowns with the matrix WᵀW + α I and the right side
    (S W + α W)_i: no stacked system is formed.

    Reference: Kim and Park (2011), doi:10.1137/110821172; Kuang, Yun and Park (2015),
    doi:10.1007/s10898-014-0247-2.
    """

    def init_state(self, problem: Problem) -> CoupledState:
        """At the scaled start factor."""
        return CoupledState(*self.begin(problem))

    def step(self, problem: Problem, state: CoupledState, rng: torch.Generator) -> CoupledState:
        """One product and n small least-squares problems."""
        W, alpha = state.H, state.alpha
        SW = state.product(problem.S)
        A = W.T @ W
        A.diagonal().add_(alpha)
        return CoupledState(nnls_rows(A, torch.add(SW, W, alpha=alpha), W), None, alpha)
