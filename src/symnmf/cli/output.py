"""Output of the commands: lines for people, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symnmf.core.result import Result
    from symnmf.grouping.windows import Rolling, Window

#: How to print text from outside: without markup.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}


class Output:
    """Standard output of a command.

    Arguments:
        as_json: whether to print one JSON document at the end, and nothing else.
    """

    def __init__(self, as_json: bool = False):
        self.as_json = as_json
        self.console = Console(quiet=as_json)

    def line(self, text: str, style: str | None = None) -> None:
        """Print a line for people, without markup."""
        self.console.print(text, style=style, **PLAIN)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table for people."""
        table = Table(*headings)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def result(self, title: str, result: Result) -> None:
        """Print the verdict, the certificate and the cost of a run for people."""
        table = Table(title=title, show_header=False, title_justify="left")
        table.add_row("status", result.status.name)
        for name, value in result.certificate.summary():
            table.add_row(name, value)
        spent = f"{result.iterations} iterations, {result.products:.0f} products"
        table.add_row(f"spent by {result.solver}", f"{spent}, {result.seconds:.1f} s")
        for note in result.notes:
            table.add_row("note", note)
        self.console.print(table)

    def document(self, value: Any) -> None:
        """Print the JSON document."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def window_line(w: Window) -> str:
    """A window as a line for people."""
    ari = "" if w.ari_before is None else f", ARI {w.ari_before:.2f} with the window before"
    sign = "  BREAK" if w.broke else ""
    return f"{w.first} to {w.last}: {w.result.status.name}{ari}, {len(w.moved)} moved{sign}"


def windows_document(found: Rolling) -> dict[str, Any]:
    """All windows as JSON."""
    windows = [
        {
            "first": w.first,
            "last": w.last,
            "status": w.result.status.name,
            "ari_before": w.ari_before,
            "moved": list(w.moved),
            "broke": bool(w.broke),
        }
        for w in found.windows
    ]
    return {"windows": windows, "products": found.products}


def summary(result: Result) -> dict[str, Any]:
    """A result as JSON: verdict, certificate, groups with their leaders, cost of the run."""
    from symnmf.grouping.naming import groups
    from symnmf.storage.tensors import plain

    return {
        "status": result.status.name,
        "good": result.status.good,
        "verdict": result.certificate.verdict,
        "n": result.H.shape[0],
        "k": result.H.shape[1],
        "certificate": plain(result.certificate.as_dict()),
        "groups": [
            {"number": g.number, "name": g.name, "leader": g.leader, "size": len(g.members)}
            for g in groups(result)
        ],
        "solver": result.solver,
        "seed": result.seed,
        "iterations": result.iterations,
        "products": result.products,
        "seconds": result.seconds,
        "notes": list(result.notes),
    }
