"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.config_file import read_config
from symnmf.defaults import N_INIT


def choices(words: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of an option that takes one of some words; the help lists them."""

    def parse(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return {"parser": parse, "metavar": f"[{'|'.join(words)}]"}


def parse_groups(value: Any) -> int | str:
    """A number of groups, or ``auto``."""
    if str(value).strip().lower() == "auto":
        return "auto"
    try:
        return int(str(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is neither a whole number nor auto.") from None


Groups = Annotated[
    str | None,
    typer.Option(
        "--k",
        parser=parse_groups,
        metavar="[INTEGER|auto]",
        help="Number of groups (default auto: suggested, with reasons).",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
ResultOf = Annotated[
    Path | None,
    typer.Option(
        "--result",
        help="Folder of an existing fit of the same data, in place of a new fit (the default).",
    ),
]
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
Block = Annotated[
    int | None,
    typer.Option(
        "--block",
        help="Number of successive rows drawn together (default: a sixth of the rows).",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to standard output.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print every step and the whole certificate.")
]
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


Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="Device of the fits; auto is a GPU of CUDA if there is one (default: the CPU, and "
        "under torchrun a GPU for each process if there are enough).",
        **choices(("auto", "cpu", "cuda", "mps")),
    ),
]


@contextmanager
def fits_on(device: str | None) -> Iterator[None]:
    """Fits inside compute on the device of ``--device``; torch is only imported for a GPU."""
    if device in (None, "cpu"):
        yield
        return
    from symnmf.operators.devices import computing_on

    with computing_on(device):
        yield


def wanted_groups(k: int | str | None) -> int | None:
    """The number of groups; None if it is to be suggested."""
    return None if k is None or k == "auto" else int(k)
