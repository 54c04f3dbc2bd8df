"""``symnmf rank``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.output import Output
from symnmf.cli.quick_start import load_libraries
from symnmf.cli.shared_options import Json, Seed
from symnmf.defaults import SEED


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
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Suggest a number of groups for a table or a matrix, with its range and the reasons.

    A table shows what predicts other days and what is above noise; a matrix alone shows what
    predicts entries that were hidden, and its spectrum.

    \b
    Examples:
      symnmf rank prices.csv
      symnmf rank --returns returns.parquet --dependence correlation
      symnmf rank --matrix S.npy
    """
    load_libraries()
    from symnmf.errors import speaking
    from symnmf.grouping.rank_selection import suggest_rank

    loaded = data.load()
    with speaking(dict.fromkeys(("table", "returns", "S"), str(data.path))):
        if loaded.panel is None:
            found = suggest_rank(loaded.operator, most, observations=observations, seed=seed)
        else:
            options = data.dependence_options()
            found = suggest_rank(
                loaded.panel, most, dependence=data.dependence, seed=seed, **options
            )
    shown = Output(as_json)
    shown.line(found.words, "bold")
    for reason in found.reasons:
        shown.line(f"- {reason}")
    document: dict[str, Any] = {
        "k": found.k,
        "low": found.low,
        "high": found.high,
        "by_prediction": found.by_prediction,
        "by_noise": found.by_noise,
        "clear": found.clear,
        "reasons": list(found.reasons),
        "eigenvalues": [float(v) for v in found.values],
    }
    if found.prediction is not None:
        document["prediction"] = [float(v) for v in found.prediction.mean]
    if found.hidden is not None:
        numbers = found.hidden.numbers.items()
        document["hidden_entries"] = [{"share": share, "k": k} for share, k in numbers]
    shown.document(document)
