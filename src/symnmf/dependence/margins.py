"""Transformation of every instrument to the same heavy-tailed margin."""

from __future__ import annotations

import warnings

import numpy as np

from symnmf.errors import InvalidInput, MarginWarning
from symnmf.numerics import average_ranks

#: Names of the margins.
MARGINS = ("frechet", "pareto", "gpd", "none")


#: Quantile above which a generalized Pareto tail replaces the ranks.
GPD_QUANTILE = 0.95


#: A Hill estimate that differs from α by more than this factor causes a warning.
HILL_FACTOR = 1.5


def ranks(X: np.ndarray) -> np.ndarray:  # (T, n)
    """Uniform scores rank / (T + 1) of each column, with average ranks for ties.

    Missing numbers stay missing; T is then the number of observations of the column.
    """
    count = (~np.isnan(X)).sum(axis=0)
    scores: np.ndarray = np.ascontiguousarray(average_ranks(X)) / (count + 1)
    return scores


def to_margins(X: np.ndarray, margins: str = "frechet", alpha: float = 2.0) -> np.ndarray:
    """Transform columns to regularly varying margins of index α.

        Fréchet: (−log u)^{−1/α},   Pareto: (1 − u)^{−1/α},   u = rank / (T + 1)

    Arguments:
        X: (T, n) observations whose large values are extreme.
        margins: ``"frechet"``, ``"pareto"``, ``"gpd"`` (ranks below the 0.95 quantile, a
            generalized Pareto tail above, then Fréchet), or ``"none"`` (X, clipped at zero).
        alpha: tail index α.

    Example:
        >>> to_margins(np.array([[1.0], [2.0], [3.0]]), "pareto").round(3)[:, 0].tolist()
        [1.155, 1.414, 2.0]
    """
    if margins not in MARGINS:
        raise InvalidInput("margins", f"got {margins!r}", f"Choose one of {', '.join(MARGINS)}")
    if not alpha > 0:
        raise InvalidInput("alpha", f"got {alpha!r}", "Pass a positive number")
    if margins == "none":
        _compare_hill(np.where(np.isnan(X), 0.0, X), alpha)
        return np.asarray(np.maximum(X, 0.0))
    u = gpd_scores(X) if margins == "gpd" else ranks(X)
    return from_scores(u, margins, alpha)


def from_scores(u: np.ndarray, margins: str = "frechet", alpha: float = 2.0) -> np.ndarray:
    """Uniform scores on the heavy-tailed margin: Pareto or Fréchet.

    Example:
        >>> from_scores(np.array([0.75]), "pareto").tolist()
        [2.0]
    """
    if margins == "pareto":
        return np.asarray((1 - u) ** (-1 / alpha))
    return np.asarray((-np.log(u)) ** (-1 / alpha))


def gpd_scores(X: np.ndarray, quantile: float = GPD_QUANTILE) -> np.ndarray:  # (T, n)
    """Uniform scores: ranks below a quantile, a fitted generalized Pareto tail above it."""
    from scipy.stats import genpareto

    u = ranks(X)
    largest = 1 - 1 / (len(X) + 1) ** 2  # a fitted endpoint may lie at the largest observation
    for j in range(X.shape[1]):
        threshold = np.quantile(X[:, j], quantile)
        above = X[:, j] > threshold
        if above.sum() < 10:
            continue
        shape, _, scale = genpareto.fit(X[above, j] - threshold, floc=0)
        share = above.mean()
        tail = genpareto.sf(X[above, j] - threshold, shape, scale=scale)
        u[above, j] = np.minimum(1 - share * tail, largest)
    return u


def hill(x: np.ndarray, count: int) -> float:
    """Hill's estimate of the tail index α from the ``count`` largest values.

    Returns:
        The estimate; NaN with fewer than two positive values.

    Example:
        >>> u = (np.arange(1, 10_001) - 0.5) / 10_000
        >>> round(hill(u ** (-1 / 3), 500), 1)
        3.0
    """
    top = np.sort(x[x > 0])[::-1][: count + 1]
    if len(top) < 2:
        return float("nan")
    mean = float(np.log(top[:-1] / top[-1]).mean())
    return 1 / mean if mean > 0 else float("inf")


def _compare_hill(X: np.ndarray, alpha: float) -> None:
    count = max(10, len(X) // 20)
    estimates = np.array([hill(X[:, j], count) for j in range(X.shape[1])])
    middle = float(np.nanmedian(estimates))
    if not alpha / HILL_FACTOR <= middle <= alpha * HILL_FACTOR:
        warnings.warn(
            f"margins='none' assumes that the data vary regularly with index {alpha:g}, but the "
            f"median Hill estimate is {middle:.2g}: use margins='frechet', or set alpha",
            MarginWarning,
            stacklevel=4,
        )
