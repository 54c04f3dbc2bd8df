"""Memory-mapped files: detection of changes, and read-ahead."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symnmf.errors import InvalidFile


@dataclass(frozen=True)
class MappedFile:
    """A mapped file and its state when it was mapped.

    A file that is replaced by another stays mapped. In-place modification changes the data of a
    running fit and is detected at its next check.
    """

    path: Path
    seen: tuple[int, int, int]  # inode, bytes, time of the last change

    @classmethod
    def of(cls, path: str | Path) -> MappedFile:
        """The file in its current state."""
        return cls(Path(path), cls._fingerprint(Path(path)))

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
