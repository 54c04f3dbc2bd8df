"""Launching several processes of this program with torchrun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from symnmf.distributed.batch_signals import RESUME_ME, SIGNALS
from symnmf.distributed.environment import ATTEMPT, NOTE
from symnmf.distributed.native_log import TERMINAL
from symnmf.errors import InvalidInput
from symnmf.numerics import CHUNKS

#: Maximum restarts after one of the processes died.
RESTARTS = 10


def run_under_torchrun(arguments: Sequence[str], processes: int) -> int:
    """Run ``symnmf`` with the same arguments in several processes on this machine.

    If a process dies, all are restarted and resume from the last checkpoint.

    Arguments:
        arguments: arguments of the command line, which may contain ``--nproc``.
        processes: number of processes; the cores are divided among them.

    Returns:
        The exit code of the command.
    """
    if not 1 <= processes <= CHUNKS:
        raise InvalidInput("--nproc", f"got {processes}", f"Choose 1 to {CHUNKS} processes")
    threads = max(1, (os.cpu_count() or 1) // processes)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), "-m", "symnmf", *_without_nproc(arguments)]
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "exit"
        environment = {"OMP_NUM_THREADS": str(threads), **os.environ, NOTE: str(note)}
        terminal = f"/proc/{os.getpid()}/fd/2"
        # What torchrun prints about processes that ended is for the log, not for a person.
        log, words = tempfile.mkstemp(prefix="symnmf-torchrun-", suffix=".log")
        if Path(terminal).exists():
            environment[TERMINAL] = terminal
        for attempt in range(RESTARTS + 1):
            environment[ATTEMPT] = str(attempt)
            errors = log if TERMINAL in environment else None
            code = _wait(subprocess.Popen(command, env=environment, stderr=errors))
            if note.exists() or code in (0, 130, -2):
                break
        os.close(log)
        code = int(note.read_text("utf-8")) if note.exists() else code
        if code in (0, 1, 2, RESUME_ME, 130, -2):
            os.unlink(words)
        else:
            sys.stderr.write(f"The processes ended with code {code}; details are in {words}\n")
    return code


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for a child process, pass signals on to it, and return its exit code."""
    ours = os.getpgrp() if hasattr(os, "getpgrp") else None  # Windows has no process groups

    def pass_on(number: int, _: object) -> None:
        if number in SIGNALS:
            child.send_signal(signal.SIGTERM)  # torchrun passes it on to the processes
        elif ours is None or os.getpgid(child.pid) != ours:
            child.send_signal(number)  # the terminal sends Ctrl-C to the whole group

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, *SIGNALS)}
    try:
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _without_nproc(arguments: Sequence[str]) -> list[str]:
    """The arguments without the number of processes, which torchrun would interpret itself.

    Example:
        >>> _without_nproc(["fit", "--nproc", "2", "--k", "3"])
        ['fit', '--k', '3']
    """
    remaining, skip = [], False
    for word in arguments:
        if skip or word == "--nproc" or word.startswith("--nproc="):
            skip = word == "--nproc" and not skip
            continue
        remaining.append(word)
    return remaining
