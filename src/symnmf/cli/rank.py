"""``symnmf rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import (
    Dependence,
    Fraction,
    Json,
    MaxMissing,
    Missing,
    Prices,
    Returns,
    Seed,
    Tail,
    one_of,
    tail_options,
)
from symnmf.defaults import DEPENDENCE, MAX_MISSING, MISSING, SEED
from symnmf.defaults import TAIL as DEFAULT_TAIL


@app.command()
def rank(
    matrix: Annotated[
        Path | None,
        typer.Option("--matrix", help="Dependence matrix: a file or a folder; no default."),
    ] = None,
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = DEPENDENCE,
    q: Fraction = None,
    tail: Tail = DEFAULT_TAIL,
    missing: Missing = MISSING,
    max_missing: MaxMissing = MAX_MISSING,
    most: Annotated[
        int | None,
        typer.Option("--most", help="Largest k to consider (default 1.5·√n, at least 10)."),
    ] = None,
    observations: Annotated[
        int | None,
        typer.Option(
            "--observations",
            help="Number of observations behind a correlation matrix; unknown by default.",
        ),
    ] = None,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Suggest a number of groups for a table or a matrix, with its range and the reasons.

    A table shows what predicts other days and what is above noise; a matrix alone has only its
    spectrum.

    \b
    Examples:
      symnmf rank --prices prices.csv
      symnmf rank --returns returns.parquet --dependence correlation
      symnmf rank --matrix S.npy
    """
    from symnmf.data import read_matrix, read_panel
    from symnmf.errors import speaking
    from symnmf.grouping.rank_selection import suggest_rank
    from symnmf.operators.stored import open_matrix

    kind, path = one_of(prices=prices, returns=returns, matrix=matrix)
    with speaking(dict.fromkeys(("table", "returns", "S"), str(path))):
        if kind == "matrix":
            S = open_matrix(path) if path.is_dir() else read_matrix(path)
            found = suggest_rank(S, most, observations=observations, seed=seed)
        else:
            panel = read_panel(path, kind=kind, missing=missing, max_missing=max_missing)
            options = tail_options(dependence, tail, q)
            found = suggest_rank(panel, most, dependence=dependence, seed=seed, **options)
    shown = Output(as_json)
    shown.line(found.words, "bold")
    for reason in found.reasons:
        shown.line(f"- {reason}")
    document = {
        "k": found.k,
        "low": found.low,
        "high": found.high,
        "by_prediction": found.by_prediction,
        "by_noise": found.by_noise,
        "reasons": list(found.reasons),
        "eigenvalues": [float(v) for v in found.values],
    }
    if found.prediction is not None:
        document["prediction"] = [float(v) for v in found.prediction.mean]
    shown.document(document)
