"""Every cell of the founding paper's tables: measured here, or with the reason why it is not."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files as package_files
from itertools import product
from typing import Any

import pandas as pd

from symnmf.bench.results_store import Store

#: A run with this status was cut by its budget and says nothing about where it would have ended.
CUT = "TIME_OUT"
#: Another matrix that stands for one of the paper's, where the paper's does not fit.
STANDS_FOR = {"corr4000": "corr"}


@dataclass(frozen=True)
class Cell:
    """A published figure: ``solver`` is empty where the table has no methods."""

    table: str
    solver: str
    kind: str
    n: int


@dataclass(frozen=True)
class Reason:
    """Why cells are not measured; an empty tuple stands for all values.

    Attributes:
        table, solvers, kinds, sizes: the cells.
        words: the reason.
    """

    table: str
    solvers: tuple[str, ...]
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    words: str

    def covers(self, cell: Cell) -> bool:
        """Whether it is about a cell."""
        return (
            self.table == cell.table
            and (not self.solvers or cell.solver in self.solvers)
            and (not self.kinds or cell.kind in self.kinds)
            and (not self.sizes or cell.n in self.sizes)
        )


@dataclass(frozen=True)
class PaperCells:
    """The cells, the studies that measure each table, and the reasons.

    Attributes:
        cells: every published cell.
        studies: table → studies whose runs count.
        reasons: for cells without a measurement.
    """

    cells: tuple[Cell, ...]
    studies: Mapping[str, tuple[str, ...]]
    reasons: tuple[Reason, ...]

    def seeds(self, store: Store) -> dict[Cell, int]:
        """Number of seeds with which each cell was measured to an end."""
        ended: dict[tuple[str, str, str, int], set[int]] = {}
        for study in {name for names in self.studies.values() for name in names}:
            for record in store.results(study):
                if record["found"].get("status") != CUT:
                    kind = STANDS_FOR.get(record["kind"], record["kind"])
                    place = (study, record["solver"], kind, record["n"])
                    ended.setdefault(place, set()).add(record["seed"])
        return {
            cell: max(
                len(ended.get((study, cell.solver, cell.kind, cell.n), ()))
                for study in self.studies[cell.table]
            )
            for cell in self.cells
        }

    def unaccounted(self, store: Store) -> list[str]:
        """Cells without a measurement and a reason, and reasons that no cell needs."""
        found = self.seeds(store)
        left = [cell for cell, seeds in found.items() if not seeds]
        unmet = [cell for cell in left if not any(reason.covers(cell) for reason in self.reasons)]
        idle = [r for r in self.reasons if not any(r.covers(cell) for cell in left)]
        return [
            *(f"{c.table}: {c.solver} {c.kind} n={c.n} has no run and no reason" for c in unmet),
            *(f"{r.table}: the reason {r.words!r} is not needed" for r in idle),
        ]

    def summary(self, store: Store) -> pd.DataFrame:
        """A row for each table: number of cells, of measured ones, and of reasons."""
        found = self.seeds(store)
        rows = []
        for table in self.studies:
            own = [cell for cell in self.cells if cell.table == table]
            measured = [cell for cell in own if found[cell]]
            rows.append(
                {
                    "table of the paper": table,
                    "cells": len(own),
                    "measured": len(measured),
                    "with three seeds": sum(found[cell] >= 3 for cell in own),
                    "not measured, with a reason": len(own) - len(measured),
                }
            )
        return pd.DataFrame(rows)

    def reason_table(self, store: Store) -> pd.DataFrame:
        """A row for each reason, with the cells that it is about."""
        found = self.seeds(store)
        rows = []
        for reason in self.reasons:
            own = [cell for cell, seeds in found.items() if not seeds and reason.covers(cell)]
            sizes = sorted({cell.n for cell in own})
            rows.append(
                {
                    "table": reason.table,
                    "cells": len(own),
                    "n": ", ".join(f"{n:,}".replace(",", " ") for n in sizes),
                    "matrices": ", ".join(sorted({cell.kind for cell in own})),
                    "methods": ", ".join(sorted({cell.solver for cell in own} - {""})) or "–",
                    "why": reason.words,
                }
            )
        return pd.DataFrame(rows)


def paper_cells() -> PaperCells:
    """The cells of the package's file.

    Example:
        >>> len([c for c in paper_cells().cells if c.table == "Phase 2"])
        22
    """
    text = (package_files("symnmf.bench") / "paper_cells.toml").read_text("utf-8")
    content = tomllib.loads(text)
    cells = {cell: None for part in content["cells"] for cell in _cells(part)}
    return PaperCells(
        tuple(cells),
        {name: tuple(studies) for name, studies in content["studies"].items()},
        tuple(_reason(part) for part in content.get("reasons", ())),
    )


def _cells(part: Mapping[str, Any]) -> Iterator[Cell]:
    for solver, kind, n in product(part.get("solvers", [""]), part["kinds"], part["sizes"]):
        yield Cell(part["table"], solver, kind, n)


def _reason(part: Mapping[str, Any]) -> Reason:
    return Reason(
        part["table"],
        tuple(part.get("solvers", ())),
        tuple(part.get("kinds", ())),
        tuple(part.get("sizes", ())),
        part["why"],
    )
