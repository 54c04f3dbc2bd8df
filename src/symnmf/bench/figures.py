"""The figures of studies and measurements, from the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from symnmf.bench import tables
from symnmf.bench.measurement import Measurement, published_rows
from symnmf.bench.results_store import Store
from symnmf.bench.study import Study
from symnmf.plot.style import GROUP_COLORS
from symnmf.solvers.registry import available

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


#: Cost → its place in a stored check (:func:`symnmf.bench.tasks.factorize`).
AXES = {"seconds": 1, "products": 2}


#: Styles that tell lines apart when the colours are used up.
DASHES = ("solid", "dash", "dot", "dashdot")


def traces(results: pd.DataFrame, axis: str = "products", title: str = "") -> Figure:
    """Error against its cost, a line for each run.

    Arguments:
        results: rows of :func:`symnmf.bench.tables.frame` about one problem.
        axis: ``"products"`` of S, or ``"seconds"``.
        title: title of the figure.
    """
    figure = _figure(title, f"{axis} (log scale)", "error (log scale)")
    for at, (_, run) in enumerate(results.sort_values(axis).iterrows()):
        checks = [check for check in run["checks"] if check[AXES[axis]] > 0]
        figure.add_scatter(
            x=[check[AXES[axis]] for check in checks],
            y=[check[3] for check in checks],
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


def write_study(study: Study, store: Store) -> list[Path]:
    """Write the figures of a study that factorizes: pages about the solvers of the main tier."""
    results = tables.frame(study, store)
    if "checks" not in results:
        return []
    known = available()
    shown = [name for name in known if known[name].tier == "standard"]
    plain = results[results["configuration"].isin(shown)]
    if plain.empty:
        plain = results
    made = {f"-profile-{m}": profiles(plain, m, study.title) for m in AXES}
    for (kind, n), part in plain.groupby(["kind", "n"]):
        first = part[part["seed"] == part["seed"].iloc[0]]
        for axis in AXES:
            title = f"{study.title}: {kind}, n = {n}"
            made[f"-{kind}-{n}-{axis}"] = traces(first, axis, title)
    return [
        _write(store.folder / f"{study.name}{suffix}.html", figure)
        for suffix, figure in made.items()
    ]


def write_measurement(measurement: Measurement, store: Store) -> list[Path]:
    """Write the figure of a measurement that has one, from its published rows."""
    rows = published_rows(measurement, store)
    if measurement.draw is None or not rows:
        return []
    first = measurement.tables[0].name
    found = pd.DataFrame([row.labels | row.found for row in rows if row.table == first])
    path = store.folder / f"{measurement.name}-figure.html"
    return [_write(path, measurement.draw(found))]


def _write(path: Path, figure: Figure) -> Path:
    """Write a figure as a page; pages of one folder share a script."""
    figure.write_html(path, include_plotlyjs="directory", config={"displayModeBar": False})
    return path


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
        "color": GROUP_COLORS[at % len(GROUP_COLORS)],
        "dash": DASHES[at // len(GROUP_COLORS) % len(DASHES)],
        "width": 2,
    }
