"""Figures of matrices: S beside what the groups explain, and groups beside groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from symnmf.contract import Result
from symnmf.operators import SymmetricOperator
from symnmf.operators.base import row_chunks
from symnmf.plot.style import SCALE, finish, label

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Cells along a side of a heat map; larger matrices are averaged down to this.
CELLS = 200
#: Entries of the columns that S is multiplied with at a time.
WIDE = 1 << 22
#: Up to so many rows have their names beside them.
NAMED = 40


@dataclass(frozen=True)
class Sorted:
    """S and H Hᵀ with their rows sorted by group, averaged where they are large.

    Attributes:
        seen, made: (c, c) cells of S and of H Hᵀ.
        edges: where one group ends and the next begins, in cells.
        names: of the rows, where a cell is a row.
    """

    seen: np.ndarray
    made: np.ndarray
    edges: tuple[float, ...]
    names: tuple[str, ...] | None


def sort_by_group(S: SymmetricOperator, result: Result, cells: int = CELLS) -> Sorted:
    """S and H Hᵀ in the order of the groups, in at most so many cells a side.

    Arguments:
        S: the matrix that was factorized; called by all of the processes that share it.
        result: its factorization.
        cells: most of them along a side.
    """
    order = group_order(result)
    place = _cells(S.n, order, cells)
    seen = averaged(place, S.n, lambda X: S.matmul(X.to(S.device, S.dtype)))
    H = cell_means(place, result.H.cpu())  # the mean of H Hᵀ over cells is that of their means
    made = H @ H.T
    labels = result.labels().cpu()[order]
    change = (labels[1:] != labels[:-1]).nonzero()[:, 0] + 1
    scale = len(seen) / S.n
    names = None
    if len(seen) == S.n:
        every = result.names or [str(i) for i in range(S.n)]
        names = tuple(every[i] for i in order.tolist())
    edges = tuple(float(e) * scale - 0.5 for e in change)
    return Sorted(seen.numpy(), made.numpy(), edges, names)


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
    """A square table of numbers from 0 up as colours.

    Arguments:
        values: (c, c).
        title: of the figure.
        names: of the rows and columns; beside them where they are few.
        edges: where to draw lines.
        top: the number with the brightest colour; the largest one by default.
        height: in pixels.
        numbers: write them into the cells.

    Example:
        >>> heat_map(np.eye(3)).data[0].z.shape
        (3, 3)
    """
    from plotly.graph_objects import Figure, Heatmap

    words = None if names is None else [label(name) for name in names]
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
        heat.x = heat.y = words  # shown when pointed at
    figure = Figure([heat])
    for edge in edges if len(edges) <= 60 else ():
        shade = 0.7 if len(edges) < 12 else 0.35
        line = {"line_width": 1, "line_color": f"rgba(255,255,255,{shade})"}
        figure.add_hline(edge, **line)
        figure.add_vline(edge, **line)
    shown = words is not None and len(words) <= NAMED
    axis = {"showticklabels": shown, "showgrid": False, "zeroline": False, "ticks": ""}
    if heat.x is not None:
        axis["type"] = "category"  # names like 2020 are names
    figure.update_xaxes(axis, constrain="domain", tickangle=-90)
    figure.update_yaxes(axis, autorange="reversed", scaleanchor="x", constrain="domain")
    if shown:
        figure.update_xaxes(tickmode="linear", dtick=1)
        figure.update_yaxes(tickmode="linear", dtick=1)
    return finish(figure, title, height=height)


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
    shown = both.names is not None and len(both.names) <= NAMED
    figure.update_yaxes(autorange="reversed", scaleanchor="x", showticklabels=shown, dtick=1)
    figure.update_yaxes(scaleanchor="x2", col=2)
    figure.update_xaxes(showticklabels=shown, constrain="domain", dtick=1)
    if both.names is not None:
        figure.update_xaxes(type="category")
        figure.update_yaxes(type="category")
    figure.update_layout(title=title, template="plotly_white", width=1000, height=540)
    return figure


def between_groups(means: np.ndarray, names: Sequence[str]) -> Figure:
    """Mean dependence within and between groups, as colours.

    Arguments:
        means: (k, k) of :func:`symnmf.groups.between.dependence_between`.
        names: of the groups.

    Example:
        >>> between_groups(np.array([[0.8, 0.1], [0.1, 0.7]]), ["1 XOM", "2 KO"]).data[0].zmax
        0.8
    """
    few = len(names) <= 12
    look: dict[str, Any] = {"height": 420 if few else 560, "numbers": few}
    return heat_map(means, "Dependence within and between groups", names=names, **look)


def group_order(result: Result) -> Tensor:  # (n,)
    """Rows by group, largest group first, clearest member first; unassigned last."""
    labels, margins = result.labels().cpu(), result.margins().cpu()
    sizes = torch.bincount(labels[labels >= 0], minlength=result.H.shape[1])
    place = torch.argsort(torch.argsort(-sizes, stable=True), stable=True)
    rank = torch.where(labels >= 0, place[labels.clamp(min=0)], len(place))
    order = torch.argsort(-margins, stable=True)
    return order[torch.argsort(rank[order], stable=True)]


def _cells(n: int, order: Tensor, most: int) -> Tensor:  # (n,)
    """Cell of each row in the heat map."""
    cells = torch.empty(n, dtype=torch.int64)
    cells[order] = torch.arange(n) * min(n, most) // n
    return cells


def cell_means(cells: Tensor, X: Tensor) -> Tensor:  # (n,), (n, c) -> (cells, c)
    """Mean of the rows of X in each cell, in float64."""
    count = int(cells.max()) + 1
    sums = torch.zeros(count, X.shape[1], dtype=torch.float64)
    for part in row_chunks(len(X), X.shape[1]):
        sums.index_add_(0, cells[part], X[part].to(torch.float64))
    return sums / torch.bincount(cells, minlength=count)[:, None]


def averaged(
    cells: Tensor, n: int, product: Callable[[Tensor], Tensor]
) -> Tensor:  # (cells, cells)
    """Mean of a symmetric matrix over pairs of cells, by products with the cell averages."""
    count = int(cells.max()) + 1
    sizes = torch.bincount(cells, minlength=count).to(torch.float64)
    out = torch.empty(count, count, dtype=torch.float64)
    for part in row_chunks(count, n, WIDE):
        X = torch.zeros(n, part.stop - part.start, dtype=torch.float64)
        inside = (cells >= part.start) & (cells < part.stop)
        X[inside, cells[inside] - part.start] = 1.0
        out[:, part] = cell_means(cells, product(X / sizes[part]).cpu())
    return out
