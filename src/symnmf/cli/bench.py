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
    jobs: Annotated[int, typer.Option("--jobs", help="Runs side by side, sharing the cores.")] = 1,
    as_json: Json = False,
) -> None:
    """Run a study of the founding paper: what is done is kept, and not repeated.

    \b
    Example:
      symnmf bench phase1 --sizes 100 --solvers adagrad,admm
    """
    from symnmf.bench import plots, tables
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

    def show(run: Any, done: int, of: int) -> None:
        shown.line(f"{done} of {of}: {run.kind} {run.n} {run.seed} {run.configuration}")

    made = run_study(chosen, store, show, jobs)
    written = [str(path) for path in [*tables.write(chosen, store), *plots.write(chosen, store)]]
    for path in written:
        shown.line(f"Written: {path}")
    results = str(store.path(chosen.name))
    shown.line(f"{made} runs made; results: {results}")
    left = tables.missing(chosen, store)
    if left:
        absent = ", ".join(sorted({run.solver for run in left}))
        shown.line(f"{len(left)} runs are missing, not installed: {absent}")
    shown.document({"runs": made, "missing": len(left), "written": written, "results": results})
