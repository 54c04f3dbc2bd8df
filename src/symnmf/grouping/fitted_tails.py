"""Margins of losses: the sample below a high quantile, a generalized Pareto tail above it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.display import Brief

#: Share of the observations that the fitted tail replaces, and the fewest of them.
FITTED_SHARE, LEAST_FITTED = 0.05, 30
#: Range of the shape: estimates from probability-weighted moments need a shape below 1/2 for their
#: variance and below 1 to exist.
SHAPES = (-0.5, 0.9)


@dataclass(frozen=True, repr=False)
class FittedTails(Brief):
    """Distributions of the losses of n instruments.

    Attributes:
        ordered: (T, n) losses of each instrument, ascending.
        share: share of the observations above the threshold.
        threshold, shape, scale: (n,) P(X > x) = share · (1 + shape (x − threshold) / scale)^(−1 /
            shape) above the threshold.
    """

    ordered: np.ndarray
    share: float
    threshold: np.ndarray
    shape: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> FittedTails:
        """Fit the tails by probability-weighted moments, which have a closed form.

        Arguments:
            X: (T, n) observations whose large values are extreme.

        Example:
            >>> u = (np.arange(1, 20_001) - 0.5) / 20_000
            >>> found = FittedTails.of((u ** (-1 / 4))[:, None])  # index 4: shape 1/4
            >>> bool(abs(found.shape[0] - 0.25) < 0.02)
            True

        Reference: Hosking and Wallis (1987), doi:10.2307/1269343.
        """
        ordered = np.sort(X, axis=0)
        T = len(X)
        m = min(T - 1, max(LEAST_FITTED, int(FITTED_SHARE * T)))
        threshold = ordered[T - m - 1]
        excess = ordered[T - m :] - threshold
        order = (np.arange(1, m + 1) - 0.35)[:, None] / m
        first, second = excess.mean(axis=0), ((1 - order) * excess).mean(axis=0)
        gap = np.maximum(first - 2 * second, np.finfo(float).tiny)
        shape = np.clip(2 - first / gap, *SHAPES)
        scale = np.maximum(
            first * (1 - shape), np.finfo(float).tiny
        )  # the mean of the tail is kept
        return cls(ordered, m / T, threshold, shape, scale)

    def at(self, places: np.ndarray) -> FittedTails:
        """The distributions of some instruments."""
        return FittedTails(
            self.ordered[:, places], self.share, self.threshold[places], self.shape[places],
            self.scale[places],
        )  # fmt: skip

    def exceeded(self, x: np.ndarray) -> np.ndarray:  # (n,) -> (n,)
        """P(X_i > x_i)."""
        T, n = self.ordered.shape
        above = np.array(
            [T - np.searchsorted(self.ordered[:, i], x[i], "right") for i in range(n)]
        ) / (T + 1)
        inside = np.maximum(0.0, 1 + self.shape * (x - self.threshold) / self.scale)
        with np.errstate(divide="ignore", over="ignore"):
            power = np.where(
                np.abs(self.shape) < 1e-6,
                np.exp(-(x - self.threshold) / self.scale),
                inside ** (-1 / np.where(self.shape == 0, 1.0, self.shape)),
            )
        far: np.ndarray = np.where(x > self.threshold, self.share * power, above)
        return far

    def quantiles(self, u: np.ndarray) -> np.ndarray:  # (D, n) -> (D, n)
        """Losses with P(X_i ≤ x_i) = u_i, for many u at once."""
        T, n = self.ordered.shape
        place = np.clip(u * (T + 1) - 1, 0, T - 1)
        low = place.astype(np.int64)
        high = np.minimum(low + 1, T - 1)
        column = np.arange(n)
        near = self.ordered[low, column]
        near = near + (place - low) * (self.ordered[high, column] - near)
        found: np.ndarray = np.minimum(near, self.threshold)
        left = np.maximum(1 - u, np.finfo(float).tiny)
        day, which = np.nonzero(left < self.share)  # few: powers are slow
        shape = np.where(np.abs(self.shape) < 1e-6, 1e-6, self.shape)[which]
        beyond = (left[day, which] / self.share) ** -shape - 1
        found[day, which] = self.threshold[which] + self.scale[which] / shape * beyond
        return found
