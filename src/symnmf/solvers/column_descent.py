"""Family 4, with one factor: the symmetric problem itself, one column after the other.

Column h of H, all others fixed, has the objective

    ‖R − h hᵀ‖²,   R = S − Σ_{l≠j} h_l h_lᵀ

The solvers differ in the column that they aim at. A step never raises the error, because the share
of the way is exact, or because the bound holds. Both keep S H up to date with a product of one
column for each column, which makes one product of k columns in a sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from symnmf.core.objective import best_scale
from symnmf.core.problem import Problem
from symnmf.core.solver import Solver, State
from symnmf.operators import SymmetricOperator
from symnmf.solvers.quartic import entry_minimum, line_minimum


@dataclass
class Sweep:
    """A sweep under way; columns are stored as rows.

    Attributes:
        S: the operator.
        H, SH: (k, n) factor and product.
        gram: (k, k) HᵀH.
        rows: (n,) ‖h_i‖² − S_ii of the rows of H.
    """

    S: SymmetricOperator
    H: Tensor
    SH: Tensor
    gram: Tensor
    rows: Tensor

    @classmethod
    def at(cls, S: SymmetricOperator, H: Tensor, SH: Tensor) -> Sweep:
        """Before the first column."""
        H, SH = H.T.contiguous(), SH.T.contiguous()
        return cls(S, H, SH, H @ H.T, H.square().sum(dim=0) - S.diag())

    def slope(self, j: int) -> Tensor:  # (n,)
        """A quarter of the gradient of a column."""
        return self.gram[j] @ self.H - self.SH[j]

    def product(self, column: Tensor) -> Tensor:  # (n,) -> (n,)
        """S times a column."""
        return self.S.matmul(column[:, None])[:, 0]

    def move(self, j: int, D: Tensor, SD: Tensor, share: float) -> None:
        """Column j by a share of D."""
        self.rows -= self.H[j].square()
        self.H[j].add_(D, alpha=share).clamp_(min=0)
        self.SH[j].add_(SD, alpha=share)
        self.rows += self.H[j].square()
        self.gram[j] = self.H @ self.H[j]
        self.gram[:, j] = self.gram[j]


@dataclass(frozen=True)
class CyclicCoordinateDescent(Solver[State]):
    """Exact minimization in each entry, one column at a time.

        x_i = argmin_{x ≥ 0} f as a function of H_ij = x,    i = 1, …, n
            = argmin_{x ≥ 0} x⁴ / 4 + a_i x² / 2 + b_i x
        h_j ← h_j + λ (x − h_j),    λ = argmin_{0 ≤ λ ≤ 1} f

    with a_i = ‖h_i‖² + ‖h_j‖² − 2 H_ij² − S_ii, and b_i such that the slope at H_ij is ∇f_ij / 4.

    Differences from the reference:

    1. The entries of a column are solved for at the same time, and λ is exact, where the reference
       goes from entry to entry. f falls in both; one entry at a time would leave the time to the
       interpreter.
    2. The start factor is multiplied by the number that fits S best, as there.

    Reference: Vandaele, Gillis, Lei, Zhong and Dhillon (2016), arXiv:1509.01404.
    """

    def init_state(self, problem: Problem) -> State:
        """At the scaled start factor."""
        return State(*scaled_start(problem))

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One sweep: k products of one column."""
        sweep = Sweep.at(problem.S, state.H, state.product(problem.S))
        for j in range(problem.k):
            h, slope = sweep.H[j], sweep.slope(j)
            a = torch.sub(sweep.rows + sweep.gram[j, j], h.square(), alpha=2)
            x = entry_minimum(a, slope - h * (h.square() + a))
            D = x - h
            SD = sweep.product(x).sub_(sweep.SH[j])
            sweep.move(j, D, SD, column_share(sweep, j, D, SD, slope))
        return State(sweep.H.T.contiguous(), sweep.SH.T.contiguous())


