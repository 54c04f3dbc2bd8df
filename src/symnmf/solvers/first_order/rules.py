"""Rules: how a first-order method turns gradients into steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from symnmf.core.solver import Checkpointable
from symnmf.options import check_options, option

RuleStateT = TypeVar("RuleStateT", bound=Checkpointable)


@dataclass(frozen=True)
class Rule(ABC, Generic[RuleStateT]):
    """An update rule of a diagonal first-order method.

    A coordinate that never had a gradient does not move: 0 / 0 counts as 0 throughout.

    Arguments:
        step_size: learning rate η against the size sqrt(s / k) of the entries that H must reach.
        eta: η itself; overrides ``step_size``.
    """

    step_size: float
    eta: float | None = option(None, above=0)

    #: Whether it sums squared gradients (its state is a :class:`Squares`) instead of averaging
    #: them: a zero gradient leaves a sum as it is, so that coordinates may be left out.
    sums_squares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def init(self, theta: Tensor) -> RuleStateT:
        """The state of the rule before the first step."""

    @abstractmethod
    def update(self, theta: Tensor, state: RuleStateT, grad: Tensor, eta: float) -> None:
        """Step θ and change the state, both in place; may overwrite ``grad``."""


def root(v: Tensor) -> Tensor:
    """√v, bounded away from zero."""
    return v.clamp(min=torch.finfo(v.dtype).tiny).sqrt_()


@dataclass
class Squares(Checkpointable):
    """``G``: sum of squared gradients."""

    G: Tensor


@dataclass(frozen=True)
class AdaGrad(Rule[Squares]):
    """Diagonal AdaGrad.

        G ← G + g ∘ g,   θ ← θ − η g / √G

    The paper's η is 2.

    Reference: Duchi, Hazan and Singer (2011), jmlr.org/papers/v12/duchi11a.html.
    """

    step_size: float = option(0.3, above=0)

    sums_squares: ClassVar[bool] = True

    def init(self, theta: Tensor) -> Squares:
        """No gradient seen."""
        return Squares(torch.zeros_like(theta))

    def update(self, theta: Tensor, state: Squares, grad: Tensor, eta: float) -> None:
        """One AdaGrad step."""
        state.G.addcmul_(grad, grad)
        theta.addcdiv_(grad, root(state.G), value=-eta)


@dataclass
class Moments(Checkpointable):
    """``v``: mean of squares; ``m``: velocity or mean gradient; ``t``: steps made."""

    v: Tensor
    m: Tensor
    t: int


@dataclass(frozen=True)
class RMSprop(Rule[Moments]):
    """RMSprop with momentum.

        v ← α v + (1 − α) g ∘ g,   m ← μ m + η g / √v,   θ ← θ − m

    The paper's (η, α, μ) are (0.05, 0.99, 0.5).

    Arguments:
        alpha: forgetting of the squares.
        momentum: μ.

    Reference: Hinton (2012), lecture 6e of Neural networks for machine learning.
    """

    step_size: float = option(0.02, above=0)
    alpha: float = option(0.99, at_least=0, below=1)
    momentum: float = option(0.5, at_least=0, below=1)

    def init(self, theta: Tensor) -> Moments:
        """At rest."""
        return Moments(torch.zeros_like(theta), torch.zeros_like(theta), 0)

    def update(self, theta: Tensor, state: Moments, grad: Tensor, eta: float) -> None:
        """One RMSprop step."""
        state.v.mul_(self.alpha).addcmul_(grad, grad, value=1 - self.alpha)
        state.m.mul_(self.momentum).addcdiv_(grad, root(state.v), value=eta)
        theta.sub_(state.m)


@dataclass(frozen=True)
class Adam(Rule[Moments]):
    """Adam, and NAdam with the look-ahead of Nesterov.

        m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g ∘ g
        θ ← θ − η m̂ / √v̂,   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)

    NAdam puts β₁ m̂ + (1 − β₁) g / (1 − β₁ᵗ) for m̂. The paper's (η, β₁, β₂) are
    (0.01, 0.9, 0.999).

    Arguments:
        beta1: forgetting of the gradients.
        beta2: forgetting of the squares.
        nesterov: whether to make it NAdam.

    Reference: Kingma and Ba (2015), arXiv:1412.6980; Dozat (2016).
    """

    step_size: float = option(0.02, above=0)
    beta1: float = option(0.9, at_least=0, below=1)
    beta2: float = option(0.999, at_least=0, below=1)
    nesterov: bool = option(False)

    def init(self, theta: Tensor) -> Moments:
        """No gradient seen."""
        return Moments(torch.zeros_like(theta), torch.zeros_like(theta), 0)

    def update(self, theta: Tensor, state: Moments, grad: Tensor, eta: float) -> None:
        """One Adam step."""
        state.t += 1
        first, second = 1 - self.beta1**state.t, 1 - self.beta2**state.t
        state.m.lerp_(grad, 1 - self.beta1)
        state.v.mul_(self.beta2).addcmul_(grad, grad, value=1 - self.beta2)
        mean = torch.lerp(grad, state.m, self.beta1) if self.nesterov else state.m
        theta.addcdiv_(mean, root(state.v / second), value=-eta / first)


@dataclass
class AdanMoments(Moments):
    """``d``: mean difference of gradients; ``last``: the previous gradient."""

    d: Tensor
    last: Tensor


@dataclass(frozen=True)
class Adan(Rule[AdanMoments]):
    """Adaptive Nesterov momentum.

        m ← (1 − β₁) m + β₁ g,   d ← (1 − β₂) d + β₂ (g − g₋)
        n ← (1 − β₃) n + β₃ (g + (1 − β₂)(g − g₋))²,   θ ← θ − η (m + (1 − β₂) d) / √n

    Arguments:
        beta1, beta2, beta3: weights of the newest gradient, difference and square. Those of the
            reference are 0.02, 0.08 and 0.01.

    Reference: Xie et al. (2023), arXiv:2208.06677.
    """

    step_size: float = option(0.05, above=0)
    beta1: float = option(0.1, at_least=0, below=1)
    beta2: float = option(0.08, at_least=0, below=1)
    beta3: float = option(0.01, at_least=0, below=1)

    def init(self, theta: Tensor) -> AdanMoments:
        """No gradient seen."""
        zero = torch.zeros_like
        return AdanMoments(zero(theta), zero(theta), 0, zero(theta), zero(theta))

    def update(self, theta: Tensor, state: AdanMoments, grad: Tensor, eta: float) -> None:
        """One Adan step; the first one takes its gradient for all three means."""
        state.t += 1
        if state.t == 1:
            state.m.copy_(grad)
            state.v.copy_(grad).square_()
        else:
            change = grad - state.last
            state.m.lerp_(grad, self.beta1)
            state.d.lerp_(change, self.beta2)
            ahead = change.mul_(1 - self.beta2).add_(grad)
            state.v.lerp_(ahead.square_(), self.beta3)
        state.last.copy_(grad)
        velocity = torch.add(state.m, state.d, alpha=1 - self.beta2)
        theta.addcdiv_(velocity, root(state.v), value=-eta)


@dataclass
class DualSums(Squares):
    """``Z``: sum of gradients; ``t``: steps made; ``delta``: δ, 0 during the warm-up."""

    Z: Tensor
    t: int
    delta: float


@dataclass(frozen=True)
class DualAveraging(Rule[DualSums]):
    """AdaGrad by regularized dual averaging, after a primal warm-up.

        Z ← Z + g,   G ← G + g ∘ g,   θ ← [−Z / (2 √G / η + δ √t)]₊

    The warm-up makes AdaGrad steps, because the recovery begins near H = 0, which is a stationary
    point; Z is then set so that the recovery gives the θ that was reached.

    Differences from the paper (its appendix D), which states neither δ nor the length of the
    warm-up:

    1. δ is ``regularization`` times the mean of 2 √G / η at the end of the warm-up, divided by the
       square root of its length, and then stays. ``delta`` sets δ itself.

    Arguments:
        regularization: δ √t against the size of 2 √G / η, both at the end of the warm-up.
        delta: δ itself; overrides ``regularization``.
        warm_up: number of AdaGrad steps before it.

    Reference: Xiao (2010), jmlr.org/papers/v11/xiao10a.html.
    """

    step_size: float = option(0.3, above=0)
    regularization: float = option(0.01, above=0)
    delta: float | None = option(None, above=0)
    warm_up: int = option(100, whole=True, at_least=1)

    sums_squares: ClassVar[bool] = True

    def init(self, theta: Tensor) -> DualSums:
        """No gradient seen."""
        return DualSums(torch.zeros_like(theta), torch.zeros_like(theta), 0, 0.0)

    def update(self, theta: Tensor, state: DualSums, grad: Tensor, eta: float) -> None:
        """One step, primal or dual."""
        state.t += 1
        state.G.addcmul_(grad, grad)
        if state.t <= self.warm_up:
            theta.addcdiv_(grad, root(state.G), value=-eta)
            return
        weight = root(state.G).mul_(2 / eta)
        begins = state.t == self.warm_up + 1
        if begins:
            relative = self.regularization * float(weight.mean()) / self.warm_up**0.5
            state.delta = self.delta or relative
        weight += state.delta * state.t**0.5
        if begins:
            state.Z.copy_(theta).mul_(weight).neg_()
        state.Z.add_(grad)
        torch.div(state.Z, weight, out=theta).neg_()
