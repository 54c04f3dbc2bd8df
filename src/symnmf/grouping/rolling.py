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
from torch import Tensor

from symnmf.core.labels import adjusted_rand
from symnmf.core.problem import Problem, WarmStart
from symnmf.core.result import Result
from symnmf.data.panel import Panel, read_panel
from symnmf.defaults import DEPENDENCES
from symnmf.dependence import estimate
from symnmf.dependence.correlation import abs_from_product
from symnmf.dependence.moving_ranks import MovingRanks
from symnmf.dependence.tail import tail_dependence
from symnmf.dependence.tail_request import TailRequest
from symnmf.errors import AmbiguousWarning, InvalidInput, called
from symnmf.factorization import Request, run
from symnmf.grouping.comparison import align
from symnmf.grouping.rolling_folder import UnfinishedWindows
from symnmf.grouping.windows import Rolling, Window
from symnmf.operators import SymmetricOperator
from symnmf.options import choice, whole_number

#: A break: the agreement with the window before falls below its usual level by this many robust
#: deviations, and by at least this much.
BREAK_DEVIATIONS, LEAST_ARI_DROP = 4.0, 0.1


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
    on_window: Callable[[Window], None] | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    **options: Any,
) -> Rolling:
    """Groups of a table in windows that move through time.

    Every window is fitted from a cold start and from the groups of the window before, both on the
    surrogate, and the better fit is used: groups that persist only because the fit started from
    them do not count as stable. The eigenvectors are iterated from those of the window before,
    which saves nearly half of the products of S where S is not its own surrogate.

    Arguments:
        table: a panel, or a table of returns.
        window: number of rows of a window.
        step: number of rows from one window to the next.
        k: number of groups.
        dependence: ``"tail"`` or ``"correlation"``. The sums of a correlation, and the ranks
            behind the estimators ``"ramp"`` and ``"chi"``, are carried from window to window: only
            dates that enter or leave are compared. The other tail estimators are computed anew.
        seed: seed of every draw.
        n_init: number of cold starts; as for :func:`symnmf.factorize`.
        warm: whether to start from the window before as well.
        on_window: function called with every finished window.
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
        >>> found = rolling(panel, 1000, 1000, 3, "correlation")
        >>> len(found.windows), found.windows[0].last
        (8, '1993-12-14')
    """
    panel = table if isinstance(table, Panel) else read_panel(table, kind="returns")
    choice("dependence", dependence, DEPENDENCES)
    T = len(panel.values)
    window = whole_number("window", window, 2, T, f"from 2 to the {T} rows of the table")
    step = whole_number("step", step, 1, T)
    found: list[Window] = []
    warm_start: WarmStart | None = None
    with ExitStack() as stack:
        unfinished: UnfinishedWindows | None = None
        if folder is not None:
            request = (window, step, k, dependence, seed, n_init, warm, options)
            unfinished = stack.enter_context(UnfinishedWindows.of(folder, panel, request, force))
        for begin, estimated in _matrices(panel, window, step, dependence, options):
            known = unfinished.get(len(found)) if unfinished else None
            if known is None:
                problem = Problem(estimated(), k, seed, warm_start=warm_start if warm else None)
                result = _fit(problem, n_init, found)
                known = _window(panel, begin, window, step, result, found), problem.spectrum.vectors
                if unfinished:
                    unfinished.put(*known)
            found.append(known[0])
            if on_window is not None:
                on_window(found[-1])
            H = found[-1].result.H
            warm_start = WarmStart(H, known[1]) if bool(H.any()) else None
    _warn_of_ambiguity(found)
    return Rolling(
        tuple(found), tuple(panel.names), unfinished.cache.identity if unfinished else None
    )


