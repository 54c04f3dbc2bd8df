"""What changed between two periods, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symnmf.data.panel import Panel
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.grouping.block_profiles import BlockProfiles, stationary_scores
from symnmf.grouping.break_search import named_movers
from symnmf.grouping.break_test import ALARM_P, DRAWS, change_test
from symnmf.grouping.window_changes import moves_when_shuffled, reference_groups
from symnmf.numerics import numpy_stream

#: Fewest rows of a period, and blocks of the shorter one.
MIN_DAYS, PERIOD_BLOCKS = 25, 8
#: Pairs of shuffled periods that are fitted.
REFITTED = 4


@dataclass(frozen=True, repr=False)
class PeriodChange(Brief):
    """Whether the groups of a period differ from those of another by more than chance.

    Attributes:
        p_value: chance of so large a change where the order of the days means nothing.
        movers: where the p-value is at most 2 %, the names that changed sides by more than chance,
            largest change first: 2 % of the shuffled histories move them as much.
        by_chance: numbers of instruments that move between the two fits after blocks of days are
            shuffled; empty where no fit was given.
        shared: share of the days of the second period that the first one has, too.
        draws: number of shuffled histories.
        block: rows of a block.
    """

    p_value: float
    movers: tuple[str, ...]
    by_chance: tuple[int, ...]
    shared: float
    draws: int
    block: int


def compare_periods(
    panel: Panel,
    first: np.ndarray,
    second: np.ndarray,
    k: int,
    dependence: str = "tail",
    *,
    draws: int = DRAWS,
    fit: Callable[..., Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> PeriodChange:
    """Whether groups changed between two periods, which may overlap, by more than chance.

    Every instrument is placed with the group whose other members it follows most, in both periods,
    against groups of all days together; the change is compared with that after blocks of days are
    shuffled (:func:`symnmf.grouping.break_test.change_test`).

    Arguments:
        panel: returns of all days of both periods.
        first, second: row numbers of the two periods.
        k: number of groups.
        dependence: ``"tail"`` or ``"correlation"``.
        draws: number of shuffled histories.
        fit: a fit of a panel, given an earlier result; four pairs of shuffled periods are fitted
            with it to count how many instruments move by chance. None fits nothing.
        seed: seed of the shuffles.
        options: options of the estimator of the dependence.

    Raises:
        InvalidInput: the periods are too short, or have the same days.

    Example:
        >>> import symnmf as sn
        >>> rng = np.random.default_rng(0)
        >>> f, before, after = rng.normal(size=(400, 2)), [0, 0, 0, 0, 1, 1, 1, 1], [1, 0, 0, 0]
        >>> X = f[:, before] + 0.5 * rng.normal(size=(400, 8))
        >>> X[200:, :4] = f[200:, after] + 0.5 * rng.normal(size=(200, 4))
        >>> panel, days = sn.read_panel(X, kind="returns"), np.arange(400)
        >>> found = compare_periods(panel, days[:200], days[200:], 2, "correlation")
        >>> found.p_value, found.movers
        (0.005, ('0',))
    """
    first, second = np.unique(first), np.unique(second)
    rows = np.union1d(first, second)
    least = min(len(first), len(second))
    block = max(1, min(least // PERIOD_BLOCKS, len(np.setxor1d(first, second)) // 2))
    if least < MIN_DAYS or len(np.setxor1d(first, second)) < 2:
        raise InvalidInput(
            "second",
            f"the periods have {len(first)} and {len(second)} rows, "
            f"{len(np.setxor1d(first, second))} of which only one of them has",
            f"Pass two different periods of at least {MIN_DAYS} rows",
        )
    values = panel.values[rows]
    held = np.flatnonzero((~np.isnan(values)).mean(axis=0) >= 0.8)
    signed = dependence == "correlation" and options.get("negative", "absolute") == "absolute"
    X = stationary_scores(values[:, held], dependence, options)
    labels = reference_groups(X, min(k, len(held) - 1), signed=signed, seed=seed)
    profiles = BlockProfiles(X, labels, k, block, signed)
    masks = [_blocks(np.isin(rows, part), block, profiles.count) for part in (first, second)]
    found = change_test(profiles, *masks, draws=draws, seed=seed)
    chosen = named_movers(found, 0) if found.p_value[0] <= ALARM_P else []
    by_chance: list[int] = []
    if fit is not None:
        for draw in range(REFITTED):
            rng = numpy_stream(seed, "moves", draw)
            by_chance += moves_when_shuffled(panel, first, second, fit, rng)
    return PeriodChange(
        float(found.p_value[0]),
        tuple(panel.names[int(held[i])] for i in chosen),
        tuple(by_chance),
        len(np.intersect1d(first, second)) / len(second),
        draws,
        block,
    )


def _blocks(rows: np.ndarray, block: int, count: int) -> np.ndarray:  # (1, blocks)
    """Share of the rows of each block that belong to a period."""
    shares: np.ndarray = rows[: count * block].reshape(count, block).mean(axis=1)
    return shares[None, :]


def joined(old: Panel, new: Panel) -> Panel:
    """A panel with the days of both panels and the instruments of both; the newer numbers count.

    Arguments:
        old, new: panels with dates.

    Raises:
        InvalidInput: a panel has no dates, or they have fewer than two names in common.
    """
    if old.dates is None or new.dates is None:
        raise InvalidInput("panel", "the data have no dates", "Pass tables with dates")
    names = [name for name in new.names if name in set(old.names)]
    if len(names) < 2:
        raise InvalidInput("panel", f"{len(names)} names in common", "Pass the same instruments")
    column = [{name: j for j, name in enumerate(panel.names)} for panel in (old, new)]
    extra = ~np.isin(old.dates, new.dates)
    dates = np.concatenate([old.dates[extra], new.dates])
    values = np.concatenate(
        [
            old.values[extra][:, [column[0][name] for name in names]],
            new.values[:, [column[1][name] for name in names]],
        ]
    )
    order = np.argsort(dates, kind="stable")
    return replace(new, values=values[order], names=tuple(names), dates=dates[order])


def rows_between(panel: Panel, first: str, last: str) -> np.ndarray:
    """Rows from one date to another, both included.

    Arguments:
        panel: a panel with dates.
        first, last: dates such as ``"2015-06-30"``.
    """
    assert panel.dates is not None
    end = np.datetime64(last) + np.timedelta64(1, "D")
    return np.flatnonzero((panel.dates >= np.datetime64(first)) & (panel.dates < end))


def options_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options that the test of a change takes: those of the estimator that change its scores."""
    return {name: given[name] for name in ("tail", "q", "estimator", "negative") if name in given}
