"""What the libraries below Python print goes to a file: a person sees sentences of this program."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from symnmf.distributed.environment import process_number

#: Environment variables: the folder of the log files, and where the terminal can be opened.
FOLDER, TERMINAL = "SYMNMF_LOG", "SYMNMF_TERMINAL"

_log: list[Path] = []


def keep_native_output() -> Path:
    """Send what C++ code writes to standard error to a file; Python still writes to the terminal.

    Returns:
        The file, in the folder SYMNMF_LOG or that of temporary files.
    """
    if _log:
        return _log[0]
    folder = Path(os.environ.get(FOLDER) or tempfile.gettempdir())
    name = f"symnmf-{os.uname().nodename if hasattr(os, 'uname') else 'host'}"
    path = folder / f"{name}-{process_number()}-{os.getpid()}.log"
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(path, flags, 0o600)
    sys.stderr.flush()
    sys.stderr = os.fdopen(_terminal(), "w", buffering=1, errors="backslashreplace")
    os.dup2(descriptor, 2)
    os.close(descriptor)
    _log.append(path)
    return path


def _terminal() -> int:
    """A descriptor of the terminal: that of the program that started torchrun, or our own."""
    if TERMINAL in os.environ:
        with suppress(OSError):
            return os.open(os.environ[TERMINAL], os.O_WRONLY | os.O_APPEND)
    return os.dup(2)


def native_log() -> Path | None:
    """The file of :func:`keep_native_output`; None without one."""
    return _log[0] if _log else None


def remove_native_log() -> None:
    """Remove the file: nothing went wrong."""
    for path in _log:
        with suppress(OSError):
            path.unlink()
