"""Ranks of two instruments among the rows that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from symnmf.numerics import average_ranks

#: Numbers of a block of pairs.
BLOCK_ENTRIES = 1 << 20


class PairScores:
    """Uniform scores rank / (T + 1) of the instruments of a pair among the T rows of both.

    The rank of an observation among the rows that another instrument has is a running count of
    these rows in the order of the observations; it costs no further sort.

    Arguments:
        X: (T, n) observations, NaN where a number is missing.
        names: names of the instruments.

    Example:
        >>> scores = PairScores(np.array([[1.0, 3.0], [2.0, np.nan], [5.0, 4.0]]), ("a", "b"))
        >>> own, others, both = scores.of_pairs(1, np.array([0]))
        >>> own[both].round(2), others[both].round(2), both
        (array([0.33, 0.67]), array([0.33, 0.67]), array([[ True, False,  True]]))
    """

    def __init__(self, X: np.ndarray, names: Sequence[str]):
        self.X = np.ascontiguousarray(X.T)
        self.names = names
        self.held = ~np.isnan(self.X)
        self.n, self.T = self.X.shape

    @property
    def complete(self) -> np.ndarray:
        """Instruments without missing numbers."""
        return np.flatnonzero(self.held.all(axis=1))

    @property
    def incomplete(self) -> np.ndarray:
        """Instruments with missing numbers."""
        return np.flatnonzero(~self.held.all(axis=1))

    def partners(self, at: int) -> Iterator[np.ndarray]:
        """The instruments that are paired with ``incomplete[at]``, in blocks; every pair once."""
        J = np.concatenate([self.complete, self.incomplete[at + 1 :]])
        size = max(1, BLOCK_ENTRIES // self.T)
        for begin in range(0, len(J), size):
            yield J[begin : begin + size]

    def uniform(self, J: np.ndarray) -> np.ndarray:  # (|J|, T)
        """Scores of complete instruments among all rows."""
        scores: np.ndarray = np.ascontiguousarray(average_ranks(self.X[J].T).T) / (self.T + 1)
        return scores

    @cached_property
    def _order(self) -> np.ndarray:  # (n, T)
        """Times in ascending order of the observations, missing ones last."""
        return np.argsort(self.X, axis=1, kind="stable")

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:  # (n, T), (n, T)
        """At each time: how many observations are smaller, and how many are not larger."""
        low, high = np.empty((2, self.n, self.T), dtype=np.intp)
        for i in range(self.n):
            ordered = self.X[i, self._order[i]]
            low[i] = np.searchsorted(ordered, self.X[i], side="left")
            high[i] = np.searchsorted(ordered, self.X[i], side="right")
        return low, high

    def of_pairs(self, i: int, J: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores of instrument i and of the instruments J in each pair, and the shared rows.

        Returns:
            Three (|J|, T) arrays: the scores of i, those of the instruments J, and whether both
            have the row. Scores of other rows have no meaning; they lie between 0 and 1.
        """
        both = self.held[J] & self.held[i]
        shared = both.sum(axis=1, keepdims=True)
        low, high = self._bounds
        counted = self._running(both[:, self._order[i]])
        own = self._middle(counted[:, low[i]], counted[:, high[i]], shared)
        counted = self._running(np.take_along_axis(both, self._order[J], axis=1))
        first = np.take_along_axis(counted, low[J], axis=1)
        last = np.take_along_axis(counted, high[J], axis=1)
        return own, self._middle(first, last, shared), both

    @staticmethod
    def _running(mask: np.ndarray) -> np.ndarray:  # (p, T) -> (p, T + 1)
        out = np.zeros((mask.shape[0], mask.shape[1] + 1), dtype=np.int64)
        np.cumsum(mask, axis=1, out=out[:, 1:])
        return out

    @staticmethod
    def _middle(first: np.ndarray, last: np.ndarray, shared: np.ndarray) -> np.ndarray:
        """Average rank of equal observations, divided by the number of shared rows plus one."""
        count = np.maximum(shared, 1)
        ranks: np.ndarray = np.clip((first + last + 1) / 2, 1, count)
        return np.asarray(ranks / (count + 1))
