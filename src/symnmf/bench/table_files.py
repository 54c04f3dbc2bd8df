"""Tables as people read them: three digits, markdown, and files of three formats."""

from __future__ import annotations

import html
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from symnmf import storage


def short(value: float) -> str:
    """A number with three digits.

    Example:
        >>> short(0.000123456), short(12345.0), short(float("nan"))
        ('0.000123', '12300', '')
    """
    if not isfinite(value):
        return ""
    text = f"{value:.3g}"
    return f"{float(text):.0f}" if 1000 <= abs(value) < 1e6 else text


def worded(cell: Any) -> str:
    """A measured cell: a float with three digits, a dash for nothing, all else as it is.

    Example:
        >>> worded(0.12345), worded(30000), worded(None)
        ('0.123', '30000', '–')
    """
    if cell is None:
        return "–"
    return short(cell) if isinstance(cell, float) else str(cell)


def markdown(made: pd.DataFrame) -> str:
    """A table as markdown."""
    if made.empty:
        return "No results yet.\n"
    cells = made.astype(object).where(made.notna(), "").to_numpy().tolist()
    rows = [list(made.columns), ["---"] * len(made.columns), *cells]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows
    )


def write_table(stem: Path, title: str, made: pd.DataFrame, notes: Sequence[str] = ()) -> Path:
    """Write a table as .csv, .md and .html.

    Arguments:
        stem: path of the files without their endings.
        title: above the table.
        made: the table.
        notes: sentences below it.

    Returns:
        The .md file.
    """
    with storage.atomic(stem.with_suffix(".csv")) as temporary:
        made.to_csv(temporary, index=False)
    below = "".join(f"\n{note}\n" for note in notes)
    storage.write_text(stem.with_suffix(".md"), f"# {title}\n\n{markdown(made)}{below}")
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    storage.write_text(
        stem.with_suffix(".html"),
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{html.escape(title)}</title>"
        "<style>body{font:14px sans-serif;margin:2em}td,th{padding:.2em .6em;text-align:left}"
        f"</style><h1>{html.escape(title)}</h1>"
        f"{made.to_html(index=False, border=0, na_rep='')}{below}</html>",
    )
    return stem.with_suffix(".md")
