"""A panel whose time is split, drawn again or rotated, and the same estimate of each version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.dependence.resampling import shuffled_blocks
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator

#: Successive rows that stay together: about a month of trading days, longer than most dependence
#: between days. A short panel has shorter blocks, so that there are at least ``MIN_BLOCKS``.
BLOCK, MIN_BLOCKS = 21, 12


@dataclass(frozen=True)
class Estimator:
    """An estimator of dependence with its options, for versions of one panel.

    Attributes:
        dependence: name of the estimator; see :func:`symnmf.dependence.estimate`.
        options: its further arguments.
        rows: number of rows of the whole panel; a count of exceedances is scaled with the rows.
        intensity: shrinkage of the estimate of the whole panel, which every version gets, so that
            entries remain comparable; None where the estimator has none.
    """

    dependence: str
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 0
    intensity: float | None = None

    @classmethod
    def of(
        cls, S: SymmetricOperator, panel: Panel, dependence: str, options: Mapping[str, Any]
    ) -> Estimator:
        """The estimator that made S of a panel.

        Arguments:
            S: the estimate.
            panel: what it was estimated from.
            dependence, options: how it was estimated.
        """
        intensity = getattr(S.provenance, "intensity", None)
        return cls(dependence, dict(options), len(panel.values), intensity)

    def __call__(self, panel: Panel) -> SymmetricOperator:
        """The dependence matrix of a version of the panel."""
        options = {key: value for key, value in self.options.items() if key != "folder"}
        if self.dependence == "correlation":
            if self.intensity is not None:
                options["shrinkage"] = self.intensity
        else:
            options["allow_few"] = True
            if options.get("count") is not None:
                count = options.pop("count")
                options["q"] = min(1.0 - 1e-9, count / self.rows)
        return estimate(self.dependence, panel, **options)


def halves(
    rows: int, splits: int, rng: np.random.Generator, block: int = BLOCK
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random halves of the rows, in whole blocks of successive rows.

    Arguments:
        rows: number of rows.
        splits: number of splits.
        rng: generator of the splits.
        block: number of successive rows that stay together; fewer in a short panel.

    Yields:
        Row numbers of the two halves, ascending.

    Example:
        >>> one, two = next(halves(200, 1, np.random.default_rng(0), block=10))
        >>> len(one), len(two), len(np.union1d(one, two))
        (100, 100, 200)
    """
    block = max(1, min(block, rows // MIN_BLOCKS))
    number = np.arange(rows) // block
    count = int(number[-1]) + 1
    for _ in range(splits):
        first = rng.permutation(count)[: count // 2]
        mine = np.isin(number, first)
        yield np.flatnonzero(mine), np.flatnonzero(~mine)


def rotated(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # (T, n)
    """Each column rotated in time by its own number of rows: no dependence between columns is left.

    The dependence within a column (volatility that clusters, trends) stays, except at one row. The
    numbers of rows are about evenly spaced, so that no two columns turn alike, and vary by up to
    half of the space: two columns meet at other distances in every draw. Where there are more
    columns than rows, every further T columns have their blocks rearranged first, alike.

    Example:
        >>> rotated(np.arange(6.0).reshape(3, 2), np.random.default_rng(0)).sum(axis=0)
        array([6., 9.])
    """
    return _turned(np.ascontiguousarray(values.T), rng).T


def _turned(series: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # (n, T)
    """:func:`rotated` of a table with a series in each row."""
    n, T = series.shape
    turned = np.empty_like(series)
    order = rng.permutation(n)
    for begin in range(0, n, T):
        columns = order[begin : begin + T]
        free = (T // len(columns) - 1) // 2 + 1
        even = rng.integers(T) + np.arange(len(columns)) * T // len(columns)
        shift = (even + rng.integers(free, size=len(columns))) % T
        rows = None if begin == 0 else _rearranged(T, rng)
        for column, by in zip(columns.tolist(), shift.tolist(), strict=True):
            before = series[column] if rows is None else series[column, rows]
            turned[column, : T - by], turned[column, T - by :] = before[by:], before[:by]
    return turned


def _rearranged(rows: int, rng: np.random.Generator) -> np.ndarray:  # (rows,)
    """Row numbers with their blocks in random order."""
    return shuffled_blocks(rows, rng, max(1, min(BLOCK, rows // MIN_BLOCKS)))


#: Products of the power iteration for the common factor.
POWER_STEPS = 60


@dataclass(frozen=True)
class CommonFactor:
    """Data split into their common factor and the rest.

        z_t = b f_t + s_t u_t

    f is the leading principal component of the z-scores, and s_t the root mean square over the
    columns of what it leaves.

    Attributes:
        common: (n, T) b f_t.
        rest: (n, T) u_t; missing numbers stay missing.
        size: (T,) s_t.
    """

    common: np.ndarray
    rest: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> CommonFactor:
        """Split (T, n) returns."""
        X = np.ascontiguousarray(values.T)  # (n, T)
        known = ~np.isnan(X)
        every = bool(known.all())
        mean = X.mean(axis=1) if every else np.nanmean(X, axis=1)
        spread = X.std(axis=1) if every else np.nanstd(X, axis=1)
        Z = (X - mean[:, None]) / np.maximum(spread, np.finfo(float).tiny)[:, None]
        filled = Z if every else np.where(known, Z, 0.0)
        n, T = Z.shape
        small = filled @ filled.T if n <= T else filled.T @ filled
        vector = numpy_stream(0, "common factor").standard_normal(len(small))
        for _ in range(POWER_STEPS):  # the leading vector only: no decomposition
            vector = small @ vector
            vector /= np.linalg.norm(vector)
        factor = filled.T @ vector if n <= T else vector
        factor = factor / np.linalg.norm(factor)
        common = np.outer(filled @ factor, factor)
        rest = Z - common
        size = np.sqrt((np.mean if every else np.nanmean)(np.square(rest), axis=0))
        size = np.maximum(size, np.finfo(float).tiny)
        rest /= size
        return cls(common, rest, size)

    def without_groups(self, rng: np.random.Generator) -> np.ndarray:  # (T, n)
        """A version of the data with their common factor and common volatility, and no groups.

            x_t = b f_t + s_t · rotated(u_t)

        Days on which everything moves much remain such days.

        Arguments:
            rng: generator of the rotations.
        """
        turned = _turned(self.rest, rng)
        turned *= self.size
        turned += self.common
        return turned.T


def common_factor_only(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # (T, n)
    """A version of (T, n) returns with their common factor and no groups.

    See :meth:`CommonFactor.without_groups`; missing numbers stay missing.
    """
    return CommonFactor.of(values).without_groups(rng)
