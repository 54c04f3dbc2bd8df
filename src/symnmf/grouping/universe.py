"""Which instruments a window has: those that are fitted, and newcomers with a short history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.defaults import FRACTIONS
from symnmf.dependence.tail_weights import tail_weights
from symnmf.errors import InvalidInput
from symnmf.grouping.new_instruments import labels_for
from symnmf.numerics import average_ranks

#: Share of the rows of a window that a fitted instrument may lack, the least share that a
#: newcomer needs to be placed, and the least number of its rows.
MAX_HOLES, LEAST_SHARE, LEAST_ROWS = 0.1, 0.2, 30


@dataclass(frozen=True)
class Universe:
    """The instruments of a window.

    Attributes:
        fitted: numbers of the columns of the panel that are fitted; None for all of them.
        newcomers: numbers of the columns with too few rows for a fit, and enough to be placed.
    """

    fitted: tuple[int, ...] | None = None
    newcomers: tuple[int, ...] = ()


def universe_of(panel: Panel, begin: int, stop: int) -> Universe:
    """The instruments of the rows from ``begin`` to ``stop``.

    A table without missing numbers has one universe. Otherwise a window fits the instruments that
    have at least 90 % of its rows, and places those that have at least 20 % of them (and 30 rows).

    Arguments:
        panel: the returns; NaN where an instrument has none.
        begin, stop: rows of the window.

    Raises:
        InvalidInput: an instrument is constant in a complete table, or too few are left.
    """
    values = panel.values[begin:stop]
    known = ~np.isnan(values)
    complete = bool(known.all())
    high, low = (
        f(values, axis=0, initial=start, where=known)
        for f, start in ((np.max, -np.inf), (np.min, np.inf))
    )
    same = ~(high > low)
    first, last = panel.date_words(np.array([begin, stop - 1]))
    if complete:
        if same.any():
            raise InvalidInput(
                "window",
                f"{panel.names[int(same.argmax())]!r} is constant from {first} to {last}",
                "Leave it out, or use a longer window",
            )
        return Universe()
    rows, held = stop - begin, known.sum(axis=0)
    fitted = (held >= (1 - MAX_HOLES) * rows) & ~same
    fresh = (held >= max(LEAST_SHARE * rows, min(LEAST_ROWS, rows))) & ~same & ~fitted
    if fitted.sum() < 2:
        raise InvalidInput(
            "window",
            f"{int(fitted.sum())} instruments have {1 - MAX_HOLES:.0%} of the rows from {first} "
            f"to {last}",
            "Use another window, or leave out columns with many missing numbers",
        )
    whole = None if fitted.all() else tuple(np.flatnonzero(fitted).tolist())
    return Universe(whole, tuple(np.flatnonzero(fresh).tolist()))


def some_columns(panel: Panel, columns: tuple[int, ...] | None) -> Panel:
    """A panel of some of the instruments; of all for None."""
    if columns is None:
        return panel
    chosen = list(columns)
    names = tuple(panel.names[j] for j in chosen)
    return replace(panel, values=np.ascontiguousarray(panel.values[:, chosen]), names=names)


def place_newcomers(
    panel: Panel,
    universe: Universe,
    result: Result,
    dependence: str,
    options: Mapping[str, Any],
) -> tuple[tuple[str, int], ...]:
    """Group of each newcomer, by its loadings on the groups of the fitted instruments.

        h = argmin_{x ≥ 0} ‖H x − s‖,   the group is that of the largest loading

    with columns of H of unit length, as for the fitted ones. s is the dependence of the newcomer
    on every fitted instrument over the rows that both have.

    Arguments:
        panel: the rows of the window, with all instruments.
        universe: the instruments of the window.
        result: factorization of the fitted instruments.
        dependence: ``"tail"`` or ``"correlation"``.
        options: options of the estimator.

    Returns:
        Name and column of H of each newcomer that has a group.
    """
    fitted = some_columns(panel, universe.fitted).values
    placed = []
    for j in universe.newcomers:
        row = dependence_on(panel.values[:, j], fitted, dependence, options)
        label = int(labels_for(result, row))
        if label >= 0:
            placed.append((panel.names[j], label))
    return tuple(placed)


def dependence_on(
    x: np.ndarray, Y: np.ndarray, dependence: str, options: Mapping[str, Any]
) -> np.ndarray:  # (n,)
    """Dependence of one instrument on others, over the rows that it has.

    The absolute correlation, or the positive part of the correlation of tail weights.

    Arguments:
        x: (T,) returns of the instrument, NaN where it has none.
        Y: (T, n) returns of the others.
        dependence: ``"tail"`` or ``"correlation"``.
        options: options of the estimator; ``tail``, ``q`` and ``estimator`` are used.

    Example:
        >>> x = np.array([1.0, 2.0, 3.0, np.nan])
        >>> dependence_on(x, np.column_stack([-x, [1, 3, 2, 9]]), "correlation", {}).round(2)
        array([1. , 0.5])
    """
    rows = ~np.isnan(x)
    x, Y = x[rows, None], Y[rows]
    known = ~np.isnan(Y)
    if dependence == "tail":
        sign = -1.0 if options.get("tail", "lower") == "lower" else 1.0
        estimator = options.get("estimator", "ramp")
        q = max(options.get("q") or FRACTIONS.get(estimator, 0.5), 0.1)
        both = np.where(known, Y, np.nanmedian(Y, axis=0))
        u = average_ranks(sign * np.hstack([x, both])) / (len(x) + 1)
        weights = tail_weights(u, q)
        x, Y = weights[:, :1], weights[:, 1:]
    mean = np.where(known, Y, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    Z = np.where(known, Y - mean, 0.0)
    z = np.where(known, x - np.where(known, x, 0.0).sum(axis=0) / known.sum(axis=0).clip(1), 0.0)
    size = np.sqrt(np.square(Z).sum(axis=0) * np.square(z).sum(axis=0))
    found = np.divide((z * Z).sum(axis=0), size, out=np.zeros(Y.shape[1]), where=size > 0)
    near: np.ndarray = np.maximum(found, 0.0) if dependence == "tail" else np.abs(found)
    return near
