"""Figures of portfolios: who carries the risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symnmf.grouping.position_risk import PortfolioRisk, ShareBand
from symnmf.plot.style import MEASURE_COLORS, finish, labels

if TYPE_CHECKING:
    from plotly.graph_objects import Bar, Figure

#: Groups that are shown.
SHOWN_GROUPS = 30


def risk_shares(risk: PortfolioRisk) -> Figure:
    """Share of every group in the risk of a portfolio and in its worst days, with intervals.

    Arguments:
        risk: what :func:`symnmf.portfolio_risk` returned; the thirty largest shares of groups in
            which something is held are shown.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(4000, 4600)
        >>> result = sn.factorize(sn.tail_dependence(panel), k=3)
        >>> len(risk_shares(sn.portfolio_risk(result, panel, draws=0)).data)
        2
    """
    from plotly.graph_objects import Figure

    order = np.array(risk.by_share()[:SHOWN_GROUPS])
    names = labels([risk.group_names[g] for g in order])
    scale, worst = MEASURE_COLORS
    figure = Figure(
        [
            _bars(risk.groups, order, names, f"share of the {risk.measure}", scale),
            _bars(risk.worst, order, names, f"share of the {risk.worst_count} worst days", worst),
        ]
    )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="% of the whole")
    figure.update_yaxes(autorange="reversed")
    return finish(figure, "Who carries the risk?", height=140 + 44 * len(order), legend=True)


def _bars(band: ShareBand, order: np.ndarray, names: list[str], title: str, color: str) -> Bar:
    from plotly.graph_objects import Bar

    value, low, high = (100 * np.nan_to_num(x[order]) for x in (band.value, band.low, band.high))
    bars = Bar(y=names, x=value.round(2), orientation="h", name=title, marker_color=color)
    if np.isfinite(band.low).all():
        over, under = np.maximum(high - value, 0), np.maximum(value - low, 0)
        bars.error_x = {"array": over.round(2), "arrayminus": under.round(2)}
    bars.hovertemplate = "%{y}: %{x:.1f} %<extra></extra>"
    return bars
