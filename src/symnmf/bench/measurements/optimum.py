"""How near the default solver comes to the best known error, on a corpus of other matrices.

The best known error of a matrix is the least that any program of the run finds: the default solver
with one start, with five, and with many at its best precision; other solvers of the registry and
other programs from several starts. ``--sizes`` is the largest number of rows of a matrix,
``--solvers`` are the other solvers; ``--data`` adds the matrices of real returns. What a program
found is kept in the folder of results, so that a run that was stopped goes on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from statistics import median
from typing import NamedTuple

import torch

from symnmf.bench.corpus import CORPUS, CorpusMatrix
from symnmf.bench.findings_journal import FindingsJournal
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.optimum_programs import BEST, FIVE, ONE, Found, Program, programs
from symnmf.operators import SymmetricOperator, as_operator

#: Budgets of the profile in CPU seconds on one thread, and how near the best an error has to be.
BUDGETS, NEAR = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), 0.1

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
PROFILE = MeasuredTable(
    "optimum-profile",
    f"Share of the corpus within {NEAR} % of the best known error after some CPU seconds",
    ("program",),
    tuple(f"{budget:g} s" for budget in BUDGETS),
    {},
)


class Trial(NamedTuple):
    """A matrix, and what each program found on it."""

    matrix: CorpusMatrix
    n: int
    found: dict[str, Found]

    @property
    def least(self) -> str:
        """The program that found the best known error."""
        return min(self.found, key=lambda name: self.found[name].error)

    @property
    def best(self) -> float:
        """The best known error."""
        return self.found[self.least].error

    def above(self, name: str) -> float:
        """How many % the error of a program is above the best known one."""
        return percent_above(self.found[name].error, self.best)

    def reached(self, name: str, percent: float) -> float | None:
        """CPU seconds until a program was near the best known error."""
        return self.found[name].reached(self.best + percent / 100 * max(self.best, 1e-6))


def percent_above(found: float, best: float) -> float:
    """How many % an error is above the best known one.

    Example:
        >>> percent_above(0.101, 0.1) > 0.99
        True
    """
    return 100 * (found - best) / max(best, 1e-6)


def compare(
    matrix: CorpusMatrix,
    S: SymmetricOperator,
    journal: FindingsJournal,
    every: dict[str, Program],
    choices: Choices,
) -> Trial:
    """All programs on one matrix; those that are not installed or fail are left out."""
    found = {}
    digest = sha256(S.matmul(torch.ones(S.n, 1)).numpy().tobytes()).hexdigest()[:12]
    for name, program in every.items():
        key = f"{matrix.name} | {digest} | {matrix.k} | {name} | {choices.seconds}"
        try:
            about = journal.get(key, lambda program=program: asdict(program(S, matrix.k)))  # type: ignore[misc]
        except (ImportError, ValueError) as missing:
            choices.note(f"{name}: {missing}")
            continue
        found[name] = Found(**about)
    return Trial(matrix, S.n, found)


def row_of(about: Trial) -> MeasuredRow:
    """The row of a matrix."""
    found = about.found
    rest = [name for name in found if name not in (ONE, FIVE, BEST)]
    times = [about.reached(name, NEAR) for name in rest]
    near = [seconds for seconds in times if seconds is not None]
    first = found[ONE]
    return MATRICES.row(
        about.matrix.name,
        about.n,
        about.matrix.k,
        about.best,
        about.least,
        *(round(about.above(name), 3) for name in (ONE, FIVE, BEST)),
        round(min((about.above(name) for name in rest), default=float("nan")), 3),
        first.status,
        first.distinct,
        round(first.seconds / min(near), 2) if near else None,
    )


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each matrix, then rows for each program."""
    everything: list[Trial] = []
    most = choices.size(100_000)
    journal, every = FindingsJournal(choices, "optimum"), programs(choices.solvers, choices.seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix in CORPUS.values():
            if not matrix.available(choices.data):
                continue
            S = as_operator(matrix.matrix(choices.data))
            if S.n > most:
                continue
            about = compare(matrix, S, journal, every, choices)
            everything.append(about)
            yield row_of(about)
    for name in every:
        some = [about for about in everything if name in about.found]
        if some:
            yield share_row(name, some)
            yield profile_row(name, some)


def share_row(name: str, everything: list[Trial]) -> MeasuredRow:
    """How often a program is near the best known error."""
    above = [about.above(name) for about in everything]
    times = [
        about.found[name].seconds / max(about.found[ONE].seconds, 1e-9) for about in everything
    ]
    counts = [sum(a <= limit for a in above) for limit in (0.1, 0.5)]
    largest = round(max(above), 2)
    return SHARES.row(name, len(above), *counts, largest, round(median(times), 2))


def profile_row(name: str, everything: list[Trial]) -> MeasuredRow:
    """The share of matrices on which a program is near the best known error in time."""
    times = [about.reached(name, NEAR) for about in everything]
    shares = [
        sum(seconds is not None and seconds <= budget for seconds in times) / len(times)
        for budget in BUDGETS
    ]
    return PROFILE.row(name, *(round(share, 2) for share in shares))


MEASUREMENT = Measurement(
    "optimum",
    "How near the default solver comes to the best known error",
    (MATRICES, SHARES, PROFILE),
    ("sizes", "solvers", "seconds", "data"),
    measure,
)
