"""The tables of studies and measurements, from the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from symnmf.bench.measurement import MeasuredTable, Measurement, published_rows
from symnmf.bench.results_store import Store
from symnmf.bench.study import Run, Study
from symnmf.bench.table_files import short, worded, write_table
from symnmf.solvers.registry import available

#: Columns that count, and columns whose best and spread over seeds are shown next to the mean.
COUNTS, SPREAD = ("converged", "paper_converged", "degenerate", "fired"), ("error",)
#: What a run, and a figure of the paper, may be about.
ABOUT = ("kind", "n", "configuration")
#: Relative difference from a figure of the paper above which a sentence states it.
DIFFERS = 0.1


def frame(study: Study, store: Store) -> pd.DataFrame:
    """The stored results of all runs of a study, a row each."""
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
    """Runs without a stored result."""
    done = store.done(study.name)
    return [run for run in study.runs() if run.key not in done]


def table(study: Study, store: Store) -> pd.DataFrame:
    """Means over seeds for each configuration and problem; the paper's figure next to ours."""
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
        for column in (c for c in study.columns if c in group):  # no run so far has reset, say
            row |= _cells(column, group[column])
            if column in published:
                row[f"paper: {column}"] = published[column]
        if group["claim"].iloc[0]:
            row["the paper says"] = group["claim"].iloc[0]
        rows.append(row)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def figures(study: Study, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Figures of the paper that are about this problem and configuration."""
    for figure in study.paper:
        if all(figure.get(name, value) == value for name, value in about.items()):
            yield {name: value for name, value in figure.items() if name not in ABOUT}


def counts(study: Study, store: Store) -> pd.DataFrame:
    """The paper's layout: a row for each configuration, its verdicts and times at each size.

    ``seconds`` are means over the runs that converged, as in the paper; ``gates`` are the paper's
    three gates, ``converged`` is the verdict of the certificate.
    """
    results = frame(study, store)
    if "converged" not in results:
        return pd.DataFrame()
    known = available()
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
    """For each solver the configuration that converges most often; the fastest of several."""
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
        results: rows of :func:`frame`.
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
    """A sentence for each column of a table in which our figures differ from those of the paper."""
    lines = []
    for column in study.columns:
        if f"paper: {column}" not in made:
            continue
        parts = []
        for _, row in made.iterrows():
            ours, paper = (_number(row[c]) for c in (column, f"paper: {column}"))
            if paper is None or ours is None or abs(ours - paper) <= DIFFERS * abs(paper):
                continue
            about = " ".join(str(row[c]) for c in ("matrix", "n", "configuration") if c in made)
            parts.append(f"{about} {short(ours)} here, {short(paper)} there")
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


def measured_table(measurement: Measurement, table: MeasuredTable, store: Store) -> pd.DataFrame:
    """The published rows of a table of a measurement, as people read them."""
    rows = [row for row in published_rows(measurement, store) if row.table == table.name]
    cells = [[worded(cell) for cell in (row.labels | row.found).values()] for row in rows]
    return pd.DataFrame(cells, columns=list(table.headings), dtype=object)


def write_study(study: Study, store: Store) -> list[Path]:
    """Write all tables of a study next to its results, as .md, .csv and .html."""
    made = {"": table(study, store)}
    results = frame(study, store)
    if "converged" in results:
        made |= {
            "-counts": counts(study, store),
            "-best": best(study, store),
            "-profile": profile(results),
        }
    notes = differences(study, made[""])
    return [
        write_table(
            store.folder / f"{study.name}{suffix}",
            study.title + (f" ({suffix.removeprefix('-')})" if suffix else ""),
            part,
            () if suffix else notes,
        )
        for suffix, part in made.items()
    ]


def write_measurement(measurement: Measurement, store: Store) -> list[Path]:
    """Write the published tables of a measurement next to its rows, as .md, .csv and .html."""
    made = [(table, measured_table(measurement, table, store)) for table in measurement.tables]
    return [
        write_table(store.folder / table.name, table.title, part)
        for table, part in made
        if not part.empty
    ]
