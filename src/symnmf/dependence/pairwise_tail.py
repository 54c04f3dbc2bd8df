"""The TPDM with one radius for each pair of instruments.

What it measures: how evenly the two instruments of a pair share the days on which the pair is
extreme. Cost: about 2·q·T numbers for each pair, n² / 2 pairs. Form: dense, may be indefinite.

For each instrument i the radii of all pairs (i, j) are found in blocks. The m largest radii of a
pair are sought among the largest observations of its two instruments. Any other observation has a
squared radius of at most the sum of the squares at which the two lists end; a pair whose threshold
is not above that sum is done anew with all observations, so that the result is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from symnmf.dependence.pair_scores import PairScores
from symnmf.dependence.threshold import Threshold, keep_largest
from symnmf.errors import InvalidInput, called
from symnmf.numerics import row_chunks

#: Radii that a thread processes at a time: they stay in its cache.
BLOCK_ENTRIES = 1 << 17
#: Observations of each instrument that are looked at first, as a multiple of the exceedances, and
#: in addition. The squared radius of a pair has a tail of 2 / z whatever the dependence, so that
#: nearly all pairs need no more; the others are found by a check and done anew.
SPARE_SHARE, SPARE = 1.1, 8
#: Squared radii that differ by less than this fraction are examined as ties.
TIE = 1e-13
#: Divisor of a product where the radius is zero: a division for some numbers only is slow.
LEAST = float(np.finfo(np.float64).tiny)
#: Least number of observations that two instruments must share.
LEAST_SHARED = 20


def pairwise_tpdm(X: np.ndarray, rule: Threshold, decluster: int = 0) -> np.ndarray:  # (n, n)
    """2·mean of w_i w_j over the observations with (x_i² + x_j²)^{1/2} large, for each pair.

    Arguments:
        X: (T, n) observations on heavy-tailed margins, without missing numbers.
        rule: threshold for the radii of a pair.
        decluster: number of rows; of the exceedances of a pair with fewer rows between them only
            the largest is used.

    Raises:
        InvalidInput: a pair has no exceedances.

    Example:
        >>> X = np.array([[4.0, 3.0], [0.1, 0.2], [5.0, 0.0]])
        >>> pairwise_tpdm(X, Threshold("count", 2)).round(2)
        array([[1.  , 0.48],
               [0.48, 1.  ]])

    Reference: Jiang, Cooley and Wehner (2020), doi:10.1175/JCLI-D-19-0413.1.
    """
    n = X.shape[1]
    pairs = _Pairs.of(X, rule, decluster)
    out = np.eye(n)

    def fill(i: int) -> None:
        for part in row_chunks(n - i - 1, pairs.width, BLOCK_ENTRIES):
            J = slice(i + 1 + part.start, i + 1 + part.stop)
            out[i, J] = out[J, i] = pairs.entries(i, J)

    over_threads(fill, n)
    return out


def over_threads(work: Callable[[int], None], n: int) -> None:
    """Call a function with 0, …, n − 1, in as many threads as torch uses."""
    threads = min(torch.get_num_threads(), n)
    if threads < 2:
        for i in range(n):
            work(i)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(n), chunksize=1):
            pass


@dataclass(frozen=True)
class _Pairs:
    """All instruments, and for each the observations that are likely to count.

    Attributes:
        X: (n, T) observations.
        count: number of exceedances of a pair; None where a radius is given.
        rule: threshold for the radii.
        decluster: rows between two events.
        top: (n, K) times of the K largest observations of each instrument; None if all times are
            used.
        largest: (n, K) these observations.
        bound: (n,) square of the largest of the other observations.
    """

    X: np.ndarray
    count: int | None
    rule: Threshold
    decluster: int
    top: np.ndarray | None = None
    largest: np.ndarray | None = None
    bound: np.ndarray | None = None

    @classmethod
    def of(cls, X: np.ndarray, rule: Threshold, decluster: int) -> _Pairs:
        rows = np.ascontiguousarray(X.T)
        T = rows.shape[1]
        count = rule.count(T)
        if count == 0:
            raise no_exceedances(rule, 0, 1)
        if count is None:
            K = int((rows * rows >= rule.value**2 / 2).sum(axis=1).max())
        else:
            K = int(SPARE_SHARE * count) + SPARE
        if decluster or 2 * K >= T:
            return cls(rows, count, rule, decluster)
        top = np.sort(np.argpartition(rows, T - K - 1, axis=1)[:, T - K :], axis=1)
        largest = np.take_along_axis(rows, top, axis=1)
        bound = np.partition(rows, T - K - 1, axis=1)[:, T - K - 1] ** 2
        return cls(rows, count, rule, decluster, top, largest, bound)

    @property
    def width(self) -> int:
        """Number of radii of a pair that are looked at."""
        return int(self.X.shape[1] if self.top is None else 2 * self.top.shape[1])

    def entries(self, i: int, J: slice) -> np.ndarray:  # (|J|,)
        """The entries of instrument i with the instruments J."""
        numbers = np.arange(J.start, J.stop)
        if self.top is None or self.largest is None or self.bound is None:
            return self._from(self.X[i], self.X[J], i, numbers)[0]
        own, K = self.top[i], self.top.shape[1]
        x, y = np.empty((2, len(numbers), 2 * K))
        x[:, :K] = self.largest[i]
        np.take(self.X[J], own, axis=1, out=y[:, :K], mode="clip")  # else numpy copies twice
        seen = np.zeros(self.X.shape[1])
        seen[own] = 1.0
        unseen = 1.0 - seen
        times = self.top[J]
        fresh = unseen[times]
        np.multiply(self.X[i][times], fresh, out=x[:, K:])
        np.multiply(self.largest[J], fresh, out=y[:, K:])
        out, cut = self._from(x, y, i, numbers)
        # An observation that was left out has a squared radius of at most the two bounds.
        open_ = np.flatnonzero(cut * (1 - TIE) <= self.bound[i] + self.bound[J])
        if len(open_):
            out[open_] = self._from(self.X[i], self.X[J.start + open_], i, numbers[open_])[0]
        return out

    def _from(
        self, x: np.ndarray, y: np.ndarray, i: int, numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Entries and squared thresholds from observations of i and of other instruments."""
        weights, radii = x * y, y * y
        radii += x * x
        np.divide(weights, np.maximum(radii, LEAST), out=weights)

        def exactly(row: int) -> float:
            return self._one(i, int(numbers[row]))

        return pair_means(radii, weights, self.count, self.rule, self.decluster, exactly)

    def _one(self, i: int, j: int) -> float:
        """The entry of one pair by its definition, which decides between equal radii."""
        return pair_entry(self.X[i], self.X[j], self.rule, self.decluster, (i, j))


