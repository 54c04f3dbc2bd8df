"""``symnmf roll`` and ``symnmf rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    Tail,
)
from symnmf.cli.output import Output, window_line, windows_document
from symnmf.cli.source import Source, tail_options


@app.command(epilog=EXIT_CODES)
def roll(
    context: typer.Context,
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    window: Annotated[int, typer.Option("--window", help="Rows of a window.")],
    step: Annotated[int, typer.Option("--step", help="Rows from one window to the next.")],
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = "tail",
    q: Fraction = None,
    tail: Tail = "lower",
    missing: Missing = "error",
    max_missing: MaxMissing = 0.0,
    out: Out = Path("symnmf-roll"),
    seed: Seed = 0,
    force: Force = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Groups through time: who moved, and when it broke.

    Every window is kept when it is done: interrupted or killed, the same command goes on.

    \b
    Example:
      symnmf roll --prices prices.csv --window 1000 --step 21 --k 10
    """
    from symnmf.data import read_panel
    from symnmf.files import write_text
    from symnmf.groups.rolling import rolling
    from symnmf.groups.windows import save_rolling

    source = Source.of(returns=returns, prices=prices)
    panel = read_panel(source.path, kind=source.kind, missing=missing, max_missing=max_missing)
    shown = Output(as_json)
    options = tail_options(dependence, tail, q)
    found = rolling(
        panel, window, step, k, dependence, seed=seed, folder=out, force=force,
        on_window=lambda w: shown.line(window_line(w)), **options,
    )  # fmt: skip
    save_rolling(found, out)
    write_text(out / "config.toml", config_text(context))
    shown.line(f"{len(found.windows)} windows, {len(found.breaks)} breaks. Files: {out}")
    shown.document({**windows_document(found), "out": str(out)})
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)


@app.command()
def rank(
    matrix: Annotated[
        Path, typer.Option("--matrix", help="Dependence matrix, or a folder with one.")
    ],
    most: Annotated[
        int | None,
        typer.Option("--most", help="Largest number to consider; by default 1.5 roots of n."),
    ] = None,
    observations: Annotated[
        int | None,
        typer.Option("--observations", help="T, where S is a correlation; unknown by default."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How many groups a matrix has, and why.

    \b
    Example:
      symnmf rank --matrix S.npy
    """
    from symnmf.data import read_matrix
    from symnmf.groups.rank import suggest_rank
    from symnmf.operators.store import open_matrix

    S = open_matrix(matrix) if matrix.is_dir() else read_matrix(matrix)
    found = suggest_rank(S, most, observations=observations, seed=seed)
    shown = Output(as_json)
    shown.line(f"{found.k} groups", "bold")
    for reason in found.reasons:
        shown.line(f"- {reason}")
    values = [float(v) for v in found.values]
    shown.document({"k": found.k, "reasons": list(found.reasons), "eigenvalues": values})
