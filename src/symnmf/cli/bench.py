"""``symnmf bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from symnmf.cli.app import PLAIN, app


@app.command()
def bench(
    study: Annotated[str, typer.Argument(help="A study that comes with the package, or a .toml.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of results.")] = Path("results"),
    sizes: Annotated[
        str, typer.Option("--sizes", help="Instead of those of the study: 100,1000")
    ] = "",
    seeds: Annotated[str, typer.Option("--seeds", help="Instead of those of the study: 7,42")] = "",
    solvers: Annotated[
        str, typer.Option("--solvers", help="Rows of the registry: adagrad,admm")
    ] = "",
    budget: Annotated[float | None, typer.Option("--budget", help="Seconds of a run.")] = None,
) -> None:
    """Run a study of the founding paper: what is done is kept, and not repeated.

    Example: symnmf bench phase1 --sizes 100 --solvers adagrad,admm
    """
    from symnmf.bench import tables
    from symnmf.bench.runner import run_study
    from symnmf.bench.store import Store
    from symnmf.bench.study import load
    from symnmf.errors import InvalidInput

    try:
        chosen = load(
            study,
            sizes=[int(n) for n in sizes.split(",") if n],
            seeds=[int(n) for n in seeds.split(",") if n],
            solvers=[name for name in solvers.split(",") if name],
            seconds=budget,
        )
    except ValueError as wrong:
        if isinstance(wrong, InvalidInput):
            raise
        raise InvalidInput("--sizes", f"{wrong}", "Write whole numbers with commas") from wrong
    console, store = Console(), Store(out)

    def show(run: Any, at: int, of: int) -> None:
        console.print(
            f"{at + 1} of {of}: {run.kind} {run.n} {run.seed} {run.configuration}", **PLAIN
        )

    made = run_study(chosen, store, show)
    for path in tables.write(chosen, store):
        console.print(f"Table: {path}", **PLAIN)
    console.print(f"{made} runs made; results: {store.path(chosen.name)}", **PLAIN)
