"""Risk of the positions of a portfolio: shares with intervals, worst days, what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.defaults import DEPENDENCE, DEPENDENCES, FRACTIONS, RESAMPLES, TAIL, TAILS
from symnmf.dependence.resampling import Resamples
from symnmf.display import Brief, html_table
from symnmf.errors import InvalidInput, InvalidTable
from symnmf.grouping.naming import group_names, names_of
from symnmf.grouping.portfolio_risk import TAIL_SHARE, by_group, check_panel, numbers_of
from symnmf.grouping.positions import Positions
from symnmf.options import choice, whole_number
from symnmf.storage import csv_text

#: Worst days that are listed, and the fewest complete rows of a panel.
LISTED_DAYS, LEAST_ROWS = 10, 100
#: Positions up to which the loadings are continued to the TPDM, for what the factors leave out.
MAX_CONTINUED = 500


@dataclass(frozen=True, repr=False)
class ShareBand(Brief):
    """Numbers with their intervals.

    Attributes:
        value: the estimate.
        low, high: ends of its interval; NaN without resamples.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def words(self, place: Any = (), scale: float = 100.0, unit: str = " %") -> str:
        """A number and its interval as text."""
        value, low, high = (
            float(np.asarray(x)[place]) * scale for x in (self.value, self.low, self.high)
        )
        if np.isnan(value):
            return "–"
        ends = "" if np.isnan(low) else f" ({low:.1f} to {high:.1f})"
        return f"{value:.1f}{unit}{ends}".replace("-", "−")


@dataclass(frozen=True, repr=False)
class WorstDay(Brief):
    """A day on which the portfolio lost much.

    Attributes:
        date: its date.
        loss: loss of the portfolio, in the unit of the returns.
        groups: (k,) loss of the positions in each group; negative where they gained.
    """

    date: str
    loss: float
    groups: np.ndarray


