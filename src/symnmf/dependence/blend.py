"""Weighted means of two dependence matrices, the weight being given or chosen by hold-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from symnmf.data.panel import Panel
from symnmf.errors import InvalidInput
from symnmf.numerics import numpy_stream
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.provenance import Provenance

#: Weights that the hold-out tries, rows of a block, and number of splits into halves.
WEIGHTS_TRIED, BLOCK_ROWS, SPLITS = np.linspace(0, 1, 11), 21, 4


@dataclass(frozen=True)
class BlendEstimate(Provenance):
    """How a blend was made; stored as ``operator.provenance``.

    Attributes:
        weight: weight of the first matrix.
        first, second: origins of the two matrices.
        steps: descriptions of the two estimates and of the blend.
    """

    weight: float
    first: Provenance | None
    second: Provenance | None
    steps: tuple[str, ...]


def blend(
    first: SymmetricOperator, second: SymmetricOperator, weight: float = 0.5
) -> SymmetricOperator:
    """w·S₁ + (1 − w)·S₂; a Gram matrix of the joined factors if both are Gram matrices.

    Arguments:
        first, second: matrices of the same instruments, both with unit diagonal.
        weight: weight w of the first.

    Raises:
        InvalidInput: the sizes differ, or the weight is not between 0 and 1.

    Example:
        >>> S = GramOperator(torch.tensor([[1.0, 0.0], [0.6, 0.8]]))
        >>> blend(S, DenseOperator(torch.eye(2)), 0.5).to_dense()
        tensor([[1.0000, 0.3000],
                [0.3000, 1.0000]])
    """
    if first.n != second.n:
        raise InvalidInput(
            "second", f"has {second.n} rows, the first {first.n}", "Pass the same instruments"
        )
    if not 0 <= weight <= 1:
        raise InvalidInput("weight", f"got {weight!r}", "Pass a number from 0 to 1")
    mine, other = first.provenance, second.provenance
    steps = [
        *(() if mine is None else mine.steps),
        *(() if other is None else other.steps),
        f"weighted mean: {weight:.2g} of the first matrix, {1 - weight:.2g} of the second",
    ]
    about = BlendEstimate(weight, mine, other, tuple(steps))
    names = first.names
    if isinstance(first, GramOperator) and isinstance(second, GramOperator):
        factor = torch.cat([first.B * weight**0.5, second.B * (1 - weight) ** 0.5], dim=1)
        shifts = [
            share * part.d
            for part, share in ((first, weight), (second, 1 - weight))
            if part.d is not None
        ]
        d = sum(shifts[1:], shifts[0]) if shifts else None
        return GramOperator(factor, d, names, about)
    matrix = first.to_dense().mul_(weight).add_(second.to_dense(), alpha=1 - weight)
    return DenseOperator(matrix, names, provenance=about)


def blend_weight(
    panel: Panel,
    first: Callable[[Panel], SymmetricOperator],
    second: Callable[[Panel], SymmetricOperator],
    target: Callable[[Panel], SymmetricOperator] | None = None,
    seed: int = 0,
) -> float:
    """The weight whose blend of one half of the rows is nearest to the target of the other half.

    Off-diagonal entries are compared after the best scale and shift, since the two matrices have
    different levels.

    Arguments:
        panel: panel of returns.
        first, second: functions that estimate the two matrices.
        target: function that estimates what is to be predicted; by default ``first``.
        seed: seed of the splits.

    Returns:
        The weight of the first matrix, a multiple of 0.1.
    """
    T, n = panel.values.shape
    blocks = np.arange(T) // BLOCK_ROWS
    losses = np.zeros(len(WEIGHTS_TRIED))
    off = ~torch.eye(n, dtype=torch.bool)
    for split in range(SPLITS):
        order = numpy_stream(seed, "blend", split).permutation(blocks[-1] + 1)
        half = np.isin(blocks, order[: (blocks[-1] + 1) // 2])
        parts = [panel.at(np.flatnonzero(half)), panel.at(np.flatnonzero(~half))]
        for one, other in (parts, parts[::-1]):
            a, b, goal = (
                estimate(rows).to_dense().double()[off]
                for estimate, rows in ((first, one), (second, one), (target or first, other))
            )
            goal = goal - goal.mean()
            for at, weight in enumerate(WEIGHTS_TRIED):
                mixed = weight * a + (1 - weight) * b
                mixed = mixed - mixed.mean()
                scale = float(mixed @ goal) / max(float(mixed @ mixed), 1e-300)
                losses[at] += float((goal - scale * mixed).square().mean())
    return float(WEIGHTS_TRIED[int(losses.argmin())])
