"""Who moves from which group to which, from window to window."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from symnmf.grouping.naming import groups
from symnmf.grouping.windows import ABSENT, Rolling


@dataclass(frozen=True)
class Flows:
    """Sizes of the groups in some windows, and moves between successive ones of them.

    Attributes:
        windows: numbers of the windows.
        dates: last date of each.
        sizes: (windows, k) members of each group.
        moves: (windows − 1, k, k) instruments that were in the first group and are in the second.
        entered, left: (windows − 1,) instruments that only the later, or only the earlier has.
        names: name of each group: its number, and its leader in the last window that has one.
    """

    windows: tuple[int, ...]
    dates: tuple[str, ...]
    sizes: np.ndarray
    moves: np.ndarray
    entered: np.ndarray
    left: np.ndarray
    names: tuple[str, ...]


def flows(found: Rolling, most: int = 30) -> Flows:
    """The flows between windows; of very many windows, some at equal distances and the breaks.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
        most: maximum number of windows.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> made = flows(sn.rolling(panel, 4000, 4000, 3, "correlation", draws=0))
        >>> made.sizes.sum(axis=1).tolist(), int(made.moves.sum())
        ([20, 20], 20)
    """
    count = len(found.windows)
    chosen = np.arange(count)
    if count > most:
        even = np.round(np.linspace(0, count - 1, max(2, most - len(found.breaks)))).astype(int)
        broke = np.array([w.number for w in found.breaks], dtype=np.int64)
        chosen = np.union1d(even, broke)
    labels = found.labels()[chosen]
    k = max((w.result.H.shape[1] for w in found.windows), default=0)
    sizes = np.stack([np.bincount(row[row >= 0], minlength=k) for row in labels])
    moves = np.zeros((max(0, len(chosen) - 1), k, k), dtype=np.int64)
    for at, (a, b) in enumerate(pairwise(labels)):
        both = (a >= 0) & (b >= 0)
        np.add.at(moves[at], (a[both], b[both]), 1)
    here = labels > ABSENT
    entered, left = (here[1:] & ~here[:-1]).sum(axis=1), (here[:-1] & ~here[1:]).sum(axis=1)
    return Flows(
        tuple(int(c) for c in chosen),
        tuple(found.windows[c].last for c in chosen),
        sizes, moves, entered, left, latest_names(found),
    )  # fmt: skip


def latest_names(found: Rolling) -> tuple[str, ...]:
    """Number and leader of each group, the leader being that of the last window that has one."""
    k = max((w.result.H.shape[1] for w in found.windows), default=0)
    names = [str(g + 1) for g in range(k)]
    missing = set(range(k))
    for window in reversed(found.windows):
        for group in groups(window.result):
            if group.column in missing:
                names[group.column] = group.name
                missing.discard(group.column)
        if not missing:
            break
    return tuple(names)


def moves_of(found: Rolling, number: int) -> dict[tuple[int, int], list[str]]:
    """Instruments that moved into a window, by the column of H that they left and joined.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
        number: number of the window; its moves are those since the window before.
    """
    if number == 0:
        return {}
    labels = [found.windows[i].labels_by_name() for i in (number - 1, number)]
    out: dict[tuple[int, int], list[str]] = {}
    for name in found.windows[number].moved:
        pair = (labels[0][name], labels[1][name])
        out.setdefault(pair, []).append(name)
    return dict(sorted(out.items(), key=lambda item: -len(item[1])))
