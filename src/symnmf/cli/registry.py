"""``symnmf solvers``."""

from __future__ import annotations

from rich.console import Console

from symnmf.cli.app import PLAIN, app


@app.command()
def solvers() -> None:
    """List the solvers with what they cost and their options."""
    from symnmf.solvers.registry import solvers as registry

    console, family = Console(), ""
    for row in registry().values():
        if row.family != family:
            family = row.family
            console.print(f"\n{family}", style="bold", **PLAIN)
        options = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        cost = f"{row.products} products, {row.memory} n×k arrays, {row.tier}"
        console.print(f"  {row.name:<28}{cost}", **PLAIN)
        console.print(f"      {options or 'no options'}", style="dim", **PLAIN)
        console.print(f"      paper: {row.paper}; {row.reference}", style="dim", **PLAIN)
