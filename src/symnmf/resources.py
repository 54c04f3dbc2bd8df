"""Free memory and disk space, and errors raised before work that needs more than is free."""

from __future__ import annotations

import shutil
from pathlib import Path

from symnmf.errors import NotEnough

#: Limits of a container on its processes; psutil does not read them.
CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> float:
    """Bytes that can be allocated without swapping; caches count as free."""
    import psutil

    free = float(psutil.virtual_memory().available)
    return max(0.0, min(free, _container_memory()))


def _container_memory() -> float:
    """Bytes left by the control group of this process; infinite without a limit."""
    try:
        limit = (CGROUP / "memory.max").read_text("ascii").strip()
        if limit == "max":
            return float("inf")
        used = float((CGROUP / "memory.current").read_text("ascii"))
        for line in (CGROUP / "memory.stat").read_text("ascii").splitlines():
            if line.startswith("inactive_file "):
                used -= float(line.split()[1])
        return float(limit) - used
    except (OSError, ValueError):
        return float("inf")


def require_memory(need: float, what: str, remedy: str, have: float | None = None) -> None:
    """Raise an error if work needs more memory than is free.

    Arguments:
        need: required bytes.
        what: name of the work, for the message.
        remedy: instruction for the caller.
        have: available bytes; by default the free memory of the system.

    Raises:
        NotEnough: ``need`` exceeds ``have``.

    Example:
        >>> try:
        ...     require_memory(1e20, "a matrix of everything", "Take less")
        ... except NotEnough as error:
        ...     print(str(error)[:46])
        a matrix of everything needs 1e+11 GB of memor
    """
    have = free_memory() if have is None else have
    if need > have:
        raise NotEnough(
            f"{what} needs {need / 1e9:.3g} GB of memory, and {have / 1e9:.3g} GB are free. "
            f"{remedy}."
        )


def free_disk(folder: Path) -> float:
    """Free bytes on the disk of a folder, which need not exist yet."""
    existing = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.is_dir())
    return float(shutil.disk_usage(existing).free)


def require_disk(folder: Path, need: float) -> None:
    """Raise :class:`NotEnough` if the disk of a folder has less than ``need`` bytes free."""
    if need > free_disk(folder):
        raise disk_full(folder, need)


def disk_full(folder: Path, need: float) -> NotEnough:
    """The error for a matrix that does not fit on the disk of a folder."""
    return NotEnough(
        f"{folder}: the matrix needs {need / 1e9:.3g} GB of disk space and "
        f"{free_disk(folder) / 1e9:.3g} GB are free. Choose a folder on a larger disk, or a "
        "smaller matrix."
    )
