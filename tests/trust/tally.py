"""How many of each are tried, and the table of what survived."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: `make trust` tries many; `make test` a handful.
FULL = os.environ.get("SYMNMF_TRUST") == "full"
#: File to which rows are added, where there is one.
TABLE = os.environ.get("SYMNMF_TRUST_TABLE")


def count(few: int, many: int) -> int:
    """How many to try."""
    return many if FULL else few


def record(row: str, tried: int, survived: int) -> None:
    """Add to a row of the table."""
    assert 0 <= survived <= tried
    _add([row, tried, survived])


def note(fault: str, seconds: float | None, lost: float | None) -> None:
    """Add a fault of a host that was survived.

    Arguments:
        fault: what happened.
        seconds: from the fault to the end of the last process; None where none had to end.
        lost: seconds of work that were lost.
    """
    _add({"fault": fault, "seconds": seconds, "lost": lost})


def _add(entry: object) -> None:
    if TABLE:
        with Path(TABLE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


@contextmanager
def trial(row: str) -> Iterator[None]:
    """One attempt: it survives when nothing is raised."""
    try:
        yield
    except BaseException:
        record(row, 1, 0)
        raise
    record(row, 1, 1)


def rows(path: Path) -> dict[str, list[int]]:
    """The table so far: row → tried, survived."""
    found: dict[str, list[int]] = {}
    for entry in _entries(path):
        if isinstance(entry, list):
            row, tried, survived = entry
            total = found.setdefault(row, [0, 0])
            total[0] += tried
            total[1] += survived
    return found


def host_faults(path: Path) -> dict[str, tuple[int, float | None, float | None]]:
    """Fault of a host → how often it was survived, longest seconds to the end, most lost."""
    found: dict[str, list[dict]] = {}
    for entry in _entries(path):
        if isinstance(entry, dict):
            found.setdefault(entry["fault"], []).append(entry)

    def most(notes: list[dict], name: str) -> float | None:
        known = [note[name] for note in notes if note[name] is not None]
        return max(known) if known else None

    return {
        fault: (len(notes), most(notes, "seconds"), most(notes, "lost"))
        for fault, notes in found.items()
    }


def _entries(path: Path) -> list:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]
