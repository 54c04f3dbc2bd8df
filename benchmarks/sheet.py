"""A table that a benchmark prints beside what was last published, and publishes when asked.

``PUBLISH=1`` in the environment writes it to ``results/``, from where the documentation takes it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from symnmf import __version__, files
from symnmf.bench.tables import short

RESULTS = Path(__file__).parents[1] / "results"
#: Ratio to the published figure from which one is marked.
SLACK = 1.2
console = Console(width=150)


class Sheet:
    """Rows of words and numbers under headings.

    Arguments:
        name: of its file, ``results/bench-NAME.json``.
        title: above the table.
        columns: headings; the first ``labels`` of them say what a row is about.
        worse: heading → ``"higher"`` or ``"lower"``, where that is worse.
        labels: how many of the headings name the row.
        whole: rows that were published and are not in it now are gone, not kept.
    """

    def __init__(
        self,
        name: str,
        title: str,
        columns: list[str],
        worse: dict[str, str],
        labels: int = 1,
        whole: bool = False,
    ):
        self.name, self.title, self.columns = name, title, columns
        self.worse, self.labels, self.whole = worse, labels, whole
        self.rows: list[list[Any]] = []
        self.path = RESULTS / f"bench-{name}.json"

    def add(self, *cells: Any) -> None:
        """A row, as soon as it is measured."""
        assert len(cells) == len(self.columns), (cells, self.columns)
        self.rows.append([plain(cell) for cell in cells])

    def show(self) -> int:
        """Print, publish when asked; how many figures got worse."""
        before = self._published()
        table, marked = Table(title=self.title, title_justify="left"), 0
        for heading in self.columns:
            table.add_column(heading)
        for row in self.rows:
            old = before.get(tuple(row[: self.labels]))
            cells = []
            for at, (heading, value) in enumerate(zip(self.columns, row, strict=True)):
                words = worded(value)
                if old and heading in self.worse and self._got_worse(heading, value, old[at]):
                    words += f" (worse: was {worded(old[at])})"
                    marked += 1
                cells.append(words)
            table.add_row(*cells)
        console.print(table)
        if os.environ.get("PUBLISH"):
            kept = {} if self.whole else before
            merged = kept | {tuple(row[: self.labels]): row for row in self.rows}
            content = {
                "title": self.title,
                "columns": self.columns,
                "rows": list(merged.values()),
                "version": __version__,
                "threads": torch.get_num_threads(),
            }
            RESULTS.mkdir(exist_ok=True)
            files.write_text(self.path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return marked

    def _published(self) -> dict[tuple[Any, ...], list[Any]]:
        if not self.path.is_file():
            return {}
        content = json.loads(self.path.read_text("utf-8"))
        if content["columns"] != self.columns:
            return {}
        return {tuple(row[: self.labels]): row for row in content["rows"]}

    def _got_worse(self, heading: str, now: Any, then: Any) -> bool:
        if not (isinstance(now, int | float) and isinstance(then, int | float)):
            return bool(now != then)
        low, high = sorted((now, then))
        rose = now == high
        return high > SLACK * max(low, 1e-12) and rose == (self.worse[heading] == "higher")


def plain(cell: Any) -> Any:
    """Words stay; numbers become ones that JSON knows."""
    return cell if isinstance(cell, str | int) or cell is None else float(cell)


def worded(cell: Any) -> str:
    """A cell as people read it."""
    if cell is None:
        return "–"
    return short(cell) if isinstance(cell, float) else str(cell)