def _fit(problem: Problem, n_init: int | None, before: list[Window]) -> Result:
    """The groups of a window, in the order of the window before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousWarning)  # one warning follows for all windows
        request = Request.of(n_init=n_init)
        result = run(problem, request, handle_interrupt=False)
    if not before:
        return result
    order = align(result.H, before[-1].result.H)
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
    panel: Panel, begin: int, width: int, step: int, result: Result, before: list[Window]
) -> Window:
    labels = result.labels().cpu().numpy()
    words = panel.date_words(np.array([begin, begin + width - 1]))
    ari_before = ari_width = None
    moved: tuple[str, ...] = ()
    if before:
        last = before[-1].result.labels().cpu().numpy()
        ari_before = float(adjusted_rand(last, labels))
        moved = tuple(panel.names[i] for i in np.flatnonzero(last != labels))
        apart = -(-width // step)  # number of windows until two of them share no date
        if len(before) >= apart:
            other = before[-apart].result.labels().cpu().numpy()
            ari_width = float(adjusted_rand(other, labels))
    usual = np.array([w.ari_before for w in before if w.ari_before is not None])
    broke = False
    if ari_before is not None and len(usual) >= 3:
        middle = float(np.median(usual))
        spread = 1.4826 * float(np.median(np.abs(usual - middle)))
        broke = middle - ari_before > max(LEAST_ARI_DROP, BREAK_DEVIATIONS * spread)
    return Window(
        len(before), begin, begin + width, words[0], words[1], result, ari_before, ari_width,
        moved, broke,
    )  # fmt: skip


def _matrices(
    panel: Panel, window: int, step: int, dependence: str, options: dict[str, Any]
) -> Iterator[tuple[int, Callable[[], SymmetricOperator]]]:
    """The first row of every window, and a function that estimates its dependence matrix."""
    begins = range(0, len(panel.values) - window + 1, step)
    for begin in begins:
        _check_constant(panel, begin, begin + window)
    plain = dependence == "correlation" and not options and not np.isnan(panel.values).any()
    ranked = _by_ranks(panel, options) if dependence == "tail" else None
    if ranked is not None:
        ranks = MovingRanks(panel.values)
        for begin in begins:
            ranks.move(begin, begin + window)
            rows = panel.rows(begin, begin + window)
            yield begin, partial(ranked.from_scores, rows, ranks.scores())
        return
    if not plain:
        for begin in begins:
            yield begin, partial(estimate, dependence, panel.rows(begin, begin + window), **options)
        return
    sums = MovingSums(panel.values)
    for begin in begins:
        sums.move(begin, begin + window)
        yield begin, partial(sums.operator, panel)


def _by_ranks(panel: Panel, options: dict[str, Any]) -> TailRequest | None:
    """The estimate of tail dependence, if ranks that move with the window determine it."""
    every = {**(tail_dependence.__kwdefaults__ or {}), **options}
    if every["shrinkage"] != "none":
        return None
    try:
        request = TailRequest.of(panel, **every)
    except TypeError:  # an unknown option, which the estimator itself reports
        return None
    return request if request.by_ranks else None


def _check_constant(panel: Panel, begin: int, stop: int) -> None:
    values = panel.values[begin:stop]
    same = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    if same.any():
        first, last = panel.date_words(np.array([begin, stop - 1]))
        raise InvalidInput(
            "window",
            f"{panel.names[int(same.argmax())]!r} is constant from {first} to {last}",
            "Leave it out, or use a longer window",
        )


class MovingSums:
    """Σ x and Σ x xᵀ over a window of rows, updated with the rows that enter or leave.

    Arguments:
        X: (T, n) returns.
    """

    def __init__(self, X: np.ndarray):
        # Centred, so that the sums do not lose digits to the mean.
        self.X = torch.from_numpy(X - X.mean(axis=0))
        n = X.shape[1]
        self.begin = self.stop = 0
        self.first = torch.zeros(n, dtype=torch.float64)
        self.second = torch.zeros(n, n, dtype=torch.float64)

    def move(self, begin: int, stop: int) -> None:
        """Make the window the rows from ``begin`` to ``stop``."""
        if begin >= self.stop:
            self.first.zero_()
            self.second.zero_()
            self._add(begin, stop, 1.0)
        else:
            self._add(self.stop, stop, 1.0)
            self._add(self.begin, begin, -1.0)
        self.begin, self.stop = begin, stop

    def _add(self, begin: int, stop: int, sign: float) -> None:
        rows = self.X[begin:stop]
        self.first += sign * rows.sum(dim=0)
        self.second.addmm_(rows.T, rows, alpha=sign)

    def correlation(self) -> Tensor:  # (n, n)
        """The correlation matrix of the window."""
        count = self.stop - self.begin
        R = self.second - torch.outer(self.first, self.first) / count
        size = R.diagonal().clamp(min=0).sqrt()
        return R.div_(size).div_(size[:, None])

    def operator(self, panel: Panel) -> SymmetricOperator:
        """|R| as :func:`symnmf.abs_correlation` estimates it from these rows."""
        X = self.X[self.begin : self.stop].T.clone()
        return abs_from_product(self.correlation(), X, panel.names)
