"""Tail dependence from a weight for each observation of each instrument: χ, ramp and relatives.

What it measures: how much of their worst days two instruments share, each instrument having its own
worst days. Cost: one sort of the table. Form: a Gram matrix that is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

from symnmf.dependence.pair_scores import PairScores
from symnmf.dependence.pairwise_tail import LEAST_SHARED, few_shared_rows, over_threads
from symnmf.errors import InvalidInput, called
from symnmf.options import choice

#: Weights of an observation with uniform score u, as functions of e = (u − (1 − q)) / q, which
#: grows from 0 at the threshold to 1 at the largest observation.
WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "indicator": lambda e: (e > 0).astype(np.float64),
    "ramp": lambda e: np.maximum(e, 0.0),
    "exponential": lambda e: np.where(e > 0, -np.log1p(-np.clip(e, 0, None)), 0.0),
}

#: Mean entry of S of independent instruments as a multiple of q, E[w]² / (q · E[w²]).
INDEPENDENCE = {"indicator": 1.0, "ramp": 0.75, "exponential": 0.5}


def tail_weights(u: np.ndarray, q: float, weight: str = "ramp") -> np.ndarray:
    """Weight of each observation by its uniform score.

        indicator: 1{e > 0},   ramp: max(0, e),   exponential: −log(1 − e),   e = (u − (1 − q)) / q

    The indicator counts extremes, the ramp also says how far into the tail they lie, and the
    exponential scores let the largest count most.

    Arguments:
        u: uniform scores.
        q: fraction of the observations of each instrument that have a positive weight.
        weight: ``"indicator"``, ``"ramp"`` or ``"exponential"``.

    Example:
        >>> tail_weights(np.array([0.2, 0.6, 0.9]), 0.5).round(2)
        array([0. , 0.2, 0.8])
    """
    choice("weight", weight, tuple(WEIGHTS))
    return WEIGHTS[weight]((u - (1 - q)) / q)


def unit_weights(
    X: np.ndarray, q: float, weight: str, names: Sequence[str] | None = None
) -> np.ndarray:  # (T, n) -> (n, T)
    """The rows of B: tail weights of each instrument, scaled to length one.

    Equal observations share their average rank, and so their weight; zeros of a table with many
    zeros therefore have no weight unless fewer than about half of a tail of size q is left to them.

    Arguments:
        X: (T, n) observations whose large values are extreme.
        q, weight: options of :func:`tail_weights`.
        names: names of the instruments, for messages.

    Raises:
        InvalidInput: an instrument takes its largest value so often that nothing is extreme.
    """
    scores = rankdata(np.ascontiguousarray(X.T), axis=1) / (len(X) + 1)
    return scaled_rows(tail_weights(scores, q, weight), X, names)


def scaled_rows(
    weights: np.ndarray, X: np.ndarray, names: Sequence[str] | None
) -> np.ndarray:  # (n, T)
    """Rows of weights scaled to length one; an error names an instrument without extremes."""
    sizes = np.sqrt(np.einsum("it,it->i", weights, weights))
    if not (sizes > 0).all():
        row = int((sizes == 0).argmax())
        name = str(row) if names is None else repr(names[row])
        share = float((X[:, row] == np.nanmax(X[:, row])).mean())
        raise InvalidInput(
            "returns",
            f"{name} has its largest value in {share:.0%} of the rows, so that none is extreme",
            f"Leave it out, or take a larger {called('q')}",
        )
    return np.asarray(weights / sizes[:, None])


def block_maxima(X: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest value of each instrument in successive blocks of rows; the last may be shorter.

    Returns:
        The maxima, (blocks, n), and the first row of each block.

    Example:
        >>> block_maxima(np.array([[1.0, 5.0], [3.0, 2.0], [0.0, 1.0]]), 2)
        (array([[3., 5.],
               [0., 1.]]), array([0, 2]))
    """
    begins = np.arange(0, len(X), rows)
    return np.fmax.reduceat(X, begins, axis=0), begins


def weights_with_holes(scores: PairScores, q: float, weight: str) -> np.ndarray:  # (n, n)
    """S from the rows that both instruments of a pair have, ranked among these rows.

        S_ij = Σ w_i w_j / (Σ w_i² · Σ w_j²)^{1/2}

    It is dense, and not always positive semidefinite.

    Arguments:
        scores: ranks of the pairs.
        q, weight: options of :func:`tail_weights`.
    """
    out = np.eye(scores.n)
    complete = scores.complete
    if len(complete):
        X = scores.X[complete].T
        B = unit_weights(X, q, weight, [scores.names[c] for c in complete])
        out[np.ix_(complete, complete)] = B @ B.T

    def fill(at: int) -> None:
        i = int(scores.incomplete[at])
        for J in scores.partners(at):
            own, others, both = scores.of_pairs(i, J)
            x = tail_weights(own, q, weight) * both
            y = tail_weights(others, q, weight) * both
            sizes = np.einsum("pt,pt->p", x, x) * np.einsum("pt,pt->p", y, y)
            shared = both.sum(axis=1)
            few = (shared < LEAST_SHARED) | (sizes == 0)
            if few.any():
                row = int(few.argmax())
                raise few_shared_rows(scores, i, int(J[row]), int(shared[row]))
            out[i, J] = out[J, i] = np.einsum("pt,pt->p", x, y) / np.sqrt(sizes)

    over_threads(fill, len(scores.incomplete))
    np.fill_diagonal(out, 1.0)
    return out
