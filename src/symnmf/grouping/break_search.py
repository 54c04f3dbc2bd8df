"""Where a history breaks: stretches of two lengths before and after every window, and halving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.grouping.block_profiles import BlockProfiles
from symnmf.grouping.break_test import ALARM_P, ChangeTest, change_scores, change_test

#: Places of a history that are compared at most, over the length of a window and over the whole.
MAX_PAIRS, MAX_WHOLE = 60, 20


@dataclass(frozen=True)
class Break:
    """A break of a history.

    Attributes:
        window: number of the window that begins there.
        p_value: that of the stretch of history in which it was found.
        test: the test of the days between the break before and the break after it, one pair.
    """

    window: int
    p_value: float
    test: ChangeTest


class BreakSearch:
    """Breaks of a history, by stretches of two lengths and by halving.

    At the first row of every window two pairs of stretches are compared: as many rows as a window
    has before and after it, which finds a change that does not last, and all rows before and after
    it. One length alone has little power where the history is a few windows long: among all places
    of shuffled histories, some then have the days before a break on one side and those after it on
    the other, as the data have. All rows separate like that in no shuffled history.

    Where the smallest p-value is at most 2 %, the history breaks at the window whose pair of the
    first kind differs most, and the rows before and after it are searched in the same way.

    Arguments:
        profiles: sums over blocks of a fifth of a window, which are shuffled.
        sharp: sums over blocks of a month, which place a break.
        begins: first row of each window that can be tested.
        width: rows of a window.
        draws: number of shuffled histories.
        seed: seed of the shuffles.

    Reference: Vostrikova (1981), Soviet Mathematics Doklady 24, for halving; Fryzlewicz (2014),
    doi:10.1214/14-AOS1245, for stretches of several lengths.
    """

    def __init__(
        self,
        profiles: BlockProfiles,
        sharp: BlockProfiles,
        begins: np.ndarray,
        width: int,
        draws: int,
        seed: int,
    ):
        self.profiles, self.sharp, self.begins = profiles, sharp, begins
        self.width, self.draws, self.seed = width, draws, seed
        self.length = max(1, width // profiles.block)
        self.edges = _edges(begins, profiles.block)
        self.detail = self._detail()

    def run(self) -> tuple[np.ndarray, list[Break]]:
        """The p-value of every window, and the breaks in the order of time.

        A window's p-value is that of its own pair of a window's length; that of a break is the one
        of its stretch of history.
        """
        found: dict[int, float] = {}  # number of a window -> p-value
        p_values = self._halve(0, self.profiles.count, found)
        assert p_values is not None
        ends = [0, *sorted(int(self.edges[w]) for w in found), self.profiles.count]
        breaks = []
        for place, window in enumerate(sorted(found, key=lambda w: int(self.begins[w])), 1):
            low, edge, high = ends[place - 1 : place + 2]
            pair = _sides(np.array([edge]), low, high, self.profiles.count)
            test = change_test(
                self.profiles, *pair, within=(low, high), draws=self.draws, seed=self.seed
            )
            p_values[window] = found[window]
            breaks.append(Break(window, found[window], test))
        return p_values, breaks

    def _halve(self, low: int, high: int, found: dict[int, float]) -> np.ndarray | None:
        """Test the blocks from ``low`` to ``high``; on an alarm, both sides of the break, too.

        Returns:
            The p-values of all windows at the first level; None where no window can be tested.
        """
        inside = (self.edges - low >= self.length) & (high - self.edges >= self.length)
        windows = np.flatnonzero(inside)
        if not len(windows):
            return None
        edges, place = np.unique(self.edges[windows], return_inverse=True)
        near = _sides(edges, low, high, self.profiles.count, self.length)
        kinds = [near]
        if high - low > 2 * self.length:
            kinds.append(_sides(_spread(edges, MAX_WHOLE), low, high, self.profiles.count))
        test = change_test(
            self.profiles,
            np.vstack([first for first, _ in kinds]),
            np.vstack([second for _, second in kinds]),
            families=np.repeat(np.arange(len(kinds)), [len(first) for first, _ in kinds]),
            within=(low, high),
            draws=self.draws,
            seed=self.seed,
        )
        smallest = float(test.p_value.min())
        if smallest <= ALARM_P:
            largest = np.flatnonzero(place == int(test.statistic[: len(edges)].argmax()))
            middle = self.begins[windows[largest]].mean()
            block = self.profiles.block
            close = windows[np.abs(self.begins[windows] - middle) <= block]
            best = int(max(close, key=lambda w: float(self.detail[w])))
            found[best] = smallest
            edge = int(self.edges[best])
            self._halve(low, edge, found)
            self._halve(edge, high, found)
        return np.asarray(test.p_value[: len(edges)][place])

    def _detail(self) -> np.ndarray:  # (windows,)
        """The statistic of every window from blocks of a month."""
        sharp = self.sharp
        length = max(1, self.width // sharp.block)
        edges = _edges(self.begins, sharp.block)
        inside = np.flatnonzero((edges >= length) & (edges + length <= sharp.count))
        detail = np.zeros(len(self.begins))
        if len(inside):
            pairs = _sides(edges[inside], 0, sharp.count, sharp.count, length)
            detail[inside] = np.square(change_scores(sharp, *pairs)[0]).sum(axis=1)
        return detail


def usable_windows(begins: np.ndarray, width: int, block: int, blocks: int) -> np.ndarray:
    """Numbers of the windows that can be compared with as many rows before them; 60 at most.

    Arguments:
        begins: first row of each window.
        width: rows of a window.
        block: rows of a block.
        blocks: number of blocks of the history.

    Example:
        >>> usable_windows(np.array([0, 40, 60, 95]), 40, 10, 10)
        array([1, 2])
    """
    length = max(1, width // block)
    edges = _edges(begins, block)
    return _spread(np.flatnonzero((edges >= length) & (edges + length <= blocks)), MAX_PAIRS)


def named_movers(found: ChangeTest, place: int) -> list[int]:
    """Instruments whose own score only 2 % of shuffled histories reach, largest score first.

    Arguments:
        found: the test.
        place: number of the pair of stretches.
    """
    sure = (found.score_p[place] <= ALARM_P) & (found.scores[place] > 0)
    return [int(i) for i in np.argsort(-found.scores[place], kind="stable") if sure[i]]


def _edges(begins: np.ndarray, block: int) -> np.ndarray:
    """The block boundary that is nearest to each row."""
    edges: np.ndarray = np.round(np.asarray(begins) / block).astype(int)
    return edges


def _spread(values: np.ndarray, most: int) -> np.ndarray:
    """Evenly spaced ones of many values."""
    if len(values) <= most:
        return values
    return np.asarray(values[np.round(np.linspace(0, len(values) - 1, most)).astype(int)])


def _sides(
    edges: np.ndarray, low: int, high: int, blocks: int, length: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(edges, blocks) blocks before and after each edge: so many, or all from low to high."""
    at, edge = np.arange(blocks), edges[:, None]
    reach = blocks if length is None else length
    inside = (at >= low) & (at < high)
    before = inside & (at < edge) & (at >= edge - reach)
    return before, inside & (at >= edge) & (at < edge + reach)
