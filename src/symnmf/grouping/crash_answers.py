"""What a model of joint crashes answers: a probability, and a loss, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class JointCrash:
    """Probability of a joint crash on one day.

    Attributes:
        value: probability under the model.
        low, high: its interval; NaN without resampled histories.
        observed: days of the data on which it happened.
        days: days of the data.
        independent: probability if the instruments were independent.
        resolved: whether the data reach so far: at least one such day is expected or was seen.
    """

    value: float
    low: float
    high: float
    observed: int
    days: int
    independent: float
    resolved: bool

    def __str__(self) -> str:
        seen = f"{self.observed} of {self.days} days ({self.observed / self.days:.2%}) in the data"
        if not self.resolved:
            return f"below one day in {self.days}: the data cannot say more; {seen}"
        ends = "" if np.isnan(self.low) else f" ({self.low:.2%} to {self.high:.2%})"
        return f"{self.value:.2%}{ends}; {seen}; {self.independent:.2%} if independent"


@dataclass(frozen=True)
class ReturnLevel:
    """Loss of a portfolio that is exceeded once in a period on average.

    Attributes:
        value: the loss under the model.
        low, high: its interval; NaN without resampled histories.
        observed: the same quantile of the portfolio's own losses in the data.
        period: the period, in days.
    """

    value: float
    low: float
    high: float
    observed: float
    period: int
