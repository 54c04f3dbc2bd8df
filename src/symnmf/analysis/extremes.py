"""Exceedances of a tail dependence matrix: events, choice of threshold, independence baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.data import Panel
from symnmf.defaults import FRACTIONS
from symnmf.dependence.independence import estimate_again, independence_baseline, mean_entry
from symnmf.dependence.stability_curve import StabilityCurve, threshold_stability
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.display import Brief
from symnmf.grouping.between_groups import event_shares
from symnmf.grouping.prototypes import EXTREME_SHARE, LEAST_DAYS, Prototypes, prototypes
from symnmf.numerics import numpy_stream
from symnmf.operators import GramOperator, SymmetricOperator

#: How many numbers of the table all draws of the diagnostics together may process, and the maximum
#: and minimum number of draws.
DRAWN_NUMBERS, MAX_DRAWS, MIN_DRAWS = 20_000_000, 50, 5
#: Instruments with which the diagnostics of the pairwise estimator, and the baseline of the other
#: estimators without a global radius, are computed.
PAIRWISE_INSTRUMENTS, BASELINE_INSTRUMENTS = 100, 200
#: Number of largest events that are listed, of groups that are named with each, and the least ratio
#: to the usual share with which a group is named.
LISTED_EVENTS, NAMED_GROUPS, NAMED_LIFT = 12, 3, 1.05


@dataclass(frozen=True)
class Event:
    """An extreme observation.

    Attributes:
        date: date of the observation.
        size: size in multiples of the threshold, or of a typical event for weights by rank.
        groups: number of each group that it hit harder than usual, and the ratio to the usual.
    """

    date: str
    size: float
    groups: tuple[tuple[int, float], ...]


@dataclass(frozen=True, repr=False)
class Extremes(Brief):
    """The extremes of a table.

    Attributes:
        estimate: how the tail dependence matrix was estimated.
        listed: the extreme observations that are listed. They are those of the estimate, except
            that a matrix with extremes of its own for each pair lists those of the whole table.
        shares: (events, k) share of each listed event that fell on each group.
        largest: the largest events, largest first.
        curve: mean dependence as a function of the threshold.
        baseline: (draws,) mean dependence of independent instruments.
        mean: mean dependence at the chosen threshold.
        prototypes: kinds of the most extreme days; None where there are too few days.
    """

    estimate: TailEstimate
    listed: TailEstimate
    shares: np.ndarray
    largest: tuple[Event, ...]
    curve: StabilityCurve
    baseline: np.ndarray
    mean: float
    prototypes: Prototypes | None = None

    @property
    def kinds(self) -> np.ndarray | None:  # (events,)
        """Place of the kind of each listed observation in ``prototypes.found``; −1 for none."""
        if self.prototypes is None:
            return None
        kind = dict(zip(self.prototypes.rows.tolist(), self.prototypes.kinds.tolist(), strict=True))
        return np.array([kind.get(row, -1) for row in self.listed.exceedances.tolist()])

    @property
    def sizes(self) -> np.ndarray:  # (events,)
        """Sizes in multiples of the threshold, or of a typical event for weights by rank."""
        return self.listed.radii / (self.listed.threshold or 1.0)

    def table(self, groups: Sequence[str]) -> pd.DataFrame:
        """The listed observations: date, size, and the share that fell on each group.

        Arguments:
            groups: names of the k groups.
        """
        rows = pd.DataFrame(self.shares.round(4), columns=list(groups))
        rows.insert(0, "size", self.sizes.round(4))
        rows.index = pd.Index(self.listed.dates, name="date")
        return rows

    @property
    def above_chance(self) -> float:
        """Mean dependence above that of independence, from 0 (none above) to 1 (the maximum)."""
        chance = float(self.baseline.mean())
        return (self.mean - chance) / max(1e-12, 1 - chance)


def examine_extremes(
    panel: Panel, S: SymmetricOperator, result: Result, seed: int = 0
) -> Extremes | None:
    """Examine the extremes; None unless S is a tail dependence matrix held by one process.

    Arguments:
        panel: the returns that S was estimated from, without missing numbers.
        S: the dependence matrix.
        result: a factorization of S.
        seed: seed of the draws of the diagnostics.
    """
    about = S.provenance
    if not isinstance(about, TailEstimate) or S.process_count > 1:
        return None
    if np.isnan(panel.values).any():
        return None
    G = _events(panel, S, about)
    listed = G.provenance
    assert isinstance(listed, TailEstimate)
    shares = event_shares(G, result.labels(), result.H.shape[1])
    draws = int(np.clip(DRAWN_NUMBERS / panel.values.size, MIN_DRAWS, MAX_DRAWS))
    some = panel
    if about.estimator == "pairwise":
        some = _some(panel, PAIRWISE_INSTRUMENTS, seed)
    fewer = some if about.estimator == "global" else _some(some, BASELINE_INSTRUMENTS, seed)
    return Extremes(
        estimate=about,
        listed=listed,
        shares=shares,
        largest=_largest(listed, shares),
        curve=threshold_stability(
            some,
            np.geomspace(max(0.01, 3 / len(panel.values)), max(0.2, about.q), 9),
            tail=about.tail,
            margins=about.margins,
            estimator=about.estimator,
            weight=about.weight,
            draws=draws if some is panel else MIN_DRAWS,
            seed=seed,
        ),
        baseline=independence_baseline(fewer, S, draws=max(MIN_DRAWS, draws // 3), seed=seed),
        mean=mean_entry(S),
        prototypes=_prototypes(panel, result, about, seed),
    )


def _some(panel: Panel, count: int, seed: int) -> Panel:
    """At most so many instruments of a panel, chosen at random."""
    if len(panel.names) <= count:
        return panel
    chosen = np.sort(numpy_stream(seed, "some").permutation(len(panel.names))[:count])
    names = tuple(panel.names[c] for c in chosen)
    return replace(panel, values=panel.values[:, chosen], names=names)


def _prototypes(panel: Panel, result: Result, about: TailEstimate, seed: int) -> Prototypes | None:
    """Kinds of the most extreme days; None where there are too few, or one instrument."""
    if EXTREME_SHARE * len(panel.values) < LEAST_DAYS or len(panel.names) < 2:
        return None
    return prototypes(result, panel, tail=about.tail, seed=seed)


def _events(panel: Panel, S: SymmetricOperator, about: TailEstimate) -> GramOperator:
    """A Gram matrix with a column for each event."""
    if isinstance(S, GramOperator):
        return S
    if about.weight:
        made = estimate_again(about, panel, estimator="ramp")
    else:
        q = min(about.q, FRACTIONS["global"])
        made = estimate_again(about, panel, estimator="global", q=q, count=None)
    assert isinstance(made, GramOperator)
    return made


def _largest(estimate: TailEstimate, shares: np.ndarray) -> tuple[Event, ...]:
    """The largest events, with the groups that each hit harder than usual."""
    usual = shares.mean(axis=0)
    lift = np.divide(shares, usual, out=np.zeros_like(shares), where=usual > 0)
    numbers = group_numbers(np.arange(shares.shape[1])).tolist()
    found = []
    for t in np.argsort(-estimate.radii, kind="stable")[:LISTED_EVENTS]:
        first = np.argsort(-lift[t], kind="stable")[:NAMED_GROUPS]
        hit = tuple((numbers[g], float(lift[t, g])) for g in first if lift[t, g] >= NAMED_LIFT)
        size = float(estimate.radii[t] / (estimate.threshold or 1.0))
        found.append(Event(estimate.dates[t], size, hit))
    return tuple(found)
