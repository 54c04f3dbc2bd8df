"""The signals of a batch system: they end a command as Ctrl-C does, with another exit code."""

from __future__ import annotations

import signal
import threading

#: Exit code of a command that a batch system stopped and that can be continued (EX_TEMPFAIL).
RESUME_ME = 75
#: What Slurm, Kubernetes and others send some time before they kill; Windows has no SIGUSR1.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))


#: The first signal that asked this process to end.
_asked: list[int] = []


class Stopped(KeyboardInterrupt):
    """A batch system asked the program to end: the same command continues later.

    Arguments:
        number: the signal.
    """

    def __init__(self, number: int):
        self.number = number
        super().__init__(signal.Signals(number).name)


def raise_stopped(number: int, _: object) -> None:
    """Handler that ends what is going on, as Ctrl-C does."""
    _asked.append(number)
    raise Stopped(number)


def stopped_by() -> str | None:
    """Name of the signal that asked this process to end; None without one."""
    return signal.Signals(_asked[0]).name if _asked else None


def handle_batch_signals() -> None:
    """Make SIGTERM and SIGUSR1 end the program as Ctrl-C does; for a command line."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, raise_stopped)
