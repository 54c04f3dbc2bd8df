"""Tail dependence from a weight for each observation of each instrument: χ, ramp and relatives.

What it measures: how much of their worst days two instruments share, each instrument having its own
worst days. Cost: one sort of the table. Form: a Gram matrix that is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.pair_scores import PairScores
from symnmf.dependence.pairwise_tail import LEAST_SHARED, few_shared_rows, over_threads
from symnmf.dependence.tiles import upper_tiles
from symnmf.errors import InvalidInput, called
from symnmf.numerics import average_ranks
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
    scores = np.ascontiguousarray(average_ranks(X).T) / (len(X) + 1)
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


def semicorrelation(
    B: np.ndarray, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, int]:  # (n, T) -> (n, n)
    """Positive part of the correlation of tail weights, and the number of negative pairs.

        S_ij = max(0, Σ_t (w_it − w̄_i)(w_jt − w̄_j) / (‖w_i − w̄_i‖ ‖w_j − w̄_j‖))

    It is what S = B Bᵀ has above the level of independent instruments, (S − b) / (1 − b).

    Arguments:
        B: (n, T) weights.
        dtype: type of S, whose entries are computed in float64.

    Example:
        >>> semicorrelation(np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 1.0, 0, 0]]))
        (tensor([[1., 1., 0.],
                [1., 1., 0.],
                [0., 0., 1.]], dtype=torch.float64), 2)
    """
    centred = torch.from_numpy(B - B.mean(axis=1, keepdims=True))
    size = torch.linalg.vector_norm(centred, dim=1, keepdim=True)
    centred /= torch.where(size > 0, size, 1.0)
    S, negative = torch.empty(len(B), len(B), dtype=dtype), 0
    for rows, columns, tile in upper_tiles(centred * B.shape[1] ** 0.5):
        negative += int((tile < 0).sum()) // (1 if rows != columns else 2)
        final = tile.clamp_(0.0, 1.0).to(dtype)
        S[rows, columns] = final
        if rows != columns:
            S[columns, rows] = final.T
    return S.fill_diagonal_(1.0), negative


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


def weights_with_holes(
    scores: PairScores, q: float, weight: str, centred: bool = False
) -> np.ndarray:  # (n, n)
    """S from the rows that both instruments of a pair have, ranked among these rows.

        S_ij = Σ w_i w_j / (Σ w_i² · Σ w_j²)^{1/2}

    It is dense, and not always positive semidefinite.

    Arguments:
        scores: ranks of the pairs.
        q, weight: options of :func:`tail_weights`.
        centred: whether to take the positive part of the correlation of the weights.
    """
    out = np.eye(scores.n)
    complete = scores.complete
    if len(complete):
        X = scores.X[complete].T
        B = unit_weights(X, q, weight, [scores.names[c] for c in complete])
        inner = semicorrelation(B)[0].numpy() if centred else B @ B.T
        out[np.ix_(complete, complete)] = inner

    def fill(at: int) -> None:
        i = int(scores.incomplete[at])
        for J in scores.partners(at):
            own, others, both = scores.of_pairs(i, J)
            x, y = (tail_weights(u, q, weight) * both for u in (own, others))
            if centred:
                count = np.maximum(both.sum(axis=1, keepdims=True), 1)
                x, y = (both * (w - w.sum(axis=1, keepdims=True) / count) for w in (x, y))
            sizes = np.einsum("pt,pt->p", x, x) * np.einsum("pt,pt->p", y, y)
            shared = both.sum(axis=1)
            few = (shared < LEAST_SHARED) | (sizes == 0)
            if few.any():
                row = int(few.argmax())
                pair = i, int(J[row])
                if shared[row] < LEAST_SHARED:
                    raise few_shared_rows(scores, *pair, int(shared[row]))
                raise _tied(scores, *pair, both[row])
            found = np.einsum("pt,pt->p", x, y) / np.sqrt(sizes)
            out[i, J] = out[J, i] = np.clip(found, 0, 1)

    over_threads(fill, len(scores.incomplete))
    np.fill_diagonal(out, 1.0)
    return out


def _tied(scores: PairScores, i: int, j: int, both: np.ndarray) -> InvalidInput:
    """The error for two instruments of which one has nothing extreme in the rows of both."""
    shared = {m: scores.X[m][both] for m in (i, j)}
    shares = {m: float((x == x.max()).mean()) for m, x in shared.items()}
    row = max(shares, key=lambda m: shares[m])
    return InvalidInput(
        "returns",
        f"{scores.names[row]!r} has its largest value in {shares[row]:.0%} of the rows that it "
        f"shares with {scores.names[j if row == i else i]!r}, so that none is extreme",
        f"Leave it out, or take a larger {called('q')}",
    )
