"""Colours for every kind of colour vision, and safe text for figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import takewhile
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Those colours of Okabe and Ito that are visible on white and on black.
GROUP_COLORS = ("#0082c8", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888")
LINE, OTHER, MUTED = GROUP_COLORS[0], GROUP_COLORS[1], "#8a8a8a"
#: Colours of the kinds of days, and of two measures of the same groups; no group has them.
KIND_COLORS = ("#7d5bd0", "#c92f6b", "#8c8617", "#96613a", "#b63fc0", "#128f96")
MEASURE_COLORS = ("#5f7390", "#a5825a")
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
    return _escaped(_cut(name, most))


def labels(names: Sequence[str], most: int = 24) -> list[str]:
    """Names as texts for a figure that differ wherever the names differ.

    Names that would be cut to the same text begin where they differ instead; where that does not
    help, they are numbered.

    Arguments:
        names: the names.
        most: maximum number of characters of each.

    Example:
        >>> labels(["International Fund A", "International Fund B", "Gold"], most=12)
        ['…Fund A', '…Fund B', 'Gold']
    """
    return [_escaped(text) for text in short_names(names, most)]


def short_names(names: Sequence[str], most: int = 24) -> list[str]:
    """:func:`labels` without what markup needs.

    Arguments:
        names, most: as for :func:`labels`.

    Example:
        >>> short_names(["Fund of gold", "Fund of silver"], most=8)
        ['…gold', '…silver']
    """
    made = [_cut(name, most) for name in names]
    for same in _alike(made, names):
        letters = zip(*(names[i] for i in same), strict=False)
        begin = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))
        begin = names[same[0]].rfind(" ", 0, begin) + 1 or begin
        whole = max(len(names[i]) for i in same) - (most - 1)  # from here on the ends have room
        if 0 < whole < begin:
            begin = names[same[0]].find(" ", whole - 1, begin) + 1 or begin
        if min(len(names[i]) for i in same) > begin:
            for i in same:
                made[i] = _cut(f"…{names[i][begin:]}", most)
    for same in _alike(made, names):
        for number, i in enumerate(same, 1):
            end = f" ({number})"
            made[i] = f"{_cut(names[i], most - len(end))}{end}"
    return made


def _alike(made: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """Places of different names with the same text."""
    places: dict[str, list[int]] = {}
    for i, text in enumerate(made):
        places.setdefault(text, []).append(i)
    return [same for same in places.values() if len({names[i] for i in same}) > 1]


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _escaped(text: str) -> str:
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