def column_share(sweep: Sweep, j: int, D: Tensor, SD: Tensor, slope: Tensor) -> float:
    """The share of D, between 0 and 1, with which column j fits best.

    Arguments:
        sweep: factor and product.
        j: the column.
        D, SD: its direction and the product.
        slope: a quarter of its gradient.
    """
    on_columns = sweep.H @ D
    numbers = torch.stack(
        [slope @ D, D @ D, on_columns[j], on_columns @ on_columns, D @ SD, sweep.gram[j, j]]
    )
    down, size, inner, spread, curved, own = numbers.tolist()
    quadratic = inner**2 + own * size + spread - curved
    return line_minimum(np.array([0.0, 4 * down, 2 * quadratic, 4 * inner * size, size**2]))


def scaled_start(problem: Problem) -> tuple[Tensor, Tensor]:  # (n, k), (n, k)
    """The start factor at the scale that fits S best, and its product."""
    H = problem.H0
    SH = problem.S.matmul(H)
    scale = best_scale(H, SH) or 1.0
    return H * scale, SH * scale


#: Most doublings of the curvature of a bound in one step.
DOUBLINGS = 60


@dataclass
class BoundState(State):
    """``curvature``: σ of each column."""

    curvature: tuple[float, ...]


@dataclass(frozen=True)
class BlockUpperBound(Solver[BoundState]):
    """Block successive upper-bound minimization, one column at a time, in closed form.

        ‖R − x xᵀ‖² ≤ ‖x‖⁴ + 2σ‖x‖² − 4⟨R h + σ h, x⟩ + const,    equal at x = h
        h ← t v / ‖v‖,    v = [R h + σ h]₊,    t³ + σ t = ‖v‖

    The bound holds where −⟨d, R d⟩ ≤ σ‖d‖² for the step d: σ is halved in every sweep and doubled
    until it does, so that f never rises. With σ = 0 it is the power method on R, with a projection.

    Differences from the reference:

    1. A block is a column, where the reference takes a row or an entry: a column is one vector
       operation.
    2. σ is found by trial, where the reference computes a bound of the eigenvalues.

    Reference: Shi, Sun, Lu, Hong and Razaviyayn (2017), IEEE Transactions on
    Signal Processing 65.
    """

    def init_state(self, problem: Problem) -> BoundState:
        """At the scaled start factor, with the size of ‖h_j‖² as curvature."""
        H, SH = scaled_start(problem)
        size = problem.S.n * problem.entry_scale**2
        return BoundState(H, SH, (size,) * problem.k)

    def step(self, problem: Problem, state: BoundState, rng: torch.Generator) -> BoundState:
        """One sweep: k products of one column, and one more for each doubling."""
        sweep = Sweep.at(problem.S, state.H, state.product(problem.S))
        curvature = tuple(
            _bounded_move(sweep, j, last / 2) for j, last in enumerate(state.curvature)
        )
        return BoundState(sweep.H.T.contiguous(), sweep.SH.T.contiguous(), curvature)


def _bounded_move(sweep: Sweep, j: int, sigma: float) -> float:
    """Move column j to the minimizer of its bound, and return the σ of it."""
    h, slope, own = sweep.H[j], sweep.slope(j), float(sweep.gram[j, j])
    for _ in range(DOUBLINGS):
        v = torch.add(h * (own + sigma), slope, alpha=-1).clamp_(min=0)
        size = float(torch.linalg.vector_norm(v))
        if size == 0:
            return sigma
        x = v * (positive_root(sigma, size) / size)
        D = x - h
        SD = sweep.product(x).sub_(sweep.SH[j])
        on_others = sweep.H @ D
        on_others[j] = 0
        gap = float(on_others @ on_others - D @ SD) - sigma * float(D @ D)
        if gap <= 0:
            sweep.move(j, D, SD, 1.0)
            return sigma
        sigma *= 2
    return sigma


def positive_root(a: float, b: float) -> float:
    """The t ≥ 0 with t³ + a t = b, for a, b ≥ 0.

    Example:
        >>> round(positive_root(1.0, 10.0), 12)
        2.0
    """
    if a <= 1e-12 * b ** (2 / 3):
        return float(b ** (1 / 3))
    radius = (a / 3) ** 0.5
    return float(2 * radius * np.sinh(np.arcsinh(b / (2 * radius**3)) / 3))