def pair_entry(
    x: np.ndarray, y: np.ndarray, rule: Threshold, decluster: int, pair: tuple[int, int]
) -> float:
    """The entry of one pair by its definition.

    Arguments:
        x, y: (T,) observations of the two instruments.
        rule, decluster: as for :func:`pairwise_tpdm`.
        pair: numbers of the instruments, for the message.
    """
    radii = np.hypot(x, y)
    at = keep_largest(rule.exceedances(radii)[0], radii, decluster)
    if not len(at):
        raise no_exceedances(rule, *pair)
    squares = radii[at] ** 2
    weights = np.divide(x[at] * y[at], squares, out=np.zeros(len(at)), where=squares > 0)
    return float(2 * weights.mean())


def pair_means(
    radii: np.ndarray,
    weights: np.ndarray,
    count: int | None,
    rule: Threshold,
    decluster: int,
    exactly: Callable[[int], float],
) -> tuple[np.ndarray, np.ndarray]:  # (p,), (p,)
    """Twice the mean weight over the exceedances of each row, and the squared thresholds.

    Arguments:
        radii: (p, w) squared radii; in order of time for declustering.
        weights: (p, w) products divided by the squared radii.
        count: number of exceedances; None for a given radius.
        rule: threshold of the radii.
        decluster: number of rows between two events.
        exactly: function that finds one row by its definition, for equal radii.
    """
    width = radii.shape[1]
    if count is None:
        cut = np.full(len(radii), rule.value**2)
        close = (np.abs(radii - cut[:, None]) <= TIE * cut[:, None]).any(axis=1)
        above = radii > cut[:, None]
    else:
        ordered = np.partition(radii, width - count, axis=1)
        cut = ordered[:, width - count]
        below = ordered[:, : width - count].max(axis=1, initial=-np.inf)
        close = below >= (1 - TIE) * cut
        above = radii >= cut[:, None]
    if decluster:
        total, counts = _declustered(radii, weights, above, decluster)
    else:
        total = np.einsum("pw,pw->p", weights, above)
        counts = (
            np.full(len(radii), count) if count is not None else np.count_nonzero(above, axis=1)
        )
    close |= counts == 0
    means = 2 * total / np.maximum(counts, 1)
    unsure = np.flatnonzero(close)
    if len(unsure) and count is not None and not decluster and rule.name in ("q", "count"):
        even, of_even = _of_even_ties(radii[unsure], weights[unsure], cut[unsure], count)
        means[unsure[even]] = of_even
        unsure = unsure[~even]
    for row in unsure:
        means[row] = exactly(int(row))
    return means, cut


