"""Breaks of a rolled history: windows that share no days, against shuffled blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.result_warnings import unreported
from symnmf.data.panel import Panel
from symnmf.dependence.resampling import shuffled_blocks
from symnmf.errors import SymnmfError
from symnmf.factorization import run
from symnmf.fit_request import Request
from symnmf.grouping.block_profiles import BlockProfiles, stationary_scores
from symnmf.grouping.break_search import Break, BreakSearch, named_movers, usable_windows
from symnmf.grouping.break_test import BLOCK, DRAWS, FALSE_ALARMS, ChangeTest, block_length
from symnmf.grouping.universe import some_columns
from symnmf.grouping.windows import Changes, Mover, Window
from symnmf.numerics import numpy_stream
from symnmf.operators import DenseOperator

#: Share of the rows that an instrument needs to take part, and the most instruments that do.
LEAST_HISTORY, MAX_INSTRUMENTS = 0.8, 4000
#: Numbers of block sums that are kept at once.
MAX_SUMS = 60_000_000
#: Places of a history whose rows are shuffled and fitted anew, moves that are counted at each, and
#: the number of instruments above which one move is.
PLACES, MOVES_A_PLACE, MANY_INSTRUMENTS = 3, 2, 1000
#: Blocks, at least, of the rows that are shuffled.
MIN_BLOCKS = 6


def reference_groups(X: np.ndarray, k: int, *, signed: bool, seed: int = 0) -> np.ndarray:  # (n,)
    """Groups of the whole history, which do not depend on the order of its rows.

    Arguments:
        X: (T, n) scores.
        k: number of groups.
        signed: whether the size of a correlation counts; otherwise negative ones count as zero.
        seed: seed of the fit.
    """
    Z = torch.from_numpy(X).to(torch.float32)
    Z = Z / torch.linalg.vector_norm(Z, dim=0).clamp(min=1e-30)
    R = Z.T @ Z
    S = (R.abs() if signed else R.clamp(min=0)).clamp_(max=1.0)
    S = ((S + S.T) / 2).fill_diagonal_(1.0)
    problem = Problem(DenseOperator(S), k, seed)
    with unreported():
        found = run(problem, Request(n_init=2), handle_interrupt=False)
    return np.asarray(found.labels().cpu().numpy())


def with_changes(
    panel: Panel,
    windows: Sequence[Window],
    tested: TestedWindows | None,
    by_chance: tuple[int, ...],
    draws: int,
) -> tuple[list[Window], Changes]:
    """The windows with their p-values and breaks, and the evidence.

    A stretch of history has a break where the p-value of the whole stretch is at most 2 %, which
    keeps false alarms below 5 %; see :class:`symnmf.grouping.break_search.BreakSearch`.

    Arguments:
        panel: the returns.
        windows: what was found in them.
        tested: what :func:`changes_of_windows` found.
        by_chance: what :func:`moves_by_chance` found.
        draws: number of shuffled histories.
    """
    block = block_length(windows[0].stop - windows[0].begin)
    if tested is None:
        return list(windows), Changes(FALSE_ALARMS, draws, block, 0, None, (), by_chance, 0)
    out = list(windows)
    for number, p in zip(tested.usable, tested.p_value, strict=True):
        out[number] = replace(out[number], p_value=float(p))
    names = [panel.names[j] for j in tested.columns]
    movers = []
    for found in tested.breaks:
        out[found.window] = replace(out[found.window], broke=True)
        movers.append(_movers(found.test, names, tested.labels, windows[found.window]))
    return out, Changes(
        FALSE_ALARMS, draws, block, len(tested.usable), float(tested.p_value.min()),
        tuple(movers), by_chance, len(names),
    )  # fmt: skip


@dataclass(frozen=True)
class TestedWindows:
    """The test of all windows of a history.

    Attributes:
        usable: numbers of the windows that were tested.
        p_value: (windows,) their p-values.
        breaks: the breaks, in the order of time; ``window`` is the number of a window.
        columns: columns of the instruments that took part.
        labels: their reference groups.
    """

    usable: np.ndarray
    p_value: np.ndarray
    breaks: tuple[Break, ...]
    columns: list[int]
    labels: np.ndarray


def changes_of_windows(
    panel: Panel,
    begins: np.ndarray,
    width: int,
    k: int,
    dependence: str,
    options: Mapping[str, Any],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> TestedWindows | None:
    """The test of all windows that have as many rows before them.

    Arguments:
        panel: the returns.
        begins: first row of each window.
        width: rows of a window.
        k: number of groups.
        dependence, options: how dependence is estimated.
        draws: number of shuffled histories.
        seed: seed of the shuffles.

    Returns:
        What was found; None where nothing can be tested.
    """
    block = block_length(width)
    columns = _with_history(panel, k, len(panel.values) // min(block, BLOCK), seed)
    usable = usable_windows(begins, width, block, len(panel.values) // block)
    if not len(usable) or k < 2 or len(columns) < 3:
        return None
    signed = dependence == "correlation" and options.get("negative", "absolute") == "absolute"
    X = stationary_scores(panel.values[:, columns], dependence, options)
    labels = reference_groups(X, min(k, len(columns) - 1), signed=signed, seed=seed)
    search = BreakSearch(
        BlockProfiles(X, labels, k, block, signed),
        BlockProfiles(X, labels, k, min(block, BLOCK), signed),
        begins[usable],
        width,
        draws,
        seed,
    )
    p_value, breaks = search.run()
    placed = tuple(replace(found, window=int(usable[found.window])) for found in breaks)
    return TestedWindows(usable, p_value, placed, columns, labels)


def _with_history(panel: Panel, k: int, blocks: int, seed: int) -> list[int]:
    """Instruments that have most rows; a sample of them where there are very many."""
    held = (~np.isnan(panel.values)).mean(axis=0) >= LEAST_HISTORY
    columns = np.flatnonzero(held)
    most = max(50, min(MAX_INSTRUMENTS, MAX_SUMS // max(1, k * blocks)))
    if len(columns) > most:
        columns = np.sort(numpy_stream(seed, "tested").permutation(columns)[:most])
    return [int(j) for j in columns]


def _movers(
    found: ChangeTest, names: Sequence[str], labels: np.ndarray, window: Window
) -> tuple[Mover, ...]:
    """Instruments that changed sides by more than chance; groups as the window has them."""
    match = _matched(labels, names, window)
    scores, before, after = found.scores[0], found.before[0], found.after[0]
    return tuple(
        Mover(names[i], match[int(before[i])], match[int(after[i])], float(scores[i]))
        for i in named_movers(found, 0)
    )


def _matched(labels: np.ndarray, names: Sequence[str], window: Window) -> dict[int, int]:
    """Column of H of the window that matches each reference group best."""
    from scipy.optimize import linear_sum_assignment

    k = window.result.H.shape[1]
    known = window.labels_by_name()
    counts = np.zeros((k, k))
    for reference, name in zip(labels, names, strict=True):
        mine = known.get(name, -1)
        if reference >= 0 and mine >= 0:
            counts[int(reference), mine] += 1
    rows, columns = linear_sum_assignment(-counts)
    return dict(zip(rows.tolist(), columns.tolist(), strict=True))


def places_of_chance(windows: int) -> list[int]:
    """Numbers of the windows at which moves by chance are counted, evenly over the history.

    Example:
        >>> places_of_chance(36), places_of_chance(2), places_of_chance(1)
        ([5, 17, 29], [0], [])
    """
    middle = (np.arange(PLACES) + 0.5) / PLACES * (windows - 1)
    return [int(i) for i in np.unique(middle.astype(int))] if windows > 1 else []


def moves_by_chance(
    panel: Panel,
    one: Window,
    two: Window,
    fit: Callable[[Panel, Result | None], Result],
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """How many instruments move from one window to the next when time is shuffled.

    The rows of two successive windows are shuffled in blocks, and :func:`moves_when_shuffled`
    counts what moves between windows that overlap as the two do. It moves by chance.

    Arguments:
        panel: the returns.
        one, two: two successive windows.
        fit: the fit of a panel, given the result of the window before.
        rng: generator of the shuffle.
    """
    common = sorted(set(_columns(one, panel)) & set(_columns(two, panel)))
    some = some_columns(panel, tuple(common) if len(common) < len(panel.names) else None)
    rows = np.arange(one.begin, one.stop), np.arange(two.begin, two.stop)
    moves = 1 if len(panel.names) > MANY_INSTRUMENTS else MOVES_A_PLACE
    return moves_when_shuffled(some, *rows, fit, rng, moves)


def moves_when_shuffled(
    panel: Panel,
    first: np.ndarray,
    second: np.ndarray,
    fit: Callable[[Panel, Result | None], Result],
    rng: np.random.Generator,
    moves: int = 1,
) -> tuple[int, ...]:
    """Numbers of instruments that move between two stretches after their rows are shuffled.

    The rows of both stretches are shuffled in blocks, and stand in a circle. The first stretch has
    the rows that then stand at its place, and the second those at its own; a third one lies as far
    from the second, and so on: each is fitted once for the move into it and the move out of it.

    Arguments:
        panel: the returns.
        first, second: rows of the two stretches, which may overlap.
        fit: the fit of a panel, given the result of the stretch before.
        rng: generator of the shuffle.
        moves: number of moves; fewer where the circle is closed before.

    Returns:
        The numbers; none where a shuffled stretch has too few rows of an instrument.
    """
    rows = np.union1d(first, second)
    block = max(1, min(BLOCK, len(rows) // MIN_BLOCKS))
    order = rows[shuffled_blocks(len(rows), rng, block)]
    places = np.searchsorted(rows, first), np.searchsorted(rows, second)
    stretches = list(places)
    if len(first) == len(second):
        apart = int(places[1][0] - places[0][0])
        most = min(moves, len(rows) // max(1, apart) - 1)
        stretches += [(places[1] + i * apart) % len(rows) for i in range(1, most)]
    counts: list[int] = []
    try:
        before = fit(panel.at(order[stretches[0]]), None)
        for place in stretches[1:]:
            after = fit(panel.at(order[place]), before)
            counts.append(int((before.labels() != after.labels()).sum()))
            before = after
    except SymnmfError:
        return ()
    return tuple(counts)


def _columns(window: Window, panel: Panel) -> Sequence[int]:
    return range(len(panel.names)) if window.fitted is None else window.fitted
