"""What the shares of resampled histories and the p-values of groups mean, in simulated panels.

``--sizes`` is the number of panels without groups of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.simulated_panels import SimulatedPanel, simulate
from symnmf.data import read_panel
from symnmf.dependence.correlation import abs_correlation
from symnmf.factorization import factorize
from symnmf.grouping.significance import significance
from symnmf.grouping.stability import bootstrap

#: Panels without groups of each kind, and the level of the test.
PANELS, LEVEL = 400, 0.05
#: Draws of a test, in stages: a group that a draw of an early stage reaches is not significant.
STAGES = (2, 6, 19)
#: Panels with groups for each panel without, samples of each, and the most instruments of one.
GROUPED, SAMPLES, MOST = 0.0375, 10, 200
#: Lower ends of the classes of shares.
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
MEMBERSHIP = MeasuredTable(
    "calibration-membership",
    "How often two instruments are truly in one group, by the share of samples that joins them",
    ("panels", "share"),
    ("pairs", "truly together"),
    {},
)
CONSENSUS = MeasuredTable(
    "calibration-consensus",
    "Pairs in one group that truly are: of the fit, and of the consensus of the samples",
    ("panels",),
    ("panels tried", "of the fit", "of the consensus", "unassigned"),
    {"of the consensus": "lower"},
)
SIGNIFICANCE = MeasuredTable(
    "calibration-significance",
    f"Share of panels with a group that is significant at the level {LEVEL:g}",
    ("series", "groups"),
    ("panels", "rejected", "standard error"),
    {},
)


def grouped(kind: str, count: int) -> Iterator[SimulatedPanel]:
    """The first panels of a kind that are not too large."""
    number = 0
    while count:
        made = simulate(kind, 10_000 + number)
        number += 1
        if made.panel.values.shape[1] <= MOST and len(made.panel.values) <= 1000:
            count -= 1
            yield made


def membership(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of shares, and of the consensus."""
    count = max(1, round(GROUPED * choices.size(PANELS)))
    for kind in ("easy", "hard"):
        shares, truth, rows = [], [], []
        for made in grouped(kind, count):
            assert made.labels is not None
            result = factorize(abs_correlation(made.panel), made.k, n_init=2)
            held = bootstrap(made.panel, result, "correlation", draws=SAMPLES)
            pair = np.triu_indices(len(made.labels), 1)
            same = (made.labels[:, None] == made.labels)[pair]
            shares.append(held.together.numpy()[pair])
            truth.append(same)
            sure = held.consensus()
            found = result.labels().numpy()
            precision = [same[((x[:, None] == x) & (x >= 0))[pair]].mean() for x in (found, sure)]
            rows.append((*precision, (sure < 0).mean()))
            choices.note(f"{kind}: {len(rows)} of {count}")
        share, together = np.concatenate(shares), np.concatenate(truth)
        for low, high in zip(SHARES, (*SHARES[1:], np.inf), strict=True):
            mine = (share >= low - 1e-6) & (share < high - 1e-6)
            words = "all" if low == 1 else f"{low:g} to {high:g}"
            yield MEMBERSHIP.row(kind, words, int(mine.sum()), together[mine].mean())
        yield CONSENSUS.row(kind, count, *np.mean(rows, axis=0))


def null(series: str, groups: str, number: int) -> np.ndarray:
    """(300, 20) independent series, with one weak group of five where it is asked for."""
    rng = np.random.default_rng([number, len(series), len(groups)])
    values = rng.standard_normal((300, 20))
    if groups != "none":
        values[:, :5] += 0.6 * rng.standard_normal((300, 1))
    if series == "GARCH":
        variance = np.ones(20)
        for t in range(300):
            values[t] *= np.sqrt(variance)
            variance = 0.05 + 0.15 * np.square(values[t]) + 0.8 * variance
    return values


def rejected(series: str, groups: str, number: int) -> bool:
    """Whether a group of a panel is significant."""
    panel = read_panel(null(series, groups, number), kind="returns")
    S = abs_correlation(panel)
    result = factorize(S, 4, n_init=1)
    for draws in STAGES:
        found = significance(panel, S, result, draws=draws, seed=number)
        if float(np.nanmin(found.p_value)) > 1.5 / (draws + 1):
            return False
    return True


def size_and_power(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of the test: independent series with and without volatility that clusters."""
    count = choices.size(PANELS)
    for series, groups, share in (
        ("normal", "none", 1.0),
        ("GARCH", "none", 1.0),
        ("normal", "a weak one of five", 0.1),
    ):
        panels, found = max(2, round(share * count)), []
        for number in range(panels):
            found.append(rejected(series, groups, number))
            choices.note(f"{series}, {groups}: {sum(found)} of {number + 1}")
        rate = float(np.mean(found))
        error = float(np.sqrt(max(rate * (1 - rate), 0.01) / panels))
        yield SIGNIFICANCE.row(series, groups, panels, rate, error)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from membership(choices)
        yield from size_and_power(choices)


MEASUREMENT = Measurement(
    "calibration",
    "What stability and significance of groups mean",
    (MEMBERSHIP, CONSENSUS, SIGNIFICANCE),
    ("sizes",),
    measure,
)
