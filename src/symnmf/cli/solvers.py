"""``symnmf solvers``."""

from __future__ import annotations

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json


@app.command()
def solvers(as_json: Json = False) -> None:
    """List the solvers with their cost and their options.

    \b
    Example:
      symnmf solvers
    """
    from symnmf.solvers.registry import available as registry
    from symnmf.storage.tensors import plain

    shown, family, rows = Output(as_json), "", []
    for row in registry().values():
        if row.family != family:
            family = row.family
            shown.line(f"\n{family}", "bold")
        allowed = {name: limit.words for name, limit in row.constraints.items()}
        shown.line(f"  {row.name:<28}{row.products} products, {row.arrays} n×k arrays, {row.tier}")
        for name, default in row.parameters.items():
            shown.line(f"      {f'{name}={default}':<24}{allowed[name]}", "dim")
        stated = ", ".join(f"{name}={value}" for name, value in row.published().items())
        shown.line(f"      as published: {stated or 'nothing stated'}; {row.reference}", "dim")
        rows.append(
            {
                "name": row.name,
                "family": row.family,
                "products": row.products,
                "arrays": row.arrays,
                "tier": row.tier,
                "options": plain(row.parameters),
                "allowed": allowed,
                "published": plain(row.published()),
                "reference": row.reference,
            }
        )
    shown.document(rows)
