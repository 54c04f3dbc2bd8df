"""Exceedances of a tail dependence matrix: events, choice of threshold, independence baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.data import Panel
from symnmf.dependence.diagnostics import StabilityCurve, independence_baseline, threshold_stability
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.grouping.between_groups import event_shares
from symnmf.operators import GramOperator, SymmetricOperator

#: How many numbers of the table all draws of the diagnostics together may process, and the maximum
#: and minimum number of draws.
DRAWN_NUMBERS, MAX_DRAWS, MIN_DRAWS = 20_000_000, 50, 5
#: Number of largest events that are listed, and of groups that are named with each.
LISTED_EVENTS, NAMED_GROUPS = 12, 3


@dataclass(frozen=True)
class Event:
    """An extreme observation.

    Attributes:
        date: date of the observation.
        size: radius in multiples of the threshold.
        groups: number of each group that it hit harder than usual, and the ratio to the usual.
    """

    date: str
    size: float
    groups: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Extremes:
    """The extremes of a table.

    Attributes:
        estimate: how the tail dependence matrix was estimated.
        shares: (events, k) share of each event that fell on each group.
        largest: the largest events, largest first.
        curve: mean dependence as a function of the threshold.
        baseline: (draws,) mean dependence of independent instruments.
        mean: mean dependence at the chosen threshold.
    """

    estimate: TailEstimate
    shares: np.ndarray
    largest: tuple[Event, ...]
    curve: StabilityCurve
    baseline: np.ndarray
    mean: float

    @property
    def sizes(self) -> np.ndarray:  # (events,)
        """Radii in multiples of the threshold; unscaled where every observation is extreme."""
        return self.estimate.radii / (self.estimate.threshold or 1.0)

    @property
    def above_chance(self) -> float:
        """Mean dependence above that of independence, from 0 (none above) to 1 (the maximum)."""
        chance = float(self.baseline.mean())
        return (self.mean - chance) / max(1e-12, 1 - chance)


def examine_extremes(
    panel: Panel, S: SymmetricOperator, result: Result, seed: int = 0
) -> Extremes | None:
    """Examine the exceedances; None unless S is a global TPDM held by one process.

    Arguments:
        panel: the returns that S was estimated from.
        S: the dependence matrix.
        result: a factorization of S.
        seed: seed of the draws of the diagnostics.
    """
    about = S.provenance
    if not isinstance(about, TailEstimate) or about.estimator != "global":
        return None
    if not isinstance(S, GramOperator) or S.process_count > 1:
        return None
    shares = event_shares(S, result.labels(), result.H.shape[1])
    draws = int(np.clip(DRAWN_NUMBERS / panel.values.size, MIN_DRAWS, MAX_DRAWS))
    options: dict[str, Any] = {"tail": about.tail, "margins": about.margins}
    q = np.geomspace(max(0.01, 3 / len(panel.values)), 0.2, 9)
    n = S.n
    return Extremes(
        estimate=about,
        shares=shares,
        largest=_largest(about, shares),
        curve=threshold_stability(panel, q, draws=draws, seed=seed, **options),
        baseline=independence_baseline(panel, S, draws=max(MIN_DRAWS, draws // 3), seed=seed),
        mean=(S.mean() * n**2 - S.trace()) / (n * (n - 1)),
    )


def _largest(estimate: TailEstimate, shares: np.ndarray) -> tuple[Event, ...]:
    """The largest events, with the groups that each hit harder than usual."""
    usual = shares.mean(axis=0)
    lift = np.divide(shares, usual, out=np.zeros_like(shares), where=usual > 0)
    numbers = group_numbers(np.arange(shares.shape[1])).tolist()
    found = []
    for t in np.argsort(-estimate.radii, kind="stable")[:LISTED_EVENTS]:
        first = np.argsort(-lift[t], kind="stable")[:NAMED_GROUPS]
        hit = tuple((numbers[g], float(lift[t, g])) for g in first if lift[t, g] > 1)
        size = float(estimate.radii[t] / (estimate.threshold or 1.0))
        found.append(Event(estimate.dates[t], size, hit))
    return tuple(found)
