"""The lock of a folder: one writer at a time."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from symnmf.errors import FolderBusy
from symnmf.storage.atomic_files import writing

#: The file that is locked, and the file that names the owner of the lock.
LOCK, OWNER = ".lock", ".lock-owner"


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers; the lock of a dead process is released at once.

    A folder that was created for the lock and is still empty at the end is removed.

    Raises:
        FolderBusy: another process holds the lock; the message names the process and the age of
            the lock.
    """
    from filelock import FileLock, Timeout

    with writing(folder):
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        held = FileLock(folder / LOCK, timeout=0, mode=0o644, is_singleton=False)
        try:
            held.acquire()
        except Timeout:
            raise FolderBusy(_busy(folder)) from None
    try:
        with writing(folder):
            _write_owner(folder / OWNER)
        yield
    finally:
        with suppress(OSError):
            (folder / OWNER).unlink(missing_ok=True)
            if made and {path.name for path in folder.iterdir()} == {LOCK}:
                (folder / LOCK).unlink()
                folder.rmdir()
        held.release()


def _write_owner(path: Path) -> None:
    """Write the owner of the lock to a file; never follow a symbolic link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")


def _busy(folder: Path) -> str:
    """Message that names the owner of the lock, its age and a remedy."""
    owner, age = "unknown", 0.0
    with suppress(OSError, ValueError):
        path = folder / OWNER
        with path.open("rb") as file:
            owner = file.read(200).decode(errors="replace").strip() or owner
        age = max(0.0, time.time() - path.stat().st_mtime)  # the clock may have been set back
    return (
        f"{folder} has been locked by {owner} for {age:.0f} s. Wait for it to finish, or choose "
        "another folder."
    )
