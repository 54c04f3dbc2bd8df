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
    if TABLE:
        with Path(TABLE).open("a", encoding="utf-8") as file:
            file.write(json.dumps([row, tried, survived]) + "\n")


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
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        row, tried, survived = json.loads(line)
        total = found.setdefault(row, [0, 0])
        total[0] += tried
        total[1] += survived
    return found
