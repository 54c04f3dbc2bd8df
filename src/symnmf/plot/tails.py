"""Figures of extremes: choice of threshold, tail indices, events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symnmf.dependence.diagnostics import StabilityCurve
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.plot.style import (
    GROUP_COLORS,
    KIND_COLORS,
    LINE,
    MUTED,
    OTHER,
    finish,
    label,
    labels,
    log_ticks,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Maximum number of groups on a time line, and the ratio to the usual share of an event from which
#: a group gets a mark.
SHOWN_GROUPS, HIT_LIFT = 30, 1.25


def stability_curve(curve: StabilityCurve, baseline: np.ndarray | None = None) -> Figure:
    """Mean tail dependence against the threshold, with a band and the independence baseline.

    Arguments:
        curve: what :func:`symnmf.dependence.diagnostics.threshold_stability` returned.
        baseline: what :func:`symnmf.dependence.diagnostics.independence_baseline` returned; not
            needed for weights by rank, whose level of independence has a closed form.

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
        mode="lines",
        fill="toself",
        line={"width": 0},
        fillcolor="rgba(0,130,200,0.2)",
        hoverinfo="skip",
        name="bootstrap band",
    )
    line = Scatter(x=curve.q, y=curve.mean, customdata=curve.count, name="mean off-diagonal entry")
    line.line = {"color": LINE}
    line.hovertemplate = "q = %{x:.3f}, %{customdata} exceedances: %{y:.3f}<extra></extra>"
    figure = Figure([band, line])
    if curve.level is not None:
        level = Scatter(x=curve.q, y=curve.level, mode="lines", name="independence")
        level.line = {"color": OTHER, "dash": "dash"}
        level.hovertemplate = "q = %{x:.3f}, independent instruments: %{y:.3f}<extra></extra>"
        figure.add_trace(level)
    elif baseline is not None:
        figure.add_hline(
            float(baseline.mean()),
            line_dash="dash",
            line_color=OTHER,
            annotation_text="independence",
        )
    ticks = log_ticks(float(curve.q.min()), float(curve.q.max()) * 1.0001)
    figure.update_xaxes(
        title="share of observations taken as extreme",
        type="log",
        tickvals=ticks,
        ticktext=[f"{100 * q:g} %" for q in ticks],
    )
    figure.update_yaxes(title="mean tail dependence", rangemode="tozero")
    return finish(figure, "Does the threshold matter?", height=340, legend=True)


def hill_plot(
    counts: np.ndarray, estimates: np.ndarray, names: Sequence[str], alpha: float = 2.0
) -> Figure:
    """Hill's estimates of the tail index of every margin against the number of extremes used.

    Arguments:
        counts: (m,) numbers of extremes, from :func:`symnmf.dependence.diagnostics.hill_curve`.
        estimates: (m, n) estimates for these numbers.
        names: names of the n margins.
        alpha: assumed index, drawn as a line.

    Example:
        >>> figure = hill_plot(np.array([10, 20]), np.array([[2.1], [1.9]]), ["XOM"])
        >>> figure.data[0].name, figure.data[0].y.tolist()
        ('XOM', [2.1, 1.9])
    """
    from plotly.graph_objects import Figure, Scatter

    figure = Figure(
        [Scatter(x=counts, y=y, name=label(n)) for y, n in zip(estimates.T, names, strict=True)]
    )
    figure.add_hline(alpha, line_dash="dash", annotation_text=f"assumed {alpha:g}")
    figure.update_xaxes(title="number of extremes used", type="log")
    figure.update_yaxes(title="tail index", rangemode="tozero")
    figure.update_layout(template="plotly_white", title="How heavy are the tails?")
    return figure


def exceedance_dates(about: TailEstimate) -> Figure:
    """Dates and sizes of the extreme observations: radii, or the lengths of the columns of B.

    Arguments:
        about: how the TPDM was estimated: the provenance of what :func:`symnmf.tail_dependence`
            returned.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> S = sn.tail_dependence(sn.read_panel(sp500_prices(), kind="prices"))
        >>> len(exceedance_dates(S.provenance).data[0].x) == len(S.provenance.dates)
        True
    """
    from plotly.graph_objects import Bar, Figure

    figure = Figure([Bar(x=list(about.dates), y=about.radii)])
    if about.threshold > 0:  # on a log scale, annotations are placed at the logarithm
        height = np.log10(about.threshold)
        text = "a typical day" if about.weight else "threshold"
        words = {"annotation_text": text, "annotation_y": height}
        figure.add_hline(about.threshold, line_dash="dash", **words)
    figure.update_xaxes(title="")
    figure.update_yaxes(title="size" if about.weight else "radius", type="log")
    figure.update_layout(template="plotly_white", title=f"{len(about.dates)} extreme observations")
    return figure


