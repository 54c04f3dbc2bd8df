"""Words of scatter traces, where they overlap neither each other nor markers."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from symnmf.report.svg_axes import Axis
from symnmf.report.svg_text import plain_text, text_width, xml
from symnmf.report.svg_traces import Box, array_of, many


def marked(trace: dict[str, Any], x: Axis, y: Axis) -> list[Box]:
    """Boxes of the markers of a trace in which each has a word: no word of the figure hides one.

    Where few of many markers have words, as in a large network, there would be no room for any.

    Example:
        >>> axis = Axis("linear", 0, 10, {}, start=0, stop=100)
        >>> dot = {"mode": "markers+text", "x": [5], "y": [5], "text": ["a"]}
        >>> marked({**dot, "marker": {"size": 4}}, axis, axis)
        [(48.0, 48.0, 52.0, 52.0)]
    """
    mode = str(trace.get("mode"))
    if "text" not in mode or "markers" not in mode or not all(array_of(trace.get("text"))):
        return []
    px, py = (
        x.places(array_of(trace.get("x"))).tolist(),
        y.places(array_of(trace.get("y"))).tolist(),
    )
    sizes = many((trace.get("marker") or {}).get("size"), len(px), 6)
    return [
        (a - r, b - r, a + r, b + r)
        for a, b, r in zip(px, py, (float(size) / 2 for size in sizes), strict=True)
        if isfinite(a) and isfinite(b)
    ]


def words(trace: dict[str, Any], x: Axis, y: Axis, taken: list[Box]) -> list[str]:
    """Words of a scatter trace; each in the first of four places that is free, or nowhere.

    Arguments:
        trace, x, y: as for :func:`scatter`.
        taken: boxes of the words so far; those of these words are added.
    """
    if "text" not in str(trace.get("mode")):
        return []
    px, py = (
        x.places(array_of(trace.get("x"))).tolist(),
        y.places(array_of(trace.get("y"))).tolist(),
    )
    font = trace.get("textfont") or {}
    size = float(font.get("size") or 11)
    texts = many(trace.get("text"), len(px), "")
    made = []
    for at, up, raw in zip(px, py, texts, strict=True):
        word = plain_text(str(raw or ""))
        if not word or not (isfinite(at) and isfinite(up)):
            continue
        wide = text_width(word, size)
        places = (
            (at + 6, up + 0.35 * size),
            (at - 6 - wide, up + 0.35 * size),
            (at - wide / 2, up - 7),
            (at - wide / 2, up + 7 + 0.8 * size),
        )
        for left, base in places:
            box = (left, base - 0.9 * size, left + wide, base + 0.25 * size)
            if free(box, taken):
                taken.append(box)
                made.append(
                    f'<text x="{left:.1f}" y="{base:.1f}" class="halo" '
                    f'style="font-size:{size:g}px">{xml(word)}</text>'
                )
                break
    return made


def free(box: Box, taken: Iterable[Box]) -> bool:
    """Whether a box lies inside the first box of a list, and overlaps none of the others."""
    frame, *others = taken
    inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
    return inside and not any(
        box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in others
    )
