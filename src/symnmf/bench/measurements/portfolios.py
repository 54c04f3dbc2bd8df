"""Portfolios that use groups, on the days after those of the fit; ``--data`` adds 30 industries.

skfolio builds the portfolios: nested clusters (NCO, least variance within and between groups) and
hierarchical equal risk contribution (HERC). ``--sizes`` is the number of days of the fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.prediction_panels import PORTFOLIOS
from symnmf.data.samples import sp500_prices

#: Days of a fit, days on which its portfolio is held, and trading days of a year.
FITTED, HELD, YEAR = 1000, 250, 252
#: Share of the days that is the worst, for the mean loss on them.
WORST = 0.05
#: Number of groups of each panel.
GROUPS = {"20 bundled stocks": 4, "30 industry portfolios": 6}
TABLE = MeasuredTable(
    "portfolios",
    "Portfolios on the days after the fit",
    ("panel", "portfolio", "groups by"),
    ("volatility %", "mean of the worst 5 % of days %", "drawdown %", "turnover", "fits"),
    {},
)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each panel and portfolio."""
    fitted = choices.size(FITTED)
    for panel, returns in _panels(choices):
        for (portfolio, groups), make in _models(GROUPS[panel]).items():
            found = walk_forward(returns, make, fitted, min(HELD, fitted))
            yield TABLE.row(panel, portfolio, groups, *found)


def walk_forward(
    returns: pd.DataFrame, make: Callable[[], Any], fitted: int, held: int
) -> tuple[float, ...]:
    """What a portfolio does on days that it has not seen, fitted again every ``held`` days.

    Arguments:
        returns: (T, n) simple returns.
        make: makes an estimator with ``fit`` and ``weights_``.
        fitted: number of days of a fit.
        held: number of days after it.

    Returns:
        Volatility of a year, mean of the worst days and largest drawdown in percent; mean sum of
        the changes of the weights at a fit; number of fits.
    """
    days, changes, last = [], [], None
    for begin in range(0, len(returns) - fitted - held + 1, held):
        model = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(returns.iloc[begin : begin + fitted])
        weights = np.asarray(model.weights_)
        days.append(returns.iloc[begin + fitted : begin + fitted + held].to_numpy() @ weights)
        if last is not None:
            changes.append(np.abs(weights - last).sum())
        last = weights
    after = np.concatenate(days)
    worst = np.sort(after)[: max(1, round(WORST * len(after)))]
    wealth = np.cumprod(1 + after)
    drawdown = 1 - wealth / np.maximum.accumulate(wealth)
    percent = 100 * np.array([after.std() * YEAR**0.5, -worst.mean(), drawdown.max()])
    turnover = float(np.mean(changes)) if changes else 0.0
    return (*(round(float(p), 3) for p in percent), round(turnover, 3), len(days))


def _models(k: int) -> dict[tuple[str, str], Callable[[], Any]]:
    """Portfolio and groups → a function that makes the estimator."""
    from skfolio.cluster import HierarchicalClustering, LinkageMethod
    from skfolio.distance import PearsonDistance
    from skfolio.optimization import (
        EqualWeighted,
        HierarchicalEqualRiskContribution,
        MeanRisk,
        NestedClustersOptimization,
    )

    from symnmf.integrations.skfolio import SymNMFClustering, TailDistance

    lower = {"estimator": "chi", "q": WORST}
    distances: dict[str, Callable[[], Any]] = {
        "|correlation|": lambda: PearsonDistance(absolute=True),
        "tails": TailDistance,
        "lower tail index": lambda: TailDistance(dependence_options=lower),
    }

    def tree() -> Any:
        return HierarchicalClustering(max_clusters=k, linkage_method=LinkageMethod.WARD)

    def nested(distance: str, clustering: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: NestedClustersOptimization(
            inner_estimator=MeanRisk(),
            outer_estimator=MeanRisk(),
            distance_estimator=distances[distance](),
            clustering_estimator=clustering(),
            cv="ignore",
        )

    def herc(distance: str) -> Callable[[], Any]:
        return lambda: HierarchicalEqualRiskContribution(
            distance_estimator=distances[distance](), hierarchical_clustering_estimator=tree()
        )

    found: dict[tuple[str, str], Callable[[], Any]] = {("equal weights", "–"): EqualWeighted}
    for distance in distances:
        found["NCO", f"{distance}, Ward"] = nested(distance, tree)
    for distance in ("|correlation|", "tails"):
        found["NCO", f"{distance}, symnmf"] = nested(distance, lambda: SymNMFClustering(k))
    for distance in distances:
        found["HERC", f"{distance}, Ward"] = herc(distance)
    return found


def _panels(choices: Choices) -> Iterator[tuple[str, pd.DataFrame]]:
    bundled, industries = GROUPS
    yield bundled, sp500_prices().pct_change().iloc[1:]
    if choices.data is not None and (choices.data / PORTFOLIOS).is_file():
        yield industries, pd.read_parquet(choices.data / PORTFOLIOS) / 100


MEASUREMENT = Measurement(
    "portfolios",
    "Portfolios that use groups, on days not used for the fit",
    (TABLE,),
    ("sizes", "data"),
    measure,
)
