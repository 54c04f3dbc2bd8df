"""Tables that processes read in shares: each process reads, checks and keeps its own columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from symnmf.data.column_table import ColumnTable, columns_of
from symnmf.data.panel import Panel, PanelSummary
from symnmf.data.table_model import day
from symnmf.defaults import MAX_SEMICORRELATION
from symnmf.dependence.estimates_in_shares import can_be_shared, estimate_in_shares
from symnmf.display import counted
from symnmf.distributed import ProcessGroup
from symnmf.distributed.agreement import all_or_none, require_same
from symnmf.numerics import chunk_edges
from symnmf.operators import SymmetricOperator
from symnmf.operators.rows import SAME_COPY, Rows
from symnmf.operators.sharding import own_rows

T = TypeVar("T")
#: A table with more columns than this is read in shares where its form allows it.
SHARED_COLUMNS = MAX_SEMICORRELATION
#: What :func:`symnmf.read_panel` can be asked for that a table in shares can do.
READING = ("returns", "start", "end", "drop", "jumps")


class TableShares:
    """The columns of a file as :class:`symnmf.dependence.column_shares.ColumnShares` asks.

    The file is read twice: once to check every column, which tells which ones are left, and once
    for the estimate. No more than one part, a 64th of the columns, is read at a time.

    Arguments:
        table: the file.
        group: the processes.
        names: names of the columns that are left.
        samples: number of observations.
    """

    def __init__(self, table: ColumnTable, group: ProcessGroup, names: Sequence[str], samples: int):
        self.table, self.group, self.names, self.samples = table, group, names, samples
        self.dates = table.dates
        self._edges = chunk_edges(len(names))

    def own(self) -> range:
        """Parts of this process."""
        return self.group.share()

    def rows_of(self, part: int) -> slice:
        """Places of the columns of a part among all columns."""
        return slice(self._edges[part], self._edges[part + 1])

    def read(self, part: int) -> np.ndarray:  # (T, c)
        """Observations of a part."""
        return self.table.columns(self.names[self.rows_of(part)]).values

    def total(self, leaf: Callable[[int], Tensor]) -> Tensor:
        """Sum over all parts; collective."""
        return self.group.tree(lambda part: leaf(part).to(self.group.device)).cpu()

    def gather(self, local: Tensor) -> Tensor:
        """Values for all columns; collective."""
        sizes = [self._edges[r.stop] - self._edges[r.start] for r in self.group.shares()]
        return self.group.gather(local.to(self.group.device), sizes).cpu()

    def room(self, width: int, dtype: torch.dtype) -> Tensor:
        """Memory for the rows of this process."""
        return own_rows(len(self.names), width, dtype, self.group, torch.device("cpu"))

    def as_rows(self, data: Tensor) -> Rows:
        """The rows of this process as its share of an array."""
        device = self.group.device
        if device.type != "cpu":
            moved = own_rows(len(self.names), data.shape[1], data.dtype, self.group, device)
            data = moved.copy_(data)
        return Rows.shared_out(data, len(self.names), self.group, device=device)

    def act(self, work: Callable[[], T]) -> T:
        """Work of this process alone, which succeeds in all processes or in none; collective."""
        return all_or_none(self.group, work)


def shareable(
    path: Path | None,
    kind: str,
    dependence: str,
    options: Mapping[str, Any],
    reading: Mapping[str, Any],
    group: ProcessGroup | None,
) -> bool:
    """Whether a table can be read and estimated in shares; the same in every process.

    Arguments:
        path: path of the table, if it is a file.
        kind: ``"prices"``, ``"returns"``, ``"values"``; ``"auto"`` needs the whole table.
        dependence, options: the estimate.
        reading: how the table is to be read.
        group: the processes; None for a single one.
    """
    if group is None or path is None:
        return False
    here = path.is_file() and columns_of(path) > SHARED_COLUMNS
    asked = kind in ("prices", "returns", "values") and can_be_shared(dependence, options)
    plain = set(reading) <= set(READING) and reading.get("jumps", "keep") == "keep"
    return bool(sum(group.largest(int(here)))) and asked and plain


def load_in_shares(
    path: Path,
    kind: str,
    dependence: str,
    options: Mapping[str, Any],
    reading: Mapping[str, Any],
    group: ProcessGroup,
) -> tuple[SymmetricOperator, PanelSummary] | None:
    """Read and estimate a table in shares; None if numbers are missing in it; collective.

    Arguments:
        path, kind, dependence, options, reading, group: as for :func:`shareable`, which is true.

    Raises:
        InvalidFile: a process cannot read the file, or holds another copy than the others.
    """
    plain = {name: value for name, value in reading.items() if name != "jumps"}
    table = all_or_none(group, lambda: ColumnTable(path, kind, **plain))
    if group.process_count > 1:
        require_same(group, str(path), {"the file": table.digest()}, SAME_COPY)
    edges, own = chunk_edges(len(table.names)), group.share()

    def check() -> tuple[list[bool], bool]:
        good: list[bool] = []
        holes = False
        for part in own:
            names = table.names[edges[part] : edges[part + 1]]
            work = table.columns(names)
            left = set(work.names)
            good += [name in left for name in names]
            holes = holes or bool(np.isnan(work.values).any())
        return good, holes

    good, holes = all_or_none(group, check)
    if group.largest(int(holes))[0]:
        return None
    sizes = [edges[r.stop] - edges[r.start] for r in group.shares()]
    marks = group.gather(torch.tensor(good, dtype=torch.uint8, device=group.device), sizes)
    chosen = marks.cpu().numpy().astype(bool)
    names = tuple(name for name, left in zip(table.names, chosen, strict=True) if left)
    dropped = tuple(name for name, left in zip(table.names, chosen, strict=True) if not left)
    samples = len(table.order) - (kind == "prices")
    summary = _summary(table, names, dropped, samples)
    shares = TableShares(table, group, names, samples)
    panel = Panel(np.empty((samples, 0)), (), table.dates, summary)
    S = estimate_in_shares(dependence, shares, panel, **options)
    return S, summary


def _summary(
    table: ColumnTable, names: tuple[str, ...], dropped: tuple[str, ...], samples: int
) -> PanelSummary:
    """The record of the table; it has the sentences of a panel."""
    steps = list(table.steps)
    if table.kind == "prices":
        steps.append(f"{table.returns} returns of prices")
    if dropped:
        steps.append(f"{counted(len(dropped), 'column')} without any change dropped")
    steps.append(
        "each process read its own columns; splits and wrong figures were not looked for in a "
        "table of this size"
    )
    dates = table.dates
    first, last = (None, None) if dates is None else (day(dates[0]), day(dates[-1]))
    return PanelSummary(
        form="wide", kind=table.kind, rows_in=len(table.order), columns_in=len(table.names),
        rows=samples, columns=len(names), missing=0, first=first, last=last, dropped=dropped,
        steps=tuple(steps),
    )  # fmt: skip
