"""Traces of a figure as SVG: lines, markers, words and bars."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from symnmf.report.svg_axes import Axis, short_number
from symnmf.report.svg_text import hover_text, plain_text, xml

#: Points and cells up to which each has an element of its own with a text for the pointer.
MAX_TITLED = 450
#: Colours of traces without a colour of their own, visible on white and on black.
CYCLE = ("#0082c8", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888")
#: Patterns of lines.
DASHES = {"dash": "6 4", "dot": "2 3", "dashdot": "6 3 2 3", "longdash": "10 5"}

Box = tuple[float, float, float, float]  # left, top, right, bottom


def array_of(value: Any) -> list[Any]:
    """Values of a trace as a list, also where plotly has packed them.

    Example:
        >>> array_of({"dtype": "i1", "bdata": "AQI="})
        [1, 2]
    """
    if value is None:
        return []
    if isinstance(value, dict) and "bdata" in value:
        dtype = np.dtype(str(value["dtype"])).newbyteorder("<")
        made = np.frombuffer(base64.b64decode(value["bdata"]), dtype=dtype)
        if "shape" in value:
            made = made.reshape([int(s) for s in str(value["shape"]).split(",")])
        return list(made.tolist())
    return list(value)


def error_ends(trace: dict[str, Any], letter: str) -> list[tuple[float, float] | None]:
    """Lower and upper end of the error bar of every point along an axis; empty without them.

    Example:
        >>> error_ends({"x": [1, 2], "error_x": {"array": [1, None]}}, "x")
        [(0, 2), None]
    """
    error = trace.get(f"error_{letter}") or {}
    over = array_of(error.get("array"))
    under = array_of(error.get("arrayminus")) or over
    return [
        None if value is None or up is None or down is None else (value - down, value + up)
        for value, up, down in zip(array_of(trace.get(letter)), over, under, strict=False)
    ]


def scatter(trace: dict[str, Any], x: Axis, y: Axis, color: str, *, titles: bool) -> list[str]:
    """A scatter trace: area, error bars, line and markers; :func:`words` stand above all traces.

    Arguments:
        trace: the trace, as JSON.
        x, y: its axes.
        color: colour where it has none.
        titles: whether points get a text for the pointer.
    """
    across, up = array_of(trace.get("x")), array_of(trace.get("y"))
    if not across:
        across = list(range(len(up)))
    px, py = x.places(across).tolist(), y.places(up).tolist()
    mode = str(trace.get("mode") or ("lines+markers" if len(px) < 20 else "lines"))
    line, marker = trace.get("line") or {}, trace.get("marker") or {}
    stroke = str(line.get("color") or _single(marker.get("color")) or color)
    made = []
    fill = trace.get("fill")
    if fill in ("toself", "tozeroy", "tozerox", "tonexty"):
        # Without a line of its own the area is that of the line itself, or down to the axis.
        ends = (px, py) if fill != "tozeroy" else _grounded(px, py, y)
        path = _line(*ends) + "Z"
        area = str(trace.get("fillcolor") or stroke)
        clear = "" if trace.get("fillcolor") else ' fill-opacity="0.3"'
        title = _title(trace, 0, across, up) if trace.get("hoverinfo") != "skip" else ""
        label = f"<title>{xml(title)}</title>" if titles and title else ""
        made.append(f'<path d="{path}" fill="{xml(area)}"{clear} stroke="none">{label}</path>')
    errors = error_ends(trace, "y")
    if errors:
        bars = "".join(
            f"M{x.place(a):.1f} {y.place(e[0]):.1f}V{y.place(e[1]):.1f}"
            for a, e in zip(across, errors, strict=True)
            if e is not None and np.isfinite([y.place(e[0]), y.place(e[1])]).all()
        )
        made.append(f'<path d="{bars}" stroke="{xml(stroke)}" fill="none"/>')
    width = line.get("width", 2)
    if "lines" in mode and width:
        made.append(
            f'<path d="{_line(px, py, line.get("shape"))}" fill="none" stroke="{xml(stroke)}" '
            f'stroke-width="{width}" stroke-linejoin="round"{_dash(line)}{_opacity(trace)}/>'
        )
    if "markers" in mode:
        made += _markers(trace, px, py, color, titles, across, up)
    return made


def bars(
    trace: dict[str, Any], x: Axis, y: Axis, color: str, *, titles: bool, slot: tuple[int, int],
    base: dict[Any, float] | None, others: Sequence[dict[str, Any]] = (),
) -> list[str]:  # fmt: skip
    """A bar trace, upright or lying.

    Arguments:
        trace, x, y, color, titles: as for :func:`scatter`.
        slot: number of this trace among those that stand beside each other, and their number.
        base: height of the bars below, by position, where bars are stacked; it is raised.
        others: all bar traces of the picture: bars are as thick as the closest of them allow.
    """
    lying = trace.get("orientation") == "h"
    along, over = (y, x) if lying else (x, y)
    where = array_of(trace.get("y" if lying else "x"))
    size = array_of(trace.get("x" if lying else "y"))
    centers, tops = along.places(where), over.places(size).tolist()
    every = [along.places(array_of(other.get("y" if lying else "x"))) for other in others]
    places = np.concatenate([centers, *every])
    gaps = np.diff(np.unique(places[np.isfinite(places)]))
    room = float(gaps.min()) if len(gaps) else abs(along.stop - along.start) / 2
    thick = max(1.0, 0.8 * room)
    colors = many((trace.get("marker") or {}).get("color"), len(where), color)
    ground = over.at(max(0.0, min(over.low, over.high))) if over.kind == "linear" else over.start
    shift = (slot[0] - (slot[1] - 1) / 2) * thick / slot[1]
    shapes: list[str] = []
    errors = error_ends(trace, "x" if lying else "y")
    thin: dict[str, dict[float, tuple[float, float]]] = {}
    for i, (at, value) in enumerate(zip(centers.tolist(), size, strict=True)):
        if value is None:
            continue
        low = 0.0 if base is None else base.get(where[i], 0.0)
        if base is not None:
            base[where[i]] = low + value
        begin = over.place(low) if low else ground
        end = over.place(low + value) if low else tops[i]
        if not (isfinite(at) and isfinite(end)):
            continue
        if thick < 2.5 and not lying:
            column = thin.setdefault(colors[i], {})  # of several in a pixel, the longest is seen
            at = float(round(at))
            known = column.get(at)
            if known is None or abs(end - begin) > abs(known[1] - known[0]):
                column[at] = (begin, end)
            continue
        one, other = at + shift - thick / slot[1] / 2, thick / slot[1]
        left, wide = min(begin, end), abs(end - begin)
        box = (left, one, wide, other) if lying else (one, left, other, wide)
        words = _title(trace, i, where if not lying else size, size if not lying else where)
        label = f"<title>{xml(words)}</title>" if titles and len(where) <= MAX_TITLED else ""
        shapes.append(
            '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" '.format(*box)
            + f'fill="{xml(colors[i])}"{_opacity(trace)}>{label}</rect>'
        )
        ends = errors[i] if errors else None
        if ends is not None and ends[0] < ends[1]:
            shapes.append(_error_bar(at + shift, over.place(ends[0]), over.place(ends[1]), lying))
    for tint, column in thin.items():
        path = "".join(f"M{at:.0f} {a:.0f}V{b:.1f}" for at, (a, b) in column.items())
        shapes.append(f'<path d="{path}" stroke="{xml(tint)}" fill="none"/>')
    return shapes


def _error_bar(at: float, low: float, high: float, lying: bool) -> str:
    """A line from end to end with a stop at both."""
    cap = 4.0
    if lying:
        stops = "".join(f"M{end:.1f} {at - cap:.1f}v{2 * cap:g}" for end in (low, high))
        path = f"M{low:.1f} {at:.1f}H{high:.1f}{stops}"
    else:
        stops = "".join(f"M{at - cap:.1f} {end:.1f}h{2 * cap:g}" for end in (low, high))
        path = f"M{at:.1f} {low:.1f}V{high:.1f}{stops}"
    return f'<path class="error" d="{path}" fill="none"/>'


def _markers(
    trace: dict[str, Any],
    px: list[float],
    py: list[float],
    color: str,
    titles: bool,
    across: list[Any],
    up: list[Any],
) -> list[str]:
    """Markers: elements with words where they are few, else one path for each style."""
    marker = trace.get("marker") or {}
    n = len(px)
    colors = many(marker.get("color"), n, str((trace.get("line") or {}).get("color") or color))
    sizes = [float(s) for s in many(marker.get("size"), n, 6)]
    symbols = many(marker.get("symbol"), n, "circle")
    alpha = float(marker.get("opacity") or trace.get("opacity") or 1)
    opacity = "" if alpha == 1 else f' opacity="{alpha:g}"'
    shown = [i for i in range(n) if isfinite(px[i]) and isfinite(py[i])]
    alone = titles and n <= MAX_TITLED and trace.get("hoverinfo") != "skip"
    styles: dict[tuple[str, str, str], list[str]] = {}
    made = []
    if n > MAX_TITLED:
        shown = _distinct(shown, px, py, sizes, colors)
        px = [round(v) if isfinite(v) else v for v in px]
    for i in shown:
        name, r = str(symbols[i]), sizes[i] / 2
        shape = symbol_path(name, px[i], py[i], r)
        if name in ("x", "cross"):
            style = f'fill="none" stroke="{xml(str(colors[i]))}" stroke-width="2"'
        elif name.startswith("circle"):
            style = (
                f'fill="none" stroke="{xml(str(colors[i]))}" stroke-width="{2 * r:g}" '
                'stroke-linecap="round"'
            )
        else:
            style = f'fill="{xml(str(colors[i]))}"'
        if alone:
            words = xml(_title(trace, i, across, up))
            made.append(f'<path d="{shape}" {style}{opacity}><title>{words}</title></path>')
        else:
            styles.setdefault((style, opacity, name), []).append(shape)
    made += [
        f'<path d="{"".join(parts)}" {style}{clear}/>'
        for (style, clear, _), parts in styles.items()
    ]
    return made


def _distinct(
    shown: list[int], px: list[float], py: list[float], sizes: list[float], colors: list[Any]
) -> list[int]:
    """Of many markers of one colour in the same pixel, the largest; sizes become whole pixels."""
    best: dict[tuple[int, int, str], int] = {}
    for i in shown:
        sizes[i] = float(max(2, round(sizes[i])))
        key = (round(px[i]), round(py[i]), str(colors[i]))
        if key not in best or sizes[i] > sizes[best[key]]:
            best[key] = i
    return sorted(best.values())


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def symbol_path(name: str, x: float, y: float, r: float) -> str:
    """The path of a marker by the name of its shape, around a point."""
    if name == "triangle-up":
        return f"M{x - r:.1f} {y + r:.1f}h{2 * r:.1f}l{-r:.1f} {-2 * r:.1f}z"
    if name == "triangle-down":
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}l{-r:.1f} {2 * r:.1f}z"
    if name.startswith("square"):
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}v{2 * r:.1f}h{-2 * r:.1f}z"
    if name.startswith("diamond"):
        return f"M{x - r:.1f} {y:.1f}l{r:.1f} {-r:.1f}l{r:.1f} {r:.1f}l{-r:.1f} {r:.1f}z"
    if name in ("x", "cross"):
        return (
            f"M{x - r:.1f} {y - r:.1f}l{2 * r:.1f} {2 * r:.1f}"
            f"m0 {-2 * r:.1f}l{-2 * r:.1f} {2 * r:.1f}"
        )
    return f"M{_short(x)} {_short(y)}h0"  # a dot is a line without length and with round ends


def _title(trace: dict[str, Any], i: int, across: list[Any], up: list[Any]) -> str:
    template = trace.get("hovertemplate")
    if isinstance(template, list):
        template = template[i]
    custom = trace.get("customdata")
    values = {"x": across[i] if across else "", "y": up[i] if up else ""}
    texts = trace.get("hovertext") or trace.get("text")
    values["text"] = texts[i] if isinstance(texts, list) and i < len(texts) else texts
    if custom is not None:
        rows = array_of(custom)
        values["customdata"] = rows[i] if i < len(rows) else None
    if template:
        return hover_text(str(template), values)
    if values["text"]:
        return plain_text(str(values["text"]))
    name = plain_text(str(trace.get("name") or ""))
    words = ", ".join(_number_words(v) for v in (values["x"], values["y"]))
    return f"{name}: {words}" if name else words


def _number_words(value: Any) -> str:
    return short_number(float(f"{value:.4g}")) if isinstance(value, int | float) else str(value)


def _line(px: Sequence[float], py: Sequence[float], shape: str | None = None) -> str:
    """A path through points; a gap where one is missing."""
    parts, drawing = [], False
    for a, b in zip(px, py, strict=True):
        if not (isfinite(a) and isfinite(b)):
            drawing = False
            continue
        if drawing and shape == "hv":
            parts.append(f"H{a:.1f}V{b:.1f}")
        else:
            parts.append(f"{'L' if drawing else 'M'}{a:.1f} {b:.1f}")
        drawing = True
    return "".join(parts)


def _grounded(px: list[float], py: list[float], y: Axis) -> tuple[list[float], list[float]]:
    good = [(a, b) for a, b in zip(px, py, strict=True) if np.isfinite(a) and np.isfinite(b)]
    if not good:
        return [], []
    ground = y.at(max(0.0, min(y.low, y.high))) if y.kind == "linear" else y.start
    xs, ys = [a for a, _ in good], [b for _, b in good]
    return [xs[0], *xs, xs[-1]], [ground, *ys, ground]


def _dash(line: dict[str, Any]) -> str:
    pattern = DASHES.get(str(line.get("dash")))
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def _opacity(trace: dict[str, Any]) -> str:
    alpha = trace.get("opacity") or (trace.get("marker") or {}).get("opacity")
    return "" if alpha in (None, 1) or isinstance(alpha, list | dict) else f' opacity="{alpha:g}"'


def _single(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def many(value: Any, n: int, default: Any) -> list[Any]:
    """A value for each of n points, from one value or a list."""
    if isinstance(value, list | dict | tuple):
        return array_of(value)
    return [default if value is None else value] * n
