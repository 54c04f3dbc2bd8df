"""``symnmf roll``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.config_file import config_text
from symnmf.cli.output import Output, window_line, windows_document
from symnmf.cli.shared_options import (
    Config,
    Decluster,
    Dependence,
    Estimator,
    Force,
    Fraction,
    Json,
    MaxMissing,
    Missing,
    Out,
    Prices,
    Returns,
    Seed,
    Shrinkage,
    Tail,
    Volatility,
    one_of,
    tail_options,
)
from symnmf.defaults import DEPENDENCE, MAX_MISSING, MISSING, SEED, TAIL_ESTIMATOR
from symnmf.defaults import TAIL as DEFAULT_TAIL


@app.command(epilog=EXIT_CODES)
def roll(
    context: typer.Context,
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    window: Annotated[int, typer.Option("--window", help="Number of rows of a window.")],
    step: Annotated[
        int, typer.Option("--step", help="Number of rows from one window to the next.")
    ],
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = DEPENDENCE,
    q: Fraction = None,
    tail: Tail = DEFAULT_TAIL,
    estimator: Estimator = TAIL_ESTIMATOR,
    decluster: Decluster = 0,
    volatility: Volatility = "none",
    shrinkage: Shrinkage = "none",
    missing: Missing = MISSING,
    max_missing: MaxMissing = MAX_MISSING,
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
    from symnmf.data import read_panel
    from symnmf.errors import speaking
    from symnmf.grouping.rolling import rolling
    from symnmf.grouping.rolling_folder import save_rolling

    kind, path = one_of(prices=prices, returns=returns)
    shown = Output(as_json)
    options = tail_options(
        dependence,
        tail,
        q,
        estimator=estimator,
        decluster=decluster,
        volatility=volatility,
        shrinkage=shrinkage,
    )
    with speaking({"table": str(path), "returns": str(path)}):
        panel = read_panel(path, kind=kind, missing=missing, max_missing=max_missing)
        found = rolling(
            panel, window, step, k, dependence, seed=seed, folder=out, force=force,
            on_window=lambda w: shown.line(window_line(w)), **options,
        )  # fmt: skip
    save_rolling(found, out, config=config_text(context))
    shown.line(f"{len(found.windows)} windows, {len(found.breaks)} breaks. Files: {out}")
    shown.document({**windows_document(found), "out": str(out)})
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)
