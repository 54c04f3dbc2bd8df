"""Figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from symnmf.contract import Result
from symnmf.dependence.diagnostics import StabilityCurve
from symnmf.dependence.tail import TailEstimate
from symnmf.groups.rank import RankSuggestion
from symnmf.operators import SymmetricOperator
from symnmf.operators.base import row_chunks

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Cells along a side of a heat map; larger matrices are averaged down to this.
CELLS = 200
#: Up to so many rows have their names beside them.
NAMED = 40


def heat_maps(S: SymmetricOperator, result: Result, title: str = "") -> Figure:
    """S with its rows sorted by group, beside H Hᵀ.

    Arguments:
        S: the matrix that was factorized.
        result: its factorization.
        title: of the figure.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((3, 3))))
        >>> len(heat_maps(S, sn.factorize(S, k=2)).data)
        2
    """
    from plotly.graph_objects import Heatmap
    from plotly.subplots import make_subplots

    order = group_order(result)
    cells = _cells(S.n, order)
    seen = averaged(cells, S.n, lambda X: S.matmul(X.to(S.dtype)))
    H = result.H.to(torch.float64)
    made = averaged(cells, S.n, lambda X: H @ (H.T @ X))
    top = float(torch.maximum(seen.max(), made.max()))
    figure: Figure = make_subplots(
        cols=2, subplot_titles=("S, rows sorted by group", "H Hᵀ, what the groups explain")
    )
    for column, values in ((1, seen), (2, made)):
        heat = Heatmap(
            z=values.numpy().round(4),
            zmin=0,
            zmax=top,
            colorscale="Viridis",
            showscale=column == 2,
            hovertemplate="row %{y}, column %{x}: %{z}<extra></extra>",
        )
        figure.add_trace(heat, row=1, col=column)
    figure.update_yaxes(autorange="reversed", scaleanchor="x", showticklabels=False)
    figure.update_yaxes(scaleanchor="x2", col=2)
    figure.update_xaxes(showticklabels=False, constrain="domain")
    if result.names is not None and S.n <= NAMED:
        names = [result.names[i] for i in order.tolist()]
        ticks = {"showticklabels": True, "tickvals": list(range(S.n)), "ticktext": names}
        figure.update_xaxes(ticks)
        figure.update_yaxes(ticks)
    figure.update_layout(title=title, template="plotly_white", width=1000, height=540)
    return figure


def stability_curve(curve: StabilityCurve, baseline: np.ndarray | None = None) -> Figure:
    """Mean tail dependence against the threshold, with its band, and what independence would give.

    Arguments:
        curve: of :func:`symnmf.dependence.diagnostics.threshold_stability`.
        baseline: of :func:`symnmf.dependence.diagnostics.independence_baseline`.

    Example:
        >>> from symnmf.data import read_panel
        >>> from symnmf.data.samples import sp500_prices
        >>> from symnmf.dependence.diagnostics import threshold_stability
        >>> panel = read_panel(sp500_prices(), kind="prices")
        >>> len(stability_curve(threshold_stability(panel, draws=10)).data)
        2
    """
    from plotly.graph_objects import Figure, Scatter

    band = Scatter(
        x=[*curve.q, *curve.q[::-1]],
        y=[*curve.high, *curve.low[::-1]],
        fill="toself",
        line={"width": 0},
        hoverinfo="skip",
        name="bootstrap band",
    )
    line = Scatter(x=curve.q, y=curve.mean, customdata=curve.count, name="mean off-diagonal entry")
    line.hovertemplate = "q = %{x:.3f}, %{customdata} exceedances: %{y:.3f}<extra></extra>"
    figure = Figure([band, line])
    if baseline is not None:
        figure.add_hline(float(baseline.mean()), line_dash="dash", annotation_text="independence")
    figure.update_xaxes(title="fraction of observations taken as extreme", type="log")
    figure.update_yaxes(title="mean tail dependence", rangemode="tozero")
    figure.update_layout(template="plotly_white", title="Does the threshold matter?")
    return figure


def hill_plot(
    counts: np.ndarray, estimates: np.ndarray, names: Sequence[str], alpha: float = 2.0
) -> Figure:
    """Hill's estimates of the tail index of every margin against the number of extremes used.

    Arguments:
        counts: (m,) and ``estimates`` (m, n) of :func:`symnmf.dependence.diagnostics.hill_curve`.
        names: of the n margins.
        alpha: the index that is assumed, drawn as a line.
    """
    from plotly.graph_objects import Figure, Scatter

    figure = Figure(
        [Scatter(x=counts, y=y, name=n) for y, n in zip(estimates.T, names, strict=True)]
    )
    figure.add_hline(alpha, line_dash="dash", annotation_text=f"assumed {alpha:g}")
    figure.update_xaxes(title="number of extremes used", type="log")
    figure.update_yaxes(title="tail index", rangemode="tozero")
    figure.update_layout(template="plotly_white", title="How heavy are the tails?")
    return figure


def exceedance_dates(about: TailEstimate) -> Figure:
    """When the extreme observations were, and how large."""
    from plotly.graph_objects import Bar, Figure

    figure = Figure([Bar(x=list(about.dates), y=about.radii)])
    figure.add_hline(about.threshold, line_dash="dash", annotation_text="threshold")
    figure.update_xaxes(title="")
    figure.update_yaxes(title="radius", type="log")
    figure.update_layout(template="plotly_white", title=f"{len(about.dates)} extreme observations")
    return figure


def rank_evidence(found: RankSuggestion) -> Figure:
    """Leading eigenvalues on a log scale, with the suggested number of groups marked.

    Arguments:
        found: of :func:`symnmf.suggest_rank`.
    """
    from plotly.graph_objects import Figure, Scatter

    at = np.arange(1, len(found.values) + 1)
    line = Scatter(x=at, y=found.values, mode="lines+markers", name="eigenvalues")
    line.hovertemplate = "λ_%{x} = %{y:.3g}<extra></extra>"
    figure = Figure([line])
    figure.add_vline(found.k + 0.5, line_dash="dash", annotation_text=f"{found.k} groups")
    figure.update_xaxes(title="rank")
    figure.update_yaxes(title="eigenvalue of S", type="log")
    figure.update_layout(template="plotly_white", title=found.reasons[0])
    return figure


def group_order(result: Result) -> Tensor:  # (n,)
    """Rows by group, largest group first, clearest member first; unassigned last."""
    labels, margins = result.labels().cpu(), result.margins().cpu()
    sizes = torch.bincount(labels[labels >= 0], minlength=result.H.shape[1])
    place = torch.argsort(torch.argsort(-sizes, stable=True), stable=True)
    rank = torch.where(labels >= 0, place[labels.clamp(min=0)], len(place))
    order = torch.argsort(-margins, stable=True)
    return order[torch.argsort(rank[order], stable=True)]


def _cells(n: int, order: Tensor) -> Tensor:  # (n,)
    """Cell of each row in the heat map."""
    cells = torch.empty(n, dtype=torch.int64)
    cells[order] = torch.arange(n) * min(n, CELLS) // n
    return cells


def averaged(cells: Tensor, n: int, product: object) -> Tensor:  # (cells, cells)
    """Mean of a symmetric matrix over pairs of cells, by products with the cell averages."""
    assert callable(product)
    count = int(cells.max()) + 1
    sizes = torch.bincount(cells, minlength=count).to(torch.float64)
    out = torch.zeros(count, count, dtype=torch.float64)
    for part in row_chunks(count, n):
        width = part.stop - part.start
        X = torch.zeros(n, width, dtype=torch.float64)
        inside = (cells >= part.start) & (cells < part.stop)
        X[inside, cells[inside] - part.start] = 1.0
        columns = product(X / sizes[part]).to(torch.float64).cpu()
        out[:, part] = torch.zeros(count, width, dtype=torch.float64).index_add_(0, cells, columns)
    return out / sizes[:, None]
