"""Heat maps for the pages, as SVG text: a coloured cell with a word or a number in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite, log10

#: Width and height of a cell, and width of the column of names.
CELL, LINE, NAMES = 92, 24, 190
#: Colours of an excess from 10⁻⁴ (good) to 1 (no groups) and beyond, light enough for black words.
SCALE = ("#5aae61", "#a6dba0", "#e6f5d0", "#fde0ef", "#f1a7c1", "#d6729f")


def excess_colour(excess: float | None) -> str:
    """The colour of an excess; grey where there is none.

    Example:
        >>> excess_colour(1e-5), excess_colour(1.0), excess_colour(None)
        ('#5aae61', '#d6729f', '#dddddd')
    """
    if excess is None or not isfinite(excess):
        return "#dddddd"
    place = (log10(max(excess, 1e-4)) + 4) / 4 * (len(SCALE) - 1)
    return SCALE[min(len(SCALE) - 1, int(place + 0.5))]


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], tuple[str, str, str]],
    title: str,
) -> str:
    """A heat map.

    Arguments:
        rows, columns: names, in order.
        cells: (row, column) → colour, words in the cell, and words that are shown on hovering.
        title: description for people who cannot see it.
    """
    head = LINE * max(1, max(name.count("\n") + 1 for name in columns))
    width, height = NAMES + CELL * len(columns), head + LINE * len(rows)
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width}px;width:100%;font:12px sans-serif">'
    ]
    for at, name in enumerate(columns):
        for line, words in enumerate(name.split("\n")):
            x, y = NAMES + CELL * at + CELL // 2, LINE * line + 16
            parts.append(_text(x, y, words, "middle", "currentColor"))
    for down, row in enumerate(rows):
        y = head + LINE * down
        parts.append(_text(NAMES - 8, y + 16, row, "end", "currentColor"))
        for at, column in enumerate(columns):
            if (row, column) not in cells:
                continue
            colour, words, more = cells[row, column]
            x = NAMES + CELL * at
            parts.append(
                f"<g><title>{escape(more)}</title>"
                f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{LINE - 2}" '
                f'fill="{colour}" rx="2"/>{_text(x + CELL // 2, y + 16, words)}</g>'
            )
    parts.append("</svg>\n")
    return "\n".join(parts)


def _text(x: int, y: int, words: str, anchor: str = "middle", colour: str = "#111") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
