"""The packages of symnmf and what each may import: the table behind the test and CONTRIBUTING.

A node is a row of the table in the design: a package, or modules that belong together. Within a
node a member may import those that stand before it.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "symnmf"

#: Members of a node → (what lives there, one member of each node that it may import).
GRAPH: dict[str, tuple[str, str]] = {
    "defaults display errors numerics options provenance resources worker_threads": (
        "shared defaults; short descriptions; typed errors; random streams, float64 sums and "
        "products; declared options; where a matrix comes from; memory and disk; jobs on threads",
        "",
    ),
    "storage": (
        "how things lie on disk: atomic writes, locks, manifests, journals, checkpoints, readers "
        "of untrusted files",
        "errors",
    ),
    "distributed": (
        "the processes that share the rows, and starting them; the only place that reads RANK and "
        "WORLD_SIZE",
        "errors",
    ),
    "operators": (
        "S as mathematics: dense, sparse, Gram, low rank, wrappers; conversion and validation; "
        "matrices on disk",
        "errors storage distributed",
    ),
    "data": ("tables → `Panel`; matrix files; classes; samples", "errors storage"),
    "dependence": (
        "`Panel` → S: one estimator a file; diagnostics; `synthetic/` makes the benchmark matrices",
        "errors storage operators data",
    ),
    "core": (
        "problem, objective, spectrum, bounds and certificate, start, labels, the contract of a "
        "solver, result",
        "errors storage operators",
    ),
    "solvers": ("the algorithms: families, composition, registry", "errors operators core"),
    "engine": ("the criterion, the loop, progress", "errors storage distributed core"),
    "planning": (
        "exact cases, which solver, step sizes, what a run needs",
        "errors operators core solvers",
    ),
    "fit_request factorization many_problems": (
        "what is asked of a fit; the front door for a matrix, and for many",
        "errors storage distributed operators core solvers engine planning",
    ),
    "grouping": (
        "names and numbers of groups, comparison, how many, stability, time, risk, hard groups",
        "errors storage operators data dependence core solvers planning factorization",
    ),
    "analysis": (
        "the front door for a table: `analyse` → `Analysis`; the folder of a result",
        "errors storage distributed operators data dependence core factorization grouping",
    ),
    "estimators integrations": (
        "scikit-learn; skfolio, Riskfolio",
        "errors operators data dependence core factorization grouping analysis",
    ),
    "testing": (
        "`check_operator`, `check_solver` for people who write their own",
        "errors storage operators core engine",
    ),
    "plot report bench cli __main__": (
        "leaves: figures, the page, the benchmark, the command line",
        "errors storage distributed operators data dependence core solvers engine planning "
        "factorization grouping analysis estimators",
    ),
}


def node_of(member: str) -> str:
    """The node that a top-level name belongs to."""
    return next(members for members in GRAPH if member in members.split())


def allowed(members: str) -> set[str]:
    """Nodes that a node may import."""
    return {node_of(name) for name in GRAPH[members][1].split()}


def modules() -> list[Path]:
    """Every module of the package, aside from its front."""
    return sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def member(path: Path) -> str:
    """The top-level name that a module lies under."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Top-level names of symnmf that a module imports, also inside functions."""
    found = set()
    for statement in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("symnmf"):
            if statement.module == "symnmf":
                found |= {
                    a.name for a in statement.names if a.name not in ("__version__", "NUMERICS")
                }
            else:
                found.add(statement.module.split(".")[1])
        if isinstance(statement, ast.Import):
            found |= {a.name.split(".")[1] for a in statement.names if a.name.startswith("symnmf.")}
    return found


def table() -> str:
    """The graph as the table of CONTRIBUTING."""
    rows = ["| node | what lives there | imports |", "|---|---|---|"]
    for members, (about, imports) in GRAPH.items():
        names = ", ".join(f"`{name}`" for name in members.split() if name != "__main__")
        above = ", ".join(f"`{name}`" for name in imports.split()) or "–"
        rows.append(f"| {names} | {about} | {above} |")
    return "\n".join(rows)
