"""The program: its commands register here; errors and warnings become lines."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from symnmf.cli.output import PLAIN

#: What every command ends with.
EXIT_CODES = (
    "Exit codes: 0 converged, 1 ended without meeting the criterion (the result is written all "
    "the same), 2 wrong input, 3 another process was lost, 130 interrupted. Under torchrun 1 and 2 "
    "become 0, lest it start again."
)

#: How to go on after Ctrl-C.
AGAIN = dict.fromkeys(
    ("roll", "bench", "generate"), " What is done is kept: the same command goes on."
)
AGAIN["fit"] = " What is saved is kept: the same command with --resume goes on."


class Commands(TyperGroup):
    """All commands; one that is interrupted says so."""

    def invoke(self, context: Any) -> Any:
        """Run the command of a call."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            words = f"Interrupted.{AGAIN.get(context.invoked_subcommand, '')}"
            Console(stderr=True).print(words, **PLAIN)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Commands,
    help="Groups that move together, or crash together: certified symmetric NMF.\n\n"
    "\b\nBegin with:\n"
    "  symnmf demo\n"
    "  symnmf fit --prices prices.csv\n",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point: our errors and warnings as a line, not as a traceback."""
    from symnmf.errors import InvalidFile, NotEnough, PeerLost, SymnmfError
    from symnmf.launch import exit_code

    def as_line(message: Warning | str, category: type[Warning], *rest: object) -> None:
        if os.environ.get("RANK", "0") == "0":  # the others say the same
            Console(stderr=True).print(f"{category.__name__}: {message}", **PLAIN)

    warnings.showwarning = as_line  # type: ignore[assignment]
    try:
        app()
    except (SymnmfError, OSError) as wrong:
        rank = os.environ.get("RANK", "0")
        if rank == "0" or isinstance(
            wrong, PeerLost | InvalidFile | NotEnough
        ):  # the others say the same
            who = "Error" if rank == "0" else f"Error in process {rank}"
            Console(stderr=True).print(f"{who}: {wrong}", **PLAIN)
        lost = isinstance(wrong, PeerLost)  # worth another try, unlike wrong input
        sys.exit(3 if lost else exit_code(2))
