"""What stands around the traces of a drawing: axes, lines, annotations, legend, colour bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symnmf.report.svg_axes import Axis, linear_marks, number_of
from symnmf.report.svg_heat import colors_of
from symnmf.report.svg_text import plain_text, text_width, xml
from symnmf.report.svg_traces import CYCLE, DASHES, Box, array_of, symbol_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame(x: Axis, y: Axis, font: float, most: int, turned: bool, wide: bool) -> list[str]:
    """Grid, ticks and titles of a panel.

    Arguments:
        x, y: its axes.
        font: font size.
        most: maximum number of characters of a tick.
        turned: whether the words below are turned.
        wide: whether the drawing is for wide screens.
    """
    made = []
    left, right = x.start, x.stop
    bottom, top = y.start, y.stop
    second = "overlaying" in y.settings
    for at, word in y.spaced(True, font, most):
        if y.settings.get("showgrid") is not False and y.kind != "category" and not second:
            made.append(f'<path class="grid" d="M{left:.1f} {at:.1f}H{right:.1f}"/>')
        side = f'x="{right + 6:.1f}"' if second else f'x="{left - 6:.1f}" text-anchor="end"'
        made.append(f'<text class="tick" {side} y="{at + 0.35 * font:.1f}">{xml(word)}</text>')
    across = [] if second else x.spaced(turned, font, most)
    for at, word in across:
        if x.settings.get("showgrid") is not False and x.kind != "category":
            made.append(f'<path class="grid" d="M{at:.1f} {top:.1f}V{bottom:.1f}"/>')
        if turned:
            spot = f"{at + 0.35 * font:.1f} {bottom + 6:.1f}"
            made.append(
                f'<text class="tick" text-anchor="end" transform="translate({spot})rotate(-90)">'
                f"{xml(word)}</text>"
            )
        else:
            half = text_width(word, font) / 2
            middle = min(max(at, half), max(half, right + 8 - half)) if wide else max(at, half)
            made.append(
                f'<text class="tick" text-anchor="middle" x="{middle:.1f}" '
                f'y="{bottom + 1.3 * font:.1f}">{xml(word)}</text>'
            )
    words = axis_title(x.settings)
    if words and not second:
        names = [text_width(w, font) for _, w in across]
        drop = (max(names, default=0.0) + 12) if turned else (1.4 * font if across else 0)
        made.append(
            f'<text class="axis" text-anchor="middle" x="{(left + right) / 2:.1f}" '
            f'y="{bottom + drop + 1.2 * font:.1f}">{xml(words)}</text>'
        )
    words = axis_title(y.settings)
    if words:
        ticks = [text_width(w, font) for _, w in y.spaced(True, font, most)]
        room = max(ticks, default=0.0)
        at = right + room + 1.7 * font if second else max(font, left - room - 6 - 0.5 * font)
        made.append(
            f'<text class="axis" text-anchor="middle" '
            f'transform="translate({at:.1f} {(top + bottom) / 2:.1f})rotate(-90)">'
            f"{xml(words)}</text>"
        )
    return made


def marks(
    layout: dict[str, Any], panels: Sequence[Any], font: float, width: float
) -> tuple[list[str], list[str]]:
    """Lines, rectangles and annotations: those below the traces, and those above them.

    Arguments:
        layout: layout of the figure.
        panels: its panels, with their axes in place.
        font: font size.
        width: width of the drawing.
    """
    axes = {name: axis for p in panels for name, axis in zip(p.names, (p.x, p.y), strict=True)}
    below: list[str] = []
    above: list[str] = []
    for shape in layout.get("shapes") or ():
        x0, x1 = (_spot(shape, "x", end, axes, panels) for end in "01")
        y0, y1 = (_spot(shape, "y", end, axes, panels) for end in "01")
        line = shape.get("line") or {}
        stroke = str(line.get("color") or "currentColor")
        pattern = DASHES.get(str(line.get("dash")))
        dash = f' stroke-dasharray="{pattern}"' if pattern else ""
        if shape.get("type") == "rect":
            border = f'stroke="{xml(stroke)}"' if line.get("width") else 'stroke="none"'
            made = (
                f'<rect x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" '
                f'height="{abs(y1 - y0):.1f}" fill="{xml(str(shape.get("fillcolor") or "none"))}" '
                f'fill-opacity="{shape.get("opacity", 1)}" {border}/>'
            )
            (below if shape.get("layer") != "above" else above).append(made)
        else:
            made = (
                f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" fill="none" '
                f'stroke="{xml(stroke)}" stroke-width="{line.get("width", 1.5)}"{dash}/>'
            )
            (below if shape.get("layer") == "below" else above).append(made)
    for note in layout.get("annotations") or ():
        x, y = (_spot(note, side, "", axes, panels) for side in "xy")
        words = plain_text(str(note.get("text") or ""))
        wide = text_width(words, font)
        anchor = note.get("xanchor") or "center"
        begin = x - {"left": 0.0, "center": wide / 2, "right": wide}.get(anchor, wide / 2)
        begin += {"left": 4, "right": -4}.get(anchor, 0)
        begin = min(max(2.0, begin), max(2.0, width - wide - 2))
        drop = {"top": 1.0, "middle": 0.35, "bottom": -0.35}.get(note.get("yanchor") or "middle", 0)
        above.append(
            f'<text class="note-text halo" x="{begin:.1f}" y="{y + drop * font:.1f}">'
            f"{xml(words)}</text>"
        )
    return below, above


def _spot(
    item: dict[str, Any], side: str, end: str, axes: dict[str, Axis], panels: Sequence[Any]
) -> float:
    """Pixels of an end of a shape, or of an annotation."""
    ref, value = str(item.get(f"{side}ref") or side), item.get(f"{side}{end}", 0)
    if ref == "paper":
        ends = [(p.x if side == "x" else p.y) for p in panels]
        low = min(min(a.start, a.stop) for a in ends)
        high = max(max(a.start, a.stop) for a in ends)
        share = float(value)
        return float(low + share * (high - low) if side == "x" else high - share * (high - low))
    name, _, kind = ref.partition(" ")
    axis = axes.get(name) or next(iter(axes.values()))
    if kind == "domain":
        return axis.start + float(value) * (axis.stop - axis.start)
    if not end and axis.kind == "log":
        return axis.at(float(value))  # annotations are placed at the logarithm
    return axis.at(number_of(value, axis.kind, axis.words))


def legend(rows: list[list[tuple[int, str]]], data: list[dict[str, Any]], font: float) -> list[str]:
    """The legend: a sample and a word for each trace, in rows at the top.

    Arguments:
        rows: numbers of the traces and their words, row by row.
        data: the traces.
        font: font size.
    """
    made = []
    for line, row in enumerate(rows):
        x, y = 4.0, 4 + (line + 0.8) * 1.5 * font
        for number, word in row:
            trace = data[number]
            own = trace.get("line") or {}
            marker = trace.get("marker") or {}
            color = own.get("color") or marker.get("color") or trace.get("fillcolor")
            if not isinstance(color, str):
                color = (array_of(color) or [CYCLE[number % len(CYCLE)]])[0]
            middle = y - 0.35 * font
            mode = str(trace.get("mode") or "lines")
            if trace.get("type") == "bar" or trace.get("fill"):
                made.append(
                    f'<rect x="{x:.1f}" y="{middle - 5:.1f}" width="20" height="10" '
                    f'fill="{xml(str(trace.get("fillcolor") or color))}"/>'
                )
            elif "lines" in mode:
                pattern = DASHES.get(str(own.get("dash")))
                dash = f' stroke-dasharray="{pattern}"' if pattern else ""
                made.append(
                    f'<path d="M{x:.1f} {middle:.1f}h20" stroke="{xml(str(color))}" '
                    f'stroke-width="2"{dash}/>'
                )
            else:
                made.append(key_of(str(marker.get("symbol") or ""), x + 10, middle, str(color)))
            made.append(f'<text class="key" x="{x + 25:.1f}" y="{y:.1f}">{xml(word)}</text>')
            x += text_width(word, font) + 34
    return made


def key_of(symbol: str, x: float, y: float, color: str) -> str:
    """The marker of a trace beside its word.

    Arguments:
        symbol: its shape.
        x, y: its centre.
        color: its colour.
    """
    style = f'fill="{xml(color)}"'
    if symbol in ("x", "cross"):
        style = f'fill="none" stroke="{xml(color)}" stroke-width="2"'
    elif not symbol or symbol.startswith("circle"):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {style}/>'
    return f'<path d="{symbol_path(symbol, x, y, 4.5)}" {style}/>'


def color_bar(
    trace: dict[str, Any], box: Box, low: float, high: float, font: float, id: str
) -> list[str]:
    """The colour bar of a heat map.

    Arguments:
        trace: the heat map.
        box: where the bar lies.
        low, high: numbers of its ends.
        font: font size.
        id: id of the drawing.
    """
    left, top, right, bottom = box
    stops = "".join(
        f'<stop offset="{i / 9:.3f}" stop-color="rgb({r:.0f},{g:.0f},{b:.0f})"/>'
        for i, (r, g, b) in enumerate(colors_of(trace["colorscale"], 10))
    )
    made = [
        f'<linearGradient id="{id}-scale" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}" fill="url(#{id}-scale)"/>'
    ]
    for value, word in linear_marks(low, high, max(2, int((bottom - top) / 50))):
        at = bottom - (value - low) / ((high - low) or 1.0) * (bottom - top)
        made.append(
            f'<text class="tick" x="{right + 4:.1f}" y="{at + 0.35 * font:.1f}">{xml(word)}</text>'
        )
    return made


def axis_title(settings: dict[str, Any]) -> str:
    """The title of an axis as plain text."""
    title = settings.get("title") or ""
    return plain_text(str(title.get("text") or "" if isinstance(title, dict) else title))
