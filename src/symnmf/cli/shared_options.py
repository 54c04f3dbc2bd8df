"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.config_file import read_config
from symnmf.defaults import (
    DEPENDENCES,
    FRACTIONS,
    MISSING_POLICIES,
    N_INIT,
    TAIL_ESTIMATORS,
    TAILS,
)


def choices(words: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of an option that takes one of some words; the help lists them."""

    def parse(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return {"parser": parse, "metavar": f"[{'|'.join(words)}]"}


Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the start and of every draw.")]
SolverName = Annotated[
    str,
    typer.Option("--solver", help="Name listed by `symnmf solvers`; auto chooses, with reasons."),
]
Starts = Annotated[
    int | None,
    typer.Option(
        "--starts",
        help="Number of starts whose groups are compared "
        f"(default {N_INIT} for --solver auto, 1 for a solver that you choose).",
    ),
]
Returns = Annotated[
    Path | None, typer.Option("--returns", help="Table of returns, .csv or .parquet; no default.")
]
Prices = Annotated[
    Path | None, typer.Option("--prices", help="Table of prices, .csv or .parquet; no default.")
]
Dependence = Annotated[
    str,
    typer.Option(
        "--dependence",
        **choices(DEPENDENCES),
        help="tail (who crashes together) or correlation (who moves together).",
    ),
]
Fraction = Annotated[
    float | None,
    typer.Option(
        "--q",
        help="Share of days taken as extreme, for --dependence tail (default "
        + ", ".join(f"{q:g} for {name}" for name, q in FRACTIONS.items())
        + ").",
    ),
]
Estimator = Annotated[
    str,
    typer.Option(
        "--estimator",
        **choices(TAIL_ESTIMATORS),
        help="How tail dependence is estimated, for --dependence tail.",
    ),
]
Volatility = Annotated[
    str,
    typer.Option(
        "--volatility",
        **choices(("none", "ewma")),
        help="ewma divides returns by their recent volatility first, for --dependence tail.",
    ),
]
Shrinkage = Annotated[
    str,
    typer.Option(
        "--shrinkage",
        **choices(("none", "soft", "adaptive", "baseline")),
        help="Removal of dependence that may be chance, for --dependence tail.",
    ),
]
Decluster = Annotated[
    int,
    typer.Option(
        "--decluster",
        help="Rows within which extremes are one event (0: none), for --dependence tail.",
    ),
]
Tail = Annotated[
    str,
    typer.Option(
        "--tail",
        **choices(TAILS),
        help="lower (losses) or upper (gains), for --dependence tail.",
    ),
]
Missing = Annotated[
    str,
    typer.Option("--missing", **choices(MISSING_POLICIES), help="Policy for missing numbers."),
]
MaxMissing = Annotated[
    float,
    typer.Option("--max-missing", help="Share that --missing drop-columns tolerates in a column."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to standard output.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Options from a .toml file, as `name = value`; options of the command line take "
        "precedence. No default.",
        is_eager=True,
        callback=read_config,
    ),
]


def one_of(**given: Path | None) -> tuple[str, Path]:
    """Name and value of the one option that was given.

    Raises:
        InvalidInput: none or several of the options were given.
    """
    from symnmf.errors import InvalidInput

    named = {name: path for name, path in given.items() if path is not None}
    if len(named) != 1:
        options = [f"--{name}" for name in named]
        problem = f"{' and '.join(options)} were given together" if named else "none was given"
        every = ", ".join(f"--{name}" for name in given)
        raise InvalidInput("input", problem, f"Pass exactly one of {every}")
    return next(iter(named.items()))


def tail_options(dependence: str, tail: str, q: float | None, **others: Any) -> dict[str, Any]:
    """Further arguments of the estimator of a dependence."""
    return {"tail": tail, "q": q, **others} if dependence == "tail" else {}
