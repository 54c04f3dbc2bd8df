"""Numbers with their nouns, and short descriptions of objects for notebooks."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence


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
