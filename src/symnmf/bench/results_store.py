"""Results of the benchmarks on disk: one line per record, written before the next is measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

from symnmf import NUMERICS, storage
from symnmf.storage.journal import Journal

#: Version of the form of a record; a change makes every result new.
SCHEMA = 2


def record_key(about: Mapping[str, Any]) -> str:
    """Digest of what a result is about, for the present digits of the solvers.

    Example:
        >>> record_key({"n": 100}) == record_key({"n": 100}) != record_key({"n": 101})
        True
    """
    text = json.dumps({"schema": SCHEMA, "numerics": NUMERICS, **about}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class Entry(Protocol):
    """What a result is about: a run of a study, or a row of a measurement."""

    @property
    def key(self) -> str:
        """Digest that tells the result from all others."""

    @property
    def about(self) -> dict[str, Any]:
        """The fields that identify it, as they stand in its record."""


def new_record(entry: Entry, found: Mapping[str, Any], threads: int | None) -> dict[str, Any]:
    """A result as it is stored.

    Arguments:
        entry: what it is about.
        found: what was measured.
        threads: number of threads of the process that measured it.
    """
    head = {"key": entry.key, "schema": SCHEMA, "numerics": NUMERICS, "threads": threads}
    return {**head, **entry.about, "found": dict(found)}


def is_current(record: Mapping[str, Any]) -> bool:
    """Whether a record was measured with the present digits of the solvers."""
    return (record.get("schema"), record.get("numerics")) == (SCHEMA, NUMERICS)


class Store:
    """A folder with a file of lines for each benchmark.

    A line that was cut off by a kill is ignored when it is read and removed before the next one
    is written.

    Arguments:
        folder: folder of the results; created by the first result.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def path(self, benchmark: str) -> Path:
        """File of a benchmark."""
        return self.folder / f"{benchmark}.jsonl"

    @property
    def scratch(self) -> Path:
        """Folder of matrices and unfinished runs, which can be deleted at any time."""
        return self.folder / "scratch"

    def benchmarks(self) -> list[str]:
        """Names of the benchmarks that have results."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl"))

    def results(self, benchmark: str) -> list[dict[str, Any]]:
        """Every record of a benchmark, in the order of its file."""
        found = Journal(self.path(benchmark)).records()
        return list(takewhile(lambda record: isinstance(record, dict), found))

    def done(self, benchmark: str) -> set[str]:
        """Keys of the records of a benchmark."""
        return {record["key"] for record in self.results(benchmark)}

    def append(self, benchmark: str, record: Mapping[str, Any]) -> None:
        """Add a record; it is on the disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        Journal(self.path(benchmark)).append(record)

    def rewrite(self, benchmark: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Replace all records of a benchmark in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        storage.write_text(self.path(benchmark), "".join(map(_line, records)))


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, allow_nan=False) + "\n"
