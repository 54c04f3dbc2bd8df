"""The command-line program, at which commands register; errors and warnings print as lines."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from symnmf import __version__
from symnmf.cli.estimator_options import ESTIMATOR_OPTIONS
from symnmf.cli.output import PLAIN

#: Exit codes, for the end of the help.
EXIT_CODES = (
    "Exit codes: 0 converged, 1 ended without meeting the criterion (the result is written "
    "nevertheless), 2 wrong input, 3 another process was lost, 4 an error of this program, 75 "
    "stopped by a batch system (SIGTERM, SIGUSR1): run again to continue, 130 interrupted. Under "
    "torchrun, 1, 2 and 75 are reported as 0 so that the job is not restarted."
)

#: Argument of the library → option of the command line, for messages (:mod:`symnmf.errors`).
OPTION_OF = {
    "k": "--k",
    "seed": "--seed",
    "solver": "--solver",
    "n_init": "--starts",
    "published": "--published",
    "max_iter": "--max-iter",
    "max_seconds": "--max-seconds",
    "Checkpoint.every_seconds": "--save-every",
    "dependence": "--dependence",
    **{option.keyword: option.flag for option in ESTIMATOR_OPTIONS},
    "missing": "--missing",
    "max_missing": "--max-missing",
    "force": "--force",
    "resume": "--resume",
    "window": "--window",
    "draws": "--draws",
    "block": "--block",
    "half_life": "--half-life",
    "resamples": "--resamples",
    "step": "--step",
    "most": "--most",
    "observations": "--observations",
    "form": "--form",
    "m": "--m",
    "n": "--n",
    "processes": "--nproc",
    "samples": "--samples",
    "jobs": "--jobs",
    "classes": "--compare",
    "start": "--from",
    "end": "--to",
    "jumps": "--jumps",
    "columns": "--columns",
    "drop": "--drop",
    "decimal": "--decimal",
    "dates": "--dates",
    "sheet": "--sheet",
    "diagonal": "--diagonal",
    "device": "--device",
    "weights": "--weights",
    "of": "--together",
    "at_least": "--at-least",
    "level": "--level",
    "loss": "--loss",
    "period": "--return-period",
}

#: Command → how to continue after Ctrl-C.
AGAIN = dict.fromkeys(
    ("roll", "bench", "generate"), " Finished work is stored: the same command continues."
)
AGAIN["fit"] = " The run is saved: the same command with --resume continues."


#: What the parser of options says → what is wrong, in the words of a person.
NOT_A = {
    "valid integer": "pass a whole number, such as 10",
    "valid number": "pass a number, such as 0.5",
    "valid boolean": "pass true or false",
}


class Commands(TyperGroup):
    """All commands; an interrupted command prints how to continue."""

    def invoke(self, context: Any) -> Any:
        """Run a command; messages name options instead of arguments."""
        from symnmf.errors import speaking

        try:
            with speaking(OPTION_OF):
                return super().invoke(context)
        except typer.BadParameter as wrong:
            plain = next((words for said, words in NOT_A.items() if said in wrong.message), None)
            wrong.message = plain or wrong.message
            raise
        except KeyboardInterrupt as stop:
            from symnmf.distributed import RESUME_ME, Stopped, exit_code, process_number

            batch = isinstance(stop, Stopped)
            what = f"Stopped by {stop}." if batch else "Interrupted."
            if process_number() == 0:
                words = f"{what}{AGAIN.get(context.invoked_subcommand, '')}"
                Console(stderr=True).print(words, **PLAIN)
            raise typer.Exit(exit_code(RESUME_ME) if batch else 130) from None


app = typer.Typer(
    cls=Commands,
    help="Groups that move together, or crash together: certified symmetric NMF.\n\n"
    "\b\nBegin with:\n"
    "  symnmf demo\n"
    "  symnmf fit prices.csv\n",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"symnmf {__version__}", **PLAIN)
        raise typer.Exit(0)


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options of the program itself."""


def _words(wrong: Exception) -> str:
    """An error in words; those of the system without their number."""
    from symnmf.errors import SymnmfError

    if isinstance(wrong, SymnmfError) or not isinstance(wrong, OSError) or not wrong.strerror:
        return str(wrong)
    return f"{wrong.filename}: {wrong.strerror.lower()}" if wrong.filename else wrong.strerror


def main() -> None:
    """Entry point: print errors and warnings of this package as lines without a traceback."""
    from symnmf.distributed.batch_signals import handle_batch_signals
    from symnmf.distributed.environment import exit_code, local_number, process_number
    from symnmf.errors import InvalidFile, NotEnough, PeerLost, SymnmfError

    def as_line(message: Warning | str, category: type[Warning], *rest: object) -> None:
        if process_number() == 0:  # all processes issue the same warnings
            Console(stderr=True).print(f"{category.__name__}: {message}", **PLAIN)

    warnings.showwarning = as_line  # type: ignore[assignment]
    handle_batch_signals()
    try:
        _run()
    except (SymnmfError, OSError) as wrong:
        number = process_number()
        shared = isinstance(wrong, InvalidFile | NotEnough)
        # One line a host; errors of other kinds are the same in all processes.
        first = number == 0 or (shared and local_number() == 0)
        if wrong.spoken if isinstance(wrong, PeerLost) else first:
            who = "Error" if number == 0 else f"Error in process {number}"
            Console(stderr=True).print(f"{who}: {_words(wrong)}", **PLAIN)
        if isinstance(wrong, PeerLost):  # another attempt may succeed, unlike with wrong input
            _leave_at_once(3)
        sys.exit(exit_code(2))
    except Exception as wrong:
        _report_bug(wrong)
        sys.exit(4)


def _run() -> None:
    """Run the command; a signal before or after it counts as one during it.

    Typer answers every interrupt outside of a command with 130, without a word.
    """
    from symnmf.distributed.batch_signals import RESUME_ME, stopped_by
    from symnmf.distributed.environment import exit_code, process_number

    try:
        app()
    except (SystemExit, KeyboardInterrupt) as end:
        by = stopped_by()
        if by is None or (isinstance(end, SystemExit) and end.code != 130):
            raise
        if process_number() == 0:
            words = f"Stopped by {by}.{AGAIN.get(''.join(sys.argv[1:2]), '')}"
            Console(stderr=True).print(words, **PLAIN)
        raise SystemExit(exit_code(RESUME_ME)) from None


def _leave_at_once(code: int) -> None:
    """End the process without closing its connections, which would wait for the lost process."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _report_bug(wrong: Exception) -> None:
    """Print where an unexpected error arose; the traceback where SYMNMF_TRACEBACK is set."""
    frame = traceback.extract_tb(wrong.__traceback__)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}"
    words = str(wrong).splitlines()[0][:300] if str(wrong) else ""
    if os.environ.get("SYMNMF_TRACEBACK"):
        traceback.print_exception(wrong)
    Console(stderr=True).print(
        f"This is an error of symnmf, not of your data: {type(wrong).__name__} in {place}: {words}"
        "\n"
        "Please report it, with what the command prints where SYMNMF_TRACEBACK=1 is set.",
        **PLAIN,
    )
