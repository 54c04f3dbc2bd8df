"""A first-order solver is a rule, in a space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from symnmf.contract import Memory, Problem, Solver, State
from symnmf.objective import gradient
from symnmf.solvers.first_order.rules import Rule
from symnmf.solvers.space import Projected, Space


@dataclass
class FirstOrderState(State):
    """``theta`` is optimized (H itself when projected), ``memory`` belongs to the rule."""

    theta: Tensor
    memory: Memory
    eta: float


@dataclass(frozen=True)
class FirstOrder(Solver):
    """θ ← retract(rule(θ, ∇_θ f)), H = factor(θ).

    Arguments:
        rule: turns gradients into steps and keeps their memory.
        space: keeps H non-negative.
    """

    rule: Rule
    space: Space = Projected()

    def init_state(self, problem: Problem) -> FirstOrderState:
        """At the start factor, with the learning rate that fits the problem."""
        theta = self.space.parameter(problem.H0)
        eta = self.rule.eta or self.rule.step_size * problem.entry_scale
        H = self.space.factor(theta)
        return FirstOrderState(H, None, theta, self.rule.init(theta), eta)

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One product with S."""
        assert isinstance(state, FirstOrderState)
        SH = problem.S.matmul(state.H) if state.SH is None else state.SH
        grad = self.space.pull_gradient(state.theta, gradient(state.H, SH))
        self.rule.update(state.theta, state.memory, grad, state.eta)
        theta = self.space.retract(state.theta)
        return replace(state, H=self.space.factor(theta), SH=None, theta=theta)
