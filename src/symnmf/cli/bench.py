"""``symnmf bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.options import Json
from symnmf.cli.output import Output


@app.command()
def bench(
    study: Annotated[str, typer.Argument(help="A study that comes with the package, or a .toml.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of results.")] = Path("results"),
    sizes: Annotated[
        str, typer.Option("--sizes", help="Like 100,1000; by default those of the study.")
    ] = "",
    seeds: Annotated[
        str, typer.Option("--seeds", help="Like 7,42; by default those of the study.")
    ] = "",
    solvers: Annotated[
        str, typer.Option("--solvers", help="Like adagrad,admm; by default those of the study.")
    ] = "",
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Seconds of a run; by default that of the study."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a study of the founding paper: what is done is kept, and not repeated.

    \b
    Example:
      symnmf bench phase1 --sizes 100 --solvers adagrad,admm
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
    shown, store = Output(as_json), Store(out)

    def show(run: Any, at: int, of: int) -> None:
        shown.line(f"{at + 1} of {of}: {run.kind} {run.n} {run.seed} {run.configuration}")

    made = run_study(chosen, store, show)
    written = [str(path) for path in tables.write(chosen, store)]
    for path in written:
        shown.line(f"Table: {path}")
    results = str(store.path(chosen.name))
    shown.line(f"{made} runs made; results: {results}")
    shown.document({"runs": made, "tables": written, "results": results})
