"""Removal of changing volatility before dependence is estimated."""

from __future__ import annotations

import numpy as np

from symnmf.errors import InvalidInput

#: Decay of the variance from day to day (RiskMetrics, 1996), and rows behind the first variance.
DECAY, FIRST_ROWS = 0.94, 50


def ewma_filtered(X: np.ndarray, decay: float = DECAY) -> np.ndarray:  # (T, n)
    """Divide each observation by the volatility that the observations before it suggest.

        z_t = x_t / σ_t,   σ_t² = λ σ_{t−1}² + (1 − λ) x_{t−1}²

    The first variance is the mean square of the first 50 rows. A missing number leaves the
    variance unchanged. Quiet times then count as much as turbulent ones: what is left are the days
    that were extreme for their time.

    Arguments:
        X: (T, n) returns.
        decay: decay λ of the variance.

    Raises:
        InvalidInput: the decay is not between 0 and 1.

    Example:
        >>> ewma_filtered(np.array([[1.0], [-1.0], [4.0]]), decay=0.5)[:, 0].round(3).tolist()
        [0.408, -0.535, 2.667]
    """
    if not 0 < decay < 1:
        raise InvalidInput("decay", f"got {decay!r}", "Pass a number between 0 and 1")
    squares = np.square(X)
    held = ~np.isnan(squares)
    start = squares[: min(FIRST_ROWS, len(X))]
    known = ~np.isnan(start)
    count = known.sum(axis=0)
    whole = np.nanmean(np.where(held.any(axis=0), squares, 1.0), axis=0)
    variance = np.divide(
        np.where(known, start, 0.0).sum(axis=0), count, out=whole.copy(), where=count > 0
    )
    variance = np.where(variance > 0, variance, np.where(whole > 0, whole, 1.0))
    least = 1e-6 * np.where(whole > 0, whole, 1.0)  # a long run of zeros must not divide by zero
    out = np.empty_like(X, dtype=np.float64)
    for t in range(len(X)):
        out[t] = X[t] / np.sqrt(np.maximum(variance, least))
        variance = np.where(held[t], decay * variance + (1 - decay) * squares[t], variance)
    return out
