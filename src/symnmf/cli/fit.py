"""``symnmf fit``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.config_file import config_text
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.output import Output, summary
from symnmf.cli.quick_start import load_libraries
from symnmf.cli.shared_options import (
    Config,
    Force,
    Groups,
    Json,
    Out,
    Seed,
    SolverName,
    Starts,
    Verbose,
    choices,
    wanted_groups,
)
from symnmf.defaults import SAVE_EVERY, SEED, SOLVER, STARTS, TIMEOUT, default_starts
from symnmf.display import counted

if TYPE_CHECKING:
    from symnmf.analysis import Analysis
    from symnmf.analysis.folder import ResultFolder
    from symnmf.distributed import ProcessGroup


@app.command(epilog=EXIT_CODES)
@takes_data(matrix=True)
def fit(
    context: typer.Context,
    data: DataRequest,
    k: Groups = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            help="Your classes: a table with a name and a class in each row; none by default.",
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            help="Your portfolio: a table with a name and a weight in each row; none by default.",
        ),
    ] = None,
    out: Out = Path("symnmf-out"),
    solver: SolverName = SOLVER,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Run --solver as the founding paper publishes it: its options, its stopping rule.",
        ),
    ] = False,
    start_factor: Annotated[
        str | None,
        typer.Option(
            "--start",
            help="Start factor (uniform: entries in [0, 1]; default: what the solver asks for).",
            **choices(STARTS),
        ),
    ] = None,
    seed: Seed = SEED,
    starts: Starts = None,
    max_iter: Annotated[
        int | None,
        typer.Option(
            "--max-iter",
            help="Maximum iterations (default 10000, plus 1000 per additional start).",
        ),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Maximum wall time; no limit by default.")
    ] = None,
    force: Force = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    save_every: Annotated[
        float, typer.Option("--save-every", help="Seconds between checkpoints.")
    ] = SAVE_EVERY,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            help="Resampled histories of a table, for the confidence of each member.",
        ),
    ] = 0,
    nproc: Annotated[int, typer.Option("--nproc", help="Number of processes on this machine.")] = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for another process.")
    ] = TIMEOUT,
    progress: Annotated[
        str,
        typer.Option(
            "--progress",
            help="Progress on standard error: a line on a terminal, a line of JSON at every check, "
            "or nothing.",
            **choices(("line", "json", "none")),
        ),
    ] = "line",
    config: Config = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Find the groups of a table or a dependence matrix, and certify the answer.

    The folder gets the loadings and labels as tables, the certificate, the history, the model for
    symnmf.load, the record of the data, the configuration, and report.html for a browser.

    \b
    Examples:
      symnmf fit prices.csv
      symnmf fit --prices prices.csv --k 10 --compare sectors.csv --out groups
      symnmf fit --returns returns.parquet --dependence correlation --from 2015
      symnmf fit prices.csv --weights portfolio.csv
      symnmf fit --values gauges.csv --tail upper --decluster 5
      symnmf fit --matrix S.npy --k 10 --max-seconds 600    (then: --resume)
      symnmf fit --config groups/config.toml --out again
      symnmf fit --matrix S.npy --k 10 --solver adagrad --published
      torchrun --nnodes N --nproc-per-node P -m symnmf fit ...
    """
    from symnmf.distributed import exit_code, restarted, under_torchrun
    from symnmf.distributed.native_log import keep_native_output

    if nproc > 1 and not under_torchrun():
        from symnmf.distributed import run_under_torchrun  # it needs torch

        raise typer.Exit(run_under_torchrun(sys.argv[1:], nproc))
    shown = Output(as_json)
    if under_torchrun():
        keep_native_output()
    else:
        shown.line(f"Reading {data.path}")
    load_libraries()
    from symnmf.data.classes import read_classes
    from symnmf.data.portfolio_weights import read_weights

    classes = None if compare is None else read_classes(compare)
    portfolio = None if weights is None else read_weights(weights)
    from symnmf.analysis import analyse
    from symnmf.distributed import join

    arguments = data.arguments()
    processes = join(timeout, data.device)
    again = restarted()
    with ExitStack() as stack:
        folder = _hold(stack, processes, out, force=force, resume=resume, restarted=again)
        found = analyse(
            data.path,
            wanted_groups(k),
            **arguments,
            classes=classes,
            weights=portfolio,
            solver=solver,
            start=start_factor,
            published=published,
            seed=seed,
            n_init=starts,
            max_iter=max_iter,
            max_seconds=max_seconds,
            evidence=report,
            resamples=resamples,
            progress="json" if progress == "json" else progress == "line",
            checkpoint=folder.checkpoint(save_every),
            resume=resume or again,
            process_group=processes,
        )
        if found.operator.process_index == 0:
            resolved = {
                "k": found.result.H.shape[1],
                "starts": default_starts(solver) if starts is None else starts,
            }
            page = _page(found) if report else None
            folder.write(found, report=page, config=config_text(context, resolved))
    if processes is not None:
        processes.leave()
        if processes.process_index > 0:
            raise typer.Exit(0)
    _show(shown, found, str(data.path), out, report, verbose)
    raise typer.Exit(exit_code(0 if found.result.status.good else 1))


def _hold(
    stack: ExitStack, processes: ProcessGroup | None, out: Path, **options: bool
) -> ResultFolder:
    """The folder of the result; process 0 locks it until the files are written."""
    from symnmf.analysis.folder import ResultFolder
    from symnmf.distributed import first_decides

    def hold() -> None:
        stack.enter_context(ResultFolder.held(out, **options))

    if processes is None:
        hold()
    else:
        first_decides(processes, hold)
    return ResultFolder(out, force=options["force"])


def _page(found: Analysis) -> str:
    """The report as HTML text."""
    from symnmf.report import gather, render

    return render(gather(found))


def _show(
    shown: Output, found: Analysis, source: str, out: Path, report: bool, verbose: bool
) -> None:
    """Print the groups, then the verdict; every step with ``--verbose``; or one JSON document."""
    shown.answer(found)
    against: dict[str, Any] = {}
    if found.comparison is not None:
        c = found.comparison
        left = (
            f"; {counted(len(c.missing), 'name has', 'names have')} no class" if c.missing else ""
        )
        agreed = f"ARI {c.ari:.2f}, NMI {c.nmi:.2f}"
        shown.line(f"Agreement with your classes: {agreed}{left}; see classes.csv")
        against = {"classes": {"ari": c.ari, "nmi": c.nmi}}
    if found.portfolio is not None:
        risk = found.portfolio
        first = int(risk.groups.value.argmax())
        shown.line(
            f"Your portfolio: group {risk.group_names[first]} carries {risk.groups.words(first)} "
            "of its risk; see portfolio_groups.csv and the report"
        )
        against["portfolio"] = {
            name: float(share)
            for name, share in zip(risk.group_names, risk.groups.value, strict=True)
        }
    if verbose:
        for step in found.steps:
            shown.line(f"- {step}")
        shown.result(source, found.result)
    shown.line(f"Files: {out}")
    if report:
        shown.line(f"Open {out / 'report.html'} in a browser")
    panel = found.panel
    cautions = [] if panel is None else list(panel.summary.cautions)
    shown.document(
        {
            **summary(found.result), **against, "steps": list(found.steps),
            "cautions": cautions, "out": str(out),
        }
    )  # fmt: skip
