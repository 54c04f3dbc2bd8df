"""Whether intervals of risk hold the truth, and whether joint crashes come as often as predicted.

Coverage is measured in panels of a known max-linear model, with extremes that come alone and in
clusters. Calibration compares the joint crashes of the days after a window with those predicted
from it, on the bundled stocks and, with ``--data``, on the industry portfolios. ``--sizes`` is the
number of simulations. It has not been published yet: it moves to ``measurements/risk.py`` with its
results, so that ``symnmf bench risk`` finds it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from symnmf.bench.max_linear_panels import GROUPS, MaxLinearPanel
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.prediction_panels import PORTFOLIOS
from symnmf.core.result import Result
from symnmf.data import Panel, read_panel
from symnmf.data.samples import sp500_prices
from symnmf.dependence.resampling import Resamples
from symnmf.dependence.tail import tail_dependence
from symnmf.factorization import factorize
from symnmf.grouping.crash_model import MODEL_SHARE, SAMPLE_SWEEPS, crash_model
from symnmf.grouping.joint_probability import at_least, scaled_to_data
from symnmf.grouping.portfolio_risk import by_group
from symnmf.grouping.position_risk import interval
from symnmf.grouping.positions import Positions
from symnmf.grouping.tail_factors import (
    continued_loadings,
    joint_tail,
    max_linear_loadings,
)

#: Simulations, days of each, resampled histories, coverage, and days behind the truth at the
#: threshold.
SIMULATIONS, DAYS, DRAWS, LEVEL, MANY = 200, 1000, 50, 0.9, 400_000
#: Simulations with clusters for each without.
CLUSTERED = 0.3
#: Level of the joint crashes of the simulations.
CRASH = 0.05
COVERAGE = MeasuredTable(
    "risk-coverage",
    f"Share of intervals of {LEVEL:.0%} that hold the truth",
    ("extremes", "quantity", "truth"),
    ("simulations", "covered", "standard error", "true value", "mean estimate"),
    {},
)
CALIBRATION = MeasuredTable(
    "risk-calibration",
    "Joint crashes on the days after a window, in % of the days",
    ("panel", "event", "level %"),
    (
        "predicted",
        "by pairs alone",
        "by the TPDM",
        "in the window",
        "observed",
        "observed / predicted",
        "windows",
    ),
    {},
)
LEVELS = MeasuredTable(
    "risk-levels",
    "Days after a window on which an equally weighted portfolio loses more than its return level",
    ("panel", "period"),
    ("expected %", "observed %", "beyond the sample quantile %", "windows"),
    {},
)
#: Rows from one window to the next: every second year is predicted.
STEP = 504
#: Rows of a window and of the days after it, levels, periods.
WINDOW, AHEAD, LEVELS_TRIED, PERIODS = 1260, 252, (0.1, 0.05, 0.02), (20, 100, 250)


def _truth_at_threshold(model: MaxLinearPanel, clustered: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(99)
    return _positions(model, model.draw(MANY, clustered, rng)).parts()


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


def coverage(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of the intervals of shares and probabilities."""
    model = MaxLinearPanel.usual()
    count = choices.size(SIMULATIONS)
    total, shares = model.shares
    names = _quantity_names()
    limit = np.full(len(names), np.nan)
    limit[:5] = [total, *by_group(shares, model.labels, len(GROUPS)), shares[0]]
    events: list[tuple[str, tuple[int, ...], int]] = [
        ("all of three in a group", GROUPS[0], 3),
        ("all of a group and one more", (*GROUPS[2], 0), 3),
        ("at least 4 of 8", tuple(range(8)), 4),
    ]
    exact = [
        model.all_exceed(members, CRASH)
        if m == len(members)
        else at_least(model.loadings[list(members)], np.full(len(members), CRASH), m, 200_000)
        for _, members, m in events
    ]
    for words, clustered in (("alone", False), ("in clusters", True)):
        count = max(1, round(CLUSTERED * count)) if clustered else count
        near = _quantities(_truth_at_threshold(model, clustered), model.labels)
        found, bands, chances, ends = [], [], [], []
        for number in range(count):
            losses = model.draw(DAYS, clustered, np.random.default_rng([number, clustered]))
            mine = _positions(model, losses)
            found.append(_quantities(mine.parts(), model.labels))
            A = _loadings(losses, model.loadings)
            chances.append(_chances(A, events, losses))
            drawn, odds = [], []
            for rows in Resamples(DAYS, DRAWS, 21, number):
                drawn.append(_quantities(mine.parts(np.sort(rows)), model.labels))
                again = losses[rows]
                odds.append(_chances(_loadings(again, A, SAMPLE_SWEEPS), events, again))
            bands.append(interval(np.array(drawn), LEVEL))
            ends.append(interval(np.array(odds), LEVEL))
            choices.note(f"{words}: {number + 1} of {count}")
        for place, name in enumerate(names):
            for what, truth in (("far out", limit), ("at the threshold", near)):
                if np.isfinite(truth[place]):
                    yield _row(words, name, what, truth[place], found, bands, place)
        for place, (name, _, _) in enumerate(events):
            yield _row(words, f"P({name})", "exact", exact[place], chances, ends, place)


