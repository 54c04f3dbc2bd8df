"""Joint crashes and return levels on the days after a window, against those predicted from it.

Several ways to predict are compared on the first half of the windows and on the second, so that a
way that is chosen on the first is judged on years that the choice has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable
from symnmf.bench.prediction_panels import PORTFOLIOS
from symnmf.data import Panel, read_panel
from symnmf.data.samples import sp500_prices
from symnmf.dependence.tail import tail_dependence
from symnmf.factorization import factorize
from symnmf.grouping.crash_model import CrashModel, crash_model
from symnmf.grouping.joint_probability import at_least
from symnmf.grouping.tail_factors import continued_loadings

#: Rows of a window and of the days after it, from one window to the next, levels, and periods.
WINDOW, AHEAD, STEP, TRIED, PERIODS = 1260, 252, 504, (0.1, 0.05, 0.02), (20, 100, 250)
#: Ways to predict a joint crash.
SCALED, PAIRS, TPDM, COUNT = WAYS = (
    "max-linear, scaled to counts",
    "max-linear, by pairs alone",
    "max-linear, by the TPDM",
    "count in the window",
)
HALVES = ("first half", "second half")
#: Days that are added to both numbers of a ratio, so that a rare event that did not come counts.
ADDED_DAYS = 1.0
CALIBRATION = MeasuredTable(
    "risks-calibration",
    "Joint crashes on the days after a window, in % of the days",
    ("panel", "event", "level %"),
    ("predicted", "observed", "observed / predicted", "in the window", "windows"),
    {},
)
VARIANTS = MeasuredTable(
    "risks-variants",
    "Ways to predict joint crashes: mean |log(observed / predicted)| over events and levels",
    ("panel", "way"),
    (*HALVES, "best on the first"),
    {},
)
LEVELS = MeasuredTable(
    "risks-levels",
    "Days after a window on which an equally weighted portfolio loses more than its return level",
    ("panel", "period"),
    ("expected %", "observed %", "beyond the sample quantile %", "windows"),
    {},
)


@dataclass
class HeldOut:
    """What was predicted and what came, by window.

    Attributes:
        crashes: event and level → for each window, probabilities by way, and the observed share.
        losses: period → for each window, shares of the days beyond the model's return level and
            beyond the sample's quantile.
    """

    crashes: dict[tuple[str, float], list[list[float]]] = field(default_factory=dict)
    losses: dict[int, list[list[float]]] = field(default_factory=dict)


def calibration(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of predicted and observed joint crashes, and of return levels."""
    for title, panel, k in _panels(choices):
        found, begins = HeldOut(), range(0, len(panel.values) - WINDOW - AHEAD + 1, STEP)
        for number, begin in enumerate(begins):
            _window(panel, begin, k, found)
            choices.note(f"{title}: {number + 1} of {len(begins)} windows")
        yield from _rows(title, found)


def _rows(title: str, found: HeldOut) -> Iterator[MeasuredRow]:
    for (event, p), rows in found.crashes.items():
        *ways, after = 100 * np.array(rows).mean(axis=0)
        predicted = ways[WAYS.index(SCALED)]
        ratio = after / predicted if predicted else float("nan")
        before = ways[WAYS.index(COUNT)]
        yield CALIBRATION.row(title, event, 100 * p, predicted, after, ratio, before, len(rows))
    errors = variant_errors(found)
    best = int(errors[0].argmin())
    for place, way in enumerate(WAYS):
        yield VARIANTS.row(title, way, *errors[:, place], "yes" if place == best else "")
    for period, pairs in found.losses.items():
        model_share, sample_share = 100 * np.array(pairs).mean(axis=0)
        yield LEVELS.row(title, period, 100 / period, model_share, sample_share, len(pairs))


def variant_errors(found: HeldOut) -> np.ndarray:  # (halves, ways)
    """Mean |log(observed / predicted)| of each way, in the first and the second half of windows.

    Days are summed over the windows of a half before the ratio is taken, and a day is added to
    both.
    """
    halves = []
    for part in (0, 1):
        errors = []
        for rows in found.crashes.values():
            middle = len(rows) // 2
            some = rows[middle:] if part else rows[:middle]
            *ways, after = AHEAD * np.array(some).sum(axis=0) + ADDED_DAYS
            errors.append(np.abs(np.log(after / np.array(ways))))
        halves.append(np.mean(errors, axis=0))
    return np.array(halves)


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


def _window(panel: Panel, begin: int, k: int, found: HeldOut) -> None:
    """Add the events and the return levels of one window."""
    train = panel.rows(begin, begin + WINDOW)
    later = -panel.values[begin + WINDOW : begin + WINDOW + AHEAD]
    result = factorize(tail_dependence(train), k, n_init=1)
    model = crash_model(result, train, draws=0)
    H = result.H.to(torch.float64).numpy()
    S = tail_dependence(train, estimator="pairwise").to_dense().to(torch.float64).numpy()
    B = continued_loadings(S, H)
    for event, places, m in _events(H):
        for p in TRIED:
            ways = _ways(model, B, places, m, p)
            limit = np.quantile(model.losses[:, places], 1 - p, axis=0)
            after = float(((later[:, places] > limit).sum(axis=1) >= m).mean())
            found.crashes.setdefault((event, p), []).append([*ways, after])
    equal = np.full(len(H), 1.0 / len(H))
    for period in PERIODS:
        level = model.return_level(equal, period)
        lost = later @ equal
        beyond = [float((lost > x).mean()) for x in (level.value, level.observed)]
        found.losses.setdefault(period, []).append(beyond)


def _ways(
    model: CrashModel, B: np.ndarray, places: np.ndarray, m: int, p: float
) -> tuple[float, ...]:
    """The probability of an event by each of the ways."""
    share = np.full(len(places), p)
    crash = model.probability([model.names[i] for i in places], m, level=p)
    return (
        crash.value,
        at_least(model.loadings[places], share, m, 1000),
        at_least(B[places], share, m, 1000),
        crash.observed / crash.days,
    )
