"""``symnmf compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Device, Json, fits_on
from symnmf.display import counted, counted_range

if TYPE_CHECKING:
    from symnmf.cli.past_run import PastRun
    from symnmf.grouping.two_periods import PeriodChange

#: Instruments that are listed.
LISTED = 20


@app.command()
def compare(
    old: Annotated[Path, typer.Argument(help="Folder of a fit or a roll, or a table of classes.")],
    new: Annotated[Path, typer.Argument(help="Folder of a fit or a roll, or a table of classes.")],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Table of both periods; by default the tables that the two runs read."
        ),
    ] = None,
    chance: Annotated[
        bool,
        typer.Option("--chance/--no-chance", help="Say whether the change is more than chance."),
    ] = True,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Compare two runs, or a run with classes: what changed, and is it more than chance.

    Chance is what moves after blocks of days of both periods are shuffled. That needs the tables
    of the runs, which are found by the config.toml of each.

    \b
    Examples:
      symnmf compare groups-2023 groups-2024
      symnmf compare sectors.csv groups
    """
    from symnmf.cli.past_run import read_past
    from symnmf.errors import InvalidInput
    from symnmf.grouping.comparison import agreement_of_groups

    runs = [read_past(path) for path in (old, new)]
    before, after = (run.groups for run in runs)
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
    with fits_on(device):
        change, why = _tested_change(runs[0], runs[1], data) if chance else (None, "")
    for line in _change_lines(change, why):
        shown.line(line)
    sure = set() if change is None else set(change.movers)
    listed = sorted(found.moved, key=lambda name: name not in sure)[:LISTED]
    if listed:
        rows = [(name, before[name], after[name], "yes" if name in sure else "") for name in listed]
        shown.table(("moved", str(old), str(new), "more than chance"), rows)
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
            "change": _document(change, why),
        }
    )


def _tested_change(
    old: PastRun, new: PastRun, data: Path | None
) -> tuple[PeriodChange | None, str]:
    """Whether the change is more than chance, or why that cannot be said."""
    from symnmf.errors import SymnmfError, speaking
    from symnmf.grouping.rolling import Refit
    from symnmf.grouping.two_periods import (
        compare_periods,
        joined,
        options_of,
        rows_between,
    )
    from symnmf.grouping.window_matrices import WindowEstimate

    for run in (old, new):
        if run.request is None or run.first is None or run.last is None:
            return None, f"{run.path} is not a run on a table with dates"
    assert old.first
    assert old.last
    assert new.first
    assert new.last
    assert new.request
    try:
        panel = joined(old.panel(data), new.panel(data))
        rows = [rows_between(panel, *x) for x in ((old.first, old.last), (new.first, new.last))]
        dependence, options = new.request.dependence, new.request.dependence_options()
        fit = Refit(WindowEstimate(dependence, options), new.k, 0, None)
        with speaking({"second": str(new.path)}):
            found = compare_periods(
                panel, rows[0], rows[1], new.k, dependence, fit=fit, **options_of(options)
            )
    except SymnmfError as wrong:
        return None, str(wrong)
    return found, ""


def _change_lines(change: PeriodChange | None, why: str) -> list[str]:
    from symnmf.grouping.break_test import ALARM_P

    if change is None:
        return [f"Whether that is more than chance is not tested: {why}"] if why else []
    sure = change.p_value <= ALARM_P
    verdict = (
        "CHANGED BY MORE THAN CHANCE" if sure else "The groups did not change by more than chance"
    )
    lines = [
        f"{verdict}: p = {change.p_value:.3g} against {change.draws} shuffles of blocks of "
        f"{change.block} days; "
        f"{100 * change.shared:.0f} % of the days of the new period are also in the old one."
    ]
    if change.by_chance:
        moved = counted_range(change.by_chance, "instrument")
        lines.append(f"Moves by chance between two such fits: {moved}.")
    if sure and not change.movers:
        lines.append(
            "No instrument alone changed by more than chance: the test weighs how clearly each of "
            "them follows its group, over all of them."
        )
    return lines


def _document(change: PeriodChange | None, why: str) -> dict[str, Any]:
    from symnmf.grouping.break_test import ALARM_P

    if change is None:
        return {"tested": False, "why": why}
    return {
        "tested": True,
        "p_value": change.p_value,
        "more_than_chance": change.p_value <= ALARM_P,
        "movers": list(change.movers),
        "by_chance": list(change.by_chance),
        "shared_days": change.shared,
    }
