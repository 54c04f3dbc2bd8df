"""Groups through time: windows over a table, instruments that moved, and breaks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from symnmf.core.labels import adjusted_rand
from symnmf.core.problem import Problem, WarmStart
from symnmf.core.result import Result
from symnmf.core.result_warnings import unreported
from symnmf.data.panel import Panel, read_panel
from symnmf.defaults import DEPENDENCES, N_INIT
from symnmf.errors import AmbiguousWarning, InvalidInput, called
from symnmf.factorization import run
from symnmf.fit_request import Request
from symnmf.grouping.break_test import DRAWS
from symnmf.grouping.comparison import align
from symnmf.grouping.joint_crashes import window_dependence
from symnmf.grouping.rolling_folder import UnfinishedWindows
from symnmf.grouping.universe import Universe, place_newcomers
from symnmf.grouping.window_changes import (
    changes_of_windows,
    moves_by_chance,
    places_of_chance,
    with_changes,
)
from symnmf.grouping.window_matrices import WindowEstimate, window_matrices
from symnmf.grouping.windows import Rolling, Window
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator
from symnmf.options import choice, whole_number
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.worker_threads import Meanwhile, one_ahead

#: Cold starts of a window that also starts from the window before, without what the other windows
#: have: further draws of k-means, seeds that lost the race of the first start, and the next best
#: factors at the end. These take as long as the rest of the fit, and hardly better a warm start.
CARRIED_STARTS, CARRIED = 2, Schedule(kmeans_draws=1, pool_size=1, finish_starts=1)


def rolling(
    table: Any,
    window: int,
    step: int,
    k: int,
    dependence: str = "tail",
    *,
    seed: int = 0,
    n_init: int | None = None,
    warm: bool = True,
    half_life: float | None = None,
    draws: int = DRAWS,
    on_window: Callable[[Window], None] | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    **options: Any,
) -> Rolling:
    """Groups of a table in windows that move through time, and whether they changed.

    Every window is fitted from cold starts and from the groups of the window before, all on the
    surrogate, and the best fit is used: groups that persist only because the fit started from
    them do not count as stable. The eigenvectors are iterated from those of the window before,
    which saves nearly half of the products of S where S is not its own surrogate.

    At the end the history is tested (``changes``): each window is compared with as many rows just
    before it, which it does not share. A break is a change that only 2 % of shuffled histories
    reach anywhere; false alarms are then below 5 % also where volatility clusters
    (:func:`symnmf.grouping.break_test.change_test`).

    Arguments:
        table: a panel, or a table of returns. In a panel with missing numbers instruments may
            enter and leave: a window fits those that have at least 90 % of its rows, and places
            those that have at least 20 % by their loadings.
        window: number of rows of a window.
        step: number of rows from one window to the next.
        k: number of groups.
        dependence: ``"tail"`` or ``"correlation"``. The sums of a correlation are carried from
            window to window. With several threads of torch the next window is estimated and the
            history is tested while a window is fitted.
        seed: seed of every draw.
        n_init: number of cold starts; by default 5 in the first window, and 2 in windows that
            also start from the window before.
        warm: whether to start from the window before as well.
        half_life: number of rows in which the weight of a row halves, from the end of a window
            backwards; by default all rows of a window have the same weight.
        draws: number of shuffled histories behind the breaks; 0 tests nothing.
        on_window: function called with every finished window, before breaks are tested.
        folder: folder in which every finished window is stored. The same call resumes there and
            gives the same bits; :func:`symnmf.save_rolling` to that folder completes it.
        force: whether windows that the folder already holds may be replaced.
        options: further arguments of the estimator of the dependence.

    Returns:
        The windows in order of time, each with its groups.

    Raises:
        InvalidInput: a size is out of range, or an instrument is constant in a window.

    Example:
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = read_panel(sp500_prices(), kind="prices")
        >>> found = rolling(panel, 2000, 2000, 3, "correlation")
        >>> len(found.windows), found.windows[0].last
        (4, '1997-11-26')
    """
    panel = table if isinstance(table, Panel) else read_panel(table, kind="returns")
    choice("dependence", dependence, DEPENDENCES)
    T = len(panel.values)
    window = whole_number("window", window, 2, T, f"from 2 to the {T} rows of the table")
    step = whole_number("step", step, 1, T)
    draws = whole_number("draws", draws, 0, 1_000_000)
    how = WindowEstimate(dependence, options, half_life)
    if half_life is not None and not half_life > 0:
        raise InvalidInput("half_life", f"got {half_life!r}", "Pass a number of rows above 0")
    found: list[Window] = []
    warm_start: WarmStart | None = None
    begins = np.arange(0, T - window + 1, step)
    places = places_of_chance(len(begins)) if draws else []
    with ExitStack() as stack:
        meanwhile, chance = stack.enter_context(Meanwhile()), []
        test = partial(
            changes_of_windows, panel, begins, window, k, dependence, options, draws=draws,
            seed=seed,
        )  # fmt: skip
        unfinished: UnfinishedWindows | None = None
        if folder is not None:
            request = (window, step, k, dependence, seed, n_init, warm, half_life, options)
            unfinished = stack.enter_context(UnfinishedWindows.of(folder, panel, request, force))
        tested = meanwhile.begin(test) if draws else None
        matrices = window_matrices(panel, begins, window, how)
        for begin, universe, known, S in one_ahead(_stored_or_estimated(matrices, unfinished)):
            if known is None:
                assert S is not None
                same = bool(found) and found[-1].fitted == universe.fitted
                problem = Problem(S, k, seed, warm_start=warm_start if warm and same else None)
                result = _fit(problem, n_init)
                if found:
                    result = _in_order_of(result, found[-1])
                made = _window(panel, begin, window, step, result, universe, S, how, found)
                known = made, problem.spectrum.vectors
                if unfinished:
                    unfinished.put(*known)
            found.append(known[0])
            if len(found) - 2 in places:
                refit = Refit(how, k, seed, n_init, warm, warm_start)
                rng = numpy_stream(seed, "moves", len(found) - 2)
                chance.append(
                    meanwhile.begin(
                        partial(moves_by_chance, panel, found[-2], found[-1], refit, rng)
                    )
                )
            if on_window is not None:
                on_window(found[-1])
            H = found[-1].result.H
            warm_start = WarmStart(H, known[1]) if bool(H.any()) else None
        _warn_of_ambiguity(found)
        windows, changes = found, None
        if tested is not None:
            moves = tuple(count for counts in chance for count in counts())
            windows, changes = with_changes(panel, found, tested(), moves, draws)
    identity = unfinished.cache.identity if unfinished else None
    kind = dependence if how.lower else "gains"
    return Rolling(tuple(windows), tuple(panel.names), identity, changes, kind, half_life)


def _stored_or_estimated(
    matrices: Iterator[tuple[int, Universe, Callable[[], SymmetricOperator]]],
    unfinished: UnfinishedWindows | None,
) -> Iterator[tuple[int, Universe, tuple[Window, torch.Tensor] | None, SymmetricOperator | None]]:
    """First row and instruments of every window, and what is stored of it, else its matrix."""
    for number, (begin, universe, estimated) in enumerate(matrices):
        known = unfinished.get(number) if unfinished else None
        yield begin, universe, known, estimated() if known is None else None


class Refit:
    """The fit of a window, for other rows. It is not reported.

    Arguments:
        how: the estimate of dependence.
        k, seed, n_init, warm: as for :func:`rolling`.
        start: a fit of similar rows from which the first one starts as well.
    """

    def __init__(
        self,
        how: WindowEstimate,
        k: int,
        seed: int,
        n_init: int | None,
        warm: bool = True,
        start: WarmStart | None = None,
    ):
        self.how, self.k, self.seed, self.n_init, self.warm = how, k, seed, n_init, warm
        self.start, self._vectors = start, torch.empty(0)

    def __call__(self, panel: Panel, before: Result | None) -> Result:
        """The groups of a panel, in the order of those of a fit before."""
        start = self.start if before is None else WarmStart(before.H, self._vectors)
        if start is not None and not (self.warm and len(start.H) == len(panel.names)):
            start = None
        problem = Problem(self.how(panel), self.k, self.seed, warm_start=start)
        starts = self.n_init if self.n_init is not None else CARRIED_STARTS
        with unreported():
            result = run(problem, _request(problem, starts), handle_interrupt=False)
        self._vectors = problem.spectrum.vectors
        if before is None:
            return result
        order = align(result.H, before.H)
        return replace(result, H=result.H[:, order].contiguous())


def _fit(problem: Problem, n_init: int | None) -> Result:
    """The groups of a window."""
    starts = n_init
    if starts is None:
        starts = N_INIT if problem.warm_start is None else CARRIED_STARTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousWarning)  # one warning follows for all windows
        return run(problem, _request(problem, starts), handle_interrupt=False)


def _request(problem: Problem, starts: int) -> Request:
    """A fit with so many cold starts, which are shorter where there is a warm one."""
    schedule = None if problem.warm_start is None else CARRIED
    return replace(Request.of(n_init=starts), schedule=schedule)


def _in_order_of(result: Result, before: Window) -> Result:
    """A result with its columns in the order of a window, matched on the common members."""
    old = {name: i for i, name in enumerate(before.result.names or ())}
    new = {name: i for i, name in enumerate(result.names or ())}
    common = [name for name in new if name in old]
    if not common:
        return result
    mine = torch.tensor([new[name] for name in common])
    theirs = torch.tensor([old[name] for name in common])
    order = align(result.H[mine], before.result.H[theirs])
    return replace(result, H=result.H[:, order].contiguous())


def _warn_of_ambiguity(found: list[Window]) -> None:
    unclear = [w for w in found if w.result.certificate.ambiguous]
    if unclear:
        warnings.warn(
            f"in {len(unclear)} of {len(found)} windows, first in the one that ends "
            f"{unclear[0].last}, other starts fit as well and find other groups: moves there may "
            f"mean nothing. Try another {called('k')} or a larger {called('window')}.",
            AmbiguousWarning,
            stacklevel=3,
        )


def _window(
    panel: Panel,
    begin: int,
    width: int,
    step: int,
    result: Result,
    universe: Universe,
    S: SymmetricOperator,
    how: WindowEstimate,
    before: list[Window],
) -> Window:
    """A window with what its groups have in common with those before."""
    rows = panel.rows(begin, begin + width)
    fitted = slice(None) if universe.fitted is None else list(universe.fitted)
    words = panel.date_words(np.array([begin, begin + width - 1]))
    placed = place_newcomers(rows, universe, result, how.dependence, how.options)
    made = Window(
        len(before), begin, begin + width, words[0], words[1], result, None, None, (), False,
        universe.fitted, placed, window_dependence(S, result, rows.values[:, fitted], how.lower),
    )  # fmt: skip
    if not before:
        return made
    moved, ari_before = _compared(made, before[-1])
    ari_width = None
    apart = -(-width // step)  # number of windows until two of them share no date
    if len(before) >= apart:
        ari_width = _compared(made, before[-apart])[1]
    return replace(made, moved=moved, ari_before=ari_before, ari_width=ari_width)


def _compared(window: Window, other: Window) -> tuple[tuple[str, ...], float | None]:
    """Instruments whose group differs between two windows, and the agreement on common ones."""
    now, then = window.labels_by_name(), other.labels_by_name()
    common = [name for name in now if name in then]
    if len(common) < 2:
        return (), None
    moved = tuple(name for name in common if now[name] != then[name])
    return moved, adjusted_rand([then[name] for name in common], [now[name] for name in common])
