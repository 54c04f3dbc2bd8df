"""Results as they come: one line each, on the disk before the next run begins."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from symnmf import __version__, files
from symnmf.bench.study import SCHEMA, Run


class Store:
    """A folder with a file of lines for each study.

    A line that was cut off by a kill is left out when it is read and removed before the next is
    written. A run that is there at this version of code and schema is not repeated.

    Arguments:
        folder: made when missing.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, study: str) -> Path:
        """File of a study."""
        return self.folder / f"{study}.jsonl"

    def results(self, study: str) -> list[dict[str, Any]]:
        """Everything that is there, in the order it came."""
        return [record for record, _ in self._lines(study)]

    def done(self, study: str) -> set[str]:
        """Keys of the runs that are there."""
        return {record["key"] for record in self.results(study)}

    def known(self) -> dict[str, list[dict[str, Any]]]:
        """Every result of every study, by the work that was done."""
        found: dict[str, list[dict[str, Any]]] = {}
        names = {f.name for f in fields(Run)}
        for path in sorted(self.folder.glob("*.jsonl")):
            for record in self.results(path.stem):
                if (record["schema"], record["version"]) == (SCHEMA, __version__):
                    run = Run(**{name: record[name] for name in names})
                    found.setdefault(run.work, []).append(record)
        return found

    def append(self, run: Run, found: dict[str, Any]) -> None:
        """Add a result; it is on the disk when this returns."""
        record = {"key": run.key, "schema": SCHEMA, "version": __version__, **asdict(run)}
        record["found"] = found
        path = self.path(run.study)
        whole = sum(length for _, length in self._lines(run.study))
        files.about_to("append")
        with files.writing(self.folder), path.open("a+b") as file:
            file.truncate(whole)
            file.seek(whole)
            file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self, study: str) -> Iterator[tuple[dict[str, Any], int]]:
        """Whole lines and their lengths in bytes."""
        path = self.path(study)
        if not path.is_file():
            return
        with path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    return
                if not line.endswith(b"\n") or not isinstance(record, dict):
                    return
                yield record, len(line)
