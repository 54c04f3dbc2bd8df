"""Groups through time: windows over a table, who moved, and when it broke."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from symnmf import files
from symnmf.contract import Earlier, Problem, Result, whole
from symnmf.data.panel import Panel, read_panel
from symnmf.dependence import DEPENDENCE, estimate
from symnmf.dependence.correlation import abs_from_product
from symnmf.errors import AmbiguousWarning, InvalidInput, UnknownName
from symnmf.factorize import run
from symnmf.files import safe_cell
from symnmf.groups.naming import align, ordered
from symnmf.operators import SymmetricOperator

#: A break: agreement with the window before this far below its usual level, in robust deviations.
BREAK, LEAST_DROP = 4.0, 0.1


@dataclass(frozen=True)
class Window:
    """One window of a table and its groups.

    Attributes:
        number: from 0 on.
        begin, stop: its rows of the panel; ``first`` and ``last`` their dates.
        result: factorization, its columns in the order of the window before.
        ari_before: agreement of labels with the window before.
        ari_width: with the last window that shares no date with this one.
        moved: names whose group is not that of the window before.
        broke: whether this window breaks with those before it.
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
        windows: in order of time.
        names: of the instruments.
    """

    windows: tuple[Window, ...]
    names: tuple[str, ...]

    @property
    def products(self) -> float:
        """Of all windows together, with k columns."""
        return sum(window.result.products for window in self.windows)

    @property
    def breaks(self) -> tuple[Window, ...]:
        """Windows that break with those before."""
        return tuple(window for window in self.windows if window.broke)

    def labels(self) -> np.ndarray:  # (windows, n)
        """Group of each instrument in each window; columns are aligned, so numbers compare."""
        return np.stack([w.result.labels().cpu().numpy() for w in self.windows])


def rolling(
    table: Any,
    window: int,
    step: int,
    k: int,
    dependence: str = "tail",
    *,
    seed: int = 0,
    n_init: int = 1,
    warm: bool = True,
    on_window: Callable[[Window], None] | None = None,
    **options: Any,
) -> Rolling:
    """Groups of a table in windows that move through time.

    Every window is fitted from a cold start and from the groups of the window before, both on the
    surrogate, and the better is kept: groups that only persist because they were there do not
    count as stable. Eigenvectors are found from those of the window before, which saves nearly half
    of the products of S where S is not its own surrogate.

    Arguments:
        table: a panel, or a table of returns.
        window: rows of a window.
        step: rows from one window to the next.
        k: number of groups.
        dependence: ``"tail"`` or ``"correlation"``. The sums of a correlation are carried from
            window to window: only dates that enter and leave are touched. Ranks change with every
            date, so that the TPDM is estimated afresh.
        seed: of every draw.
        n_init: cold starts.
        warm: start from the window before as well.
        on_window: called with every window when it is done.
        options: of the estimator.

    Example:
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = read_panel(sp500_prices(), kind="prices")
        >>> found = rolling(panel, 1000, 1000, 3, "correlation")
        >>> len(found.windows), found.windows[0].last
        (8, '1993-12-14')
    """
    panel = table if isinstance(table, Panel) else read_panel(table, kind="returns")
    if dependence not in DEPENDENCE:
        raise UnknownName(
            "dependence", f"unknown dependence {dependence!r}", f"Choose {' or '.join(DEPENDENCE)}"
        )
    T = len(panel.values)
    window = whole("window", window, 2, T, f"from 2 to the {T} rows of the table")
    step = whole("step", step, 1, T, "that is positive")
    found: list[Window] = []
    earlier: Earlier | None = None
    for begin, S in _matrices(panel, window, step, dependence, options):
        problem = Problem(S, k, seed, earlier=earlier if warm else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AmbiguousWarning)  # said once for all windows
            result = run(problem, n_init=n_init)
        if found:
            order = align(result.H, found[-1].result.H)
            result = replace(result, H=result.H[:, order].contiguous())
        else:
            result = ordered(result)
        found.append(_window(panel, begin, window, step, result, found))
        if on_window is not None:
            on_window(found[-1])
        vectors = problem.spectrum.vectors
        earlier = Earlier(result.H, vectors) if bool(result.H.any()) else None
    _warn_of_ambiguity(found)
    return Rolling(tuple(found), tuple(panel.names))


def _warn_of_ambiguity(found: list[Window]) -> None:
    unclear = [w for w in found if w.result.certificate.ambiguous]
    if unclear:
        warnings.warn(
            f"in {len(unclear)} of {len(found)} windows, first in that to {unclear[0].last}, "
            "starts that fit as well find other groups: moves there may mean nothing; take another "
            "k or longer windows.",
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
        ari_before = float(adjusted_rand_score(last, labels))
        moved = tuple(panel.names[i] for i in np.flatnonzero(last != labels))
        apart = -(-width // step)  # windows until they share no date
        if len(before) >= apart:
            other = before[-apart].result.labels().cpu().numpy()
            ari_width = float(adjusted_rand_score(other, labels))
    usual = np.array([w.ari_before for w in before if w.ari_before is not None])
    broke = False
    if ari_before is not None and len(usual) >= 3:
        middle = float(np.median(usual))
        spread = 1.4826 * float(np.median(np.abs(usual - middle)))
        broke = middle - ari_before > max(LEAST_DROP, BREAK * spread)
    return Window(
        len(before), begin, begin + width, words[0], words[1], result, ari_before, ari_width,
        moved, broke,
    )  # fmt: skip


def _matrices(
    panel: Panel, window: int, step: int, dependence: str, options: dict[str, Any]
) -> Iterator[tuple[int, SymmetricOperator]]:
    """The dependence matrix of every window, with the row where it begins."""
    begins = range(0, len(panel.values) - window + 1, step)
    for begin in begins:
        _check_constant(panel, begin, begin + window)
    plain = dependence == "correlation" and not options and not np.isnan(panel.values).any()
    if not plain:
        for begin in begins:
            yield begin, estimate(dependence, panel.rows(begin, begin + window), **options)
        return
    sums = MovingSums(panel.values)
    for begin in begins:
        sums.move(begin, begin + window)
        yield begin, sums.operator(panel)


def _check_constant(panel: Panel, begin: int, stop: int) -> None:
    values = panel.values[begin:stop]
    same = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    if same.any():
        first, last = panel.date_words(np.array([begin, stop - 1]))
        raise InvalidInput(
            "window",
            f"{panel.names[int(same.argmax())]!r} does not move from {first} to {last}",
            "Leave it out, or take a longer window",
        )


class MovingSums:
    """Σ x and Σ x xᵀ over a window of rows; moving it touches only rows that enter or leave.

    Arguments:
        X: (T, n) returns.
    """

    def __init__(self, X: np.ndarray):
        self.X = torch.from_numpy(X - X.mean(axis=0))  # about the size of the deviations
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
        """R of the window."""
        count = self.stop - self.begin
        R = self.second - torch.outer(self.first, self.first) / count
        size = R.diagonal().clamp(min=0).sqrt()
        return R.div_(size).div_(size[:, None])

    def operator(self, panel: Panel) -> SymmetricOperator:
        """|R| as :func:`symnmf.abs_correlation` would make it of these rows."""
        X = self.X[self.begin : self.stop].T.clone()
        made = abs_from_product(self.correlation(), X)
        made.names = panel.names
        return made


def save_rolling(found: Rolling, folder: str | Path) -> Path:
    """Write windows (``windows.csv``), labels by window and name, and all loadings.

    ``windows.csv`` is written last: where it is, the others are whole.
    """
    import pandas as pd

    folder = Path(folder)
    with files.lock(folder):
        dates = [w.last for w in found.windows]
        labels = pd.DataFrame(found.labels(), index=pd.Index(dates, name="last"))
        labels.columns = pd.Index([safe_cell(name) for name in found.names])
        loadings = pd.concat(
            pd.DataFrame(w.result.H.cpu().numpy(), columns=_columns(w)).assign(
                last=w.last, name=list(found.names)
            )
            for w in found.windows
        )
        rows = [
            {
                "first": w.first,
                "last": w.last,
                "status": w.result.status.name,
                "excess": w.result.certificate.excess,
                "products": w.result.products,
                "ari_before": w.ari_before,
                "ari_width": w.ari_width,
                "moved": len(w.moved),
                "broke": w.broke,
                "who": " ".join(w.moved),
            }
            for w in found.windows
        ]
        files.about_to("remove")
        (folder / "windows.csv").unlink(missing_ok=True)  # no old windows beside new labels
        with files.atomic(folder / "labels.csv") as temporary:
            labels.to_csv(temporary)
        with files.atomic(folder / "loadings.parquet") as temporary:
            loadings.to_parquet(temporary, index=False)
        with files.atomic(folder / "windows.csv") as temporary:
            pd.DataFrame(rows).map(safe_cell).to_csv(temporary, index=False)
    return folder


def _columns(w: Window) -> list[str]:
    return [f"group_{j}" for j in range(w.result.H.shape[1])]
