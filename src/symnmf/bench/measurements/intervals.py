"""How often intervals hold the truth, and tests of independence reject, in simulated series.

``--sizes`` is the number of panels of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.data import Panel, read_panel
from symnmf.dependence import estimate
from symnmf.dependence.asymptotic import asymptotic_dependence
from symnmf.dependence.diagnostics import independence_baseline
from symnmf.dependence.extremal_index import extremal_index
from symnmf.dependence.independence import mean_entry
from symnmf.dependence.resampling import Resamples, default_block

#: Panels of each kind, samples of an interval, and its level.
PANELS, DRAWS, LEVEL = 200, 40, 0.9
#: Rows and columns of a panel, and rows of the panel that gives the truth.
ROWS, COLUMNS, MANY_ROWS = 1000, 6, 400_000
#: Rearrangements of a test of independence, and its level.
REARRANGED, TEST = 19, 0.05
SERIES = ("independent days", "GARCH")
ESTIMATES: dict[str, tuple[str, dict[str, Any]]] = {
    "|correlation|": ("correlation", {"shrinkage": "none"}),
    "semicorrelation": ("tail", {"estimator": "semicorrelation"}),
    "ramp q=0.5": ("tail", {"estimator": "ramp", "q": 0.5}),
    "chi q=0.1": ("tail", {"estimator": "chi", "q": 0.1}),
    "pairwise q=0.1": ("tail", {"estimator": "pairwise", "q": 0.1}),
}
COVERAGE = MeasuredTable(
    "intervals-coverage",
    f"How often intervals of the level {LEVEL:g} hold the truth",
    ("of", "series"),
    ("panels", "held", "mean width"),
    {},
)
SIZE = MeasuredTable(
    "intervals-size",
    f"How often independent instruments look dependent at the level {TEST:g}",
    ("estimate", "series"),
    ("panels", "rejected", "standard error"),
    {},
)


def series_of(
    kind: str, rows: int, columns: int, rng: np.random.Generator
) -> np.ndarray:  # (rows, columns)
    """Series of t with 5 degrees of freedom, with volatility that clusters where asked for."""
    values: np.ndarray = rng.standard_t(5, (rows, columns)) / np.sqrt(5 / 3)
    if kind == "GARCH":
        variance = np.ones(columns)
        for t in range(rows):
            values[t] *= np.sqrt(variance)
            variance = 0.05 + 0.05 * np.square(values[t]) + 0.9 * variance
    return values


def with_factor(kind: str, rows: int, rng: np.random.Generator) -> Panel:
    """Instruments with a common factor."""
    common = series_of(kind, rows, 1, rng)
    return read_panel(common + series_of(kind, rows, COLUMNS, rng), kind="returns")


def entries(choices: Choices) -> Iterator[MeasuredRow]:
    """Coverage of the entries of S; the truth is the estimate from very many days."""
    count = choices.size(PANELS)
    pair = np.triu_indices(COLUMNS, 1)
    many = {kind: with_factor(kind, MANY_ROWS, np.random.default_rng(1)) for kind in SERIES}
    for name, (dependence, options) in ESTIMATES.items():
        for kind in SERIES:
            truth = estimate(dependence, many[kind], **options).to_dense().numpy()[pair].mean()
            held, width = [], []
            for number in range(count):
                panel = with_factor(kind, ROWS, np.random.default_rng([2, number]))
                found = estimate(dependence, panel, **options).to_dense().numpy()[pair]
                resamples = Resamples(ROWS, DRAWS, default_block(ROWS), seed=number)
                drawn = [
                    estimate(dependence, panel.at(np.sort(rows)), **options)
                    .to_dense()
                    .numpy()[pair]
                    for rows in resamples
                ]
                low, high = resamples.around(found, np.array(drawn), LEVEL)
                held.append(((low <= truth) & (truth <= high)).mean())
                width.append((high - low).mean())
            choices.note(f"{name}, {kind}: {np.mean(held):.3f}")
            yield COVERAGE.row(f"entries, {name}", kind, count, *_rounded(held, width))


def clusters(choices: Choices) -> Iterator[MeasuredRow]:
    """Coverage of the extremal index of moving maxima, and of η of pairs."""
    count = choices.size(PANELS)
    for width in (2, 4):
        held, size = [], []
        for number in range(count):
            z = np.random.default_rng([3, width, number]).pareto(1, 3000 + width)
            x = np.lib.stride_tricks.sliding_window_view(z, width).max(axis=1)
            found = extremal_index(x, level=LEVEL, seed=number)
            held.append(found.low <= 1 / width <= found.high)
            size.append(found.high - found.low)
        words = f"maxima of {width} days"
        yield COVERAGE.row("extremal index", words, count, *_rounded(held, size))
    for words, truth in (("normal, correlation 0.5", 0.75), ("independent days", 0.5)):
        held, size = [], []
        for number in range(count):
            rng = np.random.default_rng([4, number])
            a, b = rng.standard_normal((2, 2000))
            X = np.column_stack([a, 0.5 * a + 0.75**0.5 * b if truth > 0.5 else b])
            pair = asymptotic_dependence(read_panel(X, kind="returns"), level=LEVEL, seed=number)
            held.append(pair.low[0] <= truth <= pair.high[0])
            size.append(pair.high[0] - pair.low[0])
        yield COVERAGE.row("η", words, count, *_rounded(held, size))


def size(choices: Choices) -> Iterator[MeasuredRow]:
    """How often the mean entry exceeds those of the instruments rearranged in time."""
    count = 2 * choices.size(PANELS)
    for name, (dependence, options) in ESTIMATES.items():
        if dependence != "tail":
            continue
        for kind in SERIES:
            rejected = []
            for number in range(count):
                rng = np.random.default_rng([5, number])
                panel = read_panel(series_of(kind, ROWS // 2, COLUMNS, rng), kind="returns")
                S = estimate(dependence, panel, **options)
                others = independence_baseline(panel, S, draws=REARRANGED, seed=number)
                rejected.append(bool((others < mean_entry(S)).all()))
            rate = float(np.mean(rejected))
            choices.note(f"{name}, {kind}: {rate:.3f} rejected")
            error = float(np.sqrt(max(rate * (1 - rate), 0.01) / count))
            yield SIZE.row(name, kind, count, rate, round(error, 4))


def _rounded(held: list[Any], width: list[Any]) -> tuple[float, float]:
    return round(float(np.mean(held)), 3), round(float(np.mean(width)), 4)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from entries(choices)
        yield from clusters(choices)
        yield from size(choices)


MEASUREMENT = Measurement(
    "intervals",
    "Whether intervals hold the truth and tests keep their level",
    (COVERAGE, SIZE),
    ("sizes",),
    measure,
)
