"""What estimates of tail dependence cost (under two minutes on two idle cores).

``--sizes`` is the number of instruments of the Gram matrices; the pairwise estimate is then made
for a hundredth of them.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.timing import cpu_seconds, mean_seconds
from symnmf.data import Panel, read_panel
from symnmf.dependence.tail import tail_dependence

#: Instruments and rows of the Gram matrices, columns of the factor of a product, rounds, and
#: calls of a round.
N, ROWS, COLUMNS, ROUNDS, REPEAT = 100_000, 125, 20, 3, 2
#: Instruments and rows of the pairwise estimate, and the seconds that it may take on two cores.
PAIRWISE = ((452, 1244, 1.0), (2528, 1244, 12.0))
PAIRS = MeasuredTable(
    "tailcosts-pairwise",
    "Seconds of the pairwise estimate",
    ("instruments", "rows"),
    ("seconds", "bar", "CPU seconds", "threads"),
    {},
)
GRAM = MeasuredTable(
    "tailcosts-gram",
    "Processor seconds of a Gram matrix by weights of ranks, in multiples of those of the global "
    "radius with as many columns",
    ("instruments", "estimator", "of"),
    ("ratio", "bar"),
    {"ratio": "higher"},
)


def heavy_panel(rows: int, columns: int) -> Panel:
    """Instruments of t(4) with a common factor."""
    rng = np.random.default_rng(0)
    values = rng.standard_t(4, (rows, columns)) + rng.standard_t(4, (rows, 1))
    return read_panel(values, kind="returns")


def pairwise(choices: Choices) -> Iterator[MeasuredRow]:
    """Seconds of the pairwise estimate."""
    sizes: tuple[tuple[int, int, float], ...] = PAIRWISE
    if choices.sizes:
        sizes = ((max(2, choices.size(N) // 100), ROWS, float("nan")),)
    for n, rows, bar in sizes:
        make = partial(tail_dependence, heavy_panel(rows, n), estimator="pairwise", allow_few=True)
        began = time.process_time()
        seconds = mean_seconds(make)
        yield PAIRS.row(n, rows, seconds, bar, time.process_time() - began, torch.get_num_threads())


def gram(choices: Choices) -> Iterator[MeasuredRow]:
    """Estimates and products of the Gram matrices; the two that are compared take turns."""
    n = choices.size(N)
    panel = heavy_panel(ROWS, n)

    usual = partial(tail_dependence, panel, estimator="global", count=ROWS, allow_few=True)
    for name in ("chi", "ramp"):
        ours = partial(tail_dependence, panel, estimator=name, allow_few=True)
        S, reference, X = ours(), usual(), torch.rand(n, COLUMNS)
        for words, mine, other in (
            ("estimate", ours, usual),
            ("product", partial(S.matmul, X), partial(reference.matmul, X)),
        ):
            ratios = [cpu_seconds(mine, REPEAT) / cpu_seconds(other, REPEAT) for _ in range(ROUNDS)]
            yield GRAM.row(n, name, words, statistics.median(ratios), 1.2)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows of the two tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from pairwise(choices)
        yield from gram(choices)


MEASUREMENT = Measurement(
    "tailcosts", "What estimates of tail dependence cost", (PAIRS, GRAM), ("sizes",), measure
)
