"""The network of the strongest links between instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.grouping.naming import group_names
from symnmf.grouping.spanning_tree import SpanningTree, spanning_tree
from symnmf.operators import SymmetricOperator
from symnmf.plot.style import GROUP_COLORS, MUTED, finish, label, labels

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Instruments up to which all have their names; beyond it, the strongest of each group.
NAMED_NODES = 60


def network(S: SymmetricOperator, result: Result) -> Figure:
    """The maximum spanning tree of S: who hangs on whom, coloured by group.

    Of all trees that connect the instruments, it is the one with the strongest links. Members of
    a sound group form a branch. Beyond 500 instruments the strongest members of each group are
    shown.

    Arguments:
        S: the matrix that was factorized.
        result: its factorization.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((3, 3))) * 0.8 + 0.1)
        >>> [trace.name for trace in network(S, sn.factorize(S, k=2)).data]
        ['links', '1 0', '2 3']

    Reference: Mantegna (1999), doi:10.1007/s100510050929.
    """
    return draw_network(spanning_tree(S, result), group_names(result))


def draw_network(tree: SpanningTree, names: list[str]) -> Figure:
    """The figure of a tree.

    Arguments:
        tree: the tree.
        names: name of each group.
    """
    from plotly.graph_objects import Figure, Scatter

    x, y = [], []
    for a, b in tree.links.tolist():
        x += [*tree.places[[a, b], 0].round(3).tolist(), None]
        y += [*tree.places[[a, b], 1].round(3).tolist(), None]
    lines = Scatter(x=x, y=y, mode="lines", name="links", hoverinfo="skip", showlegend=False)
    lines.line = {"color": MUTED, "width": 1}
    figure = Figure([lines])
    m, shorter = len(tree.rows), labels(tree.names, 14)
    links = np.bincount(tree.links.ravel(), minlength=m)
    size = 11 if m <= NAMED_NODES else 7 if m <= 200 else 5
    for g in [*np.unique(tree.labels[tree.labels >= 0]).tolist(), -1]:
        inside = np.flatnonzero(tree.labels == g)
        if not len(inside):
            continue
        inside = inside[np.argsort(-links[inside], kind="stable")]
        number = int(group_numbers(np.array(g)))
        name = names[g] if g >= 0 else "no group"
        texts = [shorter[i] for i in inside]
        if m > NAMED_NODES:
            texts = [f"{number} {texts[0]}" if g >= 0 else texts[0], *[""] * (len(texts) - 1)]
        color = GROUP_COLORS[g % len(GROUP_COLORS)] if g >= 0 else MUTED
        dots = Scatter(
            x=tree.places[inside, 0].round(3),
            y=tree.places[inside, 1].round(3),
            mode="markers+text",
            text=texts,
            textposition="middle right",
            hovertext=[f"{label(tree.names[i])}: group {label(name)}" for i in inside],
            hovertemplate="%{hovertext}<extra></extra>",
            name=label(name),
            marker={"size": size, "color": color},
            textfont={"size": 10},
        )
        figure.add_trace(dots)
    hidden = {"visible": False, "showgrid": False, "showticklabels": False, "zeroline": False}
    figure.update_xaxes(hidden)
    figure.update_yaxes(hidden, scaleanchor="x")
    return finish(figure, "The strongest links", height=460)
