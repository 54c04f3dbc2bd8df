"""HALS on some of the rows of W, drawn by their leverage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.solver import Check
from symnmf.numerics import gram64
from symnmf.options import option
from symnmf.solvers.coordinate import CoupledState, TwoFactor, hals_sweep


@dataclass
class LeverageState(CoupledState):
    """``phi``: the share of the rows of W that a step sees."""

    phi: float


@dataclass(frozen=True)
class LeverageSampling(TwoFactor[LeverageState]):
    """HALS whose least-squares problem is formed from sampled rows of W.

        min_{H ≥ 0} ‖M (W Hᵀ − S)‖² + α ‖H − W‖²,   M rows drawn with p_i = ‖(W (WᵀW)^{-½})_i‖² / k

    With s = φ·n rows: those with p_i of at least 1/s are taken, the others are drawn from the rest
    with replacement and weighted by the inverse of their expected number. WᵀW and S W are replaced
    by sums over the chosen rows, of which S W needs φ of a product.

    Differences from the reference:

    1. φ doubles at every stagnant check, until the steps are those of HALS: samples of a fixed
       size leave noise above the gate of the gradient. ``grow=False`` leaves it, as there.
    2. The start and the coupling are those of ``hals``.

    Arguments:
        phi: φ, at first.
        grow: whether φ doubles at a stagnant check.

    Reference: Hayashi, Aksoy, Ballard and Park (2025), doi:10.1137/24M1638355.
    """

    phi: float = option(0.25, above=0, at_most=1)
    grow: bool = option(True)

    def init_state(self, problem: Problem) -> LeverageState:
        """At the scaled start factor."""
        return LeverageState(*self.begin(problem), self.phi)

    def step(self, problem: Problem, state: LeverageState, rng: torch.Generator) -> LeverageState:
        """φ of a product, and one sweep over the columns."""
        W = state.H
        if state.phi >= 1:
            return replace(state, H=hals_sweep(W, state.product(problem.S), state.alpha), SH=None)
        rows, weights = leverage_sample(W, ceil(state.phi * len(W)), rng)
        some = W[rows]
        weighted = some * weights[:, None]
        everything = torch.arange(len(W), device=W.device)
        SW = problem.S.block_matmul(everything, rows, weighted)
        return replace(state, H=hals_sweep(W, SW, state.alpha, some.T @ weighted), SH=None)

    def react(self, problem: Problem, state: LeverageState, check: Check) -> LeverageState:
        """More rows; from all of them on, as HALS."""
        if self.grow and state.phi < 1:
            return replace(state, phi=min(1.0, 2 * state.phi))
        return super().react(problem, state, check)


def leverage_sample(
    W: Tensor, count: int, rng: torch.Generator
) -> tuple[Tensor, Tensor]:  # (m,), (m,)
    """Rows of W and their weights: Σ_m w_m x_m estimates Σ_i x_i without bias.

    Arguments:
        W: (n, k) rows.
        count: number of rows to choose; those that are drawn twice are given once.
        rng: generator on the CPU.
    """
    share = leverage_shares(W)
    certain = share >= 1 / count
    rest = torch.where(certain, 0, share)
    left, total = count - int(certain.sum()), float(rest.sum())
    weight = certain.to(W.dtype)
    if left > 0 and total > 0:
        draws = torch.rand(left, generator=rng, dtype=share.dtype).to(W.device)
        summed = rest.cumsum(0)
        drawn = torch.searchsorted(summed, draws * summed[-1], right=True).clamp_(max=len(W) - 1)
        each = (total / left / share[drawn]).to(W.dtype)
        weight.index_add_(0, drawn, each)
    rows = weight.nonzero()[:, 0]
    return rows, weight[rows]


def leverage_shares(W: Tensor) -> Tensor:  # (n, k) -> (n,)
    """Leverages of the rows, divided by their sum."""
    values, V = torch.linalg.eigh(gram64(W))
    keep = values > torch.finfo(W.dtype).eps * values[-1]
    root = (V[:, keep] / values[keep].sqrt()).to(W.dtype)
    found = (W @ root).square_().sum(dim=1).to(torch.float64)
    shares: Tensor = found / found.sum()
    return shares
