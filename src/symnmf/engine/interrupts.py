"""Handling of Ctrl-C, and of the signals of a batch system, during a run."""

from __future__ import annotations

import signal
import threading
from typing import Any

from symnmf.distributed.batch_signals import SIGNALS, raise_stopped


class Interrupts:
    """Ctrl-C as a flag that is read between steps; a second Ctrl-C interrupts at once.

    So are the signals of a batch system, where the command line handles them
    (:func:`symnmf.distributed.handle_batch_signals`); repeated, they change nothing.

    Arguments:
        wanted: whether to handle them; False leaves the existing handlers in place.

    Attributes:
        seen: number of the signal that was seen; 0 for none.
    """

    def __init__(self, wanted: bool) -> None:
        self.wanted, self.seen = wanted, 0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if self.wanted and threading.current_thread() is threading.main_thread():
            batch = [number for number in SIGNALS if signal.getsignal(number) is raise_stopped]
            for number in (signal.SIGINT, *batch):
                self.before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: object) -> None:
        if self.seen and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.seen = max(self.seen, number)
