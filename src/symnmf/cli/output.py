"""Output of the commands: lines for people, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from symnmf.display import counted, counted_range

if TYPE_CHECKING:
    from symnmf.analysis import Analysis
    from symnmf.core.result import Result
    from symnmf.grouping.windows import Rolling, Window

#: How to print text from outside: without markup.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}


#: Members of a group that are printed.
SHOWN_MEMBERS = 12


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

    def answer(self, found: Analysis) -> None:
        """Print the groups with their members, and the verdict in three lines."""
        from symnmf.report.words import WORDS

        panel, result = found.panel, found.result
        if panel is not None:
            about = panel.summary
            span = "" if about.first is None else f", {about.first} to {about.last}"
            kind = f"{about.kind}, " if about.kind != "returns" else ""
            rows = f"{about.rows} observations of {about.columns} instruments"
            self.line(f"{kind}{rows}{span}")
        groups = found.groups
        if found.rank is not None and found.rank.k == len(groups) == 1:
            self._no_groups(found)
            return
        together = WORDS[found.dependence].together
        self.line(f"{counted(len(groups), 'group')} of instruments that {together}:", "bold")
        width = max((len(g.name) for g in groups), default=0)
        for group in groups:
            more = len(group.members) - SHOWN_MEMBERS
            rest = f" and {more} more" if more > 0 else ""
            members = ", ".join(group.members[:SHOWN_MEMBERS])
            self.line(f"  {group.name:<{width}}  {members}{rest}")
        self.line(f"{result.status.name}. {result.certificate.verdict}", "bold")
        self.line(_number_words(found))
        self.line(_trust_words(found))

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

    def _no_groups(self, found: Analysis) -> None:
        """Print that the data have no groups, why, and who leads what they have in common."""
        assert found.rank is not None
        why = found.rank.reasons[0].removeprefix("no groups: ")
        self.line(f"No groups in these data: {why}.", "bold")
        leaders = found.groups[0].members[:SHOWN_MEMBERS]
        self.line(f"  Strongest in the one factor of all: {', '.join(leaders)}")
        self.line(_trust_words(found))

    def document(self, value: Any) -> None:
        """Print the JSON document."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def _number_words(found: Analysis) -> str:
    """Why there are so many groups."""
    k = found.result.H.shape[1]
    if found.rank is None:
        return f"The number of groups, {k}, was given."
    return f"{counted(k, 'group was', 'groups were')} suggested: {found.rank.reasons[0]}."


def _trust_words(found: Analysis) -> str:
    """Whether other starts and the data support the groups."""
    agreement = found.result.certificate.agreement
    tried = found.result.certificate.starts or 1
    if agreement is None:
        starts = "No other start fits as well." if tried > 1 else "Other starts were not compared."
    else:
        same = (
            "the same" if agreement >= 0.95 else "mostly the same" if agreement >= 0.7 else "other"
        )
        starts = f"Other starts find {same} groups (agreement {agreement:.2f})."
    cautions = 0 if found.panel is None else len(found.panel.summary.cautions)
    return (
        f"{starts} {counted(cautions, 'caution')} about the data, see above."
        if cautions
        else starts
    )


def window_line(w: Window) -> str:
    """A window as a line for people."""
    ari = "" if w.ari_before is None else f", ARI {w.ari_before:.2f} with the window before"
    moved = "" if w.ari_before is None else f", {len(w.moved)} moved"
    return f"{w.first} to {w.last}: {w.result.status.name}{ari}{moved}"


def change_lines(found: Rolling) -> list[str]:
    """Whether the groups changed, in lines for people."""
    changes = found.changes
    if changes is None:
        return []
    rate = f"{100 * changes.false_alarms:.0f} %"
    lines = [
        f"BREAK with the window from {w.first} to {w.last}, p = {w.p_value:.3g}"
        for w in found.breaks
    ]
    if not changes.tested:
        lines = ["Too short to test a change: that needs twice the rows of a window."]
    elif not lines:
        lines = [
            f"The groups did not change by more than chance (false alarms: {rate} of histories)."
        ]
    if changes.by_chance:
        moved = counted_range(changes.by_chance, "instrument")
        lines.append(f"Moves from one window to the next by chance alone: {moved}.")
    return lines


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
            "p_value": w.p_value,
            "instruments": len(w.result.H) + len(w.placed),
        }
        for w in found.windows
    ]
    about = None if found.changes is None else asdict(found.changes)
    return {"windows": windows, "products": found.products, "changes": about}


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
