"""The program: its commands register here; errors and warnings become lines."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from symnmf.cli.output import PLAIN

#: What every command ends with.
EXIT_CODES = (
    "Exit codes: 0 converged, 1 ended without meeting the criterion (the result is written all "
    "the same), 2 wrong input, 3 another process was lost, 130 interrupted. Under torchrun 1 and 2 "
    "become 0, lest it start again."
)

app = typer.Typer(
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


@contextmanager
def going_on(kept: str) -> Iterator[None]:
    """Ctrl-C ends a command whose work so far is kept, with a word about that."""
    try:
        yield
    except KeyboardInterrupt:
        Console(stderr=True).print(f"Interrupted. {kept} The same command goes on.", **PLAIN)
        raise typer.Exit(130) from None


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
