"""Errors of Phase 2 against the error of a single factor, as SVG text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from math import log10
from typing import NamedTuple

import pandas as pd

from insert_results import STORE
from symnmf.bench import study as studies
from symnmf.bench import tables

#: From the paper's spectral table and its section 5.3: n, k, λ₁, share of the trace in k
#: eigenvalues, error of its five first-order methods, error of its ADMM.
PAPER = {
    "TPDM, n = 10⁵": (10**5, 316, 74_935, 0.9998, 7.2e-4, 1.6e-6),
    "correlation, n = 10⁵": (10**5, 316, 23_902, 0.709, 1.27e-2, 8.1e-4),
    "correlation, n = 10⁶": (10**6, 1000, 2.5e5, 0.773, 4.6e-3, None),
}
#: The runs here that stand beside them, by the kind of their matrix.
HERE = {"TPDM, n = 10⁵": "tpdm", "correlation, n = 10⁵": "corr4000"}
#: Left edge and width of the axis, its ends as powers of ten, and the height of a line.
LEFT, WIDTH, LOW, HIGH, LINE = 270, 560, -7, -1, 26
ONE_FACTOR, FIRST_ORDER, ADMM = "#555555", "#c2417c", "#2f7d3a"


class Line(NamedTuple):
    """A line of the picture: the error of one factor, and those of the methods."""

    name: str
    one_factor: float
    bound: bool
    first_order: list[float]
    admm: float | None


def published_bound(n: int, k: int, first: float, share: float) -> float:
    """The least error of one factor that the paper's spectral table allows.

    Example:
        >>> f"{published_bound(10**5, 316, 23_902, 0.709):.3g}"
        '0.0121'
    """
    rest = (share * n - first) ** 2 / (k - 1)
    return rest / (first**2 + rest)


def one_factor(runs: pd.DataFrame) -> float:
    """The error of one factor on a matrix, from the errors and excesses of two runs on it."""
    low, high = runs.loc[runs["excess"].idxmin()], runs.loc[runs["excess"].idxmax()]
    span = (high["error"] - low["error"]) / (high["excess"] - low["excess"])
    return float(low["error"] + (1 - low["excess"]) * span)


def lines() -> Iterator[Line]:
    """What the paper reports, and what the runs here found."""
    results = tables.frame(studies.load("phase2"), STORE)
    results = results[results["status"] != "TIME_OUT"]
    for name, (n, k, first, share, error, admm) in PAPER.items():
        yield Line(f"{name}, paper", published_bound(n, k, first, share), True, [error], admm)
        runs = results[results["kind"] == HERE.get(name)]
        if len(runs) > 1:
            split = runs["solver"] == "admm"
            found = [float(error) for error in runs.loc[~split, "error"]]
            where = "here" if HERE[name] == "tpdm" else "here, 4 000 days"
            own = float(runs.loc[split, "error"].iloc[0]) if split.any() else None
            yield Line(f"{name}, {where}", one_factor(runs), False, found, own)


def picture() -> str:
    """The errors of Phase 2 on a logarithmic axis."""
    every = list(lines())
    height = LINE * (len(every) + 3)
    title = "Errors of Phase 2 against the error of one factor"
    parts = [
        f'<svg viewBox="0 0 {LEFT + WIDTH + 30} {height}" role="img" aria-label="{title}" '
        f'style="max-width:{LEFT + WIDTH + 30}px;width:100%;font:13px sans-serif">'
    ]
    foot = LINE * (len(every) + 1)
    for power in range(LOW, HIGH + 1):
        x = place(10.0**power)
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{LINE}" y2="{foot}" stroke="currentColor" '
            f'stroke-opacity="0.15"/>{text(x, foot + 16, f"1e{power}", "middle")}'
        )
    for at, line in enumerate(every):
        parts += drawn(line, LINE * (at + 1) + LINE // 2)
    legend = LINE * (len(every) + 2) + 16
    parts.append(tick(LEFT, legend - 4) + text(LEFT + 12, legend, "one factor, no groups"))
    parts.append(dot(LEFT + 210, legend - 4, FIRST_ORDER))
    parts.append(text(LEFT + 222, legend, "first-order methods"))
    parts.append(dot(LEFT + 400, legend - 4, ADMM) + text(LEFT + 412, legend, "ADMM"))
    return "\n".join([*parts, "</svg>\n"])


def drawn(line: Line, y: int) -> Iterator[str]:
    """The marks of a line; hovering shows their numbers."""
    yield text(LEFT - 12, y + 4, line.name, "end")
    least = "at least " if line.bound else ""
    yield tick(place(line.one_factor), y, f"one factor leaves {least}{line.one_factor:.3g}")
    for error in line.first_order:
        yield dot(place(error), y, FIRST_ORDER, f"first-order method: {error:.3g}")
    if line.admm is not None:
        yield dot(place(line.admm), y, ADMM, f"ADMM: {line.admm:.3g}")


def place(error: float) -> float:
    """Where an error stands on the axis."""
    return round(LEFT + WIDTH * (log10(error) - LOW) / (HIGH - LOW), 1)


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{words}</text>'


def dot(x: float, y: float, colour: str, more: str = "") -> str:
    """The mark of a method."""
    shape = f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}" fill-opacity="0.85"/>'
    return f"<g><title>{escape(more)}</title>{shape}</g>"


def tick(x: float, y: float, more: str = "") -> str:
    """The mark of the error of one factor."""
    shape = f'<rect x="{x - 2}" y="{y - 11}" width="4" height="22" fill="{ONE_FACTOR}"/>'
    return f"<g><title>{escape(more)}</title>{shape}</g>"


VIEWS: dict[str, Callable[[], str]] = {"plateau-picture": picture}
