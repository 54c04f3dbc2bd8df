"""``symnmf roll`` and ``symnmf rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from symnmf.cli.app import PLAIN, app
from symnmf.cli.options import (
    Dependence,
    Force,
    Fraction,
    MaxMissing,
    Missing,
    Out,
    Prices,
    Returns,
    Seed,
    Tail,
)


@app.command()
def roll(
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
) -> None:
    """Groups through time: who moved, and when it broke.

    Example: symnmf roll --prices prices.csv --window 1000 --step 21 --k 10 --out through-time
    """
    from symnmf.data import read_panel
    from symnmf.errors import InvalidInput
    from symnmf.groups.rolling import rolling, save_rolling

    given = {"--returns": returns, "--prices": prices}
    named = [name for name, path in given.items() if path is not None]
    if len(named) != 1:
        raise InvalidInput("input", f"got {len(named)} tables", f"Pass one of {', '.join(given)}")
    if (out / "windows.csv").exists() and not force:
        raise InvalidInput("--out", f"{out} already holds windows", "Choose another, or --force")
    kind = named[0].removeprefix("--")
    panel = read_panel(returns or prices, kind=kind, missing=missing, max_missing=max_missing)
    console = Console()

    def show(w: Any) -> None:
        ari = "" if w.ari_before is None else f", ARI {w.ari_before:.2f} with the window before"
        sign = "  BREAK" if w.broke else ""
        status = f"{w.result.status.name}{ari}, {len(w.moved)} moved{sign}"
        console.print(f"{w.first} to {w.last}: {status}", **PLAIN)

    options: dict[str, Any] = {"tail": tail, "q": q} if dependence == "tail" else {}
    found = rolling(panel, window, step, k, dependence, seed=seed, on_window=show, **options)
    save_rolling(found, out)
    console.print(
        f"{len(found.windows)} windows, {len(found.breaks)} breaks. Files: {out}", **PLAIN
    )
    raise typer.Exit(0 if all(w.result.status.good for w in found.windows) else 1)


@app.command()
def rank(
    matrix: Annotated[
        Path, typer.Option("--matrix", help="Dependence matrix, or a folder with one.")
    ],
    most: Annotated[int | None, typer.Option("--most", help="Largest number to consider.")] = None,
    observations: Annotated[
        int | None, typer.Option("--observations", help="T, where S is a correlation.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """How many groups a matrix has, and why.

    Example: symnmf rank --matrix S.npy
    """
    from symnmf.data import read_matrix
    from symnmf.groups.rank import suggest_rank
    from symnmf.operators.store import open_matrix

    S = open_matrix(matrix) if matrix.is_dir() else read_matrix(matrix)
    found = suggest_rank(S, most, observations=observations, seed=seed)
    console = Console()
    console.print(f"{found.k} groups", style="bold", **PLAIN)
    for reason in found.reasons:
        console.print(f"- {reason}", **PLAIN)
