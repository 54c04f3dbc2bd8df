"""Tables of a study, from its store: markdown, csv, HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from symnmf import files
from symnmf.bench.store import Store
from symnmf.bench.study import SCHEMA, Study

#: Columns that count, and columns whose best and spread over seeds are shown beside the mean.
COUNTS, SPREAD = ("converged", "paper_converged", "degenerate"), ("error",)


def frame(study: Study, store: Store) -> pd.DataFrame:
    """Every result of a study that is asked for now, a row each."""
    wanted = {run.key: run for run in study.runs()}
    rows = []
    for record in store.results(study.name):
        run = wanted.get(record["key"])
        if run is None or record["schema"] != SCHEMA:
            continue
        problem = {"kind": run.kind, "n": run.n, "k": run.k, "seed": run.seed}
        about = {"configuration": run.configuration, "claim": run.claim}
        rows.append({**about, **problem, **record["found"]})
    return pd.DataFrame(rows)


def missing(study: Study, store: Store) -> int:
    """How many runs are not there yet."""
    return len({run.key for run in study.runs()} - store.done(study.name))


def table(study: Study, store: Store) -> pd.DataFrame:
    """Means over seeds for each configuration and problem; the paper's figure beside ours."""
    results = frame(study, store)
    if results.empty:
        return results
    rows = []
    for keys, group in results.groupby(["kind", "n", "configuration"], sort=False):
        kind, n, configuration = keys
        row: dict[str, Any] = {"matrix": kind, "n": n, "k": int(group["k"].iloc[0])}
        if configuration:
            row["configuration"] = configuration
        for column in study.columns:
            row |= _cells(column, group[column])
        for figure in study.paper:
            meant = figure.get("configuration", configuration)
            if (figure["kind"], figure["n"], meant) == keys:
                row[f"paper: {figure['column']}"] = figure["value"]
        if group["claim"].iloc[0]:
            row["the paper says"] = group["claim"].iloc[0]
        rows.append(row)
    return pd.DataFrame(rows)


def _cells(column: str, values: pd.Series) -> dict[str, Any]:
    if column in COUNTS:
        return {column: f"{int(values.fillna(False).astype(bool).sum())}/{len(values)}"}
    numbers = pd.to_numeric(values, errors="coerce")
    cells: dict[str, Any] = {column: _short(numbers.mean())}
    if column in SPREAD:
        cells[f"best {column}"] = _short(numbers.min())
        middle = numbers.mean()
        cells["variation"] = _short(numbers.std(ddof=0) / middle) if middle else ""
    return cells


def _short(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3g}"


def best(study: Study, store: Store) -> pd.DataFrame:
    """For each solver the configuration that converges most often, then soonest."""
    results = frame(study, store)
    if results.empty or "converged" not in results:
        return results
    results["solver"] = results["configuration"].str.split(" ").str[0]
    groups = results.groupby(["solver", "configuration"], sort=False)
    summary = pd.DataFrame(
        {
            "converged": groups["converged"].sum(),
            "paper_converged": groups["paper_converged"].sum(),
            "runs": groups.size(),
            "seconds": groups["seconds"].mean().map(_short),
            "products": groups["products"].mean().map(_short),
            "worst excess": groups["excess"].max().map(_short),
            "order": groups["seconds"].mean(),
        }
    ).reset_index()
    summary = summary.sort_values(["converged", "order"], ascending=[False, True])
    first = summary.drop_duplicates("solver").drop(columns=["solver", "order"])
    return first.reset_index(drop=True)


def profile(results: pd.DataFrame, measure: str = "products") -> pd.DataFrame:
    """Performance profile: share of problems solved within a factor of the best, by configuration.

    Arguments:
        results: of :func:`frame`.
        measure: cost of a run.

    Reference: Dolan and Moré (2002), doi:10.1007/s101070100263.
    """
    factors = [1, 2, 4, 8, 16, 32, 64]
    cost = results[measure].where(results["converged"].astype(bool))
    problem = results["kind"] + " " + results["n"].astype(str) + " " + results["seed"].astype(str)
    ratio = cost / cost.groupby(problem).transform("min")
    shares = {
        f"≤ {factor} ×": (ratio <= factor).groupby(results["configuration"]).mean()
        for factor in factors
    }
    made = pd.DataFrame(shares).sort_values(list(shares), ascending=False)
    return made.map(_short).reset_index()


def markdown(made: pd.DataFrame) -> str:
    """A table as markdown."""
    if made.empty:
        return "No results yet.\n"
    rows = [list(made.columns), ["---"] * len(made.columns), *made.fillna("").to_numpy().tolist()]
    return "".join("| " + " | ".join(str(cell) for cell in row) + " |\n" for row in rows)


def write(study: Study, store: Store) -> list[Path]:
    """All tables of a study beside its results, as .md, .csv and .html."""
    made = {"": table(study, store)}
    results = frame(study, store)
    if "products" in results:
        made |= {"-best": best(study, store), "-profile": profile(results)}
    written = []
    for suffix, part in made.items():
        stem = store.folder / f"{study.name}{suffix}"
        title = study.title + (f" ({suffix.removeprefix('-')})" if suffix else "")
        with files.atomic(stem.with_suffix(".csv")) as temporary:
            part.to_csv(temporary, index=False)
        files.write_text(stem.with_suffix(".md"), f"# {title}\n\n{markdown(part)}")
        files.write_text(
            stem.with_suffix(".html"),
            "<!doctype html><meta charset='utf-8'><title>symnmf</title>"
            "<style>body{font:14px sans-serif;margin:2em}td,th{padding:.2em .6em;text-align:left}"
            f"</style><h1>{title}</h1>{part.to_html(index=False, border=0)}",
        )
        written.append(stem.with_suffix(".md"))
    return written
