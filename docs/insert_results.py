"""The views of results/: tables of studies and measurements, and single figures.

A run or a table that is missing from results/ is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from generated import Missing
from heat_map import excess_colour, heat_map
from symnmf.bench import study as studies
from symnmf.bench import tables
from symnmf.bench.measurement import find_measurement, measurement_names, published_rows
from symnmf.bench.paper_cells import CUT, PaperCells, paper_cells
from symnmf.bench.results_store import Store
from symnmf.bench.table_files import markdown, short
from symnmf.solvers.registry import find

STORE = Store(Path(__file__).parents[1] / "results")


@cache
def study(name: str) -> studies.Study:
    """A study of which every run is stored."""
    found = studies.load(name)
    if left := tables.missing(found, STORE):
        first = left[0]
        words = f"{first.kind} n={first.n} seed={first.seed} {first.configuration}"
        raise Missing(f"{len(left)} runs of {name} are not in results/, the first is {words}")
    return found


@cache
def frame(name: str) -> pd.DataFrame:
    """Every run of a study."""
    return tables.frame(study(name), STORE)


def measured(measurement: str, table: str) -> str:
    """A published table of a measurement."""
    found = find_measurement(measurement)
    columns = next(t for t in found.tables if t.name == table)
    made = tables.measured_table(found, columns, STORE)
    every = published_rows(found, STORE, any_numerics=True)
    if not any(row.table == table for row in every):
        command = f"symnmf bench {measurement} --publish"
        return f"No row of this table is published yet: `{command}` makes them."
    if made.empty or len(made) < sum(row.table == table for row in every):
        raise Missing(
            f"{table} is not in results/ with the present symnmf.NUMERICS: "
            f"run `symnmf bench {measurement} --publish`"
        )
    return markdown(made)


def whole(name: str) -> str:
    """The main table of a study, and a sentence for each column that differs from the paper."""
    made = tables.table(study(name), STORE)
    notes = tables.differences(study(name), made)
    return markdown(made) + "".join(f"\n{note}\n" for note in notes)


def large_phase1() -> str:
    """The eleven solvers of the paper and the default one at n = 10 000."""
    made = tables.table(study("phase1"), STORE)
    made = made[made["n"] == 10_000].drop(columns=["n", "k", "ms_per_iteration", "best error"])
    return markdown(made.drop(columns=[c for c in made if c.startswith("paper: ")]))


def profile() -> str:
    """Performance profile of the rows with their default options, the best 25."""
    results = frame("phase1").query("configuration == solver and n <= 1000")
    return markdown(tables.profile(results).head(25))


def flagship() -> str:
    """The default solver on the paper's matrices."""
    made = tables.table(study("phase1"), STORE)
    made = made[(made["configuration"] == "sketched") & (made["n"] >= 1000)]
    columns = ["matrix", "n", "k", "converged", "excess", "ari", "products", "kkt_ratio"]
    return markdown(made[columns])


def rivals() -> str:
    """Stopping rules at n = 1 000: mean over five solvers, both types and three seeds."""
    results = frame("stopping")
    rule = results["configuration"].str.extract(r"\((.*)\)")[0].fillna("ours")
    rule = rule.str.replace("rule=", "").str.replace(", tolerance=", " ")
    rows = []
    for (n, name), part in results.assign(rule=rule).groupby(["n", "rule"], sort=False):
        ended = part["status"].isin(["CONVERGED", "EXACT"]) if name == "ours" else part["fired"]
        stopped = part[ended.astype(bool)]
        rows.append(
            {
                "n": n,
                "rule": name,
                "stopped": f"{len(stopped)}/{len(part)}",
                "products": short(stopped["products"].mean()),
                "median gradient / gate": short(stopped["kkt_ratio"].median()),
                "worst gradient / gate": short(stopped["kkt_ratio"].max()),
                "mean excess": short(stopped["excess"].mean()),
                "worst excess": short(stopped["excess"].max()),
                "mean ARI": short(stopped["ari"].mean()),
            }
        )
    return markdown(pd.DataFrame(rows))


