"""Text of drawn figures: markup, widths, and what a pointer shows."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from typing import Any

#: Width of a character in units of the font size, on the safe side for common sans-serif fonts,
#: of which DejaVu Sans is the widest: others, capitals, thin and wide ones.
CHARACTER, CAPITAL, NARROW, WIDE = 0.64, 0.79, 0.4, 1.05
#: Characters that are narrow in every such font.
THIN = frozenset(" .,:;|!'()[]ijltfI-")
MARKUP = re.compile(r"<[^<>]*>")
FIELD = re.compile(r"%\{(\w+)(?:\[(\d+)\])?(?::([^}]*))?\}")


def plain_text(text: str) -> str:
    """Text of a plotly figure without its markup.

    Example:
        >>> plain_text("a<br>b"), plain_text("A&amp;B &lt;x&gt;")
        ('a b', 'A&B <x>')
    """
    return html.unescape(MARKUP.sub(" ", text)) if "<" in text or "&" in text else text


def text_width(text: str, size: float) -> float:
    """Width of a text in pixels, estimated on the safe side.

    Example:
        >>> text_width("il", 10) < text_width("MW", 10)
        True
    """
    total = 0.0
    for char in text:
        if char in THIN:
            total += NARROW
        elif unicodedata.east_asian_width(char) in "WF" or char in "mwMW…—%@#&+<=>^~":
            total += WIDE
        else:
            total += CAPITAL if char.isupper() else CHARACTER
    return total * size


@lru_cache(maxsize=4096)  # colours and names of groups come again at every point
def xml(text: str) -> str:
    """Text for XML: escaped, without characters that XML forbids.

    Example:
        >>> xml("<b>&")
        '&lt;b&gt;&amp;'
    """
    return html.escape("".join(c if c >= " " else " " for c in text), quote=True)


def hover_text(template: str, values: dict[str, Any]) -> str:
    """What a pointer shows: a template of plotly with its values.

    Arguments:
        template: such as ``"%{x}: %{y:.2f}<extra></extra>"``.
        values: ``x``, ``y``, ``z``, ``text`` and ``customdata`` of a point.

    Example:
        >>> hover_text("%{x}: %{y:.2f}<extra></extra>", {"x": "a", "y": 0.5})
        'a: 0.50'
    """

    def fill(match: re.Match[str]) -> str:
        name, place, form = match.groups()
        value = values.get("text" if name == "hovertext" else name)
        if place is not None and value is not None:
            value = value[int(place)]
        if value is None:
            return "–"
        if form and isinstance(value, int | float):
            return format(value, form)
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    body = re.sub(r"<extra>.*?</extra>", "", template, flags=re.S)
    return plain_text(FIELD.sub(fill, body)).strip()
