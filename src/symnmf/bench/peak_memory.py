"""Memory that a part of a run needs."""

from __future__ import annotations

import threading
from pathlib import Path


class PeakMemory:
    """Largest anonymous memory of this process in addition to what it has at the beginning."""

    def __enter__(self) -> PeakMemory:
        self.first = self.most = anonymous_bytes()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()

    def _sample(self) -> None:
        while not self.ended.wait(0.02):
            self.most = max(self.most, anonymous_bytes())

    @property
    def added(self) -> float:
        """Bytes in addition to those at the beginning."""
        return self.most - self.first


def anonymous_bytes() -> float:
    """Memory of this process that no file backs."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("RssAnon:"):
            return float(line.split()[1]) * 1024
    return 0.0
