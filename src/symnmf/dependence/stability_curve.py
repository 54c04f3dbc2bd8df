"""Mean tail dependence as a function of the threshold, for every estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch

from symnmf.data.panel import Panel
from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.independence import mean_entry
from symnmf.dependence.margins import to_margins
from symnmf.dependence.pairwise_tail import pairwise_tpdm
from symnmf.dependence.tail_request import signed_for
from symnmf.dependence.tail_weights import INDEPENDENCE, tail_weights
from symnmf.dependence.threshold import Threshold
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.numerics import average_ranks, numpy_stream

#: A mean entry, and a function that draws it again so many times.
MeanAndDraws = tuple[float, Callable[[np.random.Generator, int], np.ndarray]]
#: The fraction that is extreme where nothing speaks against it, and the fewest exceedances.
USUAL, MIN_EXCEEDANCES = 0.05, 30
#: Least spread of the weights of an instrument that is not rounding.
TINY = 1e-7
#: Instruments of which the curve of the pairwise estimator is drawn.
PAIRWISE_INSTRUMENTS = 40


@dataclass(frozen=True, repr=False)
class StabilityCurve(Brief):
    """Mean tail dependence against the threshold.

    Attributes:
        q: (m,) fractions of observations taken as extreme.
        count: (m,) numbers of exceedances.
        mean: (m,) mean off-diagonal entries.
        low, high: (m,) ends of a bootstrap band of the mean.
        level: (m,) mean entries of independent instruments where they have a closed form.
    """

    q: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: np.ndarray | None = None

    @property
    def above_chance(self) -> np.ndarray:  # (m,)
        """The means above the level of independence, (mean − level) / (1 − level)."""
        level = 0.0 if self.level is None else self.level
        return (self.mean - level) / (1 - level)

    @property
    def suggested(self) -> float | None:
        """A fraction of observations to take as extreme: 5 %, or less where the curve refuses it.

        It is the largest fraction of at most 5 % at which the means of all smaller fractions with
        at least 30 exceedances can be equal: their bands have a number in common. None if no
        fraction leaves as many, or the curve has no band.

        Reference: Lepski (1991), doi:10.1137/1135065, for the comparison of bands.
        """
        low, high, found = -np.inf, np.inf, None
        for i in np.argsort(self.q):
            if self.count[i] < MIN_EXCEEDANCES or np.isnan(self.low[i]):
                continue
            low, high = max(low, self.low[i]), min(high, self.high[i])
            if found is not None and (low > high or self.q[i] > USUAL + 1e-9):
                break
            found = float(self.q[i])
        return found


def threshold_stability(
    panel: Panel,
    q: np.ndarray | None = None,
    *,
    tail: str = "lower",
    margins: str = "frechet",
    estimator: str = "global",
    weight: str = "",
    draws: int = 50,
    level: float = 0.9,
    seed: int = 0,
) -> StabilityCurve:
    """Mean entry of S as a function of the threshold; above chance, it should level off.

    Arguments:
        panel: panel of returns.
        q: fractions of observations taken as extreme; by default 0.01 to 0.2.
        tail, margins, estimator, weight: options of :func:`symnmf.tail_dependence`. For
            ``"pairwise"`` the curve is that of at most 40 instruments.
        draws: number of bootstrap samples of the observations for the band.
        level: coverage of the band.
        seed: seed of the bootstrap.

    Raises:
        InvalidInput: a fraction leaves fewer than two exceedances.
        InvalidTable: the returns have missing numbers.
    """
    fractions = np.geomspace(0.01, 0.2, 12) if q is None else np.asarray(q, dtype=float)
    X = signed_for(panel, tail)
    rng = numpy_stream(seed, "stability")
    weight = weight or {"chi": "indicator", "global": "", "pairwise": ""}.get(estimator, "ramp")
    curve: _Curve
    centred = estimator == "semicorrelation"
    if weight:
        curve = _Weights(X, weight, centred)
    elif estimator == "pairwise":
        some = rng.permutation(X.shape[1])[:PAIRWISE_INSTRUMENTS]
        curve = _Pairwise(to_margins(X[:, np.sort(some)], margins))
    else:
        curve = _Global(to_margins(X, margins))
    rows = []
    for fraction in fractions:
        count = int(fraction * len(X) + 1e-9)
        if count < 2:
            raise InvalidInput(
                "q", f"{fraction:g} leaves {count} exceedances", "Pass larger fractions"
            )
        mean, again = curve.at(float(fraction))
        band = np.full(2, np.nan)
        if draws:
            band = np.quantile(again(rng, draws), [(1 - level) / 2, (1 + level) / 2])
        rows.append((count, mean, *band))
    count_, mean_, low, high = np.array(rows).T
    found = StabilityCurve(fractions, count_.astype(int), mean_, low, high)
    if not weight or centred:
        return found
    return replace(found, level=fractions * INDEPENDENCE[weight])


class _Curve(Protocol):
    """An estimator at a changing threshold."""

    def at(self, q: float) -> MeanAndDraws:
        """Mean entry at a threshold, and a function that draws it again."""


class _Global:
    """The curve of one radius; the bootstrap draws exceedances."""

    def __init__(self, X: np.ndarray):
        self.X, self.radii = X, np.sqrt(np.einsum("ti,ti->t", X, X))

    def at(self, q: float) -> MeanAndDraws:
        """Mean entry at a threshold, and a function that draws it again."""
        at, _ = Threshold("q", q).exceedances(self.radii)
        angles = self.X[at] / self.radii[at, None]

        def again(rng: np.random.Generator, draws: int) -> np.ndarray:
            drawn = (rng.integers(len(at), size=len(at)) for _ in range(draws))
            return np.array([_mean_of(angles[rows]) for rows in drawn])

        return _mean_of(angles), again


class _Pairwise:
    """The curve of one radius for each pair; the bootstrap draws observations."""

    def __init__(self, X: np.ndarray):
        self.X = X

    def at(self, q: float) -> MeanAndDraws:
        """Mean entry at a threshold, and a function that draws it again."""
        T, n = self.X.shape
        off = ~np.eye(n, dtype=bool)

        def mean(rows: np.ndarray) -> float:
            return float(pairwise_tpdm(self.X[rows], Threshold("q", q))[off].mean())

        def again(rng: np.random.Generator, draws: int) -> np.ndarray:
            return np.array([mean(np.sort(rng.integers(T, size=T))) for _ in range(draws)])

        return mean(np.arange(T)), again


class _Weights:
    """The curve of weights by rank; the bootstrap draws observations."""

    def __init__(self, X: np.ndarray, weight: str, centred: bool = False):
        self.u, self.weight = np.ascontiguousarray(average_ranks(X).T) / (len(X) + 1), weight
        self.centred = centred

    def at(self, q: float) -> MeanAndDraws:
        """Mean entry at a threshold, and a function that draws it again."""
        W = tail_weights(self.u, q, self.weight)
        n, T = W.shape
        squares = W * W

        def means(times: np.ndarray) -> np.ndarray:  # (draws, T) -> (draws,)
            """Mean entries, where row t counts so many times; all draws in three products."""
            centres = times @ W.T / T if self.centred else np.zeros((len(times), n))
            sizes = np.sqrt(np.maximum(times @ squares.T - T * centres**2, 0.0))
            scales = 1 / np.where(sizes > TINY * np.sqrt(T), sizes, np.inf)  # (draws, n)
            columns = scales @ W - (scales * centres).sum(axis=1, keepdims=True)
            found: np.ndarray = ((times * columns**2).sum(axis=1) - n) / (n * (n - 1))
            return found

        def again(rng: np.random.Generator, draws: int) -> np.ndarray:
            drawn = (rng.integers(T, size=T) for _ in range(draws))
            return means(np.array([np.bincount(rows, minlength=T) for rows in drawn], dtype=float))

        return float(means(np.ones((1, T)))[0]), again


def _mean_of(angles: np.ndarray) -> float:  # (n_exc, n)
    """Mean off-diagonal entry of the unit-diagonal TPDM of some angles."""
    return mean_entry(unit_diagonal_gram(torch.from_numpy(angles.T.copy()), torch.float64))