def _of_even_ties(
    radii: np.ndarray, weights: np.ndarray, cut: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows in which all observations at the threshold have one weight, and their entries.

    Which of them are exceedances makes no difference there: in resampled histories, where rows
    repeat, nearly every pair is of this kind.

    Arguments:
        radii, weights: (p, w) squared radii and weights.
        cut: (p,) squared thresholds.
        count: number of exceedances.
    """
    limit = cut[:, None]
    band = np.abs(radii - limit) <= TIE * limit
    most = np.max(weights, axis=1, where=band, initial=-np.inf)
    least = np.min(weights, axis=1, where=band, initial=np.inf)
    even = band.any(axis=1) & (most - least <= TIE)
    inner = (radii > limit) & ~band
    total = np.einsum("pw,pw->p", weights, inner)
    rest = count - np.count_nonzero(inner, axis=1)
    entries = 2 * (total[even] + rest[even] * most[even]) / count
    return even, entries


def _declustered(
    radii: np.ndarray, weights: np.ndarray, above: np.ndarray, gap: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of weights over the largest exceedance of each run, and the number of runs."""
    rows, times = np.nonzero(above)
    if not len(rows):
        return np.zeros(len(radii)), np.zeros(len(radii), dtype=int)
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (np.diff(rows) > 0) | (np.diff(times) > gap)
    starts = np.flatnonzero(fresh)
    size = radii[rows, times]
    order = np.lexsort((times, -size, np.cumsum(fresh)))[starts]  # first: largest, then earliest
    total = np.bincount(rows[order], weights[rows[order], times[order]], minlength=len(radii))
    return total, np.bincount(rows[order], minlength=len(radii))


def pairwise_with_holes(
    scores: PairScores,
    to_margin: Callable[[np.ndarray], np.ndarray],
    rule: Threshold,
    decluster: int = 0,
) -> np.ndarray:  # (n, n)
    """:func:`pairwise_tpdm` of the rows that both instruments of a pair have.

    Both instruments are ranked among these rows, so that an instrument with a short history is
    compared with the same days of the others.

    Arguments:
        scores: ranks of the pairs.
        to_margin: function from uniform scores to the heavy-tailed margin.
        rule, decluster: as for :func:`pairwise_tpdm`.
    """
    n = scores.n
    out = np.eye(n)
    complete = scores.complete
    if len(complete) > 1:
        heavy = to_margin(scores.uniform(complete))
        out[np.ix_(complete, complete)] = pairwise_tpdm(heavy.T, rule, decluster)

    def fill(at: int) -> None:
        i = int(scores.incomplete[at])
        for J in scores.partners(at):
            out[i, J] = out[J, i] = _with_holes(scores, i, J, to_margin, rule, decluster)

    over_threads(fill, len(scores.incomplete))
    return out


def _with_holes(
    scores: PairScores,
    i: int,
    J: np.ndarray,
    to_margin: Callable[[np.ndarray], np.ndarray],
    rule: Threshold,
    decluster: int,
) -> np.ndarray:  # (|J|,)
    own, others, both = scores.of_pairs(i, J)
    x, y = to_margin(own), to_margin(others)
    shared = both.sum(axis=1)
    out = np.empty(len(J))
    for row in range(len(J)):
        if rule.count(int(shared[row])) == 0 or shared[row] < LEAST_SHARED:
            raise few_shared_rows(scores, i, int(J[row]), int(shared[row]))
        at = both[row]
        out[row] = pair_entry(x[row, at], y[row, at], rule, decluster, (i, int(J[row])))
    return out


def few_shared_rows(scores: PairScores, i: int, j: int, shared: int) -> InvalidInput:
    """The error for two instruments that share too few rows."""
    return InvalidInput(
        "returns",
        f"{scores.names[i]!r} and {scores.names[j]!r} share {shared} rows, too few for extremes",
        f"Leave one of them out, or take a larger {called('q')}",
    )


def no_exceedances(rule: Threshold, i: int, j: int) -> InvalidInput:
    """The error for a pair without exceedances."""
    return InvalidInput(
        rule.name, f"leaves the pair {i}, {j} without exceedances", "Lower the threshold"
    )
