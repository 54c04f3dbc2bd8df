"""How much memory there is, and a refusal before too much of it is asked for."""

from __future__ import annotations

import os
from pathlib import Path

from symnmf.errors import NotEnough


def free_memory() -> float | None:
    """Bytes that can be had without swapping, where the system tells; caches count as free."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(float(line.split()[1]) * 1024)
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
        if limit != "max":
            used = float(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
            for line in Path("/sys/fs/cgroup/memory.stat").read_text("ascii").splitlines():
                if line.startswith("inactive_file "):
                    used -= float(line.split()[1])
            found.append(float(limit) - used)
    except (OSError, ValueError):
        pass
    if not found:
        try:
            found = [float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))]
        except (AttributeError, OSError, ValueError):
            return None
    return max(0.0, min(found))


def require(need: float, what: str, remedy: str, have: float | None = None) -> None:
    """Refuse work that needs more memory than there is.

    Arguments:
        need: bytes.
        what: to be named in the message.
        remedy: what to do instead.
        have: bytes that are there; what the system says by default.

    Example:
        >>> try:
        ...     require(1e20, "a matrix of everything", "Take less")
        ... except NotEnough as refused:
        ...     print(str(refused)[:46])
        a matrix of everything needs 1e+11 GB of memor
    """
    have = free_memory() if have is None else have
    if have is not None and need > have:
        raise NotEnough(
            f"{what} needs {need / 1e9:.3g} GB of memory, and {have / 1e9:.3g} GB are free. "
            f"{remedy}."
        )