def arrays() -> str:
    """n×k arrays of every row, and what the registry states now."""
    made = tables.table(study("memory"), STORE)
    made = made[~made["configuration"].isin(["residual", "trace"])]
    stated = made["configuration"].map(lambda name: find(name).arrays)
    return markdown(made.assign(stated=stated)[["configuration", "arrays", "stated"]])


#: Names of the starts in a configuration of the study of published methods.
STARTS = {"random": "text start", "uniform": "code start"}


def published_map() -> str:
    """The methods as published: what each finds, from both starts."""
    results = frame("published")
    cells, rows, columns = {}, [], []
    for _, run in results.iterrows():
        start = run["configuration"].split("start=")[1].rstrip(")")
        row = f"{run['solver']}"
        column = f"{STARTS[start]}\n{run['kind']} n={run['n']}"
        rows.append(row)
        columns.append(column)
        cells[row, column] = (
            excess_colour(run["excess"]),
            outcome(run),
            f"{run['solver']}, {column}: gates {'met' if run['paper_converged'] else 'not met'} "
            f"after {run['iterations']} iterations, excess {short(run['excess'])}, "
            f"ARI {run['ari']:.2f}, {run['status']}",
        )
    order = sorted(dict.fromkeys(columns), key=lambda name: name.startswith("code"))
    title = "Excess of the published methods, from both starts"
    return heat_map(list(dict.fromkeys(rows)), order, cells, title)


def outcome(run: pd.Series) -> str:
    """The end of a published run in two words: its gates, and what they accepted."""
    if run["status"] == CUT:
        return "… cut"
    if run["paper_converged"]:
        if run["excess"] > 0.9:
            return "✓ plateau"
        return "✓ groups" if run["excess"] <= 0.05 else "✓ partly"
    if run["excess"] > 1.5:
        return "✗ lost"
    if run["excess"] > 0.9:
        return "✗ plateau"
    return "✗ fits" if run["excess"] <= 0.05 else "✗ partly"


def phase1_map() -> str:
    """Worst excess of every row with its defaults, and the mean ARI."""
    results = frame("phase1").query("configuration == solver")
    cells: dict[tuple[str, str], tuple[str, str, str]] = {}
    for (name, n, kind), part in results.groupby(["solver", "n", "kind"], sort=False):
        worst, ari = float(part["excess"].max()), float(part["ari"].mean())
        good = int(part["converged"].sum())
        mark = "" if good == len(part) else f" {good}/{len(part)}"
        more = f"{name}, {kind} n={n}: {good} of {len(part)} converged, worst excess {short(worst)}"
        cells[name, f"{kind}\nn={n}"] = (
            excess_colour(worst), f"{ari:.2f}{mark}", f"{more}, mean ARI {ari:.2f}"
        )  # fmt: skip
    columns = [f"{kind}\nn={n}" for n in (100, 1000, 10_000) for kind in ("tpdm", "corr")]
    rows = list(dict.fromkeys(results["solver"]))
    return heat_map(rows, columns, cells, "Worst excess (colour) and mean ARI (number) of each row")


#: A step counts as good when it needs at most this many times the iterations of the best.
GOOD_STEP = 1.5


def best_steps() -> pd.DataFrame:
    """The step of AdaGrad with which the paper's gates are met first, for each start and seed."""
    results = frame("step-growth")
    options = results["configuration"].str.extract(r"start=(\w+), eta=([\d.]+)")
    results = results.assign(start=options[0].map(STARTS), eta=options[1].astype(float))
    rows = []
    for about, part in results.groupby(["start", "kind", "n", "seed"], sort=False):
        met = part[part["paper_converged"].astype(bool)]
        if met.empty:
            continue
        first = met.loc[met["iterations"].idxmin()]
        good = met[met["iterations"] <= GOOD_STEP * first["iterations"]]
        row = dict(zip(("start", "matrix", "n", "seed"), about, strict=True))
        ends = {"low": good["eta"].min(), "high": good["eta"].max()}
        columns = ("eta", "iterations", "excess", "ari")
        rows.append(row | ends | {column: first[column] for column in columns})
    return pd.DataFrame(rows)


