"""Breaks of a rolled history: windows that share no days, against shuffled blocks of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.dependence.resampling import shuffled_blocks
from symnmf.errors import SymnmfError
from symnmf.factorization import Request, run
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
#: Pairs of windows that are shuffled and fitted anew, and the number for many instruments.
REFITS, FEW_REFITS, MANY_INSTRUMENTS = 6, 3, 1000
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these groups are not reported
        found = run(Problem(DenseOperator(S), k, seed), Request(n_init=2), handle_interrupt=False)
    return np.asarray(found.labels().cpu().numpy())


def with_changes(
    panel: Panel,
    windows: Sequence[Window],
    dependence: str,
    options: Mapping[str, Any],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[list[Window], Changes | None]:
    """The windows with their p-values and breaks, and the evidence.

    A stretch of history has a break where the p-value of the whole stretch is at most 2 %, which
    keeps false alarms below 5 %; see :class:`symnmf.grouping.break_search.BreakSearch`.

    Arguments:
        panel: the returns.
        windows: what was found in them.
        dependence, options: how dependence was estimated.
        draws: number of shuffled histories; 0 tests nothing.
        seed: seed of the shuffles.
    """
    if not windows or draws < 1:
        return list(windows), None
    width, k = windows[0].stop - windows[0].begin, windows[0].result.H.shape[1]
    begins = np.array([w.begin for w in windows])
    tested = changes_of_windows(
        panel, begins, width, k, dependence, options, draws=draws, seed=seed
    )
    block = block_length(width)
    if tested is None:
        return list(windows), Changes(FALSE_ALARMS, draws, block, 0, None, (), (), 0)
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
        tuple(movers), (), len(names),
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


def moves_by_chance(
    panel: Panel,
    windows: Sequence[Window],
    fit: Callable[[Panel, Result | None], Result],
    *,
    draws: int | None = None,
    seed: int = 0,
) -> tuple[int, ...]:
    """How many instruments move from one window to the next when time is shuffled.

    The rows of two successive windows are shuffled in blocks; the first and the last of them make
    two windows that overlap as the two do, and both are fitted as the windows were. What moves
    between them moves by chance.

    Arguments:
        panel: the returns.
        windows: the windows.
        fit: the fit of a panel, given the result of the window before.
        draws: number of pairs that are shuffled; by default 6, and 3 above 1 000 instruments.
        seed: seed of the shuffles.
    """
    many = len(panel.names) > MANY_INSTRUMENTS
    draws = (FEW_REFITS if many else REFITS) if draws is None else draws
    if len(windows) < 2 or draws < 1:
        return ()
    chosen = np.round(np.linspace(0, len(windows) - 2, min(draws, len(windows) - 1))).astype(int)
    counts = []
    for draw, number in enumerate(chosen):
        a, b = windows[number], windows[number + 1]
        common = sorted(set(_columns(a, panel)) & set(_columns(b, panel)))
        some = some_columns(panel, tuple(common) if len(common) < len(panel.names) else None)
        pair = (np.arange(a.begin, a.stop), np.arange(b.begin, b.stop))
        rng = numpy_stream(seed, "moves", draw)
        count = moves_when_shuffled(some, *pair, fit, rng)
        counts += [] if count is None else [count]
    return tuple(counts)


def moves_when_shuffled(
    panel: Panel,
    first: np.ndarray,
    second: np.ndarray,
    fit: Callable[[Panel, Result | None], Result],
    rng: np.random.Generator,
) -> int | None:
    """Number of instruments that move between two stretches after their rows are shuffled.

    Arguments:
        panel: the returns.
        first, second: rows of the two stretches, which may overlap.
        fit: the fit of a panel, given the result of the stretch before.
        rng: generator of the shuffle.

    Returns:
        The number; None where a shuffled stretch has too few rows of an instrument.
    """
    rows = np.union1d(first, second)
    block = max(1, min(BLOCK, len(rows) // MIN_BLOCKS))
    order = rows[shuffled_blocks(len(rows), rng, block)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the groups of shuffled rows are not reported
        try:
            one = fit(panel.at(order[np.searchsorted(rows, first)]), None)
            two = fit(panel.at(order[np.searchsorted(rows, second)]), one)
        except SymnmfError:
            return None
    return int((one.labels() != two.labels()).sum())


def _columns(window: Window, panel: Panel) -> Sequence[int]:
    return range(len(panel.names)) if window.fitted is None else window.fitted
