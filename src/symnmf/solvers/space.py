"""How a gradient solver keeps H ≥ 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor


class Space(ABC):
    """The variable θ that is optimized, and the factor H = factor(θ) that is judged."""

    @abstractmethod
    def parameter(self, H: Tensor) -> Tensor:
        """A fresh θ with factor(θ) = H."""

    @abstractmethod
    def factor(self, theta: Tensor) -> Tensor:
        """H of θ, never negative."""

    @abstractmethod
    def pull_gradient(self, theta: Tensor, grad: Tensor) -> Tensor:
        """∇_θ f from ∇_H f; may overwrite ``grad``."""

    @abstractmethod
    def retract(self, theta: Tensor) -> Tensor:
        """The feasible θ nearest to a stepped one, in place."""


@dataclass(frozen=True)
class Projected(Space):
    """θ = H, clamped at zero after every step."""

    def parameter(self, H: Tensor) -> Tensor:
        """A copy of H."""
        return H.clone()

    def factor(self, theta: Tensor) -> Tensor:
        """θ itself."""
        return theta

    def pull_gradient(self, theta: Tensor, grad: Tensor) -> Tensor:
        """∇_H f itself."""
        return grad

    def retract(self, theta: Tensor) -> Tensor:
        """[θ]₊."""
        return theta.clamp_(min=0)