def event_groups(
    about: TailEstimate,
    shares: np.ndarray,  # (events, k)
    names: Sequence[str],
    dates: Sequence[str] | None = None,
    kinds: np.ndarray | None = None,  # (events,)
) -> Figure:
    """The extreme observations on a time line, and the groups that each hit harder than usual.

    Arguments:
        about: how the TPDM was estimated.
        shares: (events, k) shares of :func:`symnmf.grouping.between_groups.event_shares`.
        names: names of the k groups; the first thirty are shown.
        dates: dates of the events; by default those of ``about``.
        kinds: kind of each event from 0, or −1 for none, such as the ``kinds`` of
            :func:`symnmf.prototypes`. Only events with a kind are then drawn, in its colour.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> from symnmf.grouping.between_groups import event_shares
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.tail_dependence(panel, estimator="ramp")
        >>> labels = sn.factorize(S, k=3).labels()
        >>> len(event_groups(S.provenance, event_shares(S, labels, 3), list("abc")).data)
        4
    """
    from plotly.graph_objects import Bar, Scatter
    from plotly.subplots import make_subplots

    when = np.array(about.dates if dates is None else dates)
    shown = min(len(names), SHOWN_GROUPS)
    usual = shares.mean(axis=0)
    lift = np.divide(shares, usual, out=np.zeros_like(shares), where=usual > 0)[:, :shown]
    radii = about.radii / about.threshold if about.threshold > 0 else about.radii
    kind_of = np.full(len(when), -1)
    if kinds is not None and (kinds >= 0).any():
        drawn = kinds >= 0
        when, shares, lift, radii = when[drawn], shares[drawn], lift[drawn], radii[drawn]
        kind_of = kinds[drawn]
    event, group = np.nonzero(lift >= HIT_LIFT)
    figure: Figure = make_subplots(
        rows=2, shared_xaxes=True, row_heights=[0.4, 0.6], vertical_spacing=0.06
    )
    unit = "a typical day" if about.weight else "the threshold"
    for kind in range(-1, int(kind_of.max(initial=-1)) + 1):
        mine = kind_of == kind
        if not mine.any():
            continue
        name = "" if kind < 0 else f"kind {kind + 1}"
        color = MUTED if kind < 0 else KIND_COLORS[kind % len(KIND_COLORS)]
        bars = Bar(x=when[mine], y=radii[mine].round(3), marker_color=color, name=name)
        words = "" if kind < 0 else f", {name}"
        bars.hovertemplate = f"%{{x}}: %{{y:.2f}} × {unit}{words}<extra></extra>"
        figure.add_trace(bars, row=1, col=1)
    figure.update_layout(barmode="overlay")
    strength = lift[event, group]
    hover = (
        "%{x}: %{customdata[0]} % of the event, %{customdata[1]} × its usual share<extra></extra>"
    )
    size = np.clip(3 + 2.5 * strength, 5, 14).round(1)
    share = np.column_stack((100 * shares[event, group], strength)).round(1)
    for tint, color in enumerate(GROUP_COLORS):  # plotly examines a list of colours one by one
        mine = group % len(GROUP_COLORS) == tint
        if not mine.any():
            continue
        dots = Scatter(
            x=when[event[mine]],
            y=group[mine],
            mode="markers",
            showlegend=False,
            customdata=share[mine],
            marker={"size": size[mine], "color": color, "opacity": 0.75},
            hovertemplate=hover,
        )
        figure.add_trace(dots, row=2, col=1)
    marks = log_ticks(min(1.0, float(radii.min())), max(2.0, float(radii.max())))
    figure.update_yaxes(title="size", type="log", tickvals=marks, row=1)
    ticks = {"tickvals": list(range(shown)), "ticktext": labels(names[:shown], 16)}
    figure.update_yaxes(ticks, autorange="reversed", row=2)
    height = 260 + 22 * shown
    title = f"{len(when)} extreme observations"
    return finish(figure, title, height=height, legend=kinds is not None)
