"""What torchrun tells a process; without torch, so that a command line can ask at once."""

from __future__ import annotations

import os
from pathlib import Path

#: Environment variables: the file for the exit code, and the number of previous attempts.
NOTE, ATTEMPT = "SYMNMF_NOTE", "SYMNMF_ATTEMPT"


def under_torchrun() -> bool:
    """Whether torchrun started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def process_number() -> int:
    """Index of this process among those that torchrun started; 0 for a single process."""
    return int(os.environ.get("RANK", "0"))


def local_number() -> int:
    """Index of this process among those that torchrun started on this machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def processes_on_this_machine() -> int:
    """Number of processes that torchrun started on this machine; 1 without torchrun."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def variables(process_index: int, process_count: int, host: str, port: int) -> dict[str, str]:
    """What torchrun would tell the only process of its machine.

    Arguments:
        process_index, process_count: where in the run.
        host, port: where the processes meet.
    """
    return {
        "RANK": str(process_index),
        "WORLD_SIZE": str(process_count),
        "LOCAL_RANK": "0",
        "MASTER_ADDR": host,
        "MASTER_PORT": str(port),
    }


def restarted() -> bool:
    """Whether this process was restarted after one of the processes died."""
    return any(int(os.environ.get(name, "0")) for name in ("TORCHELASTIC_RESTART_COUNT", ATTEMPT))


def exit_code(code: int) -> int:
    """The exit code to report: under torchrun always 0, because any other counts as a failure.

    The given code is passed to :func:`symnmf.distributed.run_under_torchrun` if it started the
    processes.
    """
    if not under_torchrun():
        return code
    if NOTE in os.environ:
        Path(os.environ[NOTE]).write_text(str(code), encoding="utf-8")
    return 0
