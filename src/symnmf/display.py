"""Numbers with their nouns, and short descriptions of objects for notebooks."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

#: Items of a sequence that are shown; of longer ones only their number.
SHOWN_ITEMS = 5
#: Length of a description within another one.
SHOWN_LETTERS = 80


def counted(number: int, noun: str, several: str = "") -> str:
    """A number with its noun, in the singular for one.

    Arguments:
        number: how many there are.
        noun: the singular, with words that follow it.
        several: the plural; by default the singular with an s.

    Example:
        >>> counted(1, "row"), counted(2, "row"), counted(0, "loss", "losses")
        ('1 row', '2 rows', '0 losses')
    """
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def counted_range(numbers: Collection[int], noun: str) -> str:
    """The least and the largest of some numbers with their noun.

    Example:
        >>> counted_range([4, 2], "row"), counted_range([1, 1], "row"), counted_range([0, 0], "row")
        ('2 to 4 rows', '1 row', 'no row')
    """
    low, high = min(numbers), max(numbers)
    if low < high:
        return f"{low} to {high} {noun}s"
    return counted(low, noun) if low else f"no {noun}"


def html_table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """A small table with a title, as HTML; names of users are taken as text.

    Arguments:
        title: the title.
        rows: heading and text of each row.

    Example:
        >>> html_table("Panel", [("rows", "<3")])
        '<table><caption>Panel</caption><tr><th>rows</th><td>&lt;3</td></tr></table>'
    """
    body = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def brief(value: Any) -> str:
    """A value in a few words: numbers and short texts as they are, arrays and tables by their size.

    Arguments:
        value: an attribute of a result.

    Example:
        >>> import numpy as np
        >>> brief(np.zeros((3, 4))), brief(0.123456), brief(("a", "b")), brief(range(100))
        ('array 3 × 4', '0.1235', '(a, b)', '100 items')
    """
    if isinstance(value, bool) or value is None:
        return str(value)
    shape = getattr(value, "shape", None)
    if shape == () and hasattr(value, "item"):
        value = value.item()
    elif isinstance(shape, tuple):
        kind = "table" if hasattr(value, "columns") else "array"
        return f"{kind} {' × '.join(str(size) for size in shape)}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return counted(len(value), "item")
    if isinstance(value, Sequence) and not isinstance(value, str):
        first, more = value[:SHOWN_ITEMS], len(value) > SHOWN_ITEMS
        words = ", ".join(map(brief, first)) + (f", … {len(value)} in all" if more else "")
        named = not more or all(isinstance(item, str) for item in first)
        short = len(words) <= SHOWN_LETTERS and not any(map(is_dataclass, first))
        return f"({words})" if named and short else counted(len(value), "item")
    words = value if isinstance(value, str) else repr(value)
    if len(words) <= SHOWN_LETTERS:
        return words
    return words[: SHOWN_LETTERS - 2] + " …" if isinstance(value, str) else type(value).__name__


class Brief:
    """A dataclass (with ``repr=False``) that is described by its attributes, in a few words each.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(repr=False)
        ... class Found(Brief):
        ...     share: float
        ...     names: tuple[str, ...]
        >>> Found(0.51237, tuple("abcdefgh"))
        Found(share=0.5124, names=(a, b, c, d, e, … 8 in all))
    """

    def _rows(self) -> list[tuple[str, str]]:
        """Name and description of each attribute that is shown."""
        shown = [f.name for f in fields(self) if not f.name.startswith("_")]  # type: ignore[arg-type]
        return [(name, brief(getattr(self, name))) for name in shown]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={words}" for name, words in self._rows())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._rows())
