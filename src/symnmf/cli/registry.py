"""``symnmf solvers``."""

from __future__ import annotations

from symnmf.cli.app import app
from symnmf.cli.options import Json
from symnmf.cli.output import Output


@app.command()
def solvers(as_json: Json = False) -> None:
    """List the solvers with what they cost and their options.

    \b
    Example:
      symnmf solvers
    """
    from symnmf.results import plain
    from symnmf.solvers.registry import solvers as registry

    shown, family, rows = Output(as_json), "", []
    for row in registry().values():
        if row.family != family:
            family = row.family
            shown.line(f"\n{family}", "bold")
        options = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        cost = f"{row.products} products, {row.memory} n×k arrays, {row.tier}"
        shown.line(f"  {row.name:<28}{cost}")
        shown.line(f"      {options or 'no options'}", "dim")
        shown.line(f"      paper: {row.paper}; {row.reference}", "dim")
        rows.append(
            {
                "name": row.name,
                "family": row.family,
                "products": row.products,
                "memory": row.memory,
                "tier": row.tier,
                "options": plain(dict(row.parameters)),
                "paper": row.paper,
                "reference": row.reference,
            }
        )
    shown.document(rows)
