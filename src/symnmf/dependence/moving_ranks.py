"""Ranks within a window that moves through time: only rows that enter or leave are compared."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class MovingRanks:
    """Uniform scores rank / (T + 1) of every instrument within a window of T rows.

    For each observation of the window the numbers of smaller and of equal observations are kept.
    A move compares them with the rows that enter and leave, n·T·log(rows) operations, and gives
    the same ranks as sorting the window anew.

    Arguments:
        X: (T, n) observations without missing numbers.

    Example:
        >>> ranks = MovingRanks(np.array([[3.0], [1.0], [2.0], [2.0]]))
        >>> ranks.move(0, 3)
        >>> ranks.scores()
        array([[0.75, 0.25, 0.5 ]])
        >>> ranks.move(1, 4)
        >>> ranks.scores()
        array([[0.25 , 0.625, 0.625]])
    """

    def __init__(self, X: np.ndarray):
        self.X = torch.from_numpy(np.ascontiguousarray(X.T))
        n = len(self.X)
        self.begin = self.stop = 0
        self.below = torch.zeros(n, 0, dtype=torch.int64)  # number of smaller observations
        self.upto = torch.zeros(n, 0, dtype=torch.int64)  # number that are not larger

    def move(self, begin: int, stop: int) -> None:
        """Make the window the rows from ``begin`` to ``stop``; it may only move forward."""
        if begin >= self.stop:
            self.begin = self.stop = begin
            self.below, self.upto = self.below[:, :0], self.upto[:, :0]
        leaving = self.X[:, self.begin : begin].sort(dim=1).values
        self.below, self.upto = (
            self.below[:, begin - self.begin :],
            self.upto[:, begin - self.begin :],
        )
        stay = self.X[:, begin : self.stop].contiguous()
        self.below = self.below - torch.searchsorted(leaving, stay)
        self.upto = self.upto - torch.searchsorted(leaving, stay, right=True)
        entering = self.X[:, self.stop : stop].contiguous()
        ordered = entering.sort(dim=1).values
        low, high = torch.searchsorted(ordered, stay), torch.searchsorted(ordered, stay, right=True)
        place, last = (
            torch.searchsorted(ordered, entering),
            torch.searchsorted(ordered, entering, right=True),
        )
        # How many of those that stay are below the entering observation that is k-th in order.
        fewer = _up_to(high, ordered.shape[1]).gather(1, place) + place
        not_more = _up_to(low, ordered.shape[1]).gather(1, last - 1) + last
        self.below = torch.cat([self.below + low, fewer], dim=1)
        self.upto = torch.cat([self.upto + high, not_more], dim=1)
        self.begin, self.stop = begin, stop

    def scores(self) -> np.ndarray:  # (n, T)
        """Average rank of equal observations, divided by T + 1."""
        T = self.stop - self.begin
        scores: np.ndarray = ((self.below + self.upto + 1).to(torch.float64) / 2 / (T + 1)).numpy()
        return scores


def _up_to(places: Tensor, count: int) -> Tensor:  # (n, R) -> (n, count)
    """For k = 0, …, count − 1 how many places of each row are at most k."""
    hits = torch.zeros(len(places), count + 1, dtype=torch.int64)
    hits.scatter_add_(1, places, torch.ones_like(places))
    return hits.cumsum(dim=1)[:, :count]
