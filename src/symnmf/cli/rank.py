"""``symnmf rank``."""

from __future__ import annotations

from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json, Seed


@app.command()
@takes_data(matrix=True)
def rank(
    context: typer.Context,
    data: DataRequest,
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
    """Suggest a number of groups for a table or a matrix, with reasons.

    \b
    Examples:
      symnmf rank prices.csv
      symnmf rank --matrix S.npy
    """
    from symnmf.grouping.rank_selection import suggest_rank

    found = suggest_rank(data.load().operator, most, observations=observations, seed=seed)
    shown = Output(as_json)
    shown.line(f"{found.k} groups", "bold")
    for reason in found.reasons:
        shown.line(f"- {reason}")
    values = [float(v) for v in found.values]
    shown.document({"k": found.k, "reasons": list(found.reasons), "eigenvalues": values})
