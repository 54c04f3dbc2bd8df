"""Starting several processes of this program with torchrun, and knowing that one is such."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from symnmf.errors import InvalidInput
from symnmf.operators.group import CHUNKS

#: How often the processes are started again after one of them died.
RESTARTS = 10
#: In the environment: file for the exit code, and how often the processes were started before.
NOTE, ATTEMPT = "SYMNMF_NOTE", "SYMNMF_ATTEMPT"


def inside() -> bool:
    """Whether torchrun started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def restarted() -> bool:
    """Whether it was started again, after one of the processes died."""
    return any(int(os.environ.get(name, "0")) for name in ("TORCHELASTIC_RESTART_COUNT", ATTEMPT))


def exit_code(code: int) -> int:
    """The exit code for a process that ended as it should: torchrun takes any but 0 for a fault.

    The code itself goes to whoever started the processes with :func:`again`.
    """
    if not inside():
        return code
    if NOTE in os.environ:
        Path(os.environ[NOTE]).write_text(str(code), encoding="utf-8")
    return 0


def again(arguments: Sequence[str], processes: int) -> int:
    """Run ``symnmf`` with the same arguments in several processes of this machine; its exit code.

    When a process dies all are started again, and go on from the last checkpoint.

    Arguments:
        arguments: of the command line, which may have ``--nproc``.
        processes: how many; the cores are divided among them.
    """
    if not 1 <= processes <= CHUNKS:
        raise InvalidInput("--nproc", f"got {processes}", f"Choose 1 to {CHUNKS} processes")
    threads = max(1, (os.cpu_count() or 1) // processes)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), "-m", "symnmf", *_without_nproc(arguments)]
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "exit"
        environment = {"OMP_NUM_THREADS": str(threads), **os.environ, NOTE: str(note)}
        for attempt in range(RESTARTS + 1):
            environment[ATTEMPT] = str(attempt)
            code = _wait(subprocess.Popen(command, env=environment))
            if note.exists():
                return int(note.read_text("utf-8"))
            if code in (0, 130, -2):
                break
    return code


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Its exit code; it hears the signals that come for this process, and ends in its own time."""
    ours = os.getpgrp()

    def pass_on(number: int, _: object) -> None:
        if number == signal.SIGTERM or os.getpgid(child.pid) != ours:
            child.send_signal(number)  # Ctrl-C reaches the whole group by itself

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _without_nproc(arguments: Sequence[str]) -> list[str]:
    """The arguments without the number of processes, which torchrun would take for its own.

    Example:
        >>> _without_nproc(["fit", "--nproc", "2", "--k", "3"])
        ['fit', '--k', '3']
    """
    kept, skip = [], False
    for word in arguments:
        if skip or word == "--nproc" or word.startswith("--nproc="):
            skip = word == "--nproc" and not skip
            continue
        kept.append(word)
    return kept
