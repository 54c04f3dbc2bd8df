"""Types of the groups in windows of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.core.result import Result
from symnmf.display import html_table


@dataclass(frozen=True)
class Window:
    """One window of a table and its groups.

    Attributes:
        number: number of the window, from 0.
        begin, stop: first row of the panel in the window, and the first row after it.
        first, last: dates of the first and the last row.
        result: factorization with its columns in the order of the window before.
        ari_before: agreement of the labels with those of the window before; None for the first.
        ari_width: agreement with the last window that shares no date with this one, if any.
        moved: names of the instruments whose group differs from that in the window before.
        broke: whether the agreement with the window before is unusually low.
    """

    number: int
    begin: int
    stop: int
    first: str
    last: str
    result: Result
    ari_before: float | None
    ari_width: float | None
    moved: tuple[str, ...]
    broke: bool


@dataclass(frozen=True)
class Rolling:
    """The groups of every window.

    Attributes:
        windows: the windows in order of time.
        names: names of the instruments.
        identity: identity of the run where its windows were stored in a folder; None otherwise.
    """

    windows: tuple[Window, ...]
    names: tuple[str, ...]
    identity: str | None = None

    def __repr__(self) -> str:
        w, n = self.windows, len(self.names)
        span = f", {w[0].first} to {w[-1].last}" if w else ""
        return f"Rolling({len(w)} windows of {n} instruments{span}, {len(self.breaks)} breaks)"

    def _repr_html_(self) -> str:
        rows = [
            (f"{w.first} to {w.last}", f"{len(w.moved)} moved" + (", break" if w.broke else ""))
            for w in self.windows
        ]
        return html_table(repr(self), rows)

    @property
    def products(self) -> float:
        """Number of products of S with k columns over all windows."""
        return sum(window.result.products for window in self.windows)

    @property
    def breaks(self) -> tuple[Window, ...]:
        """The windows at which the groups broke with those before."""
        return tuple(window for window in self.windows if window.broke)

    def labels(self) -> np.ndarray:  # (windows, n)
        """Group of each instrument in each window as a column of H; the columns are aligned."""
        return np.stack([w.result.labels().cpu().numpy() for w in self.windows])
