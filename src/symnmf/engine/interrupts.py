"""Handling of Ctrl-C during a run."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interrupts:
    """Ctrl-C as a flag that is read between steps; a second Ctrl-C interrupts at once.

    Arguments:
        wanted: whether to handle Ctrl-C; False leaves the existing handler in place.
    """

    def __init__(self, wanted: bool) -> None:
        self.wanted, self.seen = wanted, False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        if self.wanted and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

    def _note(self, *_: object) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
