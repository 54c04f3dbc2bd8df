"""``symnmf fit``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.config import config_text
from symnmf.cli.options import (
    Config,
    Dependence,
    Force,
    Fraction,
    Json,
    MaxMissing,
    Missing,
    Out,
    Prices,
    Returns,
    Seed,
    SolverName,
    Starts,
    Tail,
)
from symnmf.cli.output import Output, summary
from symnmf.cli.source import Loaded, Source, load_source

if TYPE_CHECKING:
    from symnmf.contract import Result


@app.command(epilog=EXIT_CODES)
def fit(
    context: typer.Context,
    k: Annotated[
        int | None,
        typer.Option("--k", help="Number of groups; by default what the spectrum suggests."),
    ] = None,
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix",
            help="Dependence matrix: .csv, .parquet, .npy, .npz, or a folder; no default.",
        ),
    ] = None,
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = "tail",
    q: Fraction = None,
    tail: Tail = "lower",
    missing: Missing = "error",
    max_missing: MaxMissing = 0.0,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            help="Your own classes: .csv with a name and a class a row; none by default.",
        ),
    ] = None,
    out: Out = Path("symnmf-out"),
    solver: SolverName = "auto",
    seed: Seed = 0,
    starts: Starts = 5,
    max_iter: Annotated[
        int | None,
        typer.Option("--max-iter", help="Most iterations; by default 10000 and 1000 a start."),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Most wall time; no limit by default.")
    ] = None,
    force: Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that was interrupted.")
    ] = False,
    save_every: Annotated[
        float, typer.Option("--save-every", help="Seconds between two checkpoints.")
    ] = 60.0,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    nproc: Annotated[
        int, typer.Option("--nproc", help="Processes of this machine that share the rows.")
    ] = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for another process.")
    ] = 300.0,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Find the groups of a table or a dependence matrix, and certify the answer.

    The folder gets loadings and labels as tables, the certificate, the history, the model for
    sn.load, what was done to the data, the configuration, and report.html to open in a browser.

    \b
    Examples:
      symnmf fit --prices prices.csv
      symnmf fit --prices prices.csv --k 10 --compare sectors.csv --out groups
      symnmf fit --returns returns.parquet --dependence correlation
      symnmf fit --matrix S.npy --k 10 --max-seconds 600    (then: --resume)
      symnmf fit --config groups/config.toml --out again
      torchrun --nnodes N --nproc-per-node P -m symnmf fit ...
    """
    from symnmf import launch
    from symnmf.operators.group import first_decides, join

    if nproc > 1 and not launch.inside():
        raise typer.Exit(launch.again(sys.argv[1:], nproc))
    from symnmf.data.matrix import read_classes
    from symnmf.engine import Checkpoint
    from symnmf.factorize import factorize
    from symnmf.groups.naming import ordered
    from symnmf.results import check_free, save

    source = Source.of(matrix=matrix, returns=returns, prices=prices)
    classes = None if compare is None else read_classes(compare)
    group = join(timeout)
    replaced = force or resume

    def first(act: Any) -> None:
        """Let one process act for all."""
        act() if group is None else first_decides(group, act)

    first(lambda: check_free(out, force=replaced))
    resume = resume or launch.restarted()
    loaded = load_source(source, dependence, q, tail, missing, max_missing, group)
    k, reasons = (k, ()) if k is not None else _suggest(loaded, seed, shared=group is not None)
    result = factorize(
        loaded.S,
        k,
        solver,
        seed=seed,
        n_init=starts,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=True,
        checkpoint=Checkpoint(out / "checkpoint", save_every, overwrite=force),
        resume=resume,
    )
    result = ordered(replace(result, notes=(*reasons, *result.notes)))
    first(lambda: save(result, out, force=replaced))
    page = _page(loaded, result, source, classes) if report else None
    if group is not None:
        group.leave()
        if group.rank > 0:
            raise typer.Exit(0)
    found = None if classes is None else _compare(result, classes)
    _write(out, loaded, page, found, config_text(context, {"k": k}))
    shown = Output(as_json)
    for step in loaded.steps:
        shown.line(f"- {step}")
    shown.result(str(source.path), result)
    if found is not None:
        left = f"; {len(found.missing)} names have no class" if found.missing else ""
        agreed = f"ARI {found.ari:.2f}, NMI {found.nmi:.2f}"
        shown.line(f"Against your classes: {agreed}{left}; see classes.csv")
    shown.line(f"Files: {out}")
    if page is not None:
        shown.line(f"Open {out / 'report.html'} in a browser")
    against = {} if found is None else {"classes": {"ari": found.ari, "nmi": found.nmi}}
    shown.document({**summary(result), **against, "steps": loaded.steps, "out": str(out)})
    raise typer.Exit(launch.exit_code(0 if result.status.good else 1))


def _suggest(loaded: Loaded, seed: int, *, shared: bool) -> tuple[int, tuple[str, ...]]:
    """How many groups, and why."""
    from symnmf.errors import InvalidInput
    from symnmf.groups.rank import suggest_rank

    if shared:
        raise InvalidInput(
            "--k", "was not given", "Pass it where several processes share the rows; see rank"
        )
    found = suggest_rank(loaded.S, seed=seed)
    return found.k, (f"k = {found.k} was suggested: {found.reasons[0]}", *found.reasons[1:])


def _page(
    loaded: Loaded, result: Result, source: Source, classes: dict[str, str] | None
) -> str | None:
    """The report as text; all processes take part, the first one writes it."""
    from symnmf.report import gather, render

    content = gather(
        result,
        loaded.S,
        title=source.path.name,
        panel=loaded.panel,
        classes=classes,
        steps=loaded.steps,
    )
    return render(content) if loaded.S.rank == 0 else None


def _compare(result: Result, classes: dict[str, str]) -> Any:
    from symnmf.groups.naming import compare

    return compare(result, classes)


def _write(out: Path, loaded: Loaded, page: str | None, found: Any, config: str) -> None:
    """The files beside the model."""
    from symnmf.files import lock, write_json, write_text
    from symnmf.results import csv_text

    with lock(out):
        write_json(out / "data.json", loaded.record)
        write_text(out / "config.toml", config)
        if found is not None:
            write_text(out / "classes.csv", csv_text(found.table))
        if page is not None:
            write_text(out / "report.html", page)
