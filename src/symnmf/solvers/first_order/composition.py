"""A first-order solver is a rule, fed by a sampling, in a space, with reactions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.solver import Check, State
from symnmf.errors import InvalidInput
from symnmf.solvers.first_order.reactions import Reaction, ReactionState
from symnmf.solvers.first_order.rules import Rule, RuleStateT
from symnmf.solvers.first_order.sampling import FullBatch, Sample, Sampling
from symnmf.solvers.space import Projected, Space, SpaceSolver


@dataclass
class FirstOrderState(State, Generic[RuleStateT]):
    """The variables of a run and the states of the parts of its solver.

    Attributes:
        theta: the variable that is optimized; H itself where the space is projected.
        rule_state, sample, reactions: states of the rule, the sampling and each reaction.
        eta: learning rate η in use.
        unit: size of the entries of a good H.
        interval: iterations between checks.
    """

    theta: Tensor
    rule_state: RuleStateT
    sample: Sample
    reactions: tuple[ReactionState, ...]
    eta: float
    unit: float
    interval: int


@dataclass(frozen=True)
class FirstOrder(SpaceSolver[FirstOrderState[Any]]):
    """θ ← retract(rule(θ, ∇_θ f)), H = factor(θ).

    Arguments:
        rule: turns gradients into steps.
        sampling: the part of the gradient that a step sees.
        reactions: answers to stagnation, tried in order.
        space: space in which H stays non-negative.
    """

    rule: Rule[Any]
    sampling: Sampling[Any] = FullBatch()
    reactions: tuple[Reaction[Any], ...] = ()
    space: Space = Projected()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule.sums_squares:
            return
        if not isinstance(self.sampling, FullBatch):
            raise InvalidInput(
                "sampling",
                f"{type(self.sampling).__name__} cannot be used with {type(self.rule).__name__}: "
                "its mean of squares decays on every gradient that was not sampled, and the "
                "next one is overscaled by α^(−Δ/2) after Δ misses",
                "Use AdaGrad, whose sum does not decay, or the full gradient",
            )
        for reaction in self.reactions:
            if reaction.needs_squares:
                raise InvalidInput(
                    "reactions",
                    f"{type(reaction).__name__} does not go with {type(self.rule).__name__}: it "
                    "works on a sum of squared gradients",
                    "Use AdaGrad, or leave it out",
                )

    def init_state(self, problem: Problem) -> FirstOrderState[Any]:
        """At the start factor, with the learning rate that fits the problem."""
        unit = problem.entry_scale
        theta = self.space.parameter(problem.H0, unit)
        return FirstOrderState(
            H=self.space.factor(theta, unit),
            SH=None,
            theta=theta,
            rule_state=self.rule.init(theta),
            sample=self.sampling.init(theta),
            reactions=tuple(reaction.init() for reaction in self.reactions),
            eta=self.rule.eta or self.rule.step_size * unit,
            unit=unit,
            interval=self.check_every,
        )

    def step(
        self, problem: Problem, state: FirstOrderState[Any], rng: torch.Generator
    ) -> FirstOrderState[Any]:
        """One step of the rule."""
        grad = self.sampling.gradient(problem, state, state.sample, rng)
        grad = self.space.pull_gradient(state.theta, grad, state.unit)
        grad.mul_(problem.S.scale() ** -1.5)  # squares stay in range; no rule minds the scale
        self.rule.update(state.theta, state.rule_state, grad, state.eta)
        state.theta = self.space.retract(state.theta)
        state.H, state.SH = self.space.factor(state.theta, state.unit), None
        return state

    def react(
        self, problem: Problem, state: FirstOrderState[Any], check: Check
    ) -> FirstOrderState[Any]:
        """The first reaction that has an answer."""
        for reaction, own in zip(self.reactions, state.reactions, strict=True):
            if reaction.react(problem, state, own, check):
                own.times += 1
                return replace(state)
        return state

    def reaction_counts(self, state: FirstOrderState[Any]) -> dict[str, int]:
        """How often each part has reacted."""
        pairs = zip(self.reactions, state.reactions, strict=True)
        return {reaction.counted_as: own.times for reaction, own in pairs}
