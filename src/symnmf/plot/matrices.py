"""Figures of matrices: S next to H Hᵀ, and dependence between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symnmf.core.result import Result
from symnmf.grouping.sorted_matrix import sort_by_group
from symnmf.operators import SymmetricOperator
from symnmf.plot.style import SCALE, finish, labels

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Maximum number of rows whose names are shown on the axes.
MAX_NAMED_ROWS = 40


def heat_map(
    values: np.ndarray,
    title: str = "",
    *,
    names: Sequence[str] | None = None,
    edges: Sequence[float] = (),
    top: float | None = None,
    height: int = 460,
    numbers: bool = False,
) -> Figure:
    """A square matrix of non-negative numbers as colours.

    Arguments:
        values: (c, c) numbers.
        title: title of the figure.
        names: names of the rows and columns; shown on the axes where they are few.
        edges: positions of lines between cells.
        top: number with the brightest colour; by default the largest number.
        height: height in pixels.
        numbers: whether to write the numbers into the cells.

    Example:
        >>> heat_map(np.eye(3)).data[0].z.shape
        (3, 3)
    """
    from plotly.graph_objects import Figure, Heatmap

    words = None if names is None else labels(names)
    pair = "row %{y}, column %{x}: %{z}"
    heat = Heatmap(
        z=np.round(values, 4).astype(np.float32),
        zmin=0,
        zmax=float(np.nanmax(values)) if top is None else top,
        colorscale=SCALE,
        texttemplate="%{z:.2f}" if numbers else None,
        hovertemplate="%{z}<extra>a mean</extra>" if names is None else f"{pair}<extra></extra>",
        colorbar={"thickness": 12, "len": 0.9, "outlinewidth": 0},
    )
    if words is not None and len(set(words)) == len(words):
        heat.x = heat.y = words  # shown when the pointer is over a cell
    figure = Figure([heat])
    if len(edges) <= 60:
        figure.layout.shapes = [line for edge in edges for line in _lines(edge, len(edges))]
    shown = words is not None and len(words) <= MAX_NAMED_ROWS
    axis = {"showticklabels": shown, "showgrid": False, "zeroline": False, "ticks": ""}
    if heat.x is not None:
        axis["type"] = "category"  # a name such as 2020 is not a number
    figure.update_xaxes(axis, constrain="domain", tickangle=-90)
    figure.update_yaxes(axis, autorange="reversed", scaleanchor="x", constrain="domain")
    if shown:
        figure.update_xaxes(tickmode="linear", dtick=1)
        figure.update_yaxes(tickmode="linear", dtick=1)
    return finish(figure, title, height=height)


def _lines(edge: float, count: int) -> list[dict[str, Any]]:
    """A line across the heat map and one down, at a place between two cells."""
    line = {"width": 1, "color": f"rgba(255,255,255,{0.7 if count < 12 else 0.35})"}
    across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": edge, "y1": edge, "yref": "y"}
    down = {"x0": edge, "x1": edge, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return [{"type": "line", "line": line, **place} for place in (across, down)]


def heat_maps(S: SymmetricOperator, result: Result, title: str = "") -> Figure:
    """S with its rows sorted by group, next to H Hᵀ.

    Arguments:
        S: the matrix that was factorized.
        result: its factorization.
        title: title of the figure.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((3, 3))))
        >>> len(heat_maps(S, sn.factorize(S, k=2)).data)
        2
    """
    from plotly.subplots import make_subplots

    both = sort_by_group(S, result)
    top = float(max(both.seen.max(), both.made.max()))
    figure: Figure = make_subplots(
        cols=2, subplot_titles=("S, rows sorted by group", "H Hᵀ, what the groups explain")
    )
    for column, values in ((1, both.seen), (2, both.made)):
        heat = heat_map(values, names=both.names, top=top).data[0]
        heat.showscale = column == 2
        figure.add_trace(heat, row=1, col=column)
    shown = both.names is not None and len(both.names) <= MAX_NAMED_ROWS
    figure.update_yaxes(autorange="reversed", scaleanchor="x", showticklabels=shown, dtick=1)
    figure.update_yaxes(scaleanchor="x2", col=2)
    figure.update_xaxes(showticklabels=shown, constrain="domain", dtick=1)
    if both.names is not None:
        figure.update_xaxes(type="category")
        figure.update_yaxes(type="category")
    figure.update_layout(title=title, template="plotly_white", width=1000, height=540)
    return figure


def between_groups(means: np.ndarray, names: Sequence[str]) -> Figure:
    """Mean dependence within groups and between groups as colours.

    Arguments:
        means: (k, k) means of :func:`symnmf.grouping.between_groups.dependence_between`.
        names: names of the groups.

    Example:
        >>> between_groups(np.array([[0.8, 0.1], [0.1, 0.7]]), ["1 XOM", "2 KO"]).data[0].zmax
        0.8
    """
    few = len(names) <= 12
    style: dict[str, Any] = {"height": 420 if few else 560, "numbers": few}
    return heat_map(means, "Dependence within and between groups", names=names, **style)
