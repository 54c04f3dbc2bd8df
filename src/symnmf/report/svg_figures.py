"""Plotly figures as inline SVG: sharp at every size, in the colours of the page, without a script.

Only what the figures of :mod:`symnmf.plot` use is drawn: scatter, bar and heat map traces,
subplots, linear, log, date and category axes, lines and rectangles, annotations, legends and
colour bars.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from symnmf.report.svg_axes import Axis, cut, kind_of, number_of, numbers_of, range_of
from symnmf.report.svg_decorations import axis_title, color_bar, frame, legend, marks
from symnmf.report.svg_heat import heat
from symnmf.report.svg_text import plain_text, text_width, xml
from symnmf.report.svg_traces import CYCLE, Box, array_of, bars, error_ends, scatter
from symnmf.report.svg_words import marked, words

#: Width of a drawing by its place on the page, and of the drawing for narrow screens.
WIDTHS = {"full": 1040, "half": 500, "middle": 620}
SMALL = 350
#: Font size on wide and on narrow drawings; maximum number of characters of a tick.
FONT, SMALL_FONT = 12.5, 10.5
TICK_CHARACTERS, SMALL_TICK_CHARACTERS = 24, 14
#: Room around the ticks and between the parts.
GAP = 6.0
#: Height of a row of a vertical axis with names, in font sizes.
ROW = 1.15


def drawn(figure: dict[str, Any], id: str, alt: str, size: str = "full") -> Markup:
    """A figure for the page: one drawing for wide screens and paper, one for narrow screens.

    Arguments:
        figure: a plotly figure as JSON.
        id: id of the element.
        alt: what the figure shows, in words.
        size: place on the page: ``"full"``, ``"half"`` or ``"middle"``.

    Example:
        >>> from plotly.graph_objects import Figure, Scatter
        >>> text = drawn(Figure([Scatter(x=[1, 2], y=[3, 4])]).to_dict(), "a", "two points")
        >>> text.count("<svg"), text.count("two points")
        (2, 2)
    """
    wide = _Drawing(figure, f"{id}-wide", alt, WIDTHS[size], FONT, TICK_CHARACTERS, True).svg(
        "wide"
    )
    small = _Drawing(
        figure, f"{id}-small", alt, SMALL, SMALL_FONT, SMALL_TICK_CHARACTERS, False
    ).svg("small")
    return Markup(f'<div class="plot {size}" id="{id}">{wide}{small}</div>')


class _Panel:
    """A pair of axes with its traces."""

    def __init__(self, x: str, y: str) -> None:
        self.names = (x, y)
        self.traces: list[tuple[int, dict[str, Any]]] = []
        self.x: Axis
        self.y: Axis


class _Drawing:
    """A figure at one width."""

    def __init__(
        self, figure: dict[str, Any], id: str, alt: str, width: int, font: float, most: int,
        titles: bool,
    ) -> None:  # fmt: skip
        self.data: list[dict[str, Any]] = list(figure.get("data") or [])
        self.layout: dict[str, Any] = dict(figure.get("layout") or {})
        self.id, self.alt, self.width, self.font, self.most = id, alt, width, font, most
        self.titles = titles
        self.height = float(self.layout.get("height") or 400)
        self.panels = self._find_panels()
        self.legend = self._legend_rows()

    # Axes -------------------------------------------------------------------------------------

    def _settings(self, name: str) -> dict[str, Any]:
        """Settings of an axis such as ``x2``."""
        return dict(self.layout.get(f"{name[0]}axis{name[1:]}") or {})

    def _linked(self, name: str, names: set[str]) -> set[str]:
        """Axes that have the range of an axis: an empty one shows what they show."""
        own = self._settings(name).get("matches")
        return {o for o in names if o == own or self._settings(o).get("matches") == name}

    def _find_panels(self) -> list[_Panel]:
        found: dict[tuple[str, str], _Panel] = {}
        for number, trace in enumerate(self.data):
            names = (str(trace.get("xaxis") or "x"), str(trace.get("yaxis") or "y"))
            found.setdefault(names, _Panel(*names)).traces.append((number, trace))
        if not found:
            found["x", "y"] = _Panel("x", "y")
        axes: dict[str, Axis] = {}
        for panel in found.values():
            for side, name in enumerate(panel.names):
                if name not in axes:
                    axes[name] = self._axis(name, side, list(found.values()))
            panel.x, panel.y = axes[panel.names[0]], axes[panel.names[1]]
        for panel in found.values():  # axes that match others have their range
            for axis in (panel.x, panel.y):
                other = axes.get(str(axis.settings.get("matches") or ""))
                if other is not None and other.kind == axis.kind:
                    ends = (*_ends(axis), *_ends(other))
                    for each in (axis, other):
                        each.low, each.high = min(ends), max(ends)
        return list(found.values())

    def _axis(self, name: str, side: int, panels: list[_Panel]) -> Axis:
        """The axis of a name: its kind and its range, from all traces that use it."""
        settings = self._settings(name)
        traces = [t for p in panels if p.names[side] == name for _, t in p.traces]
        if not any(array_of(t.get(field)) for t in traces for field in ("x", "y", "z")):
            linked = self._linked(name, {p.names[side] for p in panels})
            traces = [t for p in panels if p.names[side] in linked for _, t in p.traces]
        values: list[Any] = []
        cells = zero = marked = False
        for trace in traces:
            own = array_of(trace.get("xy"[side]))
            if trace.get("type") == "heatmap":
                cells = True
                rows = array_of(trace.get("z"))
                count = len(rows) if side else len(rows[0])
                own = own or list(range(count))
            elif trace.get("type") == "bar":
                zero |= (trace.get("orientation") == "h") != bool(side)
                marked = True
            elif not own:
                own = list(range(len(array_of(trace.get("y")))))
            marked |= "markers" in str(trace.get("mode") or "markers")
            values += own
        kind = kind_of(values, settings)
        words: tuple[str, ...] = ()
        if kind == "category":
            texts = (plain_text(str(v)) for v in values if v is not None)
            words = tuple(dict.fromkeys(texts))
            numbers = np.arange(len(words), dtype=float)
        else:
            numbers = numbers_of(values, kind)
        for trace in traces:  # error bars belong to the range
            ends = [v for both in error_ends(trace, "xy"[side]) if both for v in both]
            numbers = np.append(numbers, [number_of(v, kind) for v in ends])
        if self.layout.get("barmode") in ("stack", "relative") and zero:
            numbers = np.append(numbers, _stacked(traces, side, kind))
        for shape in self.layout.get("shapes") or ():
            if shape.get(f"{'xy'[side]}ref") == name:
                ends = [number_of(shape[f"{'xy'[side]}{e}"], kind, words) for e in "01"]
                numbers = np.append(numbers, ends)
        zero = zero or settings.get("rangemode") == "tozero"
        pad = 0.0 if cells or kind == "category" else 0.05 if marked or side else 0.01
        low, high = range_of(numbers, kind, settings, zero=zero, pad=pad)
        if (cells or kind == "category") and settings.get("range") is None:
            sign = 1 if high >= low else -1
            low, high = low - 0.5 * sign, high + 0.5 * sign
        return Axis(kind, low, high, settings, words)

    # Room -------------------------------------------------------------------------------------

    def _legend_rows(self) -> list[list[tuple[int, str]]]:
        """Entries of the legend, in rows that fit the width."""
        named = [
            (i, plain_text(str(t["name"])))
            for i, t in enumerate(self.data)
            if t.get("name") and t.get("showlegend") is not False and t.get("type") != "heatmap"
        ]
        shown = self.layout.get("showlegend")
        if shown is False or (shown is None and len(named) < 2):
            return []
        rows: list[list[tuple[int, str]]] = [[]]
        used = 0.0
        for i, word in named:
            wide = text_width(word, self.font) + 34
            if rows[-1] and used + wide > self.width - 8:
                rows.append([])
                used = 0.0
            rows[-1].append((i, word))
            used += wide
        return rows if rows[0] else []

    def _scale_width(self) -> float:
        return 52.0 if self._scaled() is not None else 0.0

    def _scaled(self) -> dict[str, Any] | None:
        """The trace with a colour bar."""
        for trace in self.data:
            if trace.get("type") == "heatmap" and trace.get("showscale") is not False:
                return trace
        return None

    def _arrange(self) -> float:
        """Give every axis its pixels; the height of the drawing is returned."""
        top = 8.0 + len(self.legend) * 1.5 * self.font
        titled = [a for a in self.layout.get("annotations") or () if a.get("yref") == "paper"]
        top += 1.6 * self.font if titled else 0
        right = self.width - 8.0 - self._scale_width()
        if any("overlaying" in p.y.settings for p in self.panels):
            right -= 5 * self.font
        left: dict[Any, Any] = {}
        for panel in self.panels:
            if "overlaying" not in panel.y.settings:
                start = _domain(panel.x.settings)[0]
                left[start] = max(left.get(start, 0.0), self._left(panel))
        bottom = max(
            self._below(p) for p in self.panels if _domain(p.y.settings)[0] <= min(
                _domain(q.y.settings)[0] for q in self.panels
            )
        )  # fmt: skip
        height = self.height
        columns = len({_domain(p.x.settings)[0] for p in self.panels})
        for panel in self.panels:
            begin, end = _domain(panel.x.settings)
            inner = right - 4
            x0 = 4 + begin * inner + left.get(begin, 0.0)
            x1 = 4 + end * inner - (8 if columns > 1 else 0)
            panel.x.start, panel.x.stop = x0, max(x0 + 20, x1)
        height = max(
            height if self.titles else min(height, 1.4 * self.width), self._needed(top, bottom)
        )
        square = [p for p in self.panels if p.y.settings.get("scaleanchor")]
        if square and len(self.panels) == len(square):
            side = max(p.x.stop - p.x.start for p in square)
            rows = max(_domain(p.y.settings)[1] - _domain(p.y.settings)[0] for p in square)
            fit = height - top - bottom
            tall = max(min(side, fit) if self.titles else side, self._needed(0, 0))
            height = top + bottom + tall / max(rows, 1e-9)
            for panel in square:
                if tall < panel.x.stop - panel.x.start and self.titles:
                    panel.x.stop = panel.x.start + tall
        for panel in self.panels:
            low, high = _domain(panel.y.settings)
            inner = height - top - bottom
            panel.y.start = top + (1 - low) * inner
            panel.y.stop = top + (1 - high) * inner
        return height

    def _needed(self, top: float, bottom: float) -> float:
        """Height that the names of vertical axes need to stand one above the other."""
        most = 0.0
        for panel in self.panels:
            names = panel.y.settings.get("ticktext") or panel.y.words
            if names and panel.y.settings.get("showticklabels") is not False and len(names) <= 60:
                share = _domain(panel.y.settings)
                most = max(most, len(names) * ROW * self.font / max(0.1, share[1] - share[0]))
        return top + bottom + most

    def _left(self, panel: _Panel) -> float:
        axis = panel.y
        axis.start, axis.stop = self.height, 0.0
        words = [text_width(w, self.font) for _, w in axis.spaced(True, 1.0, self.most)]
        title = 1.5 * self.font if axis_title(axis.settings) else 0.0
        return min(max(words, default=0.0), 0.45 * self.width) + GAP + title

    def _below(self, panel: _Panel) -> float:
        axis = panel.x
        title = 1.5 * self.font if axis_title(axis.settings) else 0.0
        if axis.settings.get("showticklabels") is False:
            return title + 4
        if self._turned(panel):
            names = axis.settings.get("ticktext") or axis.words
            words = [text_width(cut(plain_text(str(n)), self.most), self.font) for n in names]
            return max(words, default=0.0) + 2 * GAP + title
        return 1.6 * self.font + title + 4

    def _turned(self, panel: _Panel) -> bool:
        """Whether the words of the horizontal axis are turned: names that have no room."""
        names = panel.x.settings.get("ticktext") or panel.x.words
        if not names:
            return False
        wide = max(text_width(plain_text(str(n))[: self.most], self.font) for n in names)
        low, high = _domain(panel.x.settings)
        return bool(wide * len(names) > 0.8 * self.width * (high - low))

    # Drawing ----------------------------------------------------------------------------------

    def svg(self, name: str) -> str:
        """The drawing as text."""
        height = self._arrange()
        below, above = marks(self.layout, self.panels, self.font, self.width)
        body: list[str] = []
        taken: list[Box] = [(0.0, 0.0, float(self.width), height)]
        for panel in self.panels:
            body += frame(panel.x, panel.y, self.font, self.most, self._turned(panel), self.titles)
        body += below
        for panel in self.panels:
            body += self._traces(panel, taken)
        body += above
        body += legend(self.legend, self.data, self.font)
        trace = self._scaled()
        if trace is not None:
            panel = self.panels[-1]
            box = (panel.x.stop + 10, panel.y.stop, panel.x.stop + 22, panel.y.start)
            body += color_bar(trace, box, *_limits(trace), self.font, self.id)
        return (
            f'<svg class="{name}" role="img" aria-labelledby="{self.id}-words" '
            f'viewBox="0 0 {self.width} {height:.0f}" font-size="{self.font:g}">'
            f'<desc id="{self.id}-words">{xml(self.alt)}</desc>{"".join(body)}</svg>'
        )

    def _traces(self, panel: _Panel, taken: list[Box]) -> list[str]:
        made: list[str] = []
        upright = [t for _, t in panel.traces if t.get("type") == "bar"]
        stacked = self.layout.get("barmode") in ("stack", "relative", "overlay")
        base: dict[Any, float] | None = (
            {} if self.layout.get("barmode") in ("stack", "relative") else None
        )
        for _, trace in panel.traces:
            taken += marked(trace, panel.x, panel.y)
        for number, trace in panel.traces:
            color, kind = CYCLE[number % len(CYCLE)], trace.get("type", "scatter")
            if trace.get("visible") is False:
                continue
            if kind in ("scatter", "scattergl"):
                made += scatter(trace, panel.x, panel.y, color, titles=self.titles)
            elif kind == "bar":
                slot = (0, 1) if stacked else (upright.index(trace), len(upright))
                made += bars(
                    trace, panel.x, panel.y, color, titles=self.titles, slot=slot, base=base,
                    others=[t for _, t in panel.traces if t.get("type") == "bar"],
                )  # fmt: skip
            elif kind == "heatmap":
                size = self.font - 1.5
                ends = _limits(trace)
                made += heat(trace, panel.x, panel.y, *ends, titles=self.titles, size=size)
            else:
                raise NotImplementedError(f"the page cannot draw a trace of type {kind!r}")
        for _, trace in panel.traces:  # above the markers of all
            if trace.get("visible") is not False:
                made += words(trace, panel.x, panel.y, taken)
        return made


def _limits(trace: dict[str, Any]) -> tuple[float, float]:
    """Numbers with the first and the last colour."""
    if trace.get("zmin") is not None and trace.get("zmax") is not None:
        return float(trace["zmin"]), float(trace["zmax"])
    z = [v for row in array_of(trace.get("z")) for v in row if v is not None and v == v]
    low = float(trace["zmin"]) if trace.get("zmin") is not None else min(z, default=0.0)
    return low, max(z, default=1.0)


def _domain(settings: dict[str, Any]) -> tuple[float, float]:
    low, high = settings.get("domain") or (0.0, 1.0)
    return float(low), float(high)


def _ends(axis: Axis) -> tuple[float, float]:
    return axis.low, axis.high


def _stacked(traces: list[dict[str, Any]], side: int, kind: str) -> list[float]:
    """Sums of stacked bars, for the range of their axis."""
    sums: dict[Any, float] = {}
    for trace in traces:
        if trace.get("type") == "bar":
            at, size = (array_of(trace.get(n)) for n in ("xy" if side else "yx"))
            for place, value in zip(at, size, strict=True):
                sums[place] = sums.get(place, 0.0) + (value or 0.0)
    return [number_of(v, kind) for v in sums.values()]
