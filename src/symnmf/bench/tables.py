"""Tables of a study, from its store: markdown, csv, HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from symnmf import files
from symnmf.bench.store import Store
from symnmf.bench.study import Run, Study
from symnmf.solvers.registry import solvers

#: Columns that count, and columns whose best and spread over seeds are shown beside the mean.
COUNTS, SPREAD = ("converged", "paper_converged", "degenerate", "fired"), ("error",)
#: What a run is, and what a published figure may be about.
ABOUT = ("kind", "n", "configuration")
#: Relative difference from a published figure that deserves a sentence.
DIFFERS = 0.1


def frame(study: Study, store: Store) -> pd.DataFrame:
    """Every result of a study that is asked for now, a row each."""
    found = {record["key"]: record["found"] for record in store.results(study.name)}
    return pd.DataFrame(
        [
            {
                "solver": run.solver,
                "configuration": run.configuration,
                "claim": run.claim,
                "kind": run.kind,
                "n": run.n,
                "k": run.k,
                "seed": run.seed,
                "budget": run.seconds,
                **found[run.key],
            }
            for run in study.runs()
            if run.key in found
        ]
    )


def missing(study: Study, store: Store) -> list[Run]:
    """Runs that are not there yet."""
    done = store.done(study.name)
    return [run for run in study.runs() if run.key not in done]


def table(study: Study, store: Store) -> pd.DataFrame:
    """Means over seeds for each configuration and problem; the paper's figure beside ours."""
    results = frame(study, store)
    if results.empty:
        return results
    rows = []
    for keys, group in results.groupby(list(ABOUT), sort=False):
        about = dict(zip(ABOUT, keys, strict=True))
        row: dict[str, Any] = {"matrix": about["kind"], "n": about["n"], "k": group["k"].iloc[0]}
        if about["configuration"]:
            row["configuration"] = about["configuration"]
        published = {c: v for f in figures(study, about) for c, v in f.items()}
        for column in study.columns:
            row |= _cells(column, group[column])
            if column in published:
                row[f"paper: {column}"] = published[column]
        if group["claim"].iloc[0]:
            row["the paper says"] = group["claim"].iloc[0]
        rows.append(row)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def figures(study: Study, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Published figures that are about this problem and configuration."""
    for figure in study.paper:
        if all(figure.get(name, value) == value for name, value in about.items()):
            yield {name: value for name, value in figure.items() if name not in ABOUT}


def counts(study: Study, store: Store) -> pd.DataFrame:
    """The paper's layout: a row for each configuration, its verdicts and times at each size.

    ``seconds`` are means over the runs that converged, as in the paper; ``gates`` are the paper's
    three, ``converged`` is what the certificate says.
    """
    results = frame(study, store)
    if "converged" not in results:
        return pd.DataFrame()
    known = solvers()
    rows = []
    for keys, group in results.groupby(["solver", "configuration"], sort=False):
        solver, configuration = keys
        row: dict[str, Any] = {"configuration": configuration}
        for n, part in group.groupby("n"):
            good = part["converged"].astype(bool)
            row[f"n={n}: converged"] = f"{good.sum()}/{len(part)}"
            row[f"n={n}: gates"] = f"{part['paper_converged'].astype(bool).sum()}/{len(part)}"
            row[f"n={n}: seconds"] = short(part.loc[good, "seconds"].mean())
            row[f"n={n}: products"] = short(part.loc[good, "products"].mean())
        row["worst excess"] = short(group["excess"].max())
        row["mean ARI"] = short(group["ari"].mean())
        row["parameters"] = len(known[solver].parameters) if solver in known else ""
        about = {"configuration": configuration}
        for figure in figures(study, about):
            row |= {f"paper: {c}": v for c, v in figure.items() if c not in study.columns}
        rows.append(row)
    made = pd.DataFrame(rows)
    columns = [str(column) for column in made]
    sized = [c for n in sorted(results["n"].unique()) for c in columns if c.startswith(f"n={n}:")]
    return made[["configuration", *sized, *(c for c in columns[1:] if c not in sized)]]


def best(study: Study, store: Store) -> pd.DataFrame:
    """For each solver the configuration that converges most often, then soonest."""
    results = frame(study, store)
    if "converged" not in results:
        return pd.DataFrame()
    varied = results.groupby(["solver", "n"])["configuration"].transform("nunique") > 1
    if varied.any():  # only sizes where variations were tried
        results = results[results["n"].isin(results.loc[varied, "n"])]
    groups = results.groupby(["solver", "configuration"], sort=False)
    summary = pd.DataFrame(
        {
            "converged": groups["converged"].sum(),
            "gates": groups["paper_converged"].sum(),
            "runs": groups.size(),
            "seconds": groups["seconds"].mean(),
            "products": groups["products"].mean().map(short),
            "worst excess": groups["excess"].max().map(short),
            "mean ARI": groups["ari"].mean().map(short),
        }
    ).reset_index()
    summary["tried"] = summary.groupby("solver")["configuration"].transform("size")
    summary = summary.sort_values(["converged", "seconds"], ascending=[False, True])
    first = summary.drop_duplicates("solver").drop(columns="solver").reset_index(drop=True)
    return first.assign(seconds=first["seconds"].map(short))


def profile(results: pd.DataFrame, measure: str = "products") -> pd.DataFrame:
    """Performance profile: share of problems solved within a factor of the best, by configuration.

    Arguments:
        results: of :func:`frame`.
        measure: cost of a run.

    Reference: Dolan and Moré (2002), doi:10.1007/s101070100263.
    """
    ratio = ratios(results, measure)
    shares = {
        f"≤ {factor} ×": (ratio <= factor).groupby(results["configuration"]).mean()
        for factor in (1, 2, 4, 8, 16, 32, 64)
    }
    made = pd.DataFrame(shares).sort_values(list(shares), ascending=False)
    return made.map(short).reset_index()


def ratios(results: pd.DataFrame, measure: str) -> pd.Series:
    """Cost of each run against the least on its problem; missing where it did not converge."""
    cost = results[measure].where(results["converged"].astype(bool))
    problem = [results["kind"], results["n"], results["seed"]]
    return cost / cost.groupby(problem).transform("min")


def differences(study: Study, made: pd.DataFrame) -> list[str]:
    """A sentence for each column of a table in which ours is not what was published."""
    lines = []
    for column in study.columns:
        if f"paper: {column}" not in made:
            continue
        parts = []
        for _, row in made.iterrows():
            ours, theirs = (_number(row[c]) for c in (column, f"paper: {column}"))
            if theirs is None or ours is None or abs(ours - theirs) <= DIFFERS * abs(theirs):
                continue
            about = " ".join(str(row[c]) for c in ("matrix", "n", "configuration") if c in made)
            parts.append(f"{about} {short(ours)} here, {short(theirs)} there")
        if parts:
            why = study.why.get(column, "")
            lines.append(f"`{column}` differs: {'; '.join(parts)}. {why}".rstrip())
    return lines


def _number(value: Any) -> float | None:
    number = float(pd.to_numeric(pd.Series([value]), errors="coerce").iloc[0])
    return number if isfinite(number) else None


def _cells(column: str, values: pd.Series) -> dict[str, Any]:
    if column in COUNTS:
        return {column: f"{int(values.fillna(False).astype(bool).sum())}/{len(values)}"}
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().all():
        return {column: None}
    cells: dict[str, Any] = {column: short(numbers.mean())}
    if column in SPREAD:
        cells[f"best {column}"] = short(numbers.min())
        middle = numbers.mean()
        cells["variation"] = short(numbers.std(ddof=0) / middle) if middle else ""
    return cells


def short(value: float) -> str:
    """Three digits.

    Example:
        >>> short(0.000123456), short(12345.0), short(float("nan"))
        ('0.000123', '12300', '')
    """
    if not isfinite(value):
        return ""
    text = f"{value:.3g}"
    return f"{float(text):.0f}" if 1000 <= abs(value) < 1e6 else text


def markdown(made: pd.DataFrame) -> str:
    """A table as markdown."""
    if made.empty:
        return "No results yet.\n"
    cells = made.astype(object).where(made.notna(), "").to_numpy().tolist()
    rows = [list(made.columns), ["---"] * len(made.columns), *cells]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows
    )


def write(study: Study, store: Store) -> list[Path]:
    """All tables of a study beside its results, as .md, .csv and .html."""
    made = {"": table(study, store)}
    results = frame(study, store)
    if "converged" in results:
        made |= {
            "-counts": counts(study, store),
            "-best": best(study, store),
            "-profile": profile(results),
        }
    notes = differences(study, made[""])
    written = []
    for suffix, part in made.items():
        stem = store.folder / f"{study.name}{suffix}"
        title = study.title + (f" ({suffix.removeprefix('-')})" if suffix else "")
        said = [] if suffix else notes
        with files.atomic(stem.with_suffix(".csv")) as temporary:
            part.to_csv(temporary, index=False)
        below = "".join(f"\n{note}\n" for note in said)
        files.write_text(stem.with_suffix(".md"), f"# {title}\n\n{markdown(part)}{below}")
        below = "".join(f"<p>{escape(note)}</p>" for note in said)
        files.write_text(
            stem.with_suffix(".html"),
            "<!doctype html><html lang='en'><meta charset='utf-8'>"
            f"<title>{escape(title)}</title>"
            "<style>body{font:14px sans-serif;margin:2em}td,th{padding:.2em .6em;text-align:left}"
            f"</style><h1>{escape(title)}</h1>"
            f"{part.to_html(index=False, border=0, na_rep='')}{below}</html>",
        )
        written.append(stem.with_suffix(".md"))
    return written
