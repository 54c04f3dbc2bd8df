"""Line search of all solvers: Armijo backtracking along a direction, in any space."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import objective
from symnmf.core.problem import Problem
from symnmf.core.solver import State
from symnmf.numerics import inner64
from symnmf.solvers.space import Space

#: The paper's sufficient decrease and shrinkage, and the most products one search may cost.
DECREASE, SHRINK, TRIES = 1e-4, 0.5, 25


@dataclass
class SearchState(State):
    """``theta`` is optimized; ``eta`` the last accepted step; ``unit`` the size of entries."""

    theta: Tensor
    eta: float
    unit: float


@dataclass(frozen=True)
class Point:
    """A θ with its factor, product and objective."""

    theta: Tensor
    H: Tensor
    SH: Tensor
    value: float


def begin(problem: Problem, space: Space) -> tuple[Tensor, Tensor, float]:
    """θ, H and unit at the start factor."""
    unit = problem.entry_scale
    theta = space.parameter(problem.H0, unit)
    return theta, space.factor(theta, unit), unit


def first_step(grad: Tensor, unit: float) -> float:
    """η with which the root mean square entry moves by a tenth of its final size."""
    size = float(torch.linalg.vector_norm(grad)) / grad.numel() ** 0.5
    return 0.1 * unit / size if size > 0 else 1.0


def point(problem: Problem, space: Space, theta: Tensor, unit: float) -> Point:
    """Evaluate θ: one product."""
    H = space.factor(theta, unit)
    SH = problem.S.matmul(H)
    return Point(theta, H, SH, objective(H, SH))


def backtrack(
    problem: Problem,
    space: Space,
    here: Point,
    grad: Tensor,
    direction: Tensor,
    eta: float,
    unit: float,
    *,
    literal: bool = False,
) -> tuple[Point, float] | None:
    """The first θ⁺ = retract(θ + η·direction), η = eta, eta/2, …, with enough decrease.

        f(θ⁺) ≤ f(θ) + c·⟨∇_θ f, θ⁺ − θ⟩

    Differences from the paper (its appendix C):

    1. The decrease is asked along the step that the projection leaves, not of −η‖∇f‖², which no
       projected step can be held to. ``literal`` asks for the paper's.
    2. What rounding makes of the objective is allowed for.

    Arguments:
        problem, space: problem to solve, and the space of θ.
        here: where the search begins.
        grad: ∇_θ f there.
        direction: of the search.
        eta: first η.
        unit: size of the entries of a good H.
        literal: whether the decrease must be c·η·‖∇_θ f‖².

    Returns:
        the point and its η, or None when no step helps.
    """
    rounding = 0.1 * torch.finfo(here.theta.dtype).eps * problem.S.frob_sq()
    for _ in range(TRIES):
        theta = space.retract(torch.add(here.theta, direction, alpha=eta))
        slope = -eta * inner64(grad, grad) if literal else inner64(grad, theta - here.theta)
        there = point(problem, space, theta, unit)
        if there.value <= here.value + DECREASE * slope + rounding:
            return there, eta
        eta *= SHRINK
    return None
