"""Colours for every kind of colour vision, and safe text for figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Those colours of Okabe and Ito that are visible on white and on black.
GROUP_COLORS = ("#0082c8", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888")
LINE, OTHER, MUTED = GROUP_COLORS[0], GROUP_COLORS[1], "#8a8a8a"
#: Colour scale that reads the same with every kind of colour vision.
SCALE = "Viridis"

#: Template of the figures that are being made.
_TEMPLATE: ContextVar[str | None] = ContextVar("template", default="plotly_white")


@contextmanager
def without_template() -> Iterator[None]:
    """Make figures for a page that has its own style: copies of templates cost most of their time.

    Example:
        >>> from plotly.graph_objects import Figure
        >>> with without_template():
        ...     figure = finish(Figure(), "none")
        >>> figure.layout.template.layout.colorway is None
        True
    """
    import plotly.io as pio

    before, token = pio.templates.default, _TEMPLATE.set(None)
    pio.templates.default = None
    try:
        yield
    finally:
        pio.templates.default = before
        _TEMPLATE.reset(token)


def label(name: str, most: int = 24) -> str:
    """A name as text for a figure, where ``<`` and ``&`` would be markup.

    Arguments:
        name: the name.
        most: maximum number of characters; longer names are cut.

    Example:
        >>> label("<b>A&B</b>")
        '&lt;b&gt;A&amp;B&lt;/b&gt;'
    """
    text = name if len(name) <= most else f"{name[: most - 1]}…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2, 5 times powers of ten over a short range; at the powers over a long range.

    Example:
        >>> log_ticks(0.3, 8)
        [0.5, 1.0, 2.0, 5.0]
    """
    first, last = floor(log10(low)), ceil(log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    every = (float(f"{step}e{tens}") for tens in range(first, last + 1) for step in steps)
    return [mark for mark in every if low <= mark <= high]


def finish(
    figure: Figure, title: str, *, height: int | None = None, legend: bool = False
) -> Figure:
    """Apply the layout that all figures share."""
    above = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(
        title=title,
        template=_TEMPLATE.get(),
        legend=above,
        height=height,
        showlegend=legend,
    )
    return figure
