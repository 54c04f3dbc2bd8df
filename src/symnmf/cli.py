"""The command line: parse, call, print."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symnmf.contract import Result

app = typer.Typer(
    help="Groups that move together, or crash together: certified symmetric NMF.\n\n"
    "Exit codes: 0 converged, 1 ended without meeting the criterion (the result is written all "
    "the same), 2 wrong input.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

#: How to print words that are not ours.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}

Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the start and of every draw.")]
SolverName = Annotated[str, typer.Option("--solver", help="A name of `symnmf solvers`.")]
Starts = Annotated[
    int, typer.Option("--starts", help="Starts whose groups are compared: do they agree?")
]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there.")]


@app.command()
def demo(
    out: Out = Path("demo"),
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")] = 100,
    seed: Seed = 7,
    solver: SolverName = "auto",
) -> None:
    """Find the groups of a synthetic market, in crashes and in ordinary days."""
    console = Console()
    console.print(f"A synthetic market of {n} instruments with known groups, seed {seed}.")
    from sklearn.metrics import adjusted_rand_score

    from symnmf.factorize import factorize
    from symnmf.files import write_text
    from symnmf.plot import heat_maps
    from symnmf.results import save
    from symnmf.synthetic import benchmark_matrix

    titles = {"tpdm": "crash together (tail dependence)", "corr": "move together (correlation)"}
    good = True
    for kind, title in titles.items():
        market = benchmark_matrix(kind, n, seed=seed)
        result = factorize(market.operator, market.k, solver, seed=seed, n_init=5, progress=True)
        folder = save(result, out / kind, force=True)
        write_text(folder / "groups.html", heat_maps(market.operator, result, title).to_html())
        _show(console, f"Instruments that {title}, k = {market.k}", result)
        ari = adjusted_rand_score(market.labels, result.labels())
        console.print(f"Agreement with the true groups (ARI): {ari:.2f}")
        console.print(f"Files: {folder}; open {folder / 'groups.html'} in a browser\n")
        good = good and result.status.good
    raise typer.Exit(0 if good else 1)


@app.command()
def fit(
    matrix: Annotated[
        Path, typer.Option("--matrix", help="Dependence matrix: .csv, .parquet, .npy or .npz.")
    ],
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    out: Out = Path("symnmf-out"),
    solver: SolverName = "auto",
    seed: Seed = 0,
    starts: Starts = 5,
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Most iterations.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Most wall time.")
    ] = None,
    force: Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that was interrupted.")
    ] = False,
) -> None:
    """Factorize a dependence matrix and certify the answer.

    Example: symnmf fit --matrix S.csv --k 10 --out groups
    """
    from symnmf.data import read_matrix
    from symnmf.engine import Checkpoint
    from symnmf.factorize import factorize
    from symnmf.results import check_free, save

    check_free(out, force=force or resume)
    result = factorize(
        read_matrix(matrix),
        k,
        solver,
        seed=seed,
        n_init=starts,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=True,
        checkpoint=Checkpoint(out / "checkpoint", overwrite=force),
        resume=resume,
    )
    save(result, out, force=force or resume)
    console = Console()
    _show(console, str(matrix), result)
    console.print(f"Files: {out}")
    raise typer.Exit(0 if result.status.good else 1)


@app.command()
def solvers() -> None:
    """List the solvers with what they cost and their options."""
    from symnmf.solvers.registry import solvers as registry

    console, family = Console(), ""
    for row in registry().values():
        if row.family != family:
            family = row.family
            console.print(f"\n{family}", style="bold", **PLAIN)
        options = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        cost = f"{row.products} products, {row.memory} n×k arrays, {row.tier}"
        console.print(f"  {row.name:<28}{cost}", **PLAIN)
        console.print(f"      {options or 'no options'}", style="dim", **PLAIN)
        console.print(f"      paper: {row.paper}; {row.reference}", style="dim", **PLAIN)


def _show(console: Console, title: str, result: Result) -> None:
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_row("status", result.status.name)
    for name, value in result.certificate.summary():
        table.add_row(name, value)
    spent = (
        f"{result.iterations} iterations, {result.products:.0f} products, {result.seconds:.1f} s"
    )
    table.add_row(f"spent by {result.solver}", spent)
    for note in result.notes:
        table.add_row("note", note)
    console.print(table)


def main() -> None:
    """Entry point: our errors and warnings as a line, not as a traceback."""
    from symnmf.errors import SymnmfError

    def as_line(message: Warning | str, category: type[Warning], *rest: object) -> None:
        Console(stderr=True).print(f"{category.__name__}: {message}", **PLAIN)

    warnings.showwarning = as_line  # type: ignore[assignment]
    try:
        app()
    except (SymnmfError, OSError) as wrong:
        Console(stderr=True).print(f"Error: {wrong}", **PLAIN)
        sys.exit(2)
