"""Rows in blocks: drawn again for every interval of a panel, or shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import numpy_stream
from symnmf.options import whole_number

#: Blocks of a history unless another length is chosen. Volatility lasts for months, and the
#: dependence that it leaves between products of returns is too weak to be seen day by day:
#: automatic lengths (Politis and White 2004, doi:10.1081/ETC-120028836) came out as a few days,
#: and their intervals too narrow. Few long blocks with Student's quantile keep the level.
BLOCKS = 6


def default_block(T: int) -> int:
    """Successive rows that are drawn together unless stated otherwise: a sixth of the history.

    Example:
        >>> default_block(1000), default_block(3)
        (166, 1)
    """
    return max(1, T // BLOCKS)


def shuffled_blocks(rows: int, rng: np.random.Generator, block: int) -> np.ndarray:  # (rows,)
    """Row numbers with blocks of successive rows in random order, each row once.

    Arguments:
        rows: number of rows.
        rng: generator of the order.
        block: successive rows that stay together; the last block may be shorter.

    Example:
        >>> shuffled_blocks(12, np.random.default_rng(0), 2)
        array([ 6,  7,  4,  5, 10, 11,  8,  9,  0,  1,  2,  3])
    """
    begins = rng.permutation(np.arange(0, rows, block))
    return np.concatenate([np.arange(b, min(b + block, rows)) for b in begins])


@dataclass(frozen=True)
class Resamples:
    """Samples of the rows of a panel: blocks of successive rows drawn with replacement.

    The same numbers give the same samples, so that intervals of different quantities belong to
    the same samples without storing them.

    Arguments:
        T: number of rows.
        draws: number of samples.
        block: successive rows drawn together; longer than the dependence between rows.
        seed: seed of the draws.

    Example:
        >>> [rows.tolist() for rows in Resamples(T=4, draws=2, block=2)]
        [[0, 1, 3, 0], [1, 2, 1, 2]]
    """

    T: int
    draws: int
    block: int
    seed: int = 0

    @classmethod
    def of(cls, T: int, draws: int, block: int | None = None, seed: int = 0) -> Resamples:
        """The samples of every interval of a panel, in blocks of :func:`default_block` rows.

        Arguments:
            T, draws, seed: as for the class.
            block: another number of successive rows drawn together.

        Example:
            >>> Resamples.of(T=600, draws=2)
            Resamples(T=600, draws=2, block=100, seed=0)
        """
        return cls(T, draws, default_block(T) if block is None else block, seed)

    def __post_init__(self) -> None:
        whole_number("draws", self.draws, 1, 100_000)
        whole_number("block", self.block, 1, self.T, f"from 1 to the {self.T} rows of the panel")

    def rows(self, draw: int) -> np.ndarray:  # (T,)
        """Rows of one sample, block after block."""
        rng = numpy_stream(self.seed, "bootstrap", draw)
        begins = rng.integers(self.T, size=-(-self.T // self.block))
        rows: np.ndarray = ((begins[:, None] + np.arange(self.block)) % self.T).ravel()[: self.T]
        return rows

    def around(
        self, found: np.ndarray, sample: np.ndarray, level: float
    ) -> np.ndarray:  # (…), (draws, …) -> (2, …)
        """Ends of intervals of dependences from 0 to 1, from their values in the samples.

            tanh(atanh(found) ± t · sd of atanh(sample) · sqrt(T / (T − block)))

        t is the quantile of Student's distribution with one degree of freedom less than there are
        blocks, few of which make the spread uncertain. On this scale the spread hardly depends on
        the dependence.

        Arguments:
            found: the estimates of the whole panel.
            sample: those of the samples.
            level: coverage of the intervals.

        Example:
            >>> Resamples(T=100, draws=2, block=10).around(
            ...     np.array([0.5]), np.array([[0.4], [0.6]]), 0.9
            ... ).round(2).ravel()
            array([0.18, 0.72])
        """
        spread = AtanhSpread(torch.from_numpy(np.asarray(found)))
        for one in sample:
            spread.add(torch.from_numpy(np.asarray(one)))
        return self.around_spread(spread, level)

    def around_spread(self, spread: AtanhSpread, level: float) -> np.ndarray:  # (2, …)
        """:meth:`around` of samples that were added one by one, none of which is kept.

        Arguments:
            spread: the estimates, and the spread of the samples about them.
            level: coverage of the intervals.
        """
        width = self.quantile(level) * spread.deviation()
        ends = torch.stack([spread.middle - width, spread.middle + width]).tanh_()
        return np.asarray(ends.numpy())

    def percentiles(
        self, found: np.ndarray, sample: np.ndarray, level: float
    ) -> np.ndarray:  # (…), (draws, …) -> (2, …)
        """Percentiles of the samples, moved away from the estimate as far as few blocks require.

        They are stretched by t · sqrt(T / (T − block)) / z, z being the quantile of the normal
        distribution, and lie on both sides of the estimate. Where the estimate and both
        percentiles are positive the ratio to the estimate is stretched, so that they stay positive.
        The p-percentile of d draws is the one at place p (d + 1), so that few draws do not make the
        interval too narrow.

        Arguments:
            found, sample, level: as for :meth:`around`, of quantities of any size.

        Example:
            >>> Resamples(T=60, draws=3, block=10).percentiles(
            ...     np.array([2.0]), np.array([[1.0], [2.0], [3.0]]), 0.9
            ... ).round(1).ravel()
            array([0.8, 3.4])
        """
        from scipy.special import ndtri

        tails = [(1 - level) / 2, (1 + level) / 2]
        ends = np.quantile(sample, tails, axis=0, method="weibull")
        stretch = self.quantile(level) / ndtri(tails[1])
        positive = (found > 0) & (ends > 0).all(axis=0)
        ratio = np.where(positive, ends, 1.0) / np.where(positive, found, 1.0)
        stretched = np.where(positive, found * ratio**stretch, found + stretch * (ends - found))
        return np.stack([np.minimum(stretched[0], found), np.maximum(stretched[1], found)])

    def by_ratio(
        self, found: np.ndarray, sample: np.ndarray, level: float
    ) -> np.ndarray:  # (…), (draws, …) -> (2, …)
        """Ends of intervals that are symmetric in the ratio to the estimate.

            found · exp(± t · sd of log(sample) · sqrt(T / (T − block)))

        with t as for :meth:`around`. The percentiles of a large loss end too low: a history that
        lacks the largest losses cannot draw them. Where a number is not positive the differences
        take the place of the ratios.

        Arguments:
            found, sample, level: as for :meth:`around`, of quantities of any size.

        Example:
            >>> Resamples(T=60, draws=3, block=10).by_ratio(
            ...     np.array([2.0]), np.array([[1.5], [2.0], [2.5]]), 0.9
            ... ).round(1).ravel()
            array([1.1, 3.5])
        """
        positive = (found > 0) & (sample > 0).all(axis=0)
        logs = np.log(np.where(positive, sample, 1.0)).std(axis=0, ddof=1)
        wide = self.quantile(level) * np.where(positive, logs, sample.std(axis=0, ddof=1))
        ratio = np.exp(np.where(positive, wide, 0.0))
        low, high = found / ratio, found * ratio
        return np.stack(
            [np.where(positive, low, found - wide), np.where(positive, high, found + wide)]
        )

    def quantile(self, level: float) -> float:
        """Half the width of an interval as a multiple of the spread of the samples.

        It is t · sqrt(T / (T − block)), as in :meth:`around`.

        Example:
            >>> round(Resamples(T=60, draws=3, block=10).quantile(0.9), 2)
            2.21
        """
        from scipy.special import stdtrit

        quantile = float(stdtrit(max(1, self.T // self.block - 1), (1 + level) / 2))
        return quantile * float(np.sqrt(self.T / max(1, self.T - self.block)))

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.rows(draw) for draw in range(self.draws))


class AtanhSpread:
    """Spread of samples of dependences from 0 to 1, on the scale of atanh, without keeping them.

    The differences from the atanh of the estimates, and their squares, are summed in float64.

    Arguments:
        found: the estimates.

    Example:
        >>> spread = AtanhSpread(torch.tensor([0.5]))
        >>> for one in (0.4, 0.6):
        ...     spread.add(torch.tensor([one]))
        >>> round(float(spread.deviation()), 3)  # atanh(0.6) − atanh(0.4) = 0.2695, over sqrt(2)
        0.191
    """

    def __init__(self, found: Tensor):
        self.middle = _atanh(found).to(torch.float64)
        self.count = 0
        self._sum = torch.zeros_like(self.middle)
        self._squares = torch.zeros_like(self.middle)

    def add(self, sample: Tensor) -> None:
        """Count one more sample."""
        difference = _atanh(sample).to(torch.float64).sub_(self.middle)
        self.count += 1
        self._sum += difference
        self._squares.addcmul_(difference, difference)

    def deviation(self) -> Tensor:
        """Standard deviation of the samples; NaN for fewer than two."""
        if self.count < 2:
            return torch.full_like(self._sum, torch.nan)
        rest = self._squares - self._sum.square() / self.count
        return rest.clamp_(min=0).div_(self.count - 1).sqrt_()


def _atanh(values: Tensor) -> Tensor:
    """The scale on which the spread hardly depends on the dependence; 1 has a finite value."""
    most = 1 - 1e-6
    return values.clamp(-most, most).atanh_()
