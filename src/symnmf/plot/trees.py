"""The tree of the instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symnmf.grouping.hierarchy import Hierarchy, leaves
from symnmf.plot.style import MUTED, labels

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def dendrogram(tree: Hierarchy) -> Figure:
    """The tree of the instruments as a dendrogram: which groups split into which.

    Arguments:
        tree: what :func:`symnmf.hierarchy` returned.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> tree = sn.hierarchy(np.kron(np.eye(2), np.ones((3, 3))) + 0.1, 2)
        >>> len(dendrogram(tree).data[0].x) // 5  # a bracket for each junction of six leaves
        5
    """
    from plotly.graph_objects import Figure, Scatter
    from scipy.cluster.hierarchy import dendrogram as brackets

    drawn = brackets(tree.linkage, no_plot=True)
    x, y = [], []
    for across, up in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        x += [(value - 5) / 10 for value in across] + [None]
        y += [*up, None]
    figure = Figure(Scatter(x=x, y=y, mode="lines", line_color=MUTED, hoverinfo="skip"))
    names = leaves(tree)
    few = len(names) <= 200
    ticks = {"tickvals": list(range(len(names))), "ticktext": labels(names)} if few else {}
    figure.update_xaxes(title="instruments", **ticks)
    figure.update_yaxes(title="share of the levels that separate")
    figure.update_layout(template="plotly_white", showlegend=False)
    return figure
