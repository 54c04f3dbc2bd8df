"""Atomic writes: a file appears under its name complete or not at all.

Content is written under a temporary name, flushed to the disk, and renamed.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from symnmf.errors import NotEnough, NotWritable, SymnmfError

#: Whether folders cannot be opened and flushed.
ON_WINDOWS = os.name == "nt"
#: Called with the name of each file operation before it happens; tests kill the process there.
on_operation: Callable[[str], None] | None = None


def about_to(operation: str) -> None:
    """Announce a file operation to the test harness."""
    if on_operation is not None:
        on_operation(operation)


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk.

    Windows cannot open a folder, which it writes with the file, and flushes a file only through a
    descriptor that may write.
    """
    if ON_WINDOWS and path.is_dir():
        return
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) if ON_WINDOWS else os.O_RDONLY
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Re-raise disk errors as NotEnough or NotWritable, with a remedy.

    Arguments:
        folder: folder that is written to, for the message.
    """
    try:
        yield
    except OSError as broken:
        if isinstance(broken, SymnmfError):
            raise
        if broken.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NotEnough(
                f"{folder}: the disk is full. Existing files are unchanged: free disk space and "
                "run again, or choose another folder."
            ) from broken
        if broken.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EIO):
            reason = os.strerror(broken.errno)
            raise NotWritable(
                f"{folder}: cannot be written ({reason}). Choose another folder, or change its "
                "permissions."
            ) from broken
        raise


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path to write to; on success it is renamed to ``path``.

    Until then no other user can read the file.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "a.txt"
        >>> with atomic(target) as temporary:
        ...     _ = temporary.write_text("whole")
        >>> target.read_text()
        'whole'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with writing(path.parent):
        try:
            about_to("write")
            mode = _create_private(temporary)
            yield temporary
            about_to("sync")
            sync(temporary)
            temporary.chmod(mode)
            about_to("rename")
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        about_to("sync folder")
        sync(path.parent)


def _create_private(path: Path) -> int:
    """Create an empty file that only its owner can read; return the mode it would have had."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if hasattr(os, "fchmod"):  # Windows has no modes beyond read-only
            os.fchmod(descriptor, 0o600)
        return mode
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """A value as the text of a JSON file."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"
