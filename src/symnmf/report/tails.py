"""What only a table of returns can tell: events, thresholds, and the other kind of dependence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from symnmf.contract import Problem, Result
from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.dependence.diagnostics import (
    StabilityCurve,
    independence_baseline,
    threshold_stability,
)
from symnmf.dependence.tail import TailEstimate
from symnmf.errors import SymnmfError
from symnmf.exact import EVENTS as SINGLE
from symnmf.factorize import run
from symnmf.groups.between import event_shares
from symnmf.groups.naming import Comparison, compare, group_of, ordered
from symnmf.groups.side_by_side import SideBySide, side_by_side
from symnmf.operators import SymmetricOperator
from symnmf.report.words import Statement, share

#: Beyond so many instruments pairs are not compared.
PAIRS = 4000
#: Numbers of the table that the draws of the diagnostics may go over, and most and fewest draws.
WORK, MOST, FEWEST = 20_000_000, 50, 5
#: Dependence above chance that is called little.
LITTLE = 0.15
#: Largest events in the table.
EVENTS = 12


@dataclass(frozen=True)
class Event:
    """An extreme observation: when, how far above the threshold, and what it hit most."""

    date: str
    size: float
    groups: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Tails:
    """The extremes of a table.

    Attributes:
        shares: (events, k) of each event on each group.
        largest: the largest events.
        curve, baseline: mean dependence against the threshold, and that of independence.
        mean: mean dependence at the chosen threshold.
    """

    about: TailEstimate
    shares: np.ndarray
    largest: tuple[Event, ...]
    curve: StabilityCurve
    baseline: np.ndarray
    mean: float

    @property
    def sizes(self) -> np.ndarray:  # (events,)
        """Radii in multiples of the threshold; as they are where every observation is extreme."""
        return self.about.radii / (self.about.threshold or 1.0)

    @property
    def above_chance(self) -> float:
        """How far the mean dependence is above that of independence: 0 not at all, 1 the most."""
        chance = float(self.baseline.mean())
        return (self.mean - chance) / max(1e-12, 1 - chance)

    def statements(self, k: int) -> list[Statement]:
        """What to know about the extremes before believing groups made from them."""
        chance = float(self.baseline.mean())
        term = f"mean tail dependence {self.mean:.2f}, independence baseline {chance:.2f}"
        enough = self.above_chance >= LITTLE
        found = [
            Statement(
                "good" if enough else "care",
                "Instruments crash together far more than chance would have it."
                if enough
                else "Dependence in crashes is hardly above chance.",
                "Instruments that have nothing to do with each other would show "
                f"{share(chance / self.mean)} of the dependence that was found.",
                term,
            )
        ]
        events = len(self.about.dates)
        if events < SINGLE * k:
            fewer = f"Take at most {max(1, events // SINGLE)} groups, or a larger --q."
            found.append(
                Statement(
                    "care",
                    f"{events} extreme days are few for {k} groups.",
                    f"Groups then tend to be single events. {fewer}",
                    f"{events / k:.1f} exceedances a group; {SINGLE} are wanted",
                )
            )
        return found


def tails(panel: Panel, S: SymmetricOperator, result: Result, seed: int = 0) -> Tails | None:
    """What the exceedances say; None where S is not the TPDM of the panel in one process."""
    about = S.about
    if not isinstance(about, TailEstimate) or about.estimator != "global" or S.processes > 1:
        return None
    shares = event_shares(S, result.labels(), result.H.shape[1])  # type: ignore[arg-type]
    usual = shares.mean(axis=0)
    lift = np.divide(shares, usual, out=np.zeros_like(shares), where=usual > 0)
    largest = []
    for t in np.argsort(-about.radii, kind="stable")[:EVENTS]:
        hit = [g for g in np.argsort(-lift[t], kind="stable")[:3] if lift[t, g] > 1]
        groups = tuple((int(g) + 1, float(lift[t, g])) for g in hit)
        size = float(about.radii[t] / (about.threshold or 1.0))
        largest.append(Event(about.dates[t], size, groups))
    draws = int(np.clip(WORK / panel.values.size, FEWEST, MOST))
    options = {"tail": about.tail, "margins": about.margins}
    q = np.geomspace(max(0.01, 3 / len(panel.values)), 0.2, 9)
    curve = threshold_stability(panel, q, draws=draws, seed=seed, **options)  # type: ignore[arg-type]
    baseline = independence_baseline(panel, S, draws=max(FEWEST, draws // 3), seed=seed)
    n = S.n
    mean = (S.mean() * n**2 - S.trace()) / (n * (n - 1))
    return Tails(about, shares, tuple(largest), curve, baseline, mean)


@dataclass(frozen=True)
class Other:
    """The other kind of dependence of the same table.

    Attributes:
        kind: ``"tail"`` or ``"correlation"``.
        pairs: the two dependences of pairs, beside each other.
        groups: groups of the one against those of the other, with as many factors.
    """

    kind: str
    pairs: SideBySide
    groups: Comparison


def other(
    panel: Panel, S: SymmetricOperator, result: Result, seed: int = 0
) -> tuple[Other | None, str]:
    """The other kind of dependence beside this one; or None, and why."""
    mine = "tail" if isinstance(S.about, TailEstimate) else "correlation"
    kind = "correlation" if mine == "tail" else "tail"
    if S.processes > 1:
        return None, "the rows are shared out over several processes"
    if S.n > PAIRS:
        return None, f"there are more than {PAIRS:,} instruments, and so too many pairs"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T = estimate(kind, panel)
            pairs = side_by_side(*((S, T) if mine == "tail" else (T, S)), seed=seed)
            fit = ordered(run(Problem(T, result.H.shape[1], seed), stoppable=False))
    except SymnmfError as wrong:
        return None, str(wrong)
    return Other(kind, pairs, compare(result, group_of(fit))), ""
