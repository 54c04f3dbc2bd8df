"""Asymptotic dependence: do joint extremes stay joint further out than the data reach?

χ, the TPDM and their relatives measure dependence at one threshold. Two instruments can be
dependent there and yet never be extreme together in the limit (asymptotic independence, as of a
Gaussian copula). The coefficient of tail dependence η decides: η = 1 for asymptotic dependence,
1/2 for independence.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence.resampling import Resamples
from symnmf.dependence.tail_request import signed_for
from symnmf.errors import InvalidInput
from symnmf.numerics import average_ranks, numpy_stream
from symnmf.options import whole_number

#: Pairs that are examined; more are sampled.
MAX_PAIRS = 300


@dataclass(frozen=True)
class AsymptoticDependence:
    """The coefficient of tail dependence η of pairs, with intervals.

    Attributes:
        pairs: (m, 2) numbers of the instruments.
        eta: (m,) estimates of η.
        low, high: (m,) ends of the intervals.
        level: coverage of each interval.
        count: number of extremes of each pair.
    """

    pairs: np.ndarray
    eta: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    count: int

    @property
    def chi_bar(self) -> np.ndarray:  # (m,)
        """χ̄ = 2η − 1: 1 for asymptotic dependence, 0 for independence."""
        return 2 * self.eta - 1

    @property
    def dependent(self) -> np.ndarray:  # (m,)
        """Whether asymptotic dependence (η = 1) lies within the interval."""
        return self.high >= 1


def asymptotic_dependence(
    panel: Panel,
    *,
    q: float = 0.05,
    tail: str = "lower",
    level: float = 0.9,
    draws: int = 100,
    block: int = 10,
    seed: int = 0,
) -> AsymptoticDependence:
    """η of pairs of instruments: Hill's estimate of min(1 / (1 − u_i), 1 / (1 − u_j)).

        η = mean of log(z_(l) / z_(m+1)),  l = 1, …, m = ⌊q·T⌋

    Intervals are from blocks of rows drawn with replacement, normal on the scale of log η.

    Arguments:
        panel: panel of returns without missing numbers.
        q: fraction of the observations that is used.
        tail: ``"lower"`` or ``"upper"``.
        level: coverage of the intervals.
        draws: number of bootstrap samples.
        block: rows that are drawn together.
        seed: seed of the draws, and of the pairs if there are more than 300.

    Raises:
        InvalidInput: the fraction leaves fewer than ten extremes.

    Example:
        >>> import symnmf as sn
        >>> Z = np.random.default_rng(0).standard_t(2, (3000, 1))
        >>> X = Z + 0.3 * np.random.default_rng(1).standard_t(2, (3000, 2))
        >>> found = asymptotic_dependence(sn.read_panel(X, kind="returns"), draws=50)
        >>> bool(found.dependent[0]), bool(found.eta[0] > 0.8)
        (True, True)

    Reference: Ledford and Tawn (1996), doi:10.1093/biomet/83.1.169; Coles, Heffernan and Tawn
    (1999), doi:10.1023/A:1009963131610.
    """
    X = signed_for(panel, tail)
    T, n = X.shape
    count = int(q * T + 1e-9)
    if count < 10:
        raise InvalidInput("q", f"{q:g} leaves {count} extremes", "Pass a larger fraction")
    draws = whole_number("draws", draws, 2, 100_000)
    first, second = np.triu_indices(n, 1)
    if len(first) > MAX_PAIRS:
        chosen = np.sort(numpy_stream(seed, "pairs").permutation(len(first))[:MAX_PAIRS])
        first, second = first[chosen], second[chosen]
    z = -np.log1p(-average_ranks(X) / (T + 1))  # standard exponential margins
    smaller = np.minimum(z[:, first], z[:, second])  # (T, m)
    eta = _hill_of_logs(smaller, count)
    resamples = Resamples(T, draws, block, seed)
    logs = np.stack([np.log(_hill_of_logs(smaller[rows], count)) for rows in resamples])
    width = NormalDist().inv_cdf((1 + level) / 2) * logs.std(axis=0, ddof=1)
    return AsymptoticDependence(
        np.column_stack([first, second]),
        eta,
        eta * np.exp(-width),
        eta * np.exp(width),
        level,
        count,
    )


def _hill_of_logs(logs: np.ndarray, count: int) -> np.ndarray:  # (T, m) -> (m,)
    """Mean excess of the largest values over the next one, column by column."""
    top = np.partition(logs, len(logs) - count - 1, axis=0)[len(logs) - count - 1 :]
    threshold = top.min(axis=0)
    mean = (top.sum(axis=0) - threshold) / count - threshold
    return np.asarray(np.maximum(mean, 1e-12))
