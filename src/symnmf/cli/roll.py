"""``symnmf roll``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.config_file import config_text
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.output import Output, change_lines, window_line, windows_document
from symnmf.cli.quick_start import load_libraries
from symnmf.cli.shared_options import Config, Force, Json, Out, Seed
from symnmf.defaults import SEED
from symnmf.display import counted


@app.command(epilog=EXIT_CODES)
@takes_data(matrix=False)
def roll(
    context: typer.Context,
    data: DataRequest,
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    window: Annotated[int, typer.Option("--window", help="Number of rows of a window.")],
    step: Annotated[
        int, typer.Option("--step", help="Number of rows from one window to the next.")
    ],
    half_life: Annotated[
        float | None,
        typer.Option(
            "--half-life",
            help="Number of rows in which the weight of a row halves; equal weights by default.",
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="Number of shuffled histories that breaks are compared with; 0 for none.",
        ),
    ] = 199,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html beside the tables.")
    ] = True,
    out: Out = Path("symnmf-roll"),
    seed: Seed = SEED,
    force: Force = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Find groups through time: who moved, and whether it is more than chance, with a report.

    Every finished window is stored: after an interruption, the same command continues. With
    --missing pairwise instruments may enter and leave.

    \b
    Example:
      symnmf roll --prices prices.csv --window 1000 --step 21 --k 10
    """
    load_libraries()
    from symnmf.errors import speaking
    from symnmf.grouping.rolling import rolling
    from symnmf.grouping.rolling_folder import save_rolling
    from symnmf.report import render_history

    shown = Output(as_json)
    options = data.dependence_options()
    panel = data.panel()
    with speaking({"table": str(data.path), "returns": str(data.path)}):
        found = rolling(
            panel, window, step, k, data.dependence, seed=seed, folder=out, force=force,
            half_life=half_life, draws=draws,
            on_window=lambda w: shown.line(window_line(w)), **options,
        )  # fmt: skip
    page = render_history(found, data.path.name) if report else None
    save_rolling(found, out, config=config_text(context), report=page)
    for line in change_lines(found):
        shown.line(line, "bold")
    shown.line(
        f"{counted(len(found.windows), 'window')}, {counted(len(found.breaks), 'break')}. "
        f"Files: {out}"
    )
    shown.document({**windows_document(found), "out": str(out)})
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)
