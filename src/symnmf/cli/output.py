"""What commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symnmf.contract import Result


def show(console: Console, title: str, result: Result) -> None:
    """The verdict and what was spent, as a table."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_row("status", result.status.name)
    for name, value in result.certificate.summary():
        table.add_row(name, value)
    spent = (
        f"{result.iterations} iterations, {result.products:.0f} products, {result.seconds:.1f} s"
    )
    table.add_row(f"spent by {result.solver}", spent)
    for note in result.notes:
        table.add_row("note", note)
    console.print(table)
