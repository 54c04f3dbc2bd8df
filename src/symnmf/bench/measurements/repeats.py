"""What repeated fits cost: draws of a bootstrap, and windows through time (about five minutes).

``--sizes`` are the number of instruments of the bootstrap and that of the windows. Processor
seconds are compared with those of one estimate and one fit of the same instruments in the same run.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.timing import cpu_seconds
from symnmf.data import Panel, read_panel
from symnmf.defaults import DEPENDENCES
from symnmf.dependence import estimate
from symnmf.factorization import factorize
from symnmf.grouping.break_test import DRAWS as SHUFFLED
from symnmf.grouping.rolling import rolling
from symnmf.grouping.stability import bootstrap
from symnmf.numerics import numpy_stream

#: Instruments and groups of the bootstrap and of the windows, and starts of the single fit.
SIZES, GROUPS, STARTS = (452, 2528), (10, 12), 5
#: Draws and rows of the bootstrap; rows of a window, rows to the next, and number of windows.
DRAWS, ROWS, WINDOW, STEP, WINDOWS = 200, 1244, 500, 21, 36
TABLE = MeasuredTable(
    "repeats",
    "Processor time of repeated fits, relative to one estimate and one fit of five starts",
    ("what", "dependence"),
    ("estimates and fits", "of a window or draw", "CPU seconds"),
    {"estimates and fits": "higher"},
)


def stocks(n: int, groups: int, rows: int) -> Panel:
    """Returns of a market, groups of equal strength, and noise, with tails of five degrees."""
    rng = numpy_stream(0, "repeats", n)
    common = rng.standard_t(5, size=(rows, 1)) * rng.uniform(0.5, 1.5, n)
    own = 0.7 * rng.standard_t(5, size=(rows, groups))[:, np.arange(n) % groups]
    values = 0.01 * (common + own + 1.5 * rng.standard_t(5, size=(rows, n)))
    return read_panel(values, kind="returns")


def single(panel: Panel, k: int, dependence: str) -> float:
    """Processor seconds of one estimate and one fit, on one thread: several wait at full power."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return cpu_seconds(lambda: factorize(estimate(dependence, panel), k, n_init=STARTS), 3)
    finally:
        torch.set_num_threads(before)


def draws(n: int, dependence: str) -> MeasuredRow:
    """A bootstrap of one panel."""
    k = min(GROUPS[0], n // 4)
    panel = stocks(n, k, ROWS)
    found = factorize(estimate(dependence, panel), k, n_init=STARTS)
    one = single(panel, k, dependence)
    spent = cpu_seconds(lambda: bootstrap(panel, found, dependence, draws=DRAWS))
    return TABLE.row(f"{DRAWS} draws, n = {n}", dependence, spent / one, spent / one / DRAWS, spent)


def windows(n: int, dependence: str) -> Iterator[MeasuredRow]:
    """Windows of one panel, without and with the test for breaks."""
    k = min(GROUPS[1], n // 4)
    panel = stocks(n, k, WINDOW + STEP * (WINDOWS - 1))
    last = panel.rows(len(panel.values) - WINDOW, len(panel.values))
    one = single(last, k, dependence)
    for shuffled, words in ((0, "windows"), (SHUFFLED, "windows and their test")):
        spent = cpu_seconds(
            lambda shuffled=shuffled: rolling(panel, WINDOW, STEP, k, dependence, draws=shuffled)  # type: ignore[misc]
        )
        what = f"{WINDOWS} {words}, n = {n}"
        yield TABLE.row(what, dependence, spent / one, spent / one / WINDOWS, spent)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each dependence and kind of repetition."""
    few, many = choices.sizes if len(choices.sizes) == 2 else SIZES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dependence in sorted(DEPENDENCES):
            yield draws(few, dependence)
        for dependence in sorted(DEPENDENCES):
            yield from windows(many, dependence)


MEASUREMENT = Measurement("repeats", "What repeated fits cost", (TABLE,), ("sizes",), measure)
