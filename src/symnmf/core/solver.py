"""The interface of a solver (options, state, step), and a check of the criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.operators import SymmetricOperator
from symnmf.options import check_options
from symnmf.storage.checkpointable import Checkpointable

__all__ = ["Check", "Checkpointable", "Solver", "State", "StateT"]


@dataclass
class State(Checkpointable):
    """Everything that changes during a run.

    Attributes:
        H: (n, k) factor that is measured and reported; never negative.
        SH: product S @ H if it is known, otherwise None; the driver computes it at a check.
    """

    H: Tensor
    SH: Tensor | None

    def product(self, S: SymmetricOperator) -> Tensor:  # (n, k)
        """S @ H, computed if it is not known."""
        return S.matmul(self.H) if self.SH is None else self.SH


StateT = TypeVar("StateT", bound=State)


@dataclass(frozen=True)
class Check:
    """One evaluation of the stopping criterion.

    Attributes:
        iteration, seconds, products: iterations, time and products of S spent until the check.
        error: E_t = ‖S − H Hᵀ‖² / ‖S‖².
        decrease: (E_{t−δ} − E_t) / E_0, where δ is the interval between checks.
        kkt: projected gradient per entry, independent of the scale of S.
        kkt_gate: threshold for ``kkt``.
        stagnant: whether the error no longer decreases.
        whole: whether a whole interval lies between this check and the one before.
        paper_gates: whether the paper's three gates are met, literally, after a whole interval.
        reactions: number of times that the solver has reacted to stagnation so far.
        relative_decrease, iterate_change, kkt_relative: alternative criteria, for study:
            |E_t − E_{t−δ}| / E_{t−δ}, ‖H_t − H_{t−δ}‖ / ‖H_{t−δ}‖, and kkt relative to its first
            value.
    """

    iteration: int
    seconds: float
    products: float
    error: float
    decrease: float
    kkt: float
    kkt_gate: float
    stagnant: bool
    whole: bool
    paper_gates: bool
    reactions: int
    relative_decrease: float
    iterate_change: float
    kkt_relative: float

    @property
    def kkt_ratio(self) -> float:
        """The projected gradient relative to its gate."""
        return self.kkt / self.kkt_gate

    @property
    def gates_met(self) -> bool:
        """Whether the gradient and stagnation gates are met; collapse is tested separately."""
        return self.stagnant and self.kkt_ratio < 1.0


class Solver(ABC, Generic[StateT]):
    """A frozen dataclass of hyper-parameters, without state of a run and without a tolerance.

    Options are declared with :func:`symnmf.options.option` and validated by the constructor.
    """

    #: The paper's interval between checks, and its warm-up without a test for stagnation.
    check_every: ClassVar[int] = 10
    warm_up: ClassVar[int] = 50

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def least_entry(self) -> float:
        """Least entry that H can have; the criterion takes it for the boundary."""
        return 0.0

    @abstractmethod
    def init_state(self, problem: Problem) -> StateT:
        """The state before the first step, at ``problem.H0``."""

    @abstractmethod
    def step(self, problem: Problem, state: StateT, rng: torch.Generator) -> StateT:
        """One iteration.

        Arguments:
            problem: problem to solve.
            state: state before the step, whose buffers may be reused.
            rng: generator that depends on seed and iteration only.

        Returns:
            The state after the step.
        """

    def should_check(self, state: StateT, iterations: int) -> bool:
        """Whether to evaluate the stopping criterion now.

        Each check costs one product, unless the state knows S @ H.

        Arguments:
            state: current state.
            iterations: iterations since the last check.
        """
        return iterations >= self.check_every

    def may_stop(self, state: StateT) -> bool:
        """Whether a stagnant check may end the run."""
        return True

    def interrupted(self, state: StateT) -> StateT:
        """The state to report if the run ends here; a checkpoint saves ``state`` itself."""
        return state

    def agreement(self, state: StateT) -> float | None:
        """Agreement of several starts on the groups; None if the solver made a single start."""
        return None

    def start_count(self, state: StateT) -> int:
        """Number of finished starts of which the factor is the best."""
        return 1

    def reaction_counts(self, state: StateT) -> dict[str, int]:
        """How often the solver has reacted to stagnation, by the kind of reaction."""
        return {}

    def react(self, problem: Problem, state: StateT, check: Check) -> StateT:
        """The state to continue from after a stagnant check; the same object for no reaction."""
        return state

    def improve(self, problem: Problem, state: StateT, check: Check) -> StateT:
        """The state to continue from after a check that meets the criterion.

        Arguments:
            problem: problem to solve.
            state: state at the check.
            check: check that meets the criterion.

        Returns:
            the same object to end the run; another state if further steps promise a smaller error.
        """
        return state
