"""Where each instrument belongs in any stretch of time, from sums over blocks of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symnmf.defaults import FRACTIONS
from symnmf.dependence.tail_weights import tail_weights
from symnmf.dependence.volatility import ewma_filtered
from symnmf.numerics import average_ranks

#: Products of the power iteration that finds the signs of the members of a group.
SIGN_STEPS = 20
#: Variance, as a share of the usual one, below which a series counts as constant.
LEAST_VARIANCE = 1e-9


def stationary_scores(
    values: np.ndarray, dependence: str, options: Mapping[str, Any]
) -> np.ndarray:  # (T, n)
    """Scores of returns whose law does not change with the volatility; zero where one is missing.

    Returns are divided by their exponentially weighted volatility and ranked over the whole
    history. For a correlation the scores are normal scores; for a tail they are the centred
    weights of the tail, so that a product of two scores is large when both are extreme.

    Arguments:
        values: (T, n) returns; NaN where a number is missing.
        dependence: ``"tail"`` or ``"correlation"``.
        options: options of the estimator; ``tail``, ``q`` and ``estimator`` are used.
    """
    from scipy.special import ndtri

    known = ~np.isnan(values)
    filtered = ewma_filtered(values)
    if dependence == "tail" and options.get("tail", "lower") == "lower":
        filtered = -filtered
    u = average_ranks(filtered) / (known.sum(axis=0) + 1)
    if dependence == "correlation":
        scores = ndtri(u)
    else:
        estimator = options.get("estimator", "ramp")
        q = options.get("q") or FRACTIONS.get(estimator, 0.5)
        scores = tail_weights(u, max(q, 0.1), "indicator" if estimator == "chi" else "ramp")
        scores = scores - np.nanmean(np.where(known, scores, np.nan), axis=0)
    return np.where(known, scores, 0.0)


def signed_means(X: np.ndarray, labels: np.ndarray, k: int, signed: bool) -> np.ndarray:  # (n, k)
    """Weights of the mean series of each group; members that move against it have a minus.

    Arguments:
        X: (T, n) scores.
        labels: (n,) group of each instrument; −1 for none.
        k: number of groups.
        signed: whether a member may count with a minus.
    """
    M = np.zeros((X.shape[1], k))
    for g in range(k):
        members = np.flatnonzero(labels == g)
        if not len(members):
            continue
        sign = np.ones(len(members))
        if signed and len(members) > 1:
            own = X[:, members]
            vector = np.ones(len(members)) + 1e-3 * np.arange(len(members))
            for _ in range(SIGN_STEPS):
                vector = own.T @ (own @ vector)
                vector /= np.linalg.norm(vector) or 1.0
            sign = np.where(vector < 0, -1.0, 1.0)
        M[members, g] = sign / len(members)
    return M


@dataclass(frozen=True)
class Profiles:
    """Correlation of every instrument with every group in some stretches of time.

    Attributes:
        values: (stretches, n, k) correlation with the mean of the *other* members of each group.
        groups: (stretches, n) group with the largest correlation.
    """

    values: np.ndarray
    groups: np.ndarray


class BlockProfiles:
    """Sums over blocks of successive rows, from which profiles of any set of blocks follow.

        c_ig = corr(x_i, mean of x_j over the members j ≠ i of group g)

    A profile of a stretch of time costs a sum over its blocks, n·k operations each, and no fit.

    Arguments:
        X: (T, n) scores; the last rows that fill no block are left out.
        labels: (n,) groups to which instruments are compared; −1 for none.
        k: number of groups.
        block: number of rows of a block.
        signed: whether the size of a correlation counts, and not its sign.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> g = rng.normal(size=(60, 2))
        >>> X = g[:, [0, 0, 0, 1, 1, 1]] + 0.1 * rng.normal(size=(60, 6))
        >>> made = BlockProfiles(X, np.array([0, 0, 0, 1, 1, 1]), 2, block=10)
        >>> made.over(np.ones((1, 6))).groups
        array([[0, 0, 0, 1, 1, 1]])
    """

    def __init__(self, X: np.ndarray, labels: np.ndarray, k: int, block: int, signed: bool = False):
        self.block, self.count, self.signed = block, len(X) // block, signed
        self.n, self.k = X.shape[1], k
        X = X[: self.count * block]
        self.weights = signed_means(X, labels, k, signed)
        G = X @ self.weights
        X3, G3 = (Z.reshape(self.count, block, -1).astype(np.float32) for Z in (X, G))
        cross = np.matmul(X3.transpose(0, 2, 1), G3)  # (blocks, n, k)
        self._cross = cross.reshape(self.count, -1)
        self._own = np.square(X3).sum(axis=1)  # (blocks, n)
        self._sum = X3.sum(axis=1)
        self._group = np.square(G3).sum(axis=1)  # (blocks, k)
        self._group_sum = G3.sum(axis=1)

    def over(self, chosen: np.ndarray) -> Profiles:
        """Profiles of stretches of time.

        Arguments:
            chosen: (stretches, blocks) how often each block belongs to each stretch.
        """
        chosen = np.asarray(chosen, dtype=np.float32)
        rows = (chosen.sum(axis=1) * self.block)[:, None]
        x, g = chosen @ self._sum / rows, chosen @ self._group_sum / rows
        m = self.weights.astype(np.float32)
        cross = (chosen @ self._cross).reshape(len(chosen), self.n, self.k) / rows[:, :, None]
        cross -= x[:, :, None] * g[:, None, :]
        own = np.maximum(chosen @ self._own / rows - x * x, 0.0)[:, :, None]
        group = (chosen @ self._group / rows - g * g)[:, None, :]
        spread = group - 2 * m * cross + m * m * own  # of the mean without the instrument itself
        cross -= m * own
        usual = np.maximum(group, 1e-30)
        size = np.sqrt(np.maximum(spread, LEAST_VARIANCE * usual) * np.maximum(own, 1e-12))
        found = np.where(spread > LEAST_VARIANCE * usual, cross / size, 0.0)
        if self.signed:
            found = np.abs(found)
        return Profiles(found, found.argmax(axis=2))
