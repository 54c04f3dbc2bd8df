"""Whether groups changed between two stretches of time by more than chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.grouping.block_profiles import BlockProfiles
from symnmf.numerics import numpy_stream
from symnmf.options import whole_number

#: Rate of false alarms of a whole history; p-value from which a change is reported, which keeps
#: that rate in the hardest histories of `symnmf bench changes`, whose groups have volatilities of
#: their own that cluster; and number of shuffled histories.
FALSE_ALARMS, ALARM_P, DRAWS = 0.05, 0.02, 199
#: Rows of a block that separates two days: about a month of trading days. Blocks that are shuffled
#: are a fifth of a window, because volatility clusters for longer than a month.
BLOCK, WINDOW_BLOCKS = 21, 5
#: Shuffled histories of a small panel that are scored at once.
MANY_DRAWS = 8
#: Numbers of the profiles of one pass; larger ones are computed in parts.
PASS_NUMBERS = 20_000_000


@dataclass(frozen=True)
class ChangeTest:
    """Changes between pairs of stretches, compared with block-resampled histories.

    Attributes:
        statistic: (pairs,) Σ_i s_i², where s_i is how much better the new group of an instrument
            fits after the change, and its old group before it; 0 for one that stays.
        p_value: (pairs,) share of resampled histories whose *largest* statistic reaches this one,
            never below 1 / (draws + 1): a rate of false alarms for the whole history, over all
            families of pairs.
        moved: (pairs,) instruments whose best group differs between the two stretches.
        by_chance: (draws, pairs) the same number in the resampled histories.
        scores: (pairs, n) s_i.
        score_p: (pairs, n) share of resampled histories in which the instrument itself scores as
            high between these stretches; 1 for one that stays.
        before, after: (pairs, n) best group of each instrument in the two stretches.
        draws: number of resampled histories.
        block: rows of a block.
    """

    statistic: np.ndarray
    p_value: np.ndarray
    moved: np.ndarray
    by_chance: np.ndarray
    scores: np.ndarray
    score_p: np.ndarray
    before: np.ndarray
    after: np.ndarray
    draws: int
    block: int


def change_test(
    profiles: BlockProfiles,
    first: np.ndarray,
    second: np.ndarray,
    *,
    families: np.ndarray | None = None,
    within: tuple[int, int] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> ChangeTest:
    """Compare pairs of stretches of time with the same pairs in histories of shuffled blocks.

    Without a change, the order of the blocks carries no information about groups: the statistic
    of the data is then one of many equal draws, whatever the law of the returns within a block.
    The reference groups of the profiles must not depend on that order.

    Pairs of one family, such as stretches of one length, share the distribution of their largest
    statistic. Families are compared by their p-values, and the smallest of these is compared with
    the smallest of the shuffled histories.

    Arguments:
        profiles: sums over the blocks of the history.
        first, second: (pairs, blocks) blocks of the two stretches of each pair, as 0 and 1.
        families: (pairs,) number of the family of each pair; one family by default.
        within: first block and the one after the last of those that are shuffled; all by default.
        draws: number of shuffled histories.
        seed: seed of the shuffles.

    Raises:
        InvalidInput: a number is out of range.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> g = rng.normal(size=(400, 2))
        >>> X = g[:, [0, 0, 0, 0, 1, 1, 1, 1]] + rng.normal(size=(400, 8))
        >>> X[200:, 0] = g[200:, 1] + rng.normal(size=200)  # the first one changes sides
        >>> made = BlockProfiles(X, np.repeat([0, 1], 4), 2, block=20)
        >>> halves = np.repeat(np.eye(2), 10, axis=1)
        >>> found = change_test(made, halves[:1], halves[1:])
        >>> float(found.p_value[0]), found.moved.tolist(), int(found.scores[0].argmax())
        (0.005, [1], 0)

    Reference: Westfall and Young (1993), Resampling-Based Multiple Testing; for the exactness of
    permutations Hoeffding (1952), doi:10.1214/aoms/1177729436.
    """
    draws = whole_number("draws", draws, 1, 1_000_000)
    scores, before, after = change_scores(profiles, first, second)
    statistic = np.square(scores).sum(axis=1)
    family = np.zeros(len(first), dtype=np.int64) if families is None else families
    members = [np.flatnonzero(family == f) for f in np.unique(family)]
    rng = numpy_stream(seed, "breaks")
    low, high = within or (0, profiles.count)
    largest, reached = np.zeros((draws, len(members))), np.ones(scores.shape)
    by_chance = np.empty((draws, len(first)), dtype=np.int64)
    at_once = max(1, min(MANY_DRAWS, PASS_NUMBERS // (50 * len(first) * profiles.n * profiles.k)))
    for begin in range(0, draws, at_once):
        count = min(at_once, draws - begin)
        order = np.tile(np.arange(profiles.count), (count, 1))
        for row in order:
            row[low:high] = low + rng.permutation(high - low)
        masks = (
            side[:, order].swapaxes(0, 1).reshape(-1, profiles.count) for side in (first, second)
        )
        parts = change_scores(profiles, *masks)
        drawn, old, new = (part.reshape(count, len(first), -1) for part in parts)
        squares = np.square(drawn).sum(axis=2)
        for place, some in enumerate(members):
            largest[begin : begin + count, place] = squares[:, some].max(axis=1, initial=0.0)
        reached += (drawn >= scores).sum(axis=0)
        by_chance[begin : begin + count] = (old != new).sum(axis=2)
    p_value = np.empty(len(first))
    for place, some in enumerate(members):
        p_value[some] = _over_families(statistic[some], place, largest, statistic, members)
    return ChangeTest(
        statistic, p_value, (before != after).sum(axis=1), by_chance, scores,
        reached / (draws + 1), before, after, draws, profiles.block,
    )  # fmt: skip


def _over_families(
    values: np.ndarray,  # (pairs,)
    place: int,
    largest: np.ndarray,  # (draws, families)
    statistic: np.ndarray,
    members: list[np.ndarray],
) -> np.ndarray:  # (pairs,)
    """p-values of pairs of a family over all families: the smallest p-value against its own law.

    Reference: Westfall and Young (1993); Ge, Dudoit and Speed (2003), doi:10.1007/BF02595811.
    """
    draws = len(largest)
    mine = (1 + (largest[:, place, None] >= values).sum(axis=0)) / (draws + 1)
    if len(members) == 1:
        return np.asarray(mine)
    own = np.array([statistic[some].max(initial=0.0) for some in members])
    every = np.vstack((largest, own))  # the data are one of draws + 1 equal histories
    above = (every[None] >= largest[:, None]).sum(axis=1) / (draws + 1)  # (draws, families)
    least = above.min(axis=1)
    return np.asarray((1 + (least[:, None] <= mine).sum(axis=0)) / (draws + 1))


def change_scores(
    profiles: BlockProfiles, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How clearly each instrument changed its group, and its two groups, for each pair.

    Arguments:
        profiles: sums over the blocks of the history.
        first, second: (pairs, blocks) blocks of the two stretches of each pair.
    """
    parts = []
    size = max(1, PASS_NUMBERS // (2 * profiles.n * profiles.k))
    for begin in range(0, len(first), size):
        pair = slice(begin, begin + size)
        one, two = profiles.over(first[pair]), profiles.over(second[pair])
        a, b = one.groups[:, :, None], two.groups[:, :, None]
        gain = _at(two.values, b) - _at(two.values, a)
        loss = _at(one.values, a) - _at(one.values, b)
        parts.append((gain + loss, one.groups, two.groups))
    scores, before, after = (np.concatenate(x) for x in zip(*parts, strict=True))
    return scores, before, after


def _at(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, groups, axis=2)[:, :, 0]


def block_length(window: int) -> int:
    """Rows of a block that is shuffled: a fifth of a window.

    Example:
        >>> block_length(500), block_length(1000), block_length(3)
        (100, 200, 1)
    """
    return max(1, window // WINDOW_BLOCKS)
