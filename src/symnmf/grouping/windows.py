"""Types of the groups in windows of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.core.result import Result
from symnmf.display import Brief, html_table
from symnmf.grouping.joint_crashes import WindowDependence

#: Kinds of dependence: losses, gains, and all days.
KINDS_OF_HISTORY = ("tail", "gains", "correlation")
#: Label of an instrument that a window does not have.
ABSENT = -2


@dataclass(frozen=True, repr=False)
class Window(Brief):
    """One window of a table and its groups.

    Attributes:
        number: number of the window, from 0.
        begin, stop: first row of the panel in the window, and the first row after it.
        first, last: dates of the first and the last row.
        result: factorization with its columns in the order of the window before.
        ari_before: agreement of the labels with those of the window before; None for the first.
        ari_width: agreement with the last window that shares no date with this one, if any.
        moved: names of the instruments whose group differs from that in the window before; those
            that one of the two windows lacks do not count.
        broke: whether the groups changed here by more than chance; see :class:`Changes`.
        fitted: numbers of the instruments in ``result``; None for all of them.
        placed: newcomers with too few rows for the fit, and the column of H of their group.
        dependence: dependence within and between groups, and joint crashes.
        p_value: chance that a history without a change has a window that differs as much from
            the rows just before it; None where there are too few rows before it.
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
    fitted: tuple[int, ...] | None = None
    placed: tuple[tuple[str, int], ...] = ()
    dependence: WindowDependence | None = None
    p_value: float | None = None

    def labels_by_name(self) -> dict[str, int]:
        """Column of H of the group of each instrument that the window has; −1 without a group."""
        labels = self.result.labels().cpu().tolist()
        names = self.result.names or tuple(str(i) for i in range(len(labels)))
        return {**dict(zip(names, labels, strict=True)), **dict(self.placed)}


@dataclass(frozen=True)
class Mover:
    """An instrument whose group changed at a break by more than chance.

    Attributes:
        name: name of the instrument.
        before, after: reference group before and after, a column of the windows' H.
        score: how much better the new group fits after the break, and the old one before it.
    """

    name: str
    before: int
    after: int
    score: float


@dataclass(frozen=True)
class Changes:
    """Whether the groups of a history changed, against histories of shuffled blocks of rows.

    Attributes:
        false_alarms: chance of at least one break in a history without a change.
        draws: number of shuffled histories.
        block: rows of a block.
        tested: number of windows that were tested, all against rows that they do not share.
        p_value: chance that a history without a change has so large a change somewhere.
        movers: for each break, the instruments that only 2 % of shuffled histories move as much.
        by_chance: numbers of instruments that move from one window to the next where the blocks
            of both are shuffled, and the groups fitted anew.
        instruments: number of instruments that the test used.
    """

    false_alarms: float
    draws: int
    block: int
    tested: int
    p_value: float | None
    movers: tuple[tuple[Mover, ...], ...]
    by_chance: tuple[int, ...]
    instruments: int

    @property
    def usual_moves(self) -> float | None:
        """Mean number of instruments that move from window to window by chance."""
        return float(np.mean(self.by_chance)) if self.by_chance else None


@dataclass(frozen=True)
class Rolling:
    """The groups of every window.

    Attributes:
        windows: the windows in order of time.
        names: names of the instruments.
        identity: identity of the run where its windows were stored in a folder; None otherwise.
        changes: whether the groups changed by more than chance; None where it was not tested.
        kind: ``"tail"``, ``"gains"`` for the upper tail, or ``"correlation"``.
        half_life: rows in which the weight of a row halves; None for equal weights.
    """

    windows: tuple[Window, ...]
    names: tuple[str, ...]
    identity: str | None = None
    changes: Changes | None = None
    kind: str = "tail"
    half_life: float | None = None

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
        """The windows with which the groups changed by more than chance."""
        return tuple(window for window in self.windows if window.broke)

    def labels(self) -> np.ndarray:  # (windows, n)
        """Group of each instrument in each window as a column of H; the columns are aligned.

        −1 stands for an instrument without a group, −2 for one that the window does not have.
        """
        out = np.full((len(self.windows), len(self.names)), ABSENT, dtype=np.int64)
        column = {name: j for j, name in enumerate(self.names)}
        for row, w in zip(out, self.windows, strict=True):
            chosen = slice(None) if w.fitted is None else list(w.fitted)
            row[chosen] = w.result.labels().cpu().numpy()
            for name, group in w.placed:
                row[column[name]] = group
        return out