def step_growth() -> str:
    """The best step against n, means over seeds, and its exponent."""
    best, rows, notes = best_steps(), [], []
    for (start, matrix), part in best.groupby(["start", "matrix"], sort=False):
        steps = np.log(part["eta"]).groupby(part["n"]).mean()  # one number a size
        for n, own in part.groupby("n"):
            rows.append(
                {
                    "start": start,
                    "matrix": matrix,
                    "n": n,
                    "seeds": len(own),
                    "best η": short(float(np.exp(steps[n]))),
                    "as good within": f"{short(own['low'].min())} to {short(own['high'].max())}",
                    "iterations": short(own["iterations"].mean()),
                    "excess": short(own["excess"].mean()),
                    "ARI": short(own["ari"].mean()),
                }
            )
        slope = float(np.polyfit(np.log(steps.index), steps, 1)[0])
        notes.append(f"{start}, {matrix}: η ∝ n^{slope:.2f}")
    return (
        markdown(pd.DataFrame(rows))
        + "\nLeast squares on the logarithms, one point a size: "
        + "; ".join(notes)
        + ".\n"
    )


def memory_lengths() -> str:
    """How the runs with each length of memory ended."""
    results = frame("memory-length")
    cells, rows, columns = {}, [], []
    for _, run in results.iterrows():
        row, column = run["configuration"], f"{run['kind']}\nn={run['n']}"
        rows.append(row)
        columns.append(column)
        cells[row, column] = (
            excess_colour(run["excess"]),
            outcome(run),
            f"{row}, {run['kind']} n={run['n']}: {run['status']} after {run['iterations']} "
            f"iterations, gradient {short(run['kkt_ratio'])} of its gate, "
            f"excess {short(run['excess'])}",
        )
    title = "Excess by length of memory, without annealing"
    return heat_map(list(dict.fromkeys(rows)), list(dict.fromkeys(columns)), cells, title)


@cache
def cells_of_the_paper() -> PaperCells:
    """The published cells, all of which are measured or have a reason."""
    found = paper_cells()
    if left := found.unaccounted(STORE):
        raise Missing(f"{len(left)} cells of the paper are not accounted for: {left[0]}")
    return found


def one(name: str, kind: str, n: int, configuration: str, column: str) -> str:
    """A mean over seeds."""
    found = frame(name).query("kind == @kind and n == @n and configuration == @configuration")
    return short(float(found[column].mean()))


VIEWS: dict[str, Callable[[], str]] = {
    **{
        table.name: partial(measured, name, table.name)
        for name in measurement_names()
        for table in find_measurement(name).tables
    },
    **{name: partial(whole, name) for name in ("precision", "peers")},
    "phase1-best": lambda: markdown(tables.best(study("phase1"), STORE)),
    "phase1-10000": large_phase1,
    "phase1-profile": profile,
    "flagship": flagship,
    "published-map": published_map,
    "phase1-map": phase1_map,
    "step-growth": step_growth,
    "memory-length": memory_lengths,
    "paper-cells": lambda: markdown(cells_of_the_paper().summary(STORE)),
    "paper-reasons": lambda: markdown(cells_of_the_paper().reason_table(STORE)),
    "stopping": rivals,
    "memory-rows": arrays,
    "sketched-excess": lambda: one("phase1", "corr", 10_000, "sketched", "excess"),
    "sketched-products": lambda: one("phase1", "corr", 10_000, "sketched", "products"),
}
