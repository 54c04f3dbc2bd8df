"""Sums over a window of rows that moves through time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.dependence.correlation import abs_from_tiles
from symnmf.dependence.tiles import upper_places
from symnmf.operators import SymmetricOperator


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

    def correlation(self) -> Iterator[tuple[slice, slice, Tensor]]:
        """Rows, columns and values of the tiles of the correlation in its upper triangle."""
        count = self.stop - self.begin
        size = (self.second.diagonal() - self.first * self.first / count).clamp(min=0).sqrt()
        for rows, columns in upper_places(len(size)):
            tile = self.second[rows, columns] - torch.outer(
                self.first[rows], self.first[columns]
            ).div_(count)
            yield rows, columns, tile.div_(size[columns]).div_(size[rows, None])

    def operator(self, panel: Panel) -> SymmetricOperator:
        """|R| as :func:`symnmf.abs_correlation` estimates it from these rows."""
        X = self.X[self.begin : self.stop].T.clone()
        return abs_from_tiles(self.correlation(), X, panel.names)
