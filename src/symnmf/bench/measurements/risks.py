"""Whether intervals of risk hold the truth, and whether joint crashes come as often as predicted.

Coverage is measured in panels of a known max-linear model, with extremes that come alone and in
clusters. Calibration compares the joint crashes of the days after a window with those predicted
from it, on the bundled stocks and, with ``--data``, on the industry portfolios. ``--sizes`` is the
number of simulations.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from symnmf.bench.crash_holdout import CALIBRATION, LEVELS, VARIANTS, calibration
from symnmf.bench.max_linear_panels import GROUPS, MaxLinearPanel
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.core.result import Result
from symnmf.data import read_panel
from symnmf.dependence.resampling import Resamples
from symnmf.factorization import factorize
from symnmf.grouping.crash_model import CrashModel, crash_model
from symnmf.grouping.joint_probability import at_least
from symnmf.grouping.portfolio_risk import by_group
from symnmf.grouping.positions import Positions

#: Simulations, days of each, resampled histories, coverage, and days behind the truth at the
#: threshold.
SIMULATIONS, DAYS, DRAWS, LEVEL, MANY = 200, 1000, 50, 0.9, 400_000
#: Shares of the days on which a portfolio loses more, for the truth of its tail scale.
OWN = (0.05, 0.01)
#: Level of the joint crashes of the simulations, and period of the return level, in days.
CRASH, PERIOD = 0.05, 100
#: Joint crashes: words, instruments, how many of them.
EVENTS: tuple[tuple[str, tuple[int, ...], int], ...] = (
    ("all of three in a group", GROUPS[0], 3),
    ("all of a group and one more", (*GROUPS[2], 0), 3),
    ("at least 4 of 8", tuple(range(8)), 4),
    ("at least 6 of 8", tuple(range(8)), 6),
)
COVERAGE = MeasuredTable(
    "risks-coverage",
    f"Share of intervals of {LEVEL:.0%} that hold the truth",
    ("extremes", "quantity", "truth"),
    ("simulations", "covered", "standard error", "true value", "mean estimate"),
    {},
)


def _positions(model: MaxLinearPanel, losses: np.ndarray) -> Positions:
    names = tuple(map(str, range(losses.shape[1])))
    made = Positions(losses, model.weights, model.labels, len(GROUPS), "tail", 0.1, names)
    made.start = model.loadings
    return made


def _quantities(parts: tuple[np.ndarray, ...], labels: np.ndarray) -> np.ndarray:
    """Tail scale, shares of the groups, the mean share of the first instrument, and the others."""
    total, shares, _, left, worst = parts
    return np.concatenate(
        ([total], by_group(shares, labels, len(GROUPS)), [shares[0], left], worst)
    )


def _quantity_names() -> list[str]:
    groups = [f"share of group {g + 1}" for g in range(len(GROUPS))]
    worst = [f"share of group {g + 1} in the worst days" for g in range(len(GROUPS))]
    return ["tail scale", *groups, "share of an instrument", "left out", *worst]


def shares(choices: Choices, words: str, clustered: bool) -> Iterator[MeasuredRow]:
    """Rows of the intervals of shares: of the truth far out, and of that at the threshold."""
    model = MaxLinearPanel.usual()
    total, parts = model.shares
    names = _quantity_names()
    limit = np.full(len(names), np.nan)
    limit[:5] = [total, *by_group(parts, model.labels, len(GROUPS)), parts[0]]
    many = model.draw(MANY, clustered, np.random.default_rng(99))
    near = _quantities(_positions(model, many).parts(), model.labels)
    truths = {"far out": limit, "at the threshold": near}
    for p in OWN:  # (total / x)² = p at the quantile x of the portfolio's own losses
        truths[f"of its losses on {100 * p:g} % of days"] = np.full(len(names), np.nan)
        own = float(np.quantile(many @ model.weights, 1 - p)) * p**0.5
        truths[f"of its losses on {100 * p:g} % of days"][0] = own
    found, bands = [], []
    for number, losses in _histories(model, clustered, choices.size(SIMULATIONS)):
        mine = _positions(model, losses)
        found.append(_quantities(mine.parts(), model.labels))
        histories = Resamples.of(DAYS, DRAWS, seed=number)
        drawn = [_quantities(mine.parts(np.sort(rows)), model.labels) for rows in histories]
        bands.append(histories.percentiles(found[-1], np.array(drawn), LEVEL))
        choices.note(f"shares, {words}: {number + 1}")
    for place, name in enumerate(names):
        for what, truth in truths.items():
            if np.isfinite(truth[place]):
                at = [f[place] for f in found], [b[:, place] for b in bands]
                yield _row(words, name, what, float(truth[place]), *at)


def probabilities(choices: Choices, words: str, clustered: bool) -> Iterator[MeasuredRow]:
    """Rows of the intervals of joint crashes and of a return level."""
    model = MaxLinearPanel.usual()
    truth = [
        at_least(model.loadings[list(places)], np.full(len(places), CRASH), m, 200_000)
        for _, places, m in EVENTS
    ]
    many = model.draw(MANY, clustered, np.random.default_rng(99)) @ model.weights
    truth.append(float(np.quantile(many, 1 - 1 / PERIOD)))
    groups = _groups(model)
    found, bands = [], []
    for number, losses in _histories(model, clustered, choices.size(SIMULATIONS)):
        panel = read_panel(losses, kind="returns")
        made = crash_model(groups, panel, tail="upper", draws=DRAWS, level=LEVEL, seed=number)
        values = np.array([(x.value, x.low, x.high) for x in _answers(made, model.weights)])
        found.append(values[:, 0])
        bands.append(values[:, 1:])
        choices.note(f"probabilities, {words}: {number + 1}")
    names = [f"P({words})" for words, _, _ in EVENTS] + [f"return level of {PERIOD} days"]
    for place, name in enumerate(names):
        at = [f[place] for f in found], [b[place] for b in bands]
        yield _row(words, name, "exact", truth[place], *at)


def _answers(made: CrashModel, weights: np.ndarray) -> list[Any]:
    crashes = [made.probability([str(i) for i in s], m, level=CRASH) for _, s, m in EVENTS]
    return [*crashes, made.return_level(weights, PERIOD)]


def _groups(model: MaxLinearPanel) -> Result:
    """The groups of the model, which every history continues."""
    return factorize(torch.from_numpy(model.tpdm), len(GROUPS), n_init=4)


def _histories(
    model: MaxLinearPanel, clustered: bool, count: int
) -> Iterator[tuple[int, np.ndarray]]:
    for number in range(count):
        yield number, model.draw(DAYS, clustered, np.random.default_rng([number, clustered]))


def _row(
    words: str, name: str, what: str, truth: float, found: list[Any], bands: list[Any]
) -> MeasuredRow:
    low, high = np.array(bands).T
    held = (low <= truth) & (truth <= high)
    rate = float(held.mean())
    error = float(np.sqrt(max(rate * (1 - rate), 0.01) / len(held)))
    return COVERAGE.row(words, name, what, len(held), rate, error, truth, float(np.mean(found)))


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in (probabilities, shares):
            for words, clustered in (("alone", False), ("in clusters", True)):
                yield from rows(choices, words, clustered)
        yield from calibration(choices)


MEASUREMENT = Measurement(
    "risks",
    "Whether intervals of risk hold the truth, and whether joint crashes come as predicted",
    (COVERAGE, CALIBRATION, VARIANTS, LEVELS),
    ("sizes", "data"),
    measure,
)
