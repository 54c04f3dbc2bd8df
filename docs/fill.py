"""Fill the numbers of README and docs from results/: `python docs/fill.py [--check]`.

Between `<!-- from NAME -->` and `<!-- end -->` stands what the view NAME finds in the store. A run
or a sheet that is missing is an error, and with `--check` so is a page that would change.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd

from symnmf.bench import study as studies
from symnmf.bench import tables
from symnmf.bench.store import Store
from symnmf.bench.tables import markdown, short
from symnmf.solvers.registry import solvers

ROOT = Path(__file__).parents[1]
STORE = Store(ROOT / "results")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"(<!-- from ([\w\-. ]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


class Missing(Exception):
    """Something that a page shows is not in the store."""


@cache
def study(name: str) -> studies.Study:
    """A study, complete."""
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


@cache
def sheet(name: str) -> pd.DataFrame:
    """A table that a benchmark published."""
    path = ROOT / "results" / f"bench-{name}.json"
    if not path.is_file():
        raise Missing(f"{path.name} is not in results/: run the benchmark with PUBLISH=1")
    content = json.loads(path.read_text("utf-8"))
    return pd.DataFrame(content["rows"], columns=content["columns"], dtype=object)


def sheet_table(name: str) -> str:
    """The same as markdown."""
    made = sheet(name).map(lambda v: short(v) if isinstance(v, float) else "–" if v is None else v)
    return markdown(made)


def whole(name: str) -> str:
    """The main table of a study, and a sentence for each column that differs from the paper."""
    made = tables.table(study(name), STORE)
    notes = tables.differences(study(name), made)
    return markdown(made) + "".join(f"\n{note}\n" for note in notes)


def counted(name: str, published_only: bool = False) -> str:
    """Verdicts at each size; only the rows that the paper has, and the default."""
    made = tables.counts(study(name), STORE)
    if published_only:
        wanted = {figure["configuration"] for figure in study(name).paper} | {"sketched"}
        made = made[made["configuration"].isin(wanted)]
    return markdown(made)


def every_row() -> str:
    """How each row of the registry ended with its defaults, three seeds a cell."""
    results = frame("phase1")
    results = results[(results["configuration"] == results["solver"]) & (results["n"] <= 1000)]
    rows = []
    for name, group in results.groupby("solver", sort=False):
        row = {"row": f"`{name}`"}
        for (n, kind), part in group.groupby(["n", "kind"], sort=False):
            ends = part["status"].value_counts()
            good = int(part["converged"].sum())
            rest = [f"{c} {s}" for s, c in ends.items() if s not in ("CONVERGED", "EXACT")]
            words = f"{good}/{len(part)}" + (f" ({', '.join(rest)})" if rest else "")
            row[f"{kind} n={n}"] = f"{words}, {part['excess'].max():.3f}"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def large_phase1() -> str:
    """The eleven and the default at n = 10 000."""
    made = tables.table(study("phase1"), STORE)
    made = made[made["n"] == 10_000].drop(columns=["n", "k", "ms_per_iteration", "best error"])
    return markdown(made.drop(columns=[c for c in made if c.startswith("paper: ")]))


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


def losses() -> str:
    """The two forms of the loss."""
    made = tables.table(study("memory"), STORE)
    made = made[made["configuration"].isin(["residual", "trace"])]
    notes = tables.differences(study("memory"), made)
    made = made.drop(columns=["arrays", "stated"])
    return markdown(made) + "".join(f"\n{note}\n" for note in notes)


def arrays() -> str:
    """n×k arrays of every row."""
    made = tables.table(study("memory"), STORE)
    made = made[~made["configuration"].isin(["residual", "trace"])]
    return markdown(made[["configuration", "arrays", "stated"]])


def claims() -> str:
    """What the paper says does not work."""
    made = tables.table(study("claims"), STORE)
    columns = ["matrix", "n", "configuration", "the paper says", "converged", "kkt_ratio", "excess"]
    return markdown(made[columns].rename(columns={"kkt_ratio": "gradient / gate"}))


def published() -> str:
    """The paper's own steps: whether its gates were met, and with what."""
    results = frame("published")
    rows = []
    for name, group in results.groupby("configuration", sort=False):
        row = {"configuration": name}
        for _, run in group.iterrows():
            met = "gates met" if run["fired"] else "not met"
            words = f"{met}; {short(run['excess'])}; {run['ari']:.2f}"
            row[f"{run['kind']} n={run['n']}"] = words
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def one(name: str, kind: str, n: int, configuration: str, column: str) -> str:
    """A mean over seeds."""
    found = frame(name).query("kind == @kind and n == @n and configuration == @configuration")
    return short(float(found[column].mean()))


VIEWS: dict[str, Callable[[], str]] = {
    **{name: (lambda name=name: whole(name)) for name in
       ("spectral", "kmeans", "precision", "phase2", "peers")},
    "phase1-counts": lambda: counted("phase1", published_only=True),
    "phase1-best": lambda: markdown(tables.best(study("phase1"), STORE)),
    "phase1-rows": every_row,
    "phase1-10000": large_phase1,
    "phase1-profile": lambda: markdown(tables.profile(
        frame("phase1").query("configuration == solver and n <= 1000")).head(25)),
    "k25-counts": lambda: counted("k25"),
    "logspace-counts": lambda: counted("logspace"),
    "flagship": flagship,
    "published": published,
    "stopping": rivals,
    "memory-losses": losses,
    "memory-rows": arrays,
    "claims": claims,
    "solvers": lambda: str(len(solvers())),
    "sketched-excess": lambda: one("phase1", "corr", 10_000, "sketched", "excess"),
    "sketched-products": lambda: one("phase1", "corr", 10_000, "sketched", "products"),
}  # fmt: skip


def fill(text: str) -> str:
    """A page with its marks filled."""

    def replaced(match: re.Match[str]) -> str:
        begin, name, old, end = match.groups()
        if name.startswith("bench-"):
            made = sheet_table(name.removeprefix("bench-"))
        elif name in VIEWS:
            made = VIEWS[name]()
        else:
            raise Missing(f"no view is called {name}")
        block = "\n" in old or "\n" in made
        return f"{begin}\n\n{made.strip()}\n\n{end}" if block else f"{begin}{made}{end}"

    return MARK.sub(replaced, text)


def main(arguments: list[str]) -> int:
    """Fill every page; with --check, only say which would change."""
    stale = []
    for page in PAGES:
        if "_build" in page.parts:
            continue
        old = page.read_text("utf-8")
        new = fill(old)
        if new != old:
            stale.append(str(page.relative_to(ROOT)))
            if "--check" not in arguments:
                page.write_text(new, encoding="utf-8")
    if stale and "--check" in arguments:
        sys.stderr.write(f"Not what results/ says: {', '.join(stale)}. Run `make numbers`.\n")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Missing as missing:
        sys.exit(f"{missing}")
