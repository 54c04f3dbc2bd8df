"""Crashes and ordinary days: pairs that belong together in one and not in the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.numerics import average_ranks, numpy_stream
from symnmf.operators import SymmetricOperator
from symnmf.resources import require_memory

#: Number of pairs in the sample that a figure shows.
PLOTTED_PAIRS = 3000


@dataclass(frozen=True)
class Pair:
    """Two instruments.

    Attributes:
        first, second: row numbers of the two instruments.
        tail, ordinary: tail dependence and absolute correlation.
        tail_rank, ordinary_rank: share of all pairs with a smaller value, from 0 to 1.
    """

    first: int
    second: int
    tail: float
    ordinary: float
    tail_rank: float
    ordinary_rank: float


@dataclass(frozen=True, repr=False)
class SideBySide(Brief):
    """Two dependences of the same instruments.

    Attributes:
        only_in_crashes: pairs whose rank in the tail is furthest above that on ordinary days.
        only_in_calm: pairs whose rank in the tail is furthest below that on ordinary days.
        sample: (m, 2) tail dependence and absolute correlation of all pairs, or of a sample.
        rank_correlation: Spearman's rank correlation over all pairs.
    """

    only_in_crashes: tuple[Pair, ...]
    only_in_calm: tuple[Pair, ...]
    sample: np.ndarray
    rank_correlation: float


def side_by_side(
    tail: SymmetricOperator, ordinary: SymmetricOperator, most: int = 10, seed: int = 0
) -> SideBySide:
    """Which pairs crash together but do not move together otherwise, and the reverse.

    The two matrices have different scales, so pairs are compared by their ranks among all pairs.

    Arguments:
        tail: the TPDM.
        ordinary: absolute correlation of the same instruments in the same order.
        most: maximum number of pairs of each kind.
        seed: seed of the sample.

    Raises:
        InvalidInput: the two matrices have different numbers of rows.

    Example:
        >>> from symnmf.operators import as_operator
        >>> T = as_operator(np.array([[1.0, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]]))
        >>> R = as_operator(np.array([[1.0, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]]))
        >>> pair = side_by_side(T, R, most=1).only_in_crashes[0]
        >>> pair.first, pair.second
        (0, 1)
    """
    n = tail.n
    if ordinary.n != n:
        raise InvalidInput(
            "ordinary",
            f"has {ordinary.n} rows, tail has {n}",
            "Pass two matrices of the same instruments",
        )
    require_memory(80 * n * n, f"the ranks of {n} × {n} pairs", "Use fewer instruments")
    above = np.triu_indices(n, 1)
    x, y = (_entries(S)[above] for S in (tail, ordinary))
    ranks = [_ranks(v) for v in (x, y)]
    ahead = ranks[0] - ranks[1]
    first = np.argsort(-ahead, kind="stable")
    spread = np.std(ranks[0]) * np.std(ranks[1])
    correlation = float(np.cov(ranks[0], ranks[1], bias=True)[0, 1] / spread) if spread > 0 else 1.0
    rows = np.arange(len(x))
    if len(rows) > PLOTTED_PAIRS:
        rows = np.sort(numpy_stream(seed, "pairs").choice(len(rows), PLOTTED_PAIRS, replace=False))

    def pairs(at: np.ndarray) -> tuple[Pair, ...]:
        return tuple(
            Pair(
                int(above[0][p]),
                int(above[1][p]),
                float(x[p]),
                float(y[p]),
                float(ranks[0][p]),
                float(ranks[1][p]),
            )
            for p in at
        )

    crashes = first[:most][ahead[first[:most]] > 0]
    calm = first[::-1][:most]
    return SideBySide(
        pairs(crashes),
        pairs(calm[ahead[calm] < 0]),
        np.column_stack((x, y))[rows],
        correlation,
    )


def _entries(S: SymmetricOperator) -> np.ndarray:  # (n, n)
    return S.to_dense().to("cpu", torch.float64).numpy()


def _ranks(values: np.ndarray) -> np.ndarray:  # (m,)
    """Rank of each value from 0 to 1; equal values have equal ranks."""
    found: np.ndarray = (average_ranks(values[:, None])[:, 0] - 1) / max(1, len(values) - 1)
    return found
