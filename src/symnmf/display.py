"""Short descriptions of objects for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence


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
