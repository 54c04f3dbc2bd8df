"""How a gradient solver keeps H ≥ 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from symnmf.core.solver import Solver, StateT
from symnmf.options import check_options, option


class Space(ABC):
    """The variable θ that is optimized, and the factor H = factor(θ) that is measured.

    ``unit`` is the size of the entries of a good H; a space may need it to commute with scaling.
    """

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def least_entry(self) -> float:
        """Least entry that H can have."""
        return 0.0

    @abstractmethod
    def parameter(self, H: Tensor, unit: float) -> Tensor:
        """A fresh θ with factor(θ) = H."""

    @abstractmethod
    def factor(self, theta: Tensor, unit: float) -> Tensor:
        """H of θ, never negative."""

    @abstractmethod
    def pull_gradient(self, theta: Tensor, grad: Tensor, unit: float) -> Tensor:
        """∇_θ f from ∇_H f; may overwrite ``grad``."""

    @abstractmethod
    def pull_diagonal(self, theta: Tensor, grad: Tensor, diagonal: Tensor, unit: float) -> Tensor:
        """Diagonal of the Hessian in θ from ∇_H f and the diagonal in H."""

    @abstractmethod
    def retract(self, theta: Tensor) -> Tensor:
        """The feasible θ nearest to a stepped one, in place."""

    @abstractmethod
    def free(self, theta: Tensor, grad: Tensor) -> Tensor:
        """Where θ may move against the gradient (bool)."""


@dataclass(frozen=True)
class Projected(Space):
    """θ = H, clamped after every step.

    Arguments:
        floor: least entry of H after a step, and the boundary at which the criterion counts only
            the negative part of the gradient. The paper's is zero, that of its public code 10⁻¹⁶.
    """

    floor: float = option(0.0, at_least=0)

    @property
    def least_entry(self) -> float:
        """The floor."""
        return self.floor

    def parameter(self, H: Tensor, unit: float) -> Tensor:
        """A copy of H."""
        return H.clone()

    def factor(self, theta: Tensor, unit: float) -> Tensor:
        """θ itself."""
        return theta

    def pull_gradient(self, theta: Tensor, grad: Tensor, unit: float) -> Tensor:
        """∇_H f itself."""
        return grad

    def pull_diagonal(self, theta: Tensor, grad: Tensor, diagonal: Tensor, unit: float) -> Tensor:
        """The diagonal itself."""
        return diagonal

    def retract(self, theta: Tensor) -> Tensor:
        """[θ]₊, at least ``floor``."""
        return theta.clamp_(min=self.floor)

    def free(self, theta: Tensor, grad: Tensor) -> Tensor:
        """Everywhere but at the boundary that the gradient presses on."""
        return (theta > self.floor) | (grad < 0)


@dataclass(frozen=True)
class Softplus(Space):
    """H = u · log(1 + e^{θ/u}): positive without a projection.

    Differences from the paper (its section 2.3):

    1. u is the size of the entries of H instead of 1, so that S and c·S give the same run and
       step sizes mean the same as in the projected space. ``unit=1`` is the paper's.

    Arguments:
        unit: u; by default the size of the entries of a good H.

    Reference: Subramani et al. (2024), as cited by the paper.
    """

    unit: float | None = option(None, above=0)

    def parameter(self, H: Tensor, unit: float) -> Tensor:
        """θ = u · log(e^{H/u} − 1), entries below 10⁻³ u lifted to it."""
        x = (H / (self.unit or unit)).clamp_(min=1e-3)
        return (x + torch.log(-torch.expm1(-x))).mul_(self.unit or unit)

    def factor(self, theta: Tensor, unit: float) -> Tensor:
        """U · softplus(θ / u)."""
        return softplus(theta / (self.unit or unit)).mul_(self.unit or unit)

    def pull_gradient(self, theta: Tensor, grad: Tensor, unit: float) -> Tensor:
        """∇_H f ∘ σ(θ / u)."""
        return grad.mul_(torch.sigmoid(theta / (self.unit or unit)))

    def pull_diagonal(self, theta: Tensor, grad: Tensor, diagonal: Tensor, unit: float) -> Tensor:
        """D ∘ σ² + ∇_H f ∘ σ (1 − σ) / u."""
        sigma = torch.sigmoid(theta / (self.unit or unit))
        return diagonal * sigma.square() + grad * sigma * (1 - sigma) / (self.unit or unit)

    def retract(self, theta: Tensor) -> Tensor:
        """θ itself."""
        return theta

    def free(self, theta: Tensor, grad: Tensor) -> Tensor:
        """Everywhere."""
        return torch.ones_like(theta, dtype=torch.bool)


class SpaceSolver(Solver[StateT]):
    """A solver that moves in a space."""

    space: Space

    @property
    def least_entry(self) -> float:
        """That of the space."""
        return self.space.least_entry
