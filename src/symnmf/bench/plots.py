"""Figures of a study, from its store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from symnmf.bench import tables
from symnmf.bench.store import Store
from symnmf.bench.study import Study
from symnmf.plot.style import GROUPS
from symnmf.solvers.registry import solvers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Where a look of a run keeps what (:func:`symnmf.bench.tasks.factorize`).
AXES = {"seconds": 1, "products": 2}
#: What tells lines apart when the colours are used up.
DASHES = ("solid", "dash", "dot", "dashdot")


def traces(results: pd.DataFrame, axis: str = "products", title: str = "") -> Figure:
    """Error against what it cost, a line for each run.

    Arguments:
        results: of :func:`symnmf.bench.tables.frame`, one problem.
        axis: ``"products"`` of S, or ``"seconds"``.
        title: of the figure.
    """
    figure = _figure(title, f"{axis} (log scale)", "error (log scale)")
    for at, (_, run) in enumerate(results.sort_values(axis).iterrows()):
        looks = [look for look in run["looks"] if look[AXES[axis]] > 0]
        figure.add_scatter(
            x=[look[AXES[axis]] for look in looks],
            y=[look[3] for look in looks],
            name=run["configuration"],
            mode="lines",
            line=_line(at),
        )
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def profiles(results: pd.DataFrame, measure: str = "products", title: str = "") -> Figure:
    """Share of problems solved within a factor of the best, a line for each configuration."""
    ratio = tables.ratios(results, measure)
    figure = _figure(title, f"{measure} against the best (log scale)", "share of problems solved")
    shares = {}
    for name, part in ratio.groupby(results["configuration"], sort=False):
        solved = part.dropna().sort_values()
        shares[name] = (solved, [(m + 1) / len(part) for m in range(len(solved))])
    order = sorted(shares, key=lambda name: -sum(1 / r for r in shares[name][0]))
    for at, name in enumerate(order):
        solved, share = shares[name]
        figure.add_scatter(
            x=[1.0, *solved, 1000.0],
            y=[0.0, *share, share[-1] if share else 0.0],
            name=name,
            mode="lines",
            line={"shape": "hv", **_line(at)},
        )
    figure.update_xaxes(type="log", range=[0, 2.5])
    figure.update_yaxes(range=[0, 1.02])
    return figure


def write(study: Study, store: Store) -> list[Path]:
    """The figures of a study that factorizes, of its default rows, as pages that share a script."""
    results = tables.frame(study, store)
    if "looks" not in results:
        return []
    known = solvers()
    shown = [name for name in known if known[name].tier == "default"]  # with default options
    plain = results[results["configuration"].isin(shown)]
    if plain.empty:
        plain = results
    made = {f"-profile-{m}": profiles(plain, m, study.title) for m in AXES}
    for (kind, n), part in plain.groupby(["kind", "n"]):
        first = part[part["seed"] == part["seed"].iloc[0]]
        for axis in AXES:
            title = f"{study.title}: {kind}, n = {n}"
            made[f"-{kind}-{n}-{axis}"] = traces(first, axis, title)
    written = []
    for suffix, figure in made.items():
        path = store.folder / f"{study.name}{suffix}.html"
        figure.write_html(path, include_plotlyjs="directory", config={"displayModeBar": False})
        written.append(path)
    return written


def _figure(title: str, x: str, y: str) -> Figure:
    from plotly.graph_objects import Figure

    return Figure(
        layout={
            "title": title,
            "template": "plotly_white",
            "xaxis_title": x,
            "yaxis_title": y,
            "width": 900,
            "height": 600,
            "margin": {"t": 60, "b": 60},
            "legend": {"font": {"size": 11}},
        }
    )


def _line(at: int) -> dict[str, object]:
    return {
        "color": GROUPS[at % len(GROUPS)],
        "dash": DASHES[at // len(GROUPS) % len(DASHES)],
        "width": 2,
    }
