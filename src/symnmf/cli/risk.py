"""``symnmf risk``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.fitted import fitted
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Groups, Json, ResultOf, Seed
from symnmf.defaults import SEED

#: Instruments that are listed.
LISTED = 10


@app.command()
@takes_data(matrix=False)
def risk(
    context: typer.Context,
    data: DataRequest,
    k: Groups = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            help="Table with a name and a weight in each row; equal weights by default.",
        ),
    ] = None,
    result: ResultOf = None,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Show which groups and instruments carry the risk of a portfolio.

    \b
    Examples:
      symnmf risk prices.csv
      symnmf risk prices.csv --weights portfolio.csv --dependence correlation
    """
    from symnmf.data.classes import read_weights
    from symnmf.grouping.naming import group_names, names_of
    from symnmf.grouping.portfolio_risk import tail_risk, variance_risk

    shown = Output(as_json)
    given: Any = None if weights is None else read_weights(weights)
    loaded, made = fitted(data, k, result, seed)
    panel, S = loaded.panel, loaded.operator
    assert panel is not None
    names = names_of(made)
    portfolio = dict.fromkeys(names, 1.0 / len(names)) if given is None else given
    if data.dependence == "tail":
        found = tail_risk(made, portfolio, panel=panel, S=S)
        what = "tail scale"
    else:
        found = variance_risk(made, portfolio, panel.values.std(axis=0), S=S)
        what = "standard deviation"
    groups = sorted(zip(group_names(made), found.factors, strict=True), key=lambda g: -g[1])
    members = sorted(zip(names, found.instruments, strict=True), key=lambda m: -m[1])
    shown.line(f"{what[0].upper()}{what[1:]} of the portfolio: {found.total:.4g}", "bold")
    shown.table(("group", "share of the risk"), [(g, f"{100 * v:.1f} %") for g, v in groups])
    rows = [(m, f"{100 * v:.1f} %") for m, v in members[:LISTED]]
    shown.table(("instrument", "share of the risk"), rows)
    shown.document(
        {
            "total": found.total,
            "groups": {g: float(v) for g, v in groups},
            "left_out": float(found.left_out),
            "instruments": {m: float(v) for m, v in members},
        }
    )
