"""``symnmf bench``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json

if TYPE_CHECKING:
    from symnmf.bench.measurement import Choices, Measurement
    from symnmf.bench.results_store import Store
    from symnmf.bench.study import Study

#: Number of characters of the widest table of a measurement.
TABLE_WIDTH = 150


@app.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(help="A study or measurement of the package, or a .toml file."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of results.")] = Path("results"),
    sizes: Annotated[
        str,
        typer.Option("--sizes", help="Sizes, such as 100,1000 (default: those of the benchmark)."),
    ] = "",
    seeds: Annotated[
        str, typer.Option("--seeds", help="Seeds, such as 7,42 (default: those of the study).")
    ] = "",
    solvers: Annotated[
        str,
        typer.Option(
            "--solvers", help="Solvers, such as adagrad,admm (default: those of the benchmark)."
        ),
    ] = "",
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Seconds per run (default: those of the benchmark)."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", help="Number of runs of a study at the same time.")
    ] = 1,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Folder with the tables for stocks and predict (any panels, with classes in "
            "NAME.classes.csv), and for the matrices of large; no default.",
        ),
    ] = None,
    publish: Annotated[
        bool, typer.Option("--publish", help="Store the figures of a measurement in the folder.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a benchmark: a study of the founding paper, or a measurement of this machine.

    Finished runs of a study are stored and not repeated. A measurement is compared with its
    published figures; the exit code is 1 when one of them is worse than published.

    \b
    Example:
      symnmf bench phase1 --sizes 100 --solvers adagrad,admm
      symnmf bench speed
    """
    from symnmf.bench.measurement import Choices, find_measurement, measurement_names
    from symnmf.bench.results_store import Store
    from symnmf.bench.study import load

    shown = Output(as_json)
    chosen_sizes, chosen_seeds = _whole_numbers("--sizes", sizes), _whole_numbers("--seeds", seeds)
    chosen_solvers = tuple(solver for solver in solvers.split(",") if solver)
    if name in measurement_names():
        _not_given({"--seeds": seeds, "--jobs": jobs != 1}, name, "Pass it with studies only")
        choices = Choices(chosen_sizes, chosen_solvers, budget, data, shown.line, out / "partial")
        _measure(find_measurement(name), choices, Store(out), publish, shown)
        return
    _not_given({"--data": data, "--publish": publish}, name, "Pass it with measurements only")
    study = load(
        name, sizes=chosen_sizes, seeds=chosen_seeds, solvers=chosen_solvers, seconds=budget
    )
    _run(study, Store(out), jobs, shown)


def _run(study: Study, store: Store, jobs: int, shown: Output) -> None:
    """Run a study; print and write its tables."""
    from symnmf.bench import figures, tables
    from symnmf.bench.runner import run_study

    def on_run(run: Any, done: int, of: int) -> None:
        shown.line(f"{done} of {of}: {run.kind} {run.n} {run.seed} {run.configuration}")

    made = run_study(study, store, on_run, jobs)
    written = _written(tables.write_study(study, store), figures.write_study(study, store), shown)
    results = str(store.path(study.name))
    shown.line(f"{made} runs computed; results: {results}")
    left = tables.missing(study, store)
    if left:
        absent = ", ".join(sorted({run.solver for run in left}))
        shown.line(f"{len(left)} runs are missing because these are not installed: {absent}")
    shown.document({"runs": made, "missing": len(left), "written": written, "results": results})


def _measure(
    measurement: Measurement, choices: Choices, store: Store, publish: bool, shown: Output
) -> None:
    """Measure, print the tables next to the published figures, and publish where asked."""
    from symnmf.bench import figures, tables
    from symnmf.bench.runner import run_measurement

    found = run_measurement(measurement, store, choices, publish)
    worse = [line for table in found for line in table.worse]
    shown.console.width = max(TABLE_WIDTH, shown.console.width)
    for table in found:
        shown.console.print(table.as_rich())
    written = []
    if publish:
        paths = tables.write_measurement(measurement, store)
        written = _written(paths, figures.write_measurement(measurement, store), shown)
    for line in worse:
        shown.line(f"Worse: {line}")
    if measurement.comparable(choices):
        shown.line(f"{len(worse)} figures are worse than the published ones.")
    else:
        shown.line("Not compared: the published figures are for other sizes, solvers or budgets.")
    shown.document(
        {
            "tables": {t.table.name: [list(t.table.headings), *t.cells] for t in found},
            "worse": worse,
            "written": written,
        }
    )
    if worse:
        raise typer.Exit(1)


def _written(tables: list[Path], figures: list[Path], shown: Output) -> list[str]:
    """Print the paths of the files that were written, and return them."""
    paths = [str(path) for path in [*tables, *figures]]
    for path in paths:
        shown.line(f"Written: {path}")
    return paths


def _whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """The whole numbers of an option."""
    from symnmf.errors import InvalidInput

    try:
        return tuple(int(number) for number in text.split(",") if number)
    except ValueError as wrong:
        raise InvalidInput(
            option, f"got {text!r}", "Write whole numbers with commas, such as 100,1000"
        ) from wrong


def _not_given(options: dict[str, Any], name: str, remedy: str) -> None:
    """Raise InvalidInput for an option that the benchmark does not take."""
    from symnmf.errors import InvalidInput

    for option, given in options.items():
        if given:
            raise InvalidInput(option, f"{name} does not take this option", remedy)
