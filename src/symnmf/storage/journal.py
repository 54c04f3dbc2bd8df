"""A journal: records as lines of JSON, each written to the disk before the next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symnmf.storage.atomic_files import about_to, writing


class Journal:
    """A file of records that survives a kill at any moment.

    A line that a kill truncated is ignored when the file is read, and removed before the next
    record is appended.

    Arguments:
        path: path of the file.

    Example:
        >>> import tempfile
        >>> journal = Journal(Path(tempfile.mkdtemp()) / "done.jsonl")
        >>> journal.append({"unit": "row 0"})
        >>> list(journal.records())
        [{'unit': 'row 0'}]
    """

    def __init__(self, path: Path):
        self.path = path
        self._length: int | None = None  # bytes of the records; None until they are counted

    def records(self) -> Iterator[Any]:
        """The complete records, up to the first incomplete one; the file is untrusted."""
        for record, _ in self._lines():
            yield record

    def append(self, record: Any) -> None:
        """Append a record, and return when it is on the disk."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        if self._length is None:
            self._length = sum(length for _, length in self._lines())
        about_to("append")
        with writing(self.path.parent), self.path.open("a+b") as file:
            file.truncate(self._length)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._length += len(line)

    def _lines(self) -> Iterator[tuple[Any, int]]:
        """Complete records and the lengths of their lines in bytes."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    return
                if not line.endswith(b"\n"):
                    return
                yield record, len(line)
