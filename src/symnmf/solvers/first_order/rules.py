"""Rules: from a gradient and a memory to a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from symnmf.contract import Memory
from symnmf.solvers.checks import between, positive


@dataclass(frozen=True)
class Rule(ABC):
    """An update rule of a diagonal first-order method.

    A coordinate that never had a gradient does not move: 0 / 0 counts as 0 throughout.

    Arguments:
        step_size: learning rate η against the size sqrt(s / k) of the entries that H must reach.
        eta: η itself; overrides ``step_size``.
    """

    step_size: float
    eta: float | None = None

    #: Whether a zero gradient leaves the memory as it is, so that coordinates may be left out.
    keeps_unseen: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive(self, "step_size", "eta")

    @abstractmethod
    def init(self, theta: Tensor) -> Memory:
        """Memory before the first step."""

    @abstractmethod
    def update(self, theta: Tensor, memory: Any, grad: Tensor, eta: float) -> None:
        """Step θ and memory in place; may overwrite ``grad``."""


def root(v: Tensor) -> Tensor:
    """√v, kept off zero."""
    return v.clamp(min=torch.finfo(v.dtype).tiny).sqrt_()


@dataclass
class Squares(Memory):
    """``G``: sum of squared gradients."""

    G: Tensor


@dataclass(frozen=True)
class AdaGrad(Rule):
    """Diagonal AdaGrad.

        G ← G + g ∘ g,   θ ← θ − η g / √G

    The paper's η is 2.

    Reference: Duchi, Hazan and Singer (2011), jmlr.org/papers/v12/duchi11a.html.
    """

    step_size: float = 0.3

    keeps_unseen: ClassVar[bool] = True

    def init(self, theta: Tensor) -> Squares:
        """No gradient seen."""
        return Squares(torch.zeros_like(theta))

    def update(self, theta: Tensor, memory: Squares, grad: Tensor, eta: float) -> None:
        """One AdaGrad step."""
        memory.G.addcmul_(grad, grad)
        theta.addcdiv_(grad, root(memory.G), value=-eta)


@dataclass
class Moments(Memory):
    """``v``: mean of squares; ``m``: velocity or mean gradient; ``t``: steps made."""

    v: Tensor
    m: Tensor
    t: int


@dataclass(frozen=True)
class RMSprop(Rule):
    """RMSprop with momentum.

        v ← α v + (1 − α) g ∘ g,   m ← μ m + η g / √v,   θ ← θ − m

    The paper's (η, α, μ) are (0.05, 0.99, 0.5).

    Arguments:
        alpha: forgetting of the squares.
        momentum: μ.

    Reference: Hinton (2012), lecture 6e of Neural networks for machine learning.
    """

    step_size: float = 0.02
    alpha: float = 0.99
    momentum: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self, 0, 1, "alpha", "momentum")

    def init(self, theta: Tensor) -> Moments:
        """At rest."""
        return Moments(torch.zeros_like(theta), torch.zeros_like(theta), 0)

    def update(self, theta: Tensor, memory: Moments, grad: Tensor, eta: float) -> None:
        """One RMSprop step."""
        memory.v.mul_(self.alpha).addcmul_(grad, grad, value=1 - self.alpha)
        memory.m.mul_(self.momentum).addcdiv_(grad, root(memory.v), value=eta)
        theta.sub_(memory.m)


@dataclass(frozen=True)
class Adam(Rule):
    """Adam, and NAdam with the look-ahead of Nesterov.

        m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g ∘ g
        θ ← θ − η m̂ / √v̂,   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)

    NAdam puts β₁ m̂ + (1 − β₁) g / (1 − β₁ᵗ) for m̂. The paper's (η, β₁, β₂) are
    (0.01, 0.9, 0.999).

    Arguments:
        beta1: forgetting of the gradients.
        beta2: forgetting of the squares.
        nesterov: NAdam.

    Reference: Kingma and Ba (2015), arXiv:1412.6980; Dozat (2016).
    """

    step_size: float = 0.02
    beta1: float = 0.9
    beta2: float = 0.999
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self, 0, 1, "beta1", "beta2")

    def init(self, theta: Tensor) -> Moments:
        """No gradient seen."""
        return Moments(torch.zeros_like(theta), torch.zeros_like(theta), 0)

    def update(self, theta: Tensor, memory: Moments, grad: Tensor, eta: float) -> None:
        """One Adam step."""
        memory.t += 1
        first, second = 1 - self.beta1**memory.t, 1 - self.beta2**memory.t
        memory.m.lerp_(grad, 1 - self.beta1)
        memory.v.mul_(self.beta2).addcmul_(grad, grad, value=1 - self.beta2)
        mean = torch.lerp(grad, memory.m, self.beta1) if self.nesterov else memory.m
        theta.addcdiv_(mean, root(memory.v / second), value=-eta / first)


@dataclass
class AdanMemory(Moments):
    """``d``: mean difference of gradients; ``last``: the previous gradient."""

    d: Tensor
    last: Tensor


@dataclass(frozen=True)
class Adan(Rule):
    """Adaptive Nesterov momentum.

        m ← (1 − β₁) m + β₁ g,   d ← (1 − β₂) d + β₂ (g − g₋)
        n ← (1 − β₃) n + β₃ (g + (1 − β₂)(g − g₋))²,   θ ← θ − η (m + (1 − β₂) d) / √n

    Arguments:
        beta1, beta2, beta3: weights of the newest gradient, difference and square.

    Reference: Xie et al. (2023), arXiv:2208.06677.
    """

    step_size: float = 0.05
    beta1: float = 0.1
    beta2: float = 0.08
    beta3: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self, 0, 1, "beta1", "beta2", "beta3")

    def init(self, theta: Tensor) -> AdanMemory:
        """No gradient seen."""
        zero = torch.zeros_like
        return AdanMemory(zero(theta), zero(theta), 0, zero(theta), zero(theta))

    def update(self, theta: Tensor, memory: AdanMemory, grad: Tensor, eta: float) -> None:
        """One Adan step; the first one takes its gradient for all three means."""
        memory.t += 1
        if memory.t == 1:
            memory.m.copy_(grad)
            memory.v.copy_(grad).square_()
        else:
            change = grad - memory.last
            memory.m.lerp_(grad, self.beta1)
            memory.d.lerp_(change, self.beta2)
            ahead = change.mul_(1 - self.beta2).add_(grad)
            memory.v.lerp_(ahead.square_(), self.beta3)
        memory.last.copy_(grad)
        velocity = torch.add(memory.m, memory.d, alpha=1 - self.beta2)
        theta.addcdiv_(velocity, root(memory.v), value=-eta)


@dataclass
class DualMemory(Squares):
    """``Z``: sum of gradients; ``t``: steps made."""

    Z: Tensor
    t: int


@dataclass(frozen=True)
class DualAveraging(Rule):
    """AdaGrad by regularized dual averaging, after a primal warm-up.

        Z ← Z + g,   G ← G + g ∘ g,   θ ← [−Z / (2 √G / η + δ √t)]₊

    The warm-up makes AdaGrad steps, because the recovery begins near H = 0, which is a stationary
    point; Z is then set so that the recovery gives the θ that was reached.

    Arguments:
        delta: δ, against the size of 2 √G / η at the end of the warm-up.
        warm_up: AdaGrad steps before.

    Reference: Xiao (2010), jmlr.org/papers/v11/xiao10a.html.
    """

    step_size: float = 0.3
    delta: float = 0.01
    warm_up: int = 100

    keeps_unseen: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self, "delta", "warm_up")

    def init(self, theta: Tensor) -> DualMemory:
        """No gradient seen."""
        return DualMemory(torch.zeros_like(theta), torch.zeros_like(theta), 0)

    def update(self, theta: Tensor, memory: DualMemory, grad: Tensor, eta: float) -> None:
        """One step, primal or dual."""
        memory.t += 1
        memory.G.addcmul_(grad, grad)
        if memory.t <= self.warm_up:
            theta.addcdiv_(grad, root(memory.G), value=-eta)
            return
        weight = root(memory.G).mul_(2 / eta)
        weight += self.delta * float(weight.mean()) * (memory.t / self.warm_up) ** 0.5
        if memory.t == self.warm_up + 1:
            memory.Z.copy_(theta).mul_(weight).neg_()
        memory.Z.add_(grad)
        torch.div(memory.Z, weight, out=theta).neg_()
