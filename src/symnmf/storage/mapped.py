"""Memory-mapped files: detection of changes, and read-ahead."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symnmf.errors import InvalidFile


@dataclass(frozen=True)
class MappedFile:
    """A mapped file and its state when it was mapped.

    A file that is replaced by another stays mapped. In-place modification changes the data of a
    running fit and is detected at its next check. A file that is cut short ends the process that
    reads behind its new end (SIGBUS): its size is checked before each tile is read, and a cut
    within a tile ends the process with a sentence.
    """

    path: Path
    seen: tuple[int, int, int]  # inode, bytes, time of the last change

    @classmethod
    def of(cls, path: str | Path) -> MappedFile:
        """The file in its current state."""
        made = cls(Path(path), cls._fingerprint(Path(path)))
        _guard(made)
        return made

    @staticmethod
    def _fingerprint(path: Path) -> tuple[int, int, int]:
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def check(self) -> None:
        """Raise InvalidFile if the file was modified in place."""
        try:
            now = self._fingerprint(self.path)
        except OSError:  # a removed file stays mapped
            return
        if now[0] == self.seen[0] and now != self.seen:
            raise InvalidFile(
                str(self.path),
                "was modified while it was in use",
                "Run again, and leave the file unchanged during the run",
            )

    def check_size(self) -> None:
        """Raise InvalidFile if the file was cut short; called before rows of it are read."""
        if self.is_cut():
            raise InvalidFile(str(self.path), CUT, REMEDY)

    def is_cut(self) -> bool:
        """Whether the file has fewer bytes than when it was mapped."""
        try:
            now = self._fingerprint(self.path)
        except OSError:  # a removed file stays mapped
            return False
        return now[0] == self.seen[0] and now[1] < self.seen[1]


#: What is said about a file that is cut short, and what to do.
CUT, REMEDY = "was cut short while it was in use", "Restore it, and run again"
#: Files that this process has mapped, by path, and the handler that knows them.
_guarded: dict[Path, MappedFile] = {}
_handler: list[Any] = []


def _guard(file: MappedFile) -> None:
    """Make a cut of the file end the process with a sentence instead of "Bus error".

    The signal arrives in the midst of a product, where no error can be raised. A handler of the
    caller, and that of :mod:`faulthandler`, stay in place.
    """
    _guarded[file.path] = file
    number = getattr(signal, "SIGBUS", None)
    if _handler or number is None or faulthandler.is_enabled():
        return
    if signal.getsignal(number) != signal.SIG_DFL:
        return
    libc = ctypes.CDLL(None)
    libc.signal.restype = ctypes.c_void_p
    libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    handler: Callable[[int], None] = _end_if_cut(libc)
    _handler.append(ctypes.CFUNCTYPE(None, ctypes.c_int)(handler))
    libc.signal(number, ctypes.cast(_handler[0], ctypes.c_void_p))


def _end_if_cut(libc: Any) -> Callable[[int], None]:
    def handle(number: int) -> None:
        for file in _guarded.values():
            if file.is_cut():
                os.write(sys.stderr.fileno(), f"Error: {file.path}: {CUT}. {REMEDY}.\n".encode())
                os._exit(2)
        libc.signal(number, None)  # not ours: the signal comes again and ends the process

    return handle


class ReadAhead:
    """Asks the system to read the rows of a mapped array that are needed next.

    Arguments:
        mapped: (n, m) memory map.
        offset: bytes before the first row in the file.
        begin: first row of this process.
    """

    def __init__(self, mapped: np.ndarray, offset: int, begin: int):
        self.map = getattr(mapped, "_mmap", None)
        self.row = mapped.shape[1] * mapped.itemsize
        self.first = offset + begin * self.row

    def __call__(self, rows: slice) -> None:
        """Request rows of this process."""
        if self.map is None or not hasattr(mmap, "MADV_WILLNEED"):
            return
        begin = self.first + rows.start * self.row
        begin -= begin % mmap.PAGESIZE
        length = min(self.first + rows.stop * self.row, len(self.map)) - begin
        if length > 0:
            self.map.madvise(mmap.MADV_WILLNEED, begin, length)