@dataclass(frozen=True)
class PortfolioRisk:
    """Who carries the risk of a portfolio.

    Attributes:
        measure: ``"tail scale"`` (P(loss > x) ≈ (total / x)² on the worst 5 % of days; farther out
            the probability is lower, which the data cannot show) or ``"standard deviation"``.
        total: the measure of the portfolio.
        own: the same measure of the portfolio's own series of returns, in which gains of one
            position offset losses of another.
        groups: (k,) share of the members of each group in total²; they sum to 1 unless an
            instrument has no group.
        instruments: (n,) share of each instrument in total².
        marginal: (n,) derivative of total with respect to the size of each position.
        left_out: share of total² that k factors of the tail dependence do not explain; NaN where it
            is not known.
        worst: (k,) share of each group in the losses of the worst days of the portfolio, in which
            gains offset losses.
        worst_days: the worst days, worst first.
        series: (T, k) return of the positions of each group; they sum to that of the portfolio.
        names: names of the instruments.
        group_names: names of the groups.
        weights: (n,) positions.
        labels: (n,) group of each instrument.
        dates: dates of the rows of ``series``.
        notes: what was done and what cannot be said.
        draws, block, level: resampled histories, rows drawn together, coverage of the intervals.
    """

    measure: str
    total: ShareBand
    own: float
    groups: ShareBand
    instruments: ShareBand
    marginal: ShareBand
    left_out: ShareBand
    worst: ShareBand
    worst_days: tuple[WorstDay, ...]
    series: np.ndarray
    names: tuple[str, ...]
    group_names: tuple[str, ...]
    weights: np.ndarray
    labels: np.ndarray
    dates: tuple[str, ...]
    notes: tuple[str, ...]
    draws: int
    block: int
    level: float
    worst_count: int = field(default=0)

    def __repr__(self) -> str:
        held = int((self.weights != 0).sum())
        return f"PortfolioRisk({self.measure} {float(self.total.value):.4g}, {held} positions)"

    def _repr_html_(self) -> str:
        rows = [(f"{self.measure} of the portfolio", f"{float(self.total.value):.4g}")]
        rows += [(name, self.groups.words(g)) for g, name in enumerate(self.group_names)]
        return html_table("Risk of a portfolio", rows)

    @property
    def usual_loss(self) -> tuple[float, float, float, float] | None:
        """Loss exceeded on 5 % of the days, its interval, and that of the own series.

        It is the tail scale divided by √0.05; None where the measure is not a tail scale.
        """
        if self.measure != "tail scale":
            return None
        scales = (self.total.value, self.total.low, self.total.high, self.own)
        value, low, high, own = (float(scale) / TAIL_SHARE**0.5 for scale in scales)
        return value, low, high, own

    def by_share(self) -> list[int]:
        """Groups in which something is held, as columns of H, largest share first."""
        held = set(self.labels[self.weights != 0].tolist())
        return [g for g in np.argsort(-self.groups.value, kind="stable").tolist() if g in held]

    def largest(self, most: int = LISTED_DAYS) -> list[int]:
        """Rows of the positions that carry most, largest share first."""
        order = np.argsort(-self.instruments.value, kind="stable").tolist()
        return [i for i in order if self.weights[i]][:most]

    def groups_table(self) -> pd.DataFrame:
        """A row for each group: weight, share of the risk and of the worst days, intervals."""
        weight = by_group(self.weights, self.labels, len(self.group_names))
        table = pd.DataFrame({"group": group_numbers(np.arange(len(weight))), "weight": weight})
        table.insert(1, "name", list(self.group_names))
        return table.assign(**_columns("share", self.groups), **_columns("worst", self.worst))

    def instruments_table(self) -> pd.DataFrame:
        """A row for each position: weight, group, share of the risk, marginal risk, intervals."""
        table = pd.DataFrame(
            {
                "instrument": list(self.names),
                "group": np.where(self.labels >= 0, group_numbers(self.labels), 0),
                "weight": self.weights,
                **_columns("share", self.instruments),
                **_columns("marginal", self.marginal),
            }
        )
        held: pd.DataFrame = table[self.weights != 0]
        return held.reset_index(drop=True)

    def worst_table(self) -> pd.DataFrame:
        """A row for each of the worst days: the loss, and the part of each group."""
        rows = [
            {
                "date": d.date,
                "loss": d.loss,
                **dict(zip(self.group_names, d.groups.tolist(), strict=True)),
            }
            for d in self.worst_days
        ]
        return pd.DataFrame(rows)

    def texts(self) -> dict[str, str]:
        """The tables as files: name of the file → its text."""
        index = "group", "instrument", "date"
        tables = (self.groups_table(), self.instruments_table(), self.worst_table())
        names = "portfolio_groups.csv", "portfolio.csv", "worst_days.csv"
        found = {
            name: csv_text(table.set_index(first))
            for name, table, first in zip(names, tables, index, strict=True)
        }
        return {**found, "group_returns.csv": csv_text(self.series_table())}

    def series_table(self) -> pd.DataFrame:
        """The returns of the positions of each group on every day."""
        index = pd.Index(self.dates, name="date")
        return pd.DataFrame(self.series, index=index, columns=list(self.group_names))


def _columns(name: str, band: ShareBand) -> dict[str, np.ndarray]:
    return {name: band.value, f"{name}_low": band.low, f"{name}_high": band.high}


