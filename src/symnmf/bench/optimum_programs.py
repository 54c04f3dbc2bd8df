"""The programs whose errors ``bench optimum`` compares, each with its error against time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.bench.peers import PEERS, scikit_learn, silence
from symnmf.core.objective import best_scale, error
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.solver import Check, Solver
from symnmf.engine import solve
from symnmf.operators import SymmetricOperator
from symnmf.solvers.registry import find
from symnmf.solvers.sketched import Sketched

#: Starts of the default solver at its best precision, of other solvers, and of other programs.
MANY, STARTS, OUTSIDE_STARTS = 10, 3, 3
#: Other solvers, and the CPU seconds that each of their starts may take.
OTHERS, SECONDS = ("pgncg", "hals"), 0.75
#: The default solver, as the tables name it.
ONE, FIVE, BEST = "one start", "five starts", "best precision"
#: Numbers of passes with which scikit-learn is run, because it has no budget of time.
PASSES = (20, 60, 200)


@dataclass(frozen=True)
class Found:
    """What a program found on a matrix.

    Attributes:
        curve: (CPU seconds, least error so far) in the order of time.
        seconds: CPU seconds of one start.
        status, distinct: how a run of the default solver ended, and its distinct columns.
        errors: error of each start, where they are made one after the other.
    """

    curve: list[tuple[float, float]]
    seconds: float
    status: str | None = None
    distinct: int | None = None
    errors: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        """The least error."""
        return min(error for _, error in self.curve)

    def reached(self, target: float) -> float | None:
        """CPU seconds until an error was reached; None if it was not.

        Example:
            >>> Found([(0.1, 0.3), (0.2, 0.1)], 0.2).reached(0.2)
            0.2
        """
        return min((seconds for seconds, error in self.curve if error <= target), default=None)


def _run(S: SymmetricOperator, k: int, seed: int, solver: Solver[Any], most: float | None) -> Any:
    """A run of at most some CPU seconds, its curve in CPU seconds and its CPU seconds."""
    began, wall = process_time(), perf_counter()

    def spent(check: Check, H: Tensor) -> bool:
        return most is not None and process_time() - began > most

    result: Result = solve(Problem(S, k, seed), solver, callbacks=[spent])
    seconds = process_time() - began
    share = seconds / (perf_counter() - wall)  # a busy machine makes the clock run ahead
    curve = [(check.seconds * share, check.error) for check in result.history]
    return result, [*curve, (seconds, result.certificate.error)], seconds


def ours(S: SymmetricOperator, k: int, n_init: int, precision: str) -> Found:
    """The default solver."""
    result, curve, seconds = _run(S, k, 1, Sketched(n_init=n_init, precision=precision), None)
    certificate = result.certificate
    return Found(curve, seconds, result.status.name, certificate.distinct_columns)


def other(S: SymmetricOperator, k: int, name: str, most: float, starts: int = STARTS) -> Found:
    """Another solver of the registry, from several random starts one after the other."""
    curve: list[tuple[float, float]] = []
    errors, spent = [], 0.0
    for seed in range(starts):
        _, part, seconds = _run(S, k, seed, find(name).make(), most)
        curve += [(spent + at, error) for at, error in part]
        errors.append(min(error for _, error in part))
        spent += seconds
    return Found(curve, spent / starts, errors=tuple(errors))


def outside(S: SymmetricOperator, k: int, name: str, starts: int = OUTSIDE_STARTS) -> Found:
    """Another program, from several starts one after the other; its factor gets the best scale."""
    runs: list[Callable[[np.ndarray, int, int], np.ndarray]] = [PEERS[name]] * starts
    if name == SCIKIT_LEARN:
        runs = [scikit_learn("cd", "nndsvda", passes) for passes in PASSES]
        runs += [scikit_learn("cd", "random")] * starts
    dense = S.to_dense().numpy()
    curve, spent, each = [], 0.0, 0.0
    for at, run in enumerate(runs):
        began = process_time()
        with silence():
            H = torch.from_numpy(np.ascontiguousarray(run(dense, k, at), np.float32))
        each = process_time() - began
        # With fewer passes it is another way to run the program, not a part of the next run.
        spent = each if name == SCIKIT_LEARN and at < len(PASSES) else spent + each
        curve.append((spent, scaled_error(S, H)))
    return Found(curve, each, errors=tuple(error for _, error in curve))


def scaled_error(S: SymmetricOperator, H: Tensor) -> float:
    """Error of a factor at its best scale.

    Example:
        >>> from symnmf.operators import as_operator
        >>> scaled_error(as_operator(torch.ones(2, 2)), torch.full((2, 1), 3.0))
        0.0
    """
    SH = S.matmul(H)
    if not bool(H.any()):
        return 1.0
    scale = best_scale(H, SH)
    return error(H * scale, SH * scale, S.frob_sq())


#: Other programs.
SCIKIT_LEARN = "scikit-learn NMF, cd"
OUTSIDE = (SCIKIT_LEARN, "pyplanc gnsym", "pyplanc anlsbpp")
Program = Callable[[SymmetricOperator, int], Found]


def programs(solvers: tuple[str, ...] = (), seconds: float | None = None) -> dict[str, Program]:
    """The programs by name.

    Arguments:
        solvers: other solvers of the registry than the usual ones.
        seconds: CPU seconds of one of their starts.

    Example:
        >>> list(programs())[:3]
        ['one start', 'five starts', 'best precision']
    """
    most = seconds or SECONDS
    found: dict[str, Program] = {
        ONE: lambda S, k: ours(S, k, 1, "balanced"),
        FIVE: lambda S, k: ours(S, k, 5, "balanced"),
        BEST: lambda S, k: ours(S, k, MANY, "best"),
    }
    for name in solvers or OTHERS:
        found[name] = lambda S, k, name=name: other(S, k, name, most)  # type: ignore[misc]
    for name in OUTSIDE:
        found[name] = lambda S, k, name=name: outside(S, k, name)  # type: ignore[misc]
    return found
