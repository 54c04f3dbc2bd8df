"""Days drawn from the max-linear model of joint crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from symnmf.numerics import numpy_stream
from symnmf.options import whole_number

if TYPE_CHECKING:
    from symnmf.grouping.crash_model import CrashModel


def draw_scores(A: np.ndarray, days: int, rng: np.random.Generator) -> np.ndarray:  # (days, n)
    """Uniform scores of instruments on days drawn from the max-linear model of loadings A.

    Arguments:
        A: (n, k) loadings; no row is longer than one.
        days: number of days.
        rng: generator of the draws.
    """
    squares = A * A
    own = np.clip(1 - squares.sum(axis=1), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        least = rng.exponential(size=(days, len(A))) / own
        for column in squares.T:
            least = np.minimum(least, rng.exponential(size=(days, 1)) / column)
    scores: np.ndarray = np.exp(-least)
    return scores


def simulate(model: CrashModel, days: int = 1000, *, seed: int = 0) -> pd.DataFrame:
    """Days drawn from a model of joint crashes, as returns in the sign of the panel.

    The model is one of extremes: on ordinary days only the distribution of each instrument is that
    of the data, not the way they move together.

    Arguments:
        model: what :func:`crash_model` returned.
        days: number of days.
        seed: seed of the draws.

    Returns:
        A row for each day and a column for each instrument; days are independent.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 1000)
        >>> model = sn.crash_model(sn.factorize(sn.tail_dependence(panel), k=4), panel, draws=0)
        >>> simulate(model, 5).shape
        (5, 20)
    """
    days = whole_number("days", days, 1, 10**9)
    rng = numpy_stream(seed, "simulated crashes")
    losses = model.tails.quantiles(draw_scores(model.loadings, days, rng))
    sign = -1.0 if model.tail == "lower" else 1.0
    return pd.DataFrame(sign * losses, columns=list(model.names))
