"""Figures of a run: its convergence, and the spectrum of S."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symnmf.core.solver import Check
from symnmf.errors import InvalidInput
from symnmf.grouping.rank_selection import RankSuggestion
from symnmf.plot.style import LINE, MUTED, OTHER, finish, log_ticks

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Horizontal axes of the convergence figure, with their titles.
AXES = {"products": "products of S with k columns", "seconds": "seconds"}


def rank_evidence(found: RankSuggestion) -> Figure:
    """The evidence about the number of groups, with the suggested number and its range marked.

    The leading eigenvalues of S on a log scale; where the table is known, also those that S would
    have without groups, and how well 1, 2, … factors predict other days.

    Arguments:
        found: what :func:`symnmf.suggest_rank` returned.

    Example:
        >>> import symnmf as sn
        >>> found = sn.suggest_rank(sn.benchmark_matrix("corr", n=100).operator)
        >>> len(rank_evidence(found).data[0].x) == len(found.values)
        True
    """
    from plotly.graph_objects import Figure, Scatter
    from plotly.subplots import make_subplots

    at = np.arange(1, len(found.values) + 1)
    line = Scatter(x=at, y=found.values, mode="lines+markers", name="eigenvalues")
    line.hovertemplate = "λ_%{x} = %{y:.3g}<extra></extra>"
    figure = Figure([line])
    if found.prediction is not None:
        figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
        figure.add_trace(line, row=1, col=1)
        figure.add_scatter(
            x=at, y=found.noise, name="without groups", line_dash="dot", row=1, col=1
        )
        mean, error = found.prediction.mean, found.prediction.error
        figure.add_scatter(
            x=at[: len(mean)],
            y=mean,
            error_y={"array": error, "thickness": 1},
            mode="lines+markers",
            name="fit to other days",
            row=2,
            col=1,
        )
        figure.update_yaxes(title="fit to other days", row=2, col=1)
        figure.update_xaxes(title="rank", row=2, col=1)
        figure.add_vrect(
            found.low - 0.5, found.high + 0.5, opacity=0.1, fillcolor=LINE, line_width=0
        )
    else:
        figure.update_xaxes(title="rank")
    words = "no groups" if found.k == 1 else f"{found.k} groups"
    figure.add_vline(found.k + 0.5, line_dash="dash", annotation_text=words)
    first: dict[str, int] = {} if found.prediction is None else {"row": 1, "col": 1}
    figure.update_yaxes(title="eigenvalue of S", type="log", **first)
    figure.update_layout(template="plotly_white", title=found.words)
    return figure


def spectrum(values: np.ndarray, k: int) -> Figure:
    """Leading eigenvalues of S on a log scale, with the number of groups marked.

    Arguments:
        values: (p,) eigenvalues in descending order, such as ``result.eigenvalues``.
        k: number of groups.

    Example:
        >>> len(spectrum(np.array([3.0, 1.0, 0.5]), k=2).data)
        2
    """
    from plotly.graph_objects import Figure, Scatter

    values = np.asarray(values, dtype=float)
    values = values[values > 1e-6 * values[0]]
    at = np.arange(1, len(values) + 1)
    figure = Figure()
    for inside, name, color in ((at <= k, "used", LINE), (at > k, "left out", MUTED)):
        dots = Scatter(x=at[inside], y=values[inside], mode="markers", name=name)
        dots.marker = {"size": 7, "color": color, "symbol": "circle" if color == LINE else "x"}
        dots.hovertemplate = "λ_%{x} = %{y:.3g}<extra></extra>"
        figure.add_trace(dots)
    figure.add_vline(k + 0.5, line_dash="dash", line_color=OTHER, annotation_text=f"k = {k}")
    figure.update_xaxes(title="rank")
    ticks = log_ticks(float(values[-1]), float(values[0]))
    figure.update_yaxes(title="eigenvalue of S", type="log", tickvals=ticks)
    return finish(figure, "Spectrum", height=320, legend=True)


def convergence(history: Sequence[Check], floor: float, axis: str = "products") -> Figure:
    """Error above the floor, and gradient relative to its gate, against products or seconds.

    Arguments:
        history: the checks of a run.
        floor: lower bound of the error of every factor of this size.
        axis: ``"products"`` or ``"seconds"``.

    Raises:
        InvalidInput: the axis is unknown.

    Example:
        >>> import symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))) + 0.1, k=2)
        >>> len(convergence(result.history, result.certificate.floor_low).data)
        2
    """
    from plotly.graph_objects import Figure, Scatter

    if axis not in AXES:
        raise InvalidInput("axis", f"got {axis!r}", f"Choose {' or '.join(AXES)}")
    checks = [c for c in history if np.isfinite(c.error) and np.isfinite(c.kkt_ratio)]
    spent = [float(f"{getattr(c, axis):.4g}") for c in checks]
    above = [float(f"{max(c.error - floor, 1e-8):.4g}") for c in checks]
    gradient = [float(f"{max(c.kkt_ratio, 1e-4):.4g}") for c in checks]
    figure = Figure(
        [
            Scatter(x=spent, y=above, mode="lines+markers", name="error above the least possible"),
            Scatter(x=spent, y=gradient, mode="lines+markers", name="gradient ÷ its gate"),
        ]
    )
    figure.data[0].line = {"color": LINE}
    figure.data[1].line = {"color": OTHER, "dash": "dot"}
    words = {"annotation_text": "gate", "annotation_y": 0, "annotation_position": "top left"}
    figure.add_hline(1, line_dash="dash", line_color=MUTED, **words)
    figure.update_xaxes(title=AXES[axis])
    figure.update_yaxes(title="log scale", type="log", exponentformat="power", dtick=1)
    return finish(figure, f"Convergence against {axis}", height=340, legend=True)
