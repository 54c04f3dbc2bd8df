"""``symnmf bootstrap``."""

from __future__ import annotations

from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.fitted import fit_of
from symnmf.cli.output import Output
from symnmf.cli.quick_start import load_libraries
from symnmf.cli.shared_options import Block, Groups, Json, ResultOf, Seed
from symnmf.defaults import FITTED_RESAMPLES, SEED

#: Instruments that are listed.
LISTED = 10


@app.command()
@takes_data(matrix=False)
def bootstrap(
    context: typer.Context,
    data: DataRequest,
    k: Groups = None,
    draws: Annotated[int, typer.Option("--draws", help="Number of samples.")] = FITTED_RESAMPLES,
    block: Block = None,
    result: ResultOf = None,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Show which groups and members hold when the days are drawn anew.

    The file may be the folder of a fit, whose groups and data are then used.

    \b
    Examples:
      symnmf bootstrap --prices prices.csv --k 4 --draws 50
      symnmf bootstrap symnmf-out
    """
    import numpy as np

    load_libraries()
    from symnmf.grouping.naming import group_names, names_of
    from symnmf.grouping.stability import bootstrap as resampled

    shown = Output(as_json)
    data, panel, made = fit_of(data, k, result, seed)
    found = resampled(
        panel, made, data.dependence, draws=draws, block=block, seed=seed,
        **data.dependence_options(),
    )  # fmt: skip
    groups = list(zip(group_names(made), found.groups.tolist(), strict=True))
    members = sorted(
        ((n, v) for n, v in zip(names_of(made), found.members.tolist(), strict=True) if v == v),
        key=lambda m: m[1],
    )
    shown.line(f"Share of {found.draws} samples in which members stay together", "bold")
    shown.table(
        ("group", "together"), [(g, "–" if v != v else f"{100 * v:.0f} %") for g, v in groups]
    )
    shown.line("Members that stay least:")
    shown.table(("instrument", "together"), [(m, f"{100 * v:.0f} %") for m, v in members[:LISTED]])
    shown.document(
        {
            "draws": found.draws,
            "block": found.block,
            "groups": {g: None if np.isnan(v) else v for g, v in groups},
            "members": dict(members),
        }
    )