def _loadings(losses: np.ndarray, start: np.ndarray, sweeps: int | None = None) -> np.ndarray:
    chi = joint_tail(losses, MODEL_SHARE)
    if sweeps is None:
        return max_linear_loadings(chi, continued_loadings(chi, start))
    return max_linear_loadings(chi, start, sweeps)


def _chances(
    A: np.ndarray, events: list[tuple[str, tuple[int, ...], int]], losses: np.ndarray
) -> np.ndarray:
    return np.array(
        [
            scaled_to_data(
                A[list(s)], np.full(len(s), CRASH), m, losses[:, list(s)], MODEL_SHARE, 300
            )
            for _, s, m in events
        ]
    )


def _row(
    words: str, name: str, what: str, truth: float, found: Any, bands: Any, place: int
) -> MeasuredRow:
    low, high = np.array(bands)[:, 0, place], np.array(bands)[:, 1, place]
    held = (low <= truth) & (truth <= high)
    rate = float(held.mean())
    error = float(np.sqrt(max(rate * (1 - rate), 0.01) / len(held)))
    return COVERAGE.row(
        words, name, what, len(held), rate, error, truth, float(np.array(found)[:, place].mean())
    )


def _panels(choices: Choices) -> Iterator[tuple[str, Panel, int]]:
    yield "20 bundled stocks", read_panel(sp500_prices(), kind="prices"), 4
    if choices.data is not None and (choices.data / PORTFOLIOS).is_file():
        panel = read_panel(choices.data / PORTFOLIOS, kind="returns")
        yield f"{panel.values.shape[1]} industry portfolios", panel, 6


def _events(H: np.ndarray) -> list[tuple[str, np.ndarray, int]]:
    """Sets of instruments that the fit of a window names."""
    n = len(H)
    first = np.argsort(-H[:, 0], kind="stable")
    far = np.array([first[0], int(np.argmin(H[:, 0]))])
    return [
        ("two of one group", first[:2], 2),
        ("two of different groups", far, 2),
        ("three of one group", first[:3], 3),
        ("five of one group", first[:5], 5),
        (f"at least {n // 3} of {n}", np.arange(n), n // 3),
        (f"at least {5 * n // 6} of {n}", np.arange(n), 5 * n // 6),
    ]


def calibration(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of predicted and observed joint crashes, and of return levels."""
    for title, panel, k in _panels(choices):
        X = -panel.values
        n = X.shape[1]
        found: dict[tuple[str, float], list[list[float]]] = {}
        levels: dict[int, list[tuple[float, float]]] = {}
        begins = range(0, len(X) - WINDOW - AHEAD + 1, STEP)
        for begin in begins:
            train = panel.rows(begin, begin + WINDOW)
            seen, later = X[begin : begin + WINDOW], X[begin + WINDOW : begin + WINDOW + AHEAD]
            result = factorize(tail_dependence(train), k, n_init=1)
            _window(train, result, seen, later, found)
            model = crash_model(result, train, draws=0)
            equal = np.full(n, 1.0 / n)
            for period in PERIODS:
                level = model.return_level(equal, period)
                mine = later @ equal
                levels.setdefault(period, []).append(
                    (float((mine > level.value).mean()), float((mine > level.observed).mean()))
                )
            choices.note(f"{title}: {begin // STEP + 1} of {len(begins)} windows")
        for (event, p), rows in found.items():
            predicted, unscaled, tpdm, before, after = 100 * np.array(rows).mean(axis=0)
            yield CALIBRATION.row(
                title, event, 100 * p, predicted, unscaled, tpdm, before, after,
                after / predicted if predicted else float("nan"), len(rows),
            )  # fmt: skip
        for period, pairs in levels.items():
            model_share, sample_share = 100 * np.array(pairs).mean(axis=0)
            yield LEVELS.row(title, period, 100 / period, model_share, sample_share, len(pairs))


def _window(
    train: Panel,
    result: Result,
    seen: np.ndarray,
    later: np.ndarray,
    found: dict[tuple[str, float], list[list[float]]],
) -> None:
    """Add the events of one window: predicted, by the TPDM, in the window, and observed after."""
    H = result.H.to(torch.float64).numpy()
    chi = joint_tail(seen, MODEL_SHARE)
    A = max_linear_loadings(chi, continued_loadings(chi, H))
    S = tail_dependence(train, estimator="pairwise").to_dense().to(torch.float64).numpy()
    B = continued_loadings(S, H)
    for event, places, m in _events(H):
        for p in LEVELS_TRIED:
            limit = np.quantile(seen[:, places], 1 - p, axis=0)
            share = np.full(len(places), p)
            found.setdefault((event, p), []).append(
                [
                    scaled_to_data(A[places], share, m, seen[:, places], MODEL_SHARE, 1000),
                    at_least(A[places], share, m, 1000),
                    at_least(B[places], share, m, 1000),
                    float(((seen[:, places] > limit).sum(axis=1) >= m).mean()),
                    float(((later[:, places] > limit).sum(axis=1) >= m).mean()),
                ]
            )


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from coverage(choices)
        yield from calibration(choices)


MEASUREMENT = Measurement(
    "risk",
    "Whether intervals of risk hold the truth, and whether joint crashes come as predicted",
    (COVERAGE, CALIBRATION, LEVELS),
    ("sizes", "data"),
    measure,
)
