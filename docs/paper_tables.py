"""The tables of the paper's experiments as the page shows them: ours, the paper's in brackets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd

from insert_results import STORE, frame, outcome, study
from symnmf.bench import study as studies
from symnmf.bench import tables
from symnmf.bench.paper_cells import CUT
from symnmf.bench.table_files import markdown, short

#: Column of a study → heading.
HEADINGS = {
    "configuration": "method",
    "lambda_1": "λ₁",
    "lambda_k": "λ_k",
    "lambda_k1": "λ_k+1",
    "kappa": "κ⁺",
    "r_eff": "r_eff",
    "gamma_k": "γ_k",
    "gamma_k1": "γ_k+1",
    "var_k": "% var_k",
    "floor_low": "floor",
    "bytes_per_n2": "bytes / n²",
    "largest_n_80GB": "largest n, 80 GB",
    "largest_n_192GB": "largest n, 192 GB",
    "kkt_ratio": "gradient / gate",
    "paper_converged": "gates met",
    "ari": "ARI",
}


def beside(made: pd.DataFrame) -> pd.DataFrame:
    """A table whose cells hold our figure and, in brackets, the paper's."""
    shown = made.copy()
    for column in [c for c in made if f"paper: {c}" in made]:
        paper = pd.to_numeric(made[f"paper: {column}"], errors="coerce").map(short)
        shown[column] = [
            f"{ours} ({theirs})" if theirs else ours
            for ours, theirs in zip(made[column], paper, strict=True)
        ]
    shown = shown.drop(columns=[c for c in made if c.startswith("paper: ")])
    return shown.rename(columns=HEADINGS)


def compared(name: str, without: tuple[str, ...] = ()) -> str:
    """The main table of a study with the paper's figures, and why columns differ."""
    made = tables.table(study(name), STORE).drop(columns=list(without))
    differ = [line.split("`")[1] for line in tables.differences(study(name), made)]
    why = [f"- {HEADINGS.get(c, c)}: {study(name).why[c]}" for c in differ if c in study(name).why]
    return markdown(beside(made)) + "\n" + "\n".join(why) + "\n"


def losses() -> str:
    """The two forms of the loss."""
    made = tables.table(study("memory"), STORE)
    made = made[made["configuration"].isin(["residual", "trace"])]
    return markdown(beside(made.drop(columns=["arrays", "stated"])))


def verdicts(part: pd.DataFrame, products: bool = True) -> str:
    """How the runs of one method at one size ended: converged of all, and their mean products."""
    good = part["converged"].astype(bool)
    words = [f"{good.sum()}/{len(part)}"]
    if products and good.any():
        words[0] += f" ({short(part.loc[good, 'products'].mean())})"
    gates = int(part["paper_converged"].astype(bool).sum())
    if gates != good.sum():
        words.append(f"gates {gates}/{len(part)}")
    if cut := int((part["status"] == CUT).sum()):
        words.append(f"{cut} cut")
    return ", ".join(words)


def counted(name: str, published_only: bool = False) -> str:
    """A row for each method, a cell for each size, and the paper's counts."""
    results, rows = frame(name), []
    published = {figure["configuration"]: figure for figure in study(name).paper}
    for configuration, group in results.groupby("configuration", sort=False):
        if published_only and configuration not in {*published, "sketched"}:
            continue
        row = {"method": configuration}
        for n in sorted(results["n"].unique()):
            part = group[group["n"] == n]
            row[f"n = {n}"] = verdicts(part) if len(part) else ""
        row["worst excess"] = short(group["excess"].max())
        row["mean ARI"] = short(group["ari"].mean())
        counts = {c: v for c, v in published.get(configuration, {}).items() if c.startswith("of ")}
        if counts:
            of = next(iter(counts)).split(" at ")[0]
            row[f"paper, {of}" + (" at each n" if len(counts) > 1 else "")] = ", ".join(
                f"{value}" for value in counts.values()
            )
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def phase2() -> str:
    """The stored runs of Phase 2: iterations and error, the paper's in brackets, and the end."""
    found = studies.load("phase2")
    results, rows = tables.frame(found, STORE), []
    for _, run in results.iterrows():
        about = {name: run[name] for name in tables.ABOUT}
        paper = {c: v for figure in tables.figures(found, about) for c, v in figure.items()}
        if not paper:  # softplus, which the paper did not run at this size
            continue
        rows.append(
            {
                "matrix": run["kind"],
                "method": run["solver"],
                "gates met after": f"{run['iterations']} ({paper['iterations']})",
                "error": f"{short(run['error'])} ({short(paper['error'])})",
                "excess": short(run["excess"]),
                "ARI": f"{run['ari']:.2f}",
                "what was found": outcome(run).split()[1],
                "seconds": short(run["seconds"]),
            }
        )
    return markdown(pd.DataFrame(rows))


def claims() -> str:
    """The configurations that the paper reports as failing."""
    rows = []
    results = frame("claims")
    for about, part in results.groupby(["configuration", "n", "kind"], sort=False):
        configuration, n, kind = about
        row = {"method": configuration, "matrix": f"{kind}, n = {n}"}
        row["converged"] = verdicts(part, products=False)
        for column in ("kkt_ratio", "excess", "iterations", "resets"):
            row[HEADINGS.get(column, column)] = short(part[column].astype(float).mean())
        rows.append(row | {"the paper says": part["claim"].iloc[0]})
    order = {name: at for at, name in enumerate(results["configuration"].drop_duplicates())}
    made = pd.DataFrame(rows)
    return markdown(made.sort_values("method", key=lambda names: names.map(order), kind="stable"))


def single_runs(name: str) -> str:
    """Every run of a study as published: how it ended, after how many iterations and reactions."""
    results, rows = frame(name), []
    shown = ("resets", "growths", "kkt_ratio", "error", "excess", "ari")
    for _, run in results.iterrows():
        row = {"matrix": run["kind"], "n": run["n"], "method": run["configuration"]}
        row |= {"ended": outcome(run), "iterations": run["iterations"]}
        for column in (c for c in shown if c in results):
            row[HEADINGS.get(column, column)] = short(float(run[column]))
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def half_products() -> str:
    """Fits with rounded products."""
    made = tables.table(study("half-products"), STORE)
    made = made.drop(columns=["n", "k", "best error", "variation"])
    return markdown(made.rename(columns=HEADINGS))


VIEWS: dict[str, Callable[[], str]] = {
    "phase1-counts": partial(counted, "phase1", published_only=True),
    "k25-counts": partial(counted, "k25"),
    "logspace-counts": partial(counted, "logspace"),
    "phase2": phase2,
    "claims": claims,
    "resets": partial(single_runs, "resets"),
    "published-table": partial(single_runs, "published"),
    "half-products": half_products,
    "spectral": partial(compared, "spectral"),
    "kmeans": partial(compared, "kmeans", ("simplified", "spread", "bound")),
    "memory-losses": losses,
}
