"""Wall time and processor time of calls."""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest(call: Callable[[], object], repeat: int = 5) -> float:
    """Seconds of the fastest of several calls."""
    return min(_each(call, repeat))


def mean_seconds(call: Callable[[], object], repeat: int = 1) -> float:
    """Mean seconds of several calls."""
    return sum(_each(call, repeat)) / repeat


def cpu_seconds(call: Callable[[], object], repeat: int = 1) -> float:
    """Mean processor seconds of several calls, all threads together; other work does not count."""
    began = time.process_time()
    for _ in range(repeat):
        call()
    return (time.process_time() - began) / repeat


def _each(call: Callable[[], object], repeat: int) -> list[float]:
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return seconds
