"""``symnmf compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json
from symnmf.display import counted

#: Instruments that are listed.
LISTED = 20


@app.command()
def compare(
    old: Annotated[Path, typer.Argument(help="Folder of a fit, or a table of classes.")],
    new: Annotated[Path, typer.Argument(help="Folder of a fit, or a table of classes.")],
    as_json: Json = False,
) -> None:
    """Compare two fits, or a fit with classes: agreement, and who moved.

    \b
    Examples:
      symnmf compare groups-2023 groups-2024
      symnmf compare sectors.csv groups
    """
    from symnmf.errors import InvalidInput
    from symnmf.grouping.comparison import agreement_of_groups

    before, after = _groups(old), _groups(new)
    both = [name for name in after if name in before]
    if len(both) < 2:
        raise InvalidInput(
            "input",
            f"{old} and {new} have {len(both)} names in common",
            "Pass two fits with the same names",
        )
    found = agreement_of_groups({n: before[n] for n in both}, {n: after[n] for n in both})
    shown = Output(as_json)
    shown.line(f"Adjusted Rand index {found.ari:.2f} (1: the same groups, 0: chance)", "bold")
    shown.line(f"{counted(len(both), 'name')} in both; {len(found.moved)} moved")
    rows = [(name, before[name], after[name]) for name in found.moved[:LISTED]]
    if rows:
        shown.table(("moved", str(old), str(new)), rows)
    gone = [name for name in before if name not in after]
    come = [name for name in after if name not in before]
    for words, names in ((f"only in {old}", gone), (f"only in {new}", come)):
        if names:
            shown.line(
                f"{words}: {', '.join(names[:LISTED])}{', …' if len(names) > LISTED else ''}"
            )
    shown.document(
        {
            "ari": found.ari,
            "nmi": found.nmi,
            "names": len(both),
            "moved": {n: [before[n], after[n]] for n in found.moved},
            "only_old": gone,
            "only_new": come,
        }
    )


def _groups(path: Path) -> dict[str, str]:
    """The group of each name, of a fit or of a table of classes."""
    from symnmf.analysis.folder import load
    from symnmf.data.classes import read_classes
    from symnmf.grouping.naming import group_of

    return group_of(load(path)) if path.is_dir() else read_classes(path)
