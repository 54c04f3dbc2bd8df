"""Figures of groups through time: the ribbon of moves, and time lines of dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symnmf.grouping.flows import flows
from symnmf.grouping.windows import Rolling
from symnmf.plot.ribbon_bands import band_path, ribbon_bands
from symnmf.plot.style import GROUP_COLORS, LINE, MUTED, OTHER, finish, label

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Windows that a ribbon shows at most.
SHOWN_WINDOWS = 30


def ribbon(found: Rolling) -> Figure:
    """Groups over windows as a ribbon: a bar for each group, a band for those that go on or move.

    Bands have the colour of the group that they come from; those that move are darker. Of more
    than 30 windows some at equal distances are shown, and all breaks, which are dashed lines.

    Arguments:
        found: what :func:`symnmf.rolling` returned.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> figure = ribbon(sn.rolling(panel, 2000, 2000, 3, "correlation"))
        >>> len(figure.data[0].x)  # a bar for each group of four windows
        12
    """
    from plotly.graph_objects import Figure, Scatter

    made = flows(found, SHOWN_WINDOWS)
    bars, bands = ribbon_bands(made)
    last = max(1, len(made.windows) - 1)
    shapes = [
        {
            "type": "path",
            "path": band_path(band, last, -1.0, 0.0, 1.0),
            "fillcolor": GROUP_COLORS[band.source % len(GROUP_COLORS)],
            "opacity": 0.25 if band.source == band.target else 0.7,
            "line": {"width": 0},
            "layer": "below",
        }
        for band in bands
    ]
    dots = Scatter(
        x=[bar.x * last for bar in bars],
        y=[1 - (bar.top + bar.bottom) / 2 for bar in bars],
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": [max(2.0, 340 * (bar.bottom - bar.top)) for bar in bars],
            "color": [GROUP_COLORS[bar.group % len(GROUP_COLORS)] for bar in bars],
            "line": {"width": 5},
        },
        text=[
            f"{made.dates[bar.window]}: group {label(made.names[bar.group])}, {bar.size} members"
            for bar in bars
        ],
        hovertemplate="%{text}<extra></extra>",
        name="groups",
    )
    figure = Figure([dots])
    figure.update_layout(shapes=shapes)
    broke = {w.number for w in found.breaks}
    for at, number in enumerate(made.windows):
        if number in broke:
            figure.add_vline(at, line_dash="dash", line_color=OTHER, annotation_text="break")
    some = range(0, len(made.dates), max(1, -(-len(made.dates) // 8)))
    figure.update_xaxes(
        tickvals=list(some), ticktext=[made.dates[i] for i in some], showgrid=False, zeroline=False
    )
    middle = {bar.group: 1 - (bar.top + bar.bottom) / 2 for bar in bars if bar.window == 0}
    figure.update_yaxes(
        tickvals=list(middle.values()), ticktext=[label(made.names[g]) for g in middle],
        range=[-0.03, 1.03], showgrid=False, zeroline=False,
    )  # fmt: skip
    return finish(figure, "Groups through time", height=460)


def timeline(found: Rolling) -> Figure:
    """Dependence within and between groups, joint crashes, and moves, over the windows.

    Arguments:
        found: what :func:`symnmf.rolling` returned.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> figure = timeline(sn.rolling(panel, 2000, 2000, 3, "correlation"))
        >>> [trace.name for trace in figure.data][:2]
        ['within groups', 'between groups']
    """
    from plotly.subplots import make_subplots

    x = [w.last for w in found.windows]
    rows = [w.dependence for w in found.windows]
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    lines = (
        ("within groups", [None if d is None else d.within for d in rows], LINE, "solid", 1),
        ("between groups", [None if d is None else d.between for d in rows], MUTED, "dot", 1),
        (
            "joint crashes within groups",
            [None if d is None else d.crash_within for d in rows],
            OTHER,
            "solid",
            2,
        ),
        (
            "joint crashes of any two",
            [None if d is None else d.crash_any for d in rows],
            MUTED,
            "dash",
            2,
        ),
    )
    for name, y, color, dash, row in lines:
        figure.add_scatter(
            x=x, y=y, name=name, mode="lines+markers", line={"color": color, "dash": dash},
            marker={"size": 4}, row=row, col=1,
        )  # fmt: skip
    figure.add_bar(
        x=x, y=[len(w.moved) for w in found.windows], name="moved", marker_color=LINE, row=3, col=1
    )
    usual = None if found.changes is None else found.changes.usual_moves
    if usual is not None:
        figure.add_hline(
            usual, line_dash="dash", line_color=MUTED, annotation_text="by chance", row=3, col=1
        )
    for window in found.breaks:
        figure.add_vline(window.last, line_dash="dash", line_color=OTHER)
    for row, title in enumerate(("dependence", "share", "instruments"), 1):
        figure.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    return finish(figure, "Dependence through time", height=640, legend=True)
