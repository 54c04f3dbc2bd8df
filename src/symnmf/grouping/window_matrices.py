"""The dependence matrices of windows that move through a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.dependence.weighted_rows import exponential_weights, weighted_dependence
from symnmf.grouping.moving_sums import MovingSums
from symnmf.grouping.universe import Universe, some_columns, universe_of
from symnmf.operators import SymmetricOperator


@dataclass(frozen=True)
class WindowEstimate:
    """How the dependence of windows is estimated.

    Attributes:
        dependence: ``"tail"`` or ``"correlation"``.
        options: further arguments of the estimator.
        half_life: rows in which the weight of a row halves; None for equal weights.
    """

    dependence: str
    options: Mapping[str, Any]
    half_life: float | None = None

    def __call__(self, panel: Panel) -> SymmetricOperator:
        """The dependence matrix of the rows of a panel."""
        if self.half_life is None:
            return estimate(self.dependence, panel, **self.options)
        weights = exponential_weights(len(panel.values), self.half_life)
        return weighted_dependence(self.dependence, panel, weights, self.options)

    @property
    def lower(self) -> bool:
        """Whether crashes are losses."""
        return self.dependence != "tail" or self.options.get("tail", "lower") == "lower"


def window_matrices(
    panel: Panel, begins: np.ndarray, window: int, how: WindowEstimate
) -> Iterator[tuple[int, Universe, Callable[[], SymmetricOperator]]]:
    """The first row of every window, its instruments, and a function that estimates its matrix.

    The sums of a correlation are carried from window to window.

    Arguments:
        panel: the returns.
        begins: first row of each window.
        window: rows of a window.
        how: the estimate.
    """
    first_rows = begins.tolist()
    universes = [universe_of(panel, begin, begin + window) for begin in first_rows]
    complete = how.half_life is None and not np.isnan(panel.values).any()
    if complete and how.dependence == "correlation" and not how.options:
        sums = MovingSums(panel.values)
        for begin, universe in zip(first_rows, universes, strict=True):
            sums.move(begin, begin + window)
            yield begin, universe, partial(sums.operator, panel)
        return
    for begin, universe in zip(first_rows, universes, strict=True):
        rows = panel.rows(begin, begin + window)
        yield begin, universe, partial(how, some_columns(rows, universe.fitted))