def portfolio_risk(
    result: Result,
    panel: Panel,
    weights: Any = None,
    *,
    dependence: str = DEPENDENCE,
    tail: str = TAIL,
    q: float | None = None,
    draws: int = RESAMPLES,
    block: int | None = None,
    level: float = 0.9,
    seed: int = 0,
) -> PortfolioRisk:
    """Share of every group and instrument in the risk of a portfolio, with intervals.

    For tails the measure is the tail scale (vᵀ Σ v)^½ with v = |w| ∘ s, the pairwise TPDM Σ and
    the tail scales s of the positions; see :func:`symnmf.tail_risk`. The TPDM is estimated from the
    panel whatever matrix the groups come from, so that any fit will do. A short position loses when
    its instrument gains: its returns are reversed, and the tail scale is then that of the losses of
    all positions without the gains of the others, an upper bound. For correlation it is the
    standard deviation, with the shares of the covariance.

    Intervals are percentiles over resampled histories, the same as those of
    :func:`symnmf.bootstrap`, and wider the fewer blocks these have; groups and weights stay as they
    are.

    Arguments:
        result: the fit whose groups are used.
        panel: the returns; rows with missing numbers of a position are left out.
        weights: (n,) positions, or a mapping from names; negative for short positions. Equal
            weights by default.
        dependence: ``"tail"`` or ``"correlation"``.
        tail: ``"lower"``: a portfolio loses when returns are low; ``"upper"``: when they are high.
        q: share of the rows that is extreme for a pair; the default of ``estimator="pairwise"``.
        draws: resampled histories; 0 for no intervals.
        block: successive rows drawn together; a sixth of the rows by default.
        level: coverage of the intervals.
        seed: seed of the draws.

    Raises:
        InvalidInput: the panel is not that of the result, a weight is not finite or all are zero,
            or an instrument has too few losses.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 1000)
        >>> result = sn.factorize(sn.tail_dependence(panel), k=4)
        >>> risk = portfolio_risk(result, panel, draws=2)
        >>> bool(np.isclose(risk.groups.value.sum(), 1)), len(risk.worst_days)
        (True, 10)

    Reference: Cooley and Thibaud (2019), doi:10.1093/biomet/asz028.
    """
    check_panel(panel, result)
    choice("dependence", dependence, DEPENDENCES)
    choice("tail", tail, TAILS)
    draws = whole_number("draws", draws, 0, 100_000)
    n, k = result.H.shape
    w = (
        np.full(n, 1.0 / n)
        if weights is None
        else numbers_of("weights", weights, result, missing=0.0)
    )
    held = np.flatnonzero(w)
    if not len(held):
        raise InvalidInput("weights", "are all zero", "Pass at least one position")
    labels = result.labels().cpu().numpy()
    complete = ~np.isnan(panel.values[:, held]).any(axis=1)
    notes = []
    if not complete.all():
        left = int((~complete).sum())
        notes.append(f"{left} of {len(complete)} days with missing numbers were left out.")
        if complete.sum() < LEAST_ROWS:
            raise InvalidTable(
                "panel",
                f"only {int(complete.sum())} rows have a number for every position",
                "Pass fewer positions, or a panel with fewer missing numbers",
            )
    rows = np.flatnonzero(complete)
    X = panel.values[np.ix_(rows, held)] * (-1.0 if tail == "lower" else 1.0)
    q = FRACTIONS["pairwise"] if q is None else q
    names = tuple(names_of(result)[i] for i in held)
    P = Positions(X, w[held], labels[held], k, dependence, q, names)
    notes += P.notes
    if dependence == "tail" and P.long_only and len(held) <= MAX_CONTINUED:
        P.start = result.H.to(torch.float64).cpu().numpy()[held]
    found = P.parts()
    histories = Resamples.of(len(X), max(1, draws), block, seed)
    samples = [P.parts(np.sort(drawn)) for drawn in histories] if draws else []

    def band(value: np.ndarray, drawn: list[np.ndarray]) -> ShareBand:
        if not drawn:
            return ShareBand(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
        return ShareBand(value, *histories.percentiles(value, np.stack(drawn), level))

    bands = [band(part, [s[i] for s in samples]) for i, part in enumerate(found)]
    total, shares, marginal, left_out, worst = bands
    losses = X @ P.w
    days = np.argsort(-losses, kind="stable")[:LISTED_DAYS]
    parts = by_group(X * P.w, P.labels, k)
    dates = panel.date_words(rows)
    return PortfolioRisk(
        measure="tail scale" if dependence == "tail" else "standard deviation",
        total=total,
        own=P.own_measure(losses),
        groups=band(
            by_group(found[1], P.labels, k), [by_group(s[1], P.labels, k) for s in samples]
        ),
        instruments=_spread(shares, held, n),
        marginal=_spread(marginal, held, n),
        left_out=left_out,
        worst=worst,
        worst_days=tuple(WorstDay(dates[t], float(losses[t]), parts[t]) for t in days),
        series=-parts if tail == "lower" else parts,
        names=tuple(names_of(result)),
        group_names=tuple(group_names(result)),
        weights=w,
        labels=labels,
        dates=tuple(dates),
        notes=tuple(notes),
        draws=draws,
        block=histories.block,
        level=level,
        worst_count=P.worst_count(len(X)),
    )


def _spread(band: ShareBand, held: np.ndarray, n: int) -> ShareBand:
    """Numbers of the positions at the places of their instruments; 0 for the others."""

    def spread(x: np.ndarray) -> np.ndarray:
        full = np.zeros(n)
        full[held] = x
        return full

    return ShareBand(spread(band.value), spread(band.low), spread(band.high))
