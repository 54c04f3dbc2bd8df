"""A measured table next to the published one: which figures got worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symnmf.bench.measurement import Cell, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.table_files import worded

if TYPE_CHECKING:
    from rich.table import Table

#: Ratio to the published figure above which a figure counts as worse.
SLACK = 1.2


@dataclass
class PublishedTable:
    """The cells of a table as people read them, and the figures that got worse.

    Attributes:
        table: its columns.
        cells: rows of text; a figure that got worse names the published one.
        worse: a sentence for each figure that got worse.
    """

    table: MeasuredTable
    cells: list[list[str]] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)

    def add(self, row: MeasuredRow, published: MeasuredRow | None) -> None:
        """Add a row, compared with the published one if there is one."""
        cells = [worded(cell) for cell in row.labels.values()]
        name = ", ".join(cells)
        compared = published is not None and (
            not self.table.compared or cells[0] in self.table.compared
        )
        for heading, value in row.found.items():
            text = worded(value)
            before = published.found.get(heading) if published is not None and compared else value
            if heading in self.table.worse and got_worse(self.table.worse[heading], value, before):
                text += f" (worse: was {worded(before)})"
                self.worse.append(f"{self.table.name}: {heading} of {name}: {text}")
            cells.append(text)
        self.cells.append(cells)

    def as_rich(self) -> Table:
        """The table for a terminal."""
        from rich.table import Table
        from rich.text import Text

        made = Table(*self.table.headings, title=self.table.title, title_justify="left")
        for cells in self.cells:
            made.add_row(*map(Text, cells))
        return made


def compare(
    measurement: Measurement, rows: Sequence[MeasuredRow], published: Sequence[MeasuredRow]
) -> list[PublishedTable]:
    """Compare the measured rows with the published ones, table by table.

    Arguments:
        measurement: its tables; those without a measured row are left out.
        rows: the measured rows.
        published: rows of the last published run; empty when they cannot be compared.
    """
    before = {row.place: row for row in published}
    made = {table.name: PublishedTable(table) for table in measurement.tables}
    for row in rows:
        made[row.table].add(row, before.get(row.place))
    return [table for table in made.values() if table.cells]


def got_worse(direction: str, now: Cell, before: Cell) -> bool:
    """Whether a figure is worse than the published one by more than the slack.

    Arguments:
        direction: ``"higher"`` or ``"lower"``, the one that is worse.
        now, before: the figures. Text is worse when it is not the same.

    Example:
        >>> got_worse("higher", 1.3, 1.0), got_worse("higher", 1.1, 1.0), got_worse("lower", 9, 1)
        (True, False, False)
    """
    if not (isinstance(now, int | float) and isinstance(before, int | float)):
        return now != before
    low, high = sorted((now, before))
    return high > SLACK * max(low, 1e-12) and (now == high) == (direction == "higher")
