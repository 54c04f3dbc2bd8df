"""``symnmf rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json, Seed


@app.command()
def rank(
    matrix: Annotated[
        Path, typer.Option("--matrix", help="Dependence matrix: a file or a folder.")
    ],
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
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Suggest a number of groups for a matrix, with reasons.

    \b
    Example:
      symnmf rank --matrix S.npy
    """
    from symnmf.data import read_matrix
    from symnmf.grouping.rank_selection import suggest_rank
    from symnmf.operators.stored import open_matrix

    S = open_matrix(matrix) if matrix.is_dir() else read_matrix(matrix)
    found = suggest_rank(S, most, observations=observations, seed=seed)
    shown = Output(as_json)
    shown.line(f"{found.k} groups", "bold")
    for reason in found.reasons:
        shown.line(f"- {reason}")
    values = [float(v) for v in found.values]
    shown.document({"k": found.k, "reasons": list(found.reasons), "eigenvalues": values})
