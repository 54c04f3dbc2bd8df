"""Findings of a measurement that are kept as they are made, so that a stopped one goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symnmf import NUMERICS
from symnmf.bench.measurement import Choices
from symnmf.storage.journal import Journal


class FindingsJournal:
    """Findings by their keys, in a file of the folder for unfinished work.

    A finding is kept under :data:`symnmf.NUMERICS`: other digits of the solvers make it again.

    Arguments:
        choices: names the folder; without one nothing is kept.
        name: name of the file.

    Example:
        >>> journal = FindingsJournal(Choices(), "toy")
        >>> journal.get("half of 8", lambda: 8 / 2), journal.get("half of 8", lambda: 5.0)
        (4.0, 4.0)
    """

    def __init__(self, choices: Choices, name: str):
        self.journal = None
        self.known: dict[str, Any] = {}
        if choices.scratch is not None:
            choices.scratch.mkdir(parents=True, exist_ok=True)
            self.journal = Journal(choices.scratch / f"{name}.jsonl")
            self.known = {r["key"]: r["found"] for r in self.journal.records()}

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What was found under a key, now or before; it has to be what JSON can hold."""
        key = f"{NUMERICS} {key}"
        if key not in self.known:
            self.known[key] = make()
            if self.journal is not None:
                self.journal.append({"key": key, "found": self.known[key]})
        return self.known[key]
