"""How near the default solver comes to the best known error, on a corpus of other matrices.

The best known error of a matrix is the least that any program of the run finds: the default solver
with one start, with five, and with many at its best precision; other solvers of the registry and
other programs from several starts. ``--sizes`` is the largest number of rows of a matrix,
``--solvers`` are the other solvers; ``--data`` adds the matrices of real returns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from symnmf.bench.corpus import CORPUS, CorpusMatrix
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.peers import PEERS, silence
from symnmf.core.objective import best_scale, error
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.core.solver import Solver
from symnmf.engine import solve
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.solvers.registry import find
from symnmf.solvers.sketched import Sketched

#: Other solvers, other programs, their starts, and the seconds that each start may take.
OTHERS, OUTSIDE = ("pgncg", "hals"), ("scikit-learn NMF, cd", "pyplanc gnsym", "pyplanc anlsbpp")
STARTS, SECONDS = 2, 2.0
#: Starts of the default solver at its best precision.
MANY = 10
#: The default solver, as the table names it.
ONE, FIVE, BEST = "one start", "five starts", "best precision"

MATRICES = MeasuredTable(
    "optimum",
    "The default solver on a corpus of matrices: % above the best known error",
    ("matrix", "n", "k"),
    ("best known", "found by", ONE, FIVE, BEST, "best other", "status", "distinct columns",
     "time / fastest other within 0.1 %"),
    {ONE: "higher", FIVE: "higher", BEST: "higher"},
)  # fmt: skip
SHARES = MeasuredTable(
    "optimum-shares",
    "Programs on the corpus: matrices within a distance of the best known error",
    ("program",),
    ("matrices", "within 0.1 %", "within 0.5 %", "largest %", "median time / one start"),
    {"within 0.1 %": "lower", "within 0.5 %": "lower"},
)


class Found(NamedTuple):
    """What a program found: its least error, the time of one start, how it ended."""

    error: float
    seconds: float
    status: Status | None = None
    distinct: int | None = None


def ours(S: SymmetricOperator, k: int, n_init: int, precision: str) -> Found:
    """The default solver."""
    began = process_time()
    result = solve(Problem(S, k, 1), Sketched(n_init=n_init, precision=precision))
    certificate = result.certificate
    return Found(
        certificate.error, process_time() - began, result.status, certificate.distinct_columns
    )


def best_of(starts: int, run: Callable[[int], float]) -> Found:
    """The least error of several starts, and the mean time of one."""
    began = process_time()
    least = min(run(seed) for seed in range(starts))
    return Found(least, (process_time() - began) / starts)


def other(S: SymmetricOperator, k: int, name: str, seconds: float) -> Callable[[int], float]:
    """Another solver of the registry, from a random start."""

    def run(seed: int) -> float:
        solver: Solver[Any] = find(name).make()
        return solve(Problem(S, k, seed), solver, max_seconds=seconds).certificate.error

    return run


def outside(S: SymmetricOperator, k: int, name: str) -> Callable[[int], float]:
    """Another program; its factor is given the best scale."""
    dense = S.to_dense().numpy()

    def run(seed: int) -> float:
        with silence():
            H = torch.from_numpy(np.ascontiguousarray(PEERS[name](dense, k, seed), np.float32))
        return scaled_error(S, H)

    return run


def scaled_error(S: SymmetricOperator, H: Tensor) -> float:
    """Error of a factor at its best scale.

    Example:
        >>> scaled_error(as_operator(torch.ones(2, 2)), torch.full((2, 1), 3.0))
        0.0
    """
    SH = S.matmul(H)
    if not bool(H.any()):
        return 1.0
    scale = best_scale(H, SH)
    return error(H * scale, SH * scale, S.frob_sq())


def programs(choices: Choices, S: SymmetricOperator, k: int) -> dict[str, Found]:
    """All programs on one matrix; those that are not installed or fail are left out."""
    found = {
        ONE: ours(S, k, 1, "balanced"),
        FIVE: ours(S, k, 5, "balanced"),
        BEST: ours(S, k, MANY, "best"),
    }
    seconds = choices.seconds or SECONDS
    for name in choices.solvers or OTHERS:
        found[name] = best_of(STARTS, other(S, k, name, seconds))
    for name in OUTSIDE:
        try:
            found[name] = best_of(STARTS, outside(S, k, name))
        except (ImportError, ValueError) as missing:
            choices.note(f"{name}: {missing}")
    return found


def row_of(matrix: CorpusMatrix, S: SymmetricOperator, found: dict[str, Found]) -> MeasuredRow:
    """The row of a matrix."""
    least = min(found, key=lambda name: found[name].error)
    best = found[least].error
    above = {name: percent_above(one.error, best) for name, one in found.items()}
    rest = [name for name in found if name not in (ONE, FIVE, BEST)]
    near = [found[name].seconds for name in rest if above[name] <= 0.1]
    first = found[ONE]
    return MATRICES.row(
        matrix.name,
        S.n,
        matrix.k,
        best,
        least,
        *(round(above[name], 3) for name in (ONE, FIVE, BEST)),
        round(min((above[name] for name in rest), default=float("nan")), 3),
        first.status.name if first.status else None,
        first.distinct,
        round(first.seconds / min(near), 2) if near else None,
    )


def percent_above(found: float, best: float) -> float:
    """How many % an error is above the best known one.

    Example:
        >>> percent_above(0.101, 0.1) > 0.99
        True
    """
    return 100 * (found - best) / max(best, 1e-6)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each matrix, then a row for each program."""
    everything: list[dict[str, Found]] = []
    most = choices.size(100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix in CORPUS.values():
            if not matrix.available(choices.data):
                continue
            S = as_operator(matrix.matrix(choices.data))
            if S.n > most:
                continue
            found = programs(choices, S, matrix.k)
            everything.append(found)
            row = row_of(matrix, S, found)
            choices.note(f"{matrix.name}: {row.found[ONE]} %")
            yield row
    for name in dict.fromkeys(name for found in everything for name in found):
        yield share_row(name, [found for found in everything if name in found])


def share_row(name: str, everything: list[dict[str, Found]]) -> MeasuredRow:
    """How often a program is near the best known error."""
    above = [
        percent_above(found[name].error, min(one.error for one in found.values()))
        for found in everything
    ]
    times = [found[name].seconds / max(found[ONE].seconds, 1e-9) for found in everything]
    counts = [sum(a <= limit for a in above) for limit in (0.1, 0.5)]
    largest = round(max(above), 2)
    return SHARES.row(name, len(above), *counts, largest, round(median(times), 2))


MEASUREMENT = Measurement(
    "optimum",
    "How near the default solver comes to the best known error",
    (MATRICES, SHARES),
    ("sizes", "solvers", "seconds", "data"),
    measure,
)
