"""Clusters of extremes in time: the extremal index, and how long a cluster lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence.resampling import Resamples
from symnmf.dependence.tail_request import signed_for
from symnmf.errors import InvalidInput

#: Blocks of a series: longer than clusters of extremes and than volatility lasts.
BLOCKS = 20


@dataclass(frozen=True)
class ExtremalIndex:
    """How far extremes come in clusters.

    Attributes:
        theta: estimate of the extremal index θ, from 0 to 1: 1 / θ is the mean size of a cluster.
        low, high: ends of its interval.
        run_length: number of rows; extremes with fewer rows between them are one cluster.
        clusters: number of clusters.
        count: number of extremes.
    """

    theta: float
    low: float
    high: float
    run_length: int
    clusters: int
    count: int


def extremal_index(
    x: np.ndarray, q: float = 0.05, level: float = 0.9, draws: int = 200, seed: int = 0
) -> ExtremalIndex:
    """The extremal index of a series by the times between its extremes.

        θ = min(1, 2 (Σ (g − 1))² / (N Σ (g − 1)(g − 2)))   (2 (Σ g)² / (N Σ g²) if all g ≤ 2)

    for the N gaps g between extremes. The ⌊θN⌋ largest gaps separate clusters; the largest of the
    other gaps is the run length. The interval is from blocks of rows drawn with replacement, and
    normal on the scale of log θ.

    Arguments:
        x: (T,) series whose large values are extreme.
        q: fraction of the observations that is extreme.
        level: coverage of the interval.
        draws: number of bootstrap samples.
        seed: seed of the draws.

    Raises:
        InvalidInput: fewer than ten observations are extreme.

    Example:
        >>> z = np.random.default_rng(0).pareto(1, 5001)
        >>> found = extremal_index(np.maximum(z[1:], z[:-1]))  # every extreme comes twice
        >>> found.run_length, 0.4 < found.theta < 0.6
        (1, True)

    Reference: Ferro and Segers (2003), doi:10.1111/1467-9868.00401.
    """
    times = np.flatnonzero(x > np.quantile(x, 1 - q))
    if len(times) < 10:
        raise InvalidInput(
            "q", f"{q:g} leaves {len(times)} extremes", "Pass a larger fraction, or a longer series"
        )
    gaps = np.diff(times)
    theta = _intervals_estimate(gaps)
    clusters = min(len(gaps), max(1, int(theta * len(gaps))))
    order = np.argsort(-gaps, kind="stable")
    cut = gaps[order[clusters - 1]]
    between = gaps >= max(cut, 2) if theta < 1 else np.ones(len(gaps), dtype=bool)
    within = gaps[~between]
    run_length = int(within.max()) if len(within) else 0
    T = len(x)
    resamples = Resamples(T, draws, max(1, T // BLOCKS), seed)
    extreme = np.isin(np.arange(T), times)
    drawn = [np.diff(np.flatnonzero(extreme[rows])) for rows in resamples]
    sample = [_intervals_estimate(some) for some in drawn if len(some) > 1]
    low, high = 0.0, 1.0
    if len(sample) > 1:
        low, high = resamples.by_ratio(np.array(theta), np.array(sample), level)
    return ExtremalIndex(
        theta, float(low), min(1.0, float(high)), run_length, int(between.sum()) + 1, len(times)
    )


def _intervals_estimate(gaps: np.ndarray) -> float:
    g = gaps.astype(float)
    if g.max() <= 2:
        return float(min(1.0, 2 * g.sum() ** 2 / (len(g) * (g * g).sum())))
    bottom = len(g) * ((g - 1) * (g - 2)).sum()
    return float(min(1.0, 2 * (g - 1).sum() ** 2 / bottom)) if bottom > 0 else 1.0


def propose_run_length(panel: Panel, q: float = 0.05, tail: str = "lower") -> int:
    """Rows within which extremes are one event: the median run length of the instruments.

    Zero means that declustering is not needed: for half of the instruments or more, θ = 1 lies
    within the interval.

    Arguments:
        panel: panel of returns without missing numbers.
        q: fraction of the observations that is extreme.
        tail: ``"lower"`` or ``"upper"``.
    """
    X = signed_for(panel, tail)
    found = [extremal_index(X[:, i], q, draws=50) for i in range(X.shape[1])]
    if np.mean([one.high < 1 for one in found]) < 0.5:
        return 0
    return int(np.median([one.run_length for one in found]))
