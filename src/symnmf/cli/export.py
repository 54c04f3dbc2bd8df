"""``symnmf export``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.fitted import fitted
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Force, Groups, Json, ResultOf, Seed, choices
from symnmf.defaults import SEED

if TYPE_CHECKING:
    import pandas as pd

    from symnmf.core.result import Result
    from symnmf.operators import SymmetricOperator

#: What can be exported.
FORMATS = ("labels", "loadings", "matrix", "skfolio", "riskfolio")


@app.command()
@takes_data(matrix=True)
def export(
    context: typer.Context,
    data: DataRequest,
    to: Annotated[
        Path, typer.Option("--out", help="File to write: .csv or .parquet; .json for skfolio.")
    ],
    what: Annotated[
        str,
        typer.Option(
            "--format",
            **choices(FORMATS),
            help="labels, loadings, the matrix S, or groups for skfolio or Riskfolio.",
        ),
    ] = "labels",
    k: Groups = None,
    result: ResultOf = None,
    seed: Seed = SEED,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write groups, loadings or the matrix as a table for another program.

    \b
    Examples:
      symnmf export prices.csv --format riskfolio --out classes.csv
      symnmf export --prices prices.csv --format matrix --out S.parquet
    """
    from symnmf import storage
    from symnmf.errors import InvalidFile

    if to.exists() and not force:
        raise InvalidFile(str(to), "already exists", "Choose another name, or pass --force")
    if what == "matrix":
        loaded, made = data.load(), None
    else:
        loaded, made = fitted(data, k, result, seed)
    if what == "skfolio":
        from symnmf.integrations.skfolio import as_skfolio

        assert made is not None
        storage.write_text(to, json.dumps(as_skfolio(made), indent=1) + "\n")
    else:
        table = _table(what, made, loaded.operator)
        with storage.atomic(to) as path:
            if to.suffix.lower() == ".parquet":
                table.to_parquet(path)
            else:
                path.write_text(storage.csv_text(table), encoding="utf-8")
    shown = Output(as_json)
    shown.line(f"{what} of {loaded.operator.n} instruments: {to}")
    shown.document({"format": what, "n": loaded.operator.n, "out": str(to)})


def _table(what: str, made: Result | None, S: SymmetricOperator) -> pd.DataFrame:
    from symnmf.grouping.result_tables import labels_table, loadings_table
    from symnmf.integrations.riskfolio import as_riskfolio

    if what == "matrix" or made is None:
        return S.to_frame()
    if what == "riskfolio":
        return as_riskfolio(made).set_index("Assets")
    return labels_table(made) if what == "labels" else loadings_table(made)
