"""A first-order solver is a rule, fed by a sampling, in a space, with reactions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.contract import Check, Memory, Problem, Solver, State
from symnmf.errors import InvalidInput
from symnmf.solvers.first_order.reactions import Reaction
from symnmf.solvers.first_order.rules import Rule
from symnmf.solvers.first_order.sampling import Full, Sample, Sampling
from symnmf.solvers.space import Projected, Space


@dataclass
class FirstOrderState(State):
    """All of a run: ``theta`` is optimized (H itself when projected), the rest belongs to parts."""

    theta: Tensor
    memory: Memory
    sample: Sample
    reactions: tuple[Memory, ...]
    eta: float
    unit: float
    interval: int


@dataclass(frozen=True)
class FirstOrder(Solver):
    """θ ← retract(rule(θ, ∇_θ f)), H = factor(θ).

    Arguments:
        rule: turns gradients into steps and keeps their memory.
        sampling: what of the gradient a step sees.
        reactions: answers to stagnation, tried in order.
        space: keeps H non-negative.
    """

    rule: Rule
    sampling: Sampling = Full()
    reactions: tuple[Reaction, ...] = ()
    space: Space = Projected()

    def __post_init__(self) -> None:
        if not isinstance(self.sampling, Full) and not self.rule.keeps_unseen:
            raise InvalidInput(
                "sampling",
                f"{type(self.sampling).__name__} does not go with {type(self.rule).__name__}: its "
                "mean of squares decays on every gradient that was not sampled, and the next one "
                "is overscaled by α^(−Δ/2) after Δ misses",
                "Use AdaGrad, whose sum keeps what it has, or the full gradient",
            )

    def init_state(self, problem: Problem) -> FirstOrderState:
        """At the start factor, with the learning rate that fits the problem."""
        unit = problem.entry_scale
        theta = self.space.parameter(problem.H0, unit)
        return FirstOrderState(
            H=self.space.factor(theta, unit),
            SH=None,
            theta=theta,
            memory=self.rule.init(theta),
            sample=self.sampling.init(theta),
            reactions=tuple(reaction.init() for reaction in self.reactions),
            eta=self.rule.eta or self.rule.step_size * unit,
            unit=unit,
            interval=self.check_every,
        )

    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One step of the rule."""
        assert isinstance(state, FirstOrderState)
        grad = self.sampling.gradient(problem, state.H, state.SH, state.sample, rng)
        grad = self.space.pull_gradient(state.theta, grad, state.unit)
        grad.mul_(problem.S.scale() ** -1.5)  # squares stay in range; no rule minds the scale
        self.rule.update(state.theta, state.memory, grad, state.eta)
        state.theta = self.space.retract(state.theta)
        state.H, state.SH = self.space.factor(state.theta, state.unit), None
        return state

    def react(self, problem: Problem, state: State, check: Check) -> State:
        """The first reaction that has an answer."""
        assert isinstance(state, FirstOrderState)
        for reaction, memory in zip(self.reactions, state.reactions, strict=True):
            if reaction.react(problem, state, memory, check):
                return FirstOrderState(**vars(state))
        return state
