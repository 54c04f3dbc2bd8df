"""Sums over a window of rows that moves through time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.dependence.correlation import abs_from_product
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
