"""Figures that compare two kinds of dependence, or groups with classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symnmf.grouping.side_by_side import SideBySide
from symnmf.plot.style import GROUP_COLORS, MUTED, SCALE, finish, label, labels

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

#: Number of largest classes that are shown.
SHOWN_CLASSES = 40


def crashes_and_calm(found: SideBySide, names: Sequence[str], events: str = "crashes") -> Figure:
    """Tail dependence of pairs against absolute correlation; the most different pairs are named.

    Arguments:
        found: what :func:`symnmf.grouping.side_by_side.side_by_side` returned.
        names: names of the instruments.
        events: word for the extreme days, such as ``"crashes"`` or ``"surges"``.

    Example:
        >>> from symnmf.grouping.side_by_side import side_by_side
        >>> from symnmf.operators import as_operator
        >>> S = as_operator(np.array([[1.0, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]]))
        >>> len(crashes_and_calm(side_by_side(S, S), "abc").data)
        1
    """
    from plotly.graph_objects import Figure, Scatter

    cloud = Scatter(x=found.sample[:, 1].round(3), y=found.sample[:, 0].round(3), name="pairs")
    cloud.mode, cloud.marker = "markers", {"size": 5, "color": MUTED, "opacity": 0.5}
    cloud.hovertemplate = "correlation %{x}, tail dependence %{y}<extra></extra>"
    figure = Figure([cloud])
    kinds = (
        (found.only_in_crashes, f"more in {events}", GROUP_COLORS[1], "triangle-up"),
        (found.only_in_calm, "more on ordinary days", GROUP_COLORS[0], "triangle-down"),
    )
    for pairs, name, color, symbol in kinds:
        if pairs:
            text = [f"{label(names[p.first])} – {label(names[p.second])}" for p in pairs]
            marks = Scatter(
                x=[round(p.ordinary, 3) for p in pairs],
                y=[round(p.tail, 3) for p in pairs],
                text=text,
                name=name,
                mode="markers",
                marker={"size": 9, "color": color, "symbol": symbol},
            )
            marks.hovertemplate = "%{text}: correlation %{x}, tail %{y}<extra></extra>"
            figure.add_trace(marks)
    figure.update_xaxes(title="absolute correlation (ordinary days)")
    figure.update_yaxes(title=f"tail dependence ({events})")
    return finish(figure, f"{events.capitalize()} and ordinary days", height=400, legend=True)


def classes(table: pd.DataFrame) -> Figure:
    """Number of instruments that each group and each class of the user have in common.

    Arguments:
        table: table of :func:`symnmf.compare`; the largest classes are shown, each next to the
            other classes of its main group.

    Example:
        >>> import pandas as pd
        >>> counts = pd.DataFrame({"oil": [3, 0], "food": [1, 5]}, index=["1 XOM", "2 KO"])
        >>> classes(counts).data[0].x
        ('oil', 'food')
    """
    from plotly.graph_objects import Figure, Heatmap

    largest = table.sum().sort_values(ascending=False, kind="stable").index[:SHOWN_CLASSES]
    main_group = table[largest].to_numpy().argmax(axis=0)  # the group with most of each class
    largest = largest[np.argsort(main_group, kind="stable")]
    few = table.size <= 200
    heat = Heatmap(
        z=table[largest].to_numpy(),
        x=labels([str(c) for c in largest]),
        y=labels([str(g) for g in table.index]),
        zmin=0,
        colorscale=SCALE,
        xgap=1,
        ygap=1,
        texttemplate="%{z}" if few else None,
        hovertemplate="group %{y}, class %{x}: %{z}<extra></extra>",
        colorbar={"thickness": 12, "outlinewidth": 0},
    )
    figure = Figure([heat])
    figure.update_xaxes(showgrid=False, zeroline=False, automargin=True, type="category")
    figure.update_yaxes(showgrid=False, zeroline=False, autorange="reversed", type="category")
    return finish(figure, "Groups and your classes", height=220 + 20 * min(len(table), 40))
