"""``symnmf roll``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.config_file import config_text
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.output import Output, window_line, windows_document
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
    out: Out = Path("symnmf-roll"),
    seed: Seed = SEED,
    force: Force = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Find groups through time: instruments that moved, and breaks.

    Every finished window is stored: after an interruption, the same command continues.

    \b
    Example:
      symnmf roll --prices prices.csv --window 1000 --step 21 --k 10
    """
    from symnmf.errors import speaking
    from symnmf.grouping.rolling import rolling
    from symnmf.grouping.rolling_folder import save_rolling

    shown = Output(as_json)
    options = data.dependence_options()
    panel = data.panel()
    with speaking({"table": str(data.path), "returns": str(data.path)}):
        found = rolling(
            panel, window, step, k, data.dependence, seed=seed, folder=out, force=force,
            on_window=lambda w: shown.line(window_line(w)), **options,
        )  # fmt: skip
    save_rolling(found, out, config=config_text(context))
    shown.line(
        f"{counted(len(found.windows), 'window')}, {counted(len(found.breaks), 'break')}. "
        f"Files: {out}"
    )
    shown.document({**windows_document(found), "out": str(out)})
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)
