"""Solvers of the registry and other programs on the corpus, each from many starts.

The least error of all of them, and of the default solver, is the best known error of a matrix: a
stronger one than that of ``bench optimum``, which makes few starts. Matrices have at most 300 rows;
``--sizes`` is another largest number, ``--solvers`` are other solvers of the registry, ``--budget``
the CPU seconds of one of their starts; ``--data`` adds the matrices of real returns. What a program
found is kept in the folder of results, so that a run that was stopped goes on, and another solver
is added without asking the others again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import median

from symnmf.bench.corpus import CORPUS
from symnmf.bench.findings_journal import FindingsJournal
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.measurements.optimum import NEAR, Trial, compare, percent_above
from symnmf.bench.optimum_programs import (
    BEST,
    FIVE,
    ONE,
    OUTSIDE,
    Program,
    other,
    outside,
    programs,
)
from symnmf.operators import as_operator

#: Largest number of rows of a matrix, starts of every program, and CPU seconds of one of a solver.
SIZE, STARTS, SECONDS = 300, 20, 0.3
#: The solvers of the registry.
SOLVERS = ("spg", "ccd", "bsum", "lvs", "hals", "anls", "admm", "lbfgs", "pgncg")
#: The default solver with its number of starts and its precision.
OURS = (ONE, FIVE, BEST)

PROGRAMS = MeasuredTable(
    "restarts",
    f"Solvers and programs from {STARTS} starts on the corpus, % above the best known error",
    ("program",),
    ("matrices", "median start, median %", "best start, median %", "best start within 0.1 %",
     "best start within 0.5 %", "least error of all", "first within 0.1 %"),
    {"best start within 0.1 %": "lower"},
)  # fmt: skip
KNOWN = MeasuredTable(
    "restarts-known",
    f"Best known error of {STARTS} starts of every program: % that the default is above it",
    ("matrix", "n", "k"),
    ("best known", "found by", "best other", "by", *OURS),
    {ONE: "higher", FIVE: "higher"},
)


def many_starts(solvers: tuple[str, ...], seconds: float | None) -> dict[str, Program]:
    """The default solver, and the others with many starts.

    Example:
        >>> list(many_starts(("hals",), None))[:4]
        ['one start', 'five starts', 'best precision', 'hals']
    """
    usual, most = programs(), seconds or SECONDS
    found: dict[str, Program] = {name: usual[name] for name in OURS}
    for name in solvers or SOLVERS:
        found[name] = lambda S, k, name=name: other(S, k, name, most, STARTS)  # type: ignore[misc]
    for name in OUTSIDE:
        found[name] = lambda S, k, name=name: outside(S, k, name, STARTS)  # type: ignore[misc]
    return found


def known_row(about: Trial) -> MeasuredRow:
    """The best known error of a matrix, and how near the default solver comes."""
    rest = [name for name in about.found if name not in OURS]
    by = min(rest, key=lambda name: about.found[name].error)
    return KNOWN.row(
        about.matrix.name,
        about.n,
        about.matrix.k,
        about.best,
        about.least,
        round(about.above(by), 3),
        by,
        *(round(about.above(name), 3) for name in OURS),
    )


def program_row(name: str, everything: list[Trial]) -> MeasuredRow:
    """How good the starts of a program are, and how often it is the best or the first."""
    above = [about.above(name) for about in everything]
    single = [
        percent_above(median(about.found[name].errors or (about.found[name].error,)), about.best)
        for about in everything
    ]
    return PROGRAMS.row(
        name,
        len(everything),
        round(median(single), 3),
        round(median(above), 3),
        *(sum(a <= limit for a in above) for limit in (0.1, 0.5)),
        sum(about.least == name for about in everything),
        sum(first_near(about) == name for about in everything),
    )


def first_near(about: Trial) -> str | None:
    """The program that was the first near the best known error; None if no one was."""
    times = {name: about.reached(name, NEAR) for name in about.found if name not in (FIVE, BEST)}
    near = {name: seconds for name, seconds in times.items() if seconds is not None}
    return min(near, key=lambda name: near[name]) if near else None


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each matrix, from small to large, then one for each program."""
    everything: list[Trial] = []
    most = choices.size(SIZE)
    journal = FindingsJournal(choices, "restarts")
    every = many_starts(choices.solvers, choices.seconds)
    available = [matrix for matrix in CORPUS.values() if matrix.available(choices.data)]
    pairs = [(matrix, as_operator(matrix.matrix(choices.data))) for matrix in available]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix, S in sorted(pairs, key=lambda pair: pair[1].n * pair[0].k):
            if S.n > most:
                continue
            about = compare(matrix, S, journal, every, choices)
            choices.note(f"{matrix.name}: {about.best:.6g} by {about.least}")
            everything.append(about)
            yield known_row(about)
    for name in every:
        some = [about for about in everything if name in about.found]
        if some:
            yield program_row(name, some)


MEASUREMENT = Measurement(
    "restarts",
    "Solvers and programs from many starts on the corpus",
    (PROGRAMS, KNOWN),
    ("sizes", "solvers", "seconds", "data"),
    measure,
)
