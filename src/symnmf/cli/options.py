"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.config import read_config

Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the start and of every draw.")]
SolverName = Annotated[
    str, typer.Option("--solver", help="A name of `symnmf solvers`; auto chooses and says why.")
]
Starts = Annotated[
    int, typer.Option("--starts", help="Starts whose groups are compared: do they agree?")
]
Returns = Annotated[
    Path | None, typer.Option("--returns", help="Table of returns, .csv or .parquet; no default.")
]
Prices = Annotated[
    Path | None, typer.Option("--prices", help="Table of prices, .csv or .parquet; no default.")
]
Dependence = Annotated[
    str, typer.Option("--dependence", help="tail (crash together) or correlation.")
]
Fraction = Annotated[
    float | None,
    typer.Option("--q", help="Fraction of days taken as extreme; 0.05 by default. For tail."),
]
Tail = Annotated[str, typer.Option("--tail", help="lower (losses) or upper. For tail.")]
Missing = Annotated[
    str, typer.Option("--missing", help="error, drop-columns, drop-rows or pairwise.")
]
MaxMissing = Annotated[
    float, typer.Option("--max-missing", help="Fraction that drop-columns tolerates.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there.")]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Options from a .toml file, as `name = value`; the command line wins. No default.",
        is_eager=True,
        callback=read_config,
    ),
]
