"""Which rule for the threshold comes closest to the dependence of the limit, in known models.

``--sizes`` is the number of panels of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.data import read_panel
from symnmf.dependence.stability_curve import (
    MIN_EXCEEDANCES,
    USUAL,
    StabilityCurve,
    threshold_stability,
)

#: Panels of each kind, their columns, and the numbers of their rows.
PANELS, COLUMNS, ROWS = 40, 5, (1000, 4000)
#: Thresholds of a curve; rows of the panel that gives the truth, and its threshold.
FRACTIONS, MANY_ROWS, LIMIT = np.append(np.geomspace(0.01, 0.3, 12), USUAL), 1_000_000, 0.001
FRACTIONS.sort()
#: Thresholds in a row that make a stretch.
STRETCH = 4
TABLE = MeasuredTable(
    "thresholds",
    "Root mean square error of the mean entry, relative to the best rule of each model",
    ("rule",),
    ("mean", "worst", "models"),
    {"mean": "higher", "worst": "higher"},
)


def logistic(rows: int, alpha: float, rng: np.random.Generator) -> np.ndarray:  # (rows, columns)
    """The symmetric logistic model with Fréchet margins, by a positive stable variable.

    Reference: Stephenson (2003), doi:10.1023/A:1025277229992.
    """
    u, w = rng.uniform(0, np.pi, (rows, 1)), rng.exponential(size=(rows, 1))
    common = np.sin(alpha * u) / np.sin(u) ** (1 / alpha)
    common *= (np.sin((1 - alpha) * u) / w) ** ((1 - alpha) / alpha)
    values: np.ndarray = (common / rng.exponential(size=(rows, COLUMNS))) ** alpha
    return values


def body(rows: int, rng: np.random.Generator) -> np.ndarray:  # (rows, columns)
    """Independent noise that hides the dependence on ordinary days."""
    return 10 * np.abs(rng.standard_normal((rows, COLUMNS)))


def factor(rows: int, rng: np.random.Generator) -> np.ndarray:  # (rows, columns)
    """A common factor and own parts, of t with three degrees of freedom."""
    values: np.ndarray = rng.standard_t(3, (rows, 1)) + rng.standard_t(3, (rows, COLUMNS))
    return values


#: Name → the model, and one with the same limit.
MODELS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "logistic": (lambda T, rng: logistic(T, 0.5, rng),) * 2,
    "logistic with noise": (
        lambda T, rng: logistic(T, 0.5, rng) + body(T, rng),
        lambda T, rng: logistic(T, 0.5, rng),
    ),
    "weak logistic with noise": (
        lambda T, rng: logistic(T, 0.8, rng) + body(T, rng),
        lambda T, rng: logistic(T, 0.8, rng),
    ),
    "t factor": (factor, factor),
}


def flattest(curve: StabilityCurve) -> float:
    """The end of the stretch that changes least, measured by its bands."""
    at = np.flatnonzero(curve.count >= MIN_EXCEEDANCES)
    mean, width = curve.mean[at], (curve.high - curve.low)[at]
    begins = range(len(at) - STRETCH + 1)
    change = [np.ptp(mean[b : b + STRETCH]) / width[b : b + STRETCH].mean() for b in begins]
    return float(curve.q[at[int(np.argmin(change)) + STRETCH - 1]])


def compatible(curve: StabilityCurve) -> float:
    """The largest threshold whose band meets those of all smaller ones."""
    at = np.flatnonzero(curve.count >= MIN_EXCEEDANCES)
    low, high = np.maximum.accumulate(curve.low[at]), np.minimum.accumulate(curve.high[at])
    return float(curve.q[at[int(np.argmax(np.append(low > high, True))) - 1]])


RULES: dict[str, Callable[[StabilityCurve], float | None]] = {
    "5 %": lambda curve: 0.05,
    "10 %": lambda curve: float(FRACTIONS[np.abs(FRACTIONS - 0.1).argmin()]),
    "20 %": lambda curve: float(FRACTIONS[np.abs(FRACTIONS - 0.2).argmin()]),
    "flattest stretch": flattest,
    "largest compatible": compatible,
    "5 %, or the largest compatible below (`suggested`)": lambda curve: curve.suggested,
}


def _curve(
    values: np.ndarray, q: np.ndarray, estimator: str, draws: int, seed: int
) -> StabilityCurve:
    panel = read_panel(values, kind="values")
    return threshold_stability(panel, q, tail="upper", estimator=estimator, draws=draws, seed=seed)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each rule, over models, estimators and numbers of days."""
    count = choices.size(PANELS)
    ratios: dict[str, list[float]] = {name: [] for name in RULES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (model, limit) in MODELS.items():
            far = limit(MANY_ROWS, np.random.default_rng(0))
            truth = _curve(far, np.array([LIMIT]), "pairwise", 0, 0).mean[0]
            for estimator in ("global", "pairwise"):
                for rows in ROWS:
                    errors: dict[str, list[float]] = {rule: [] for rule in RULES}
                    for number in range(count):
                        values = model(rows, np.random.default_rng([rows, number]))
                        curve = _curve(values, FRACTIONS, estimator, 20, number)
                        for rule, choose in RULES.items():
                            (at,) = np.flatnonzero(curve.q == choose(curve))
                            errors[rule].append(float(curve.mean[at] - truth))
                    sizes = {
                        rule: float(np.sqrt(np.mean(np.square(e)))) for rule, e in errors.items()
                    }
                    for rule, size in sizes.items():
                        ratios[rule].append(size / min(sizes.values()))
                    choices.note(f"{name}, {estimator}, {rows} days")
    for rule, found in ratios.items():
        yield TABLE.row(rule, round(float(np.mean(found)), 2), round(max(found), 2), len(found))


MEASUREMENT = Measurement(
    "thresholds",
    "Rules for the threshold of extremes",
    (TABLE,),
    ("sizes",),
    measure,
)
