"""Rules: from a gradient and a memory to a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from symnmf.contract import Memory
from symnmf.solvers.checks import positive


class Rule(ABC):
    """An update rule of a diagonal first-order method."""

    #: Learning rate against the size of the entries of H, and the published absolute one.
    step_size: float
    eta: float | None

    @abstractmethod
    def init(self, theta: Tensor) -> Memory:
        """Memory before the first step."""

    @abstractmethod
    def update(self, theta: Tensor, memory: Any, grad: Tensor, eta: float) -> None:
        """Step θ and memory in place; may overwrite ``grad``."""


@dataclass
class AdaGradMemory(Memory):
    """``G``: sum of squared gradients."""

    G: Tensor


@dataclass(frozen=True)
class AdaGrad(Rule):
    """Diagonal AdaGrad.

        G ← G + g ∘ g,   θ ← θ − η g / √G

    Arguments:
        step_size: η against the size sqrt(s / k) of the entries that H must reach.
        eta: η itself; overrides ``step_size``. The paper's is 2.

    Reference: Duchi, Hazan and Singer (2011), jmlr.org/papers/v12/duchi11a.html.
    """

    step_size: float = 0.3
    eta: float | None = None

    def __post_init__(self) -> None:
        positive(self, "step_size", "eta")

    def init(self, theta: Tensor) -> AdaGradMemory:
        """No gradient seen."""
        return AdaGradMemory(torch.zeros_like(theta))

    def update(self, theta: Tensor, memory: AdaGradMemory, grad: Tensor, eta: float) -> None:
        """One AdaGrad step."""
        adagrad(theta, memory.G, grad, eta)


def adagrad(theta: Tensor, G: Tensor, g: Tensor, eta: float) -> None:
    """G += g², θ −= η g / √G, in place. An entry that never had a gradient stays."""
    G.addcmul_(g, g)
    tiny = torch.finfo(G.dtype).tiny
    theta.addcdiv_(g, G.clamp(min=tiny).sqrt_(), value=-eta)
