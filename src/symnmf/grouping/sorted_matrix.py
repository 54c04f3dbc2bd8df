"""S and H Hᵀ sorted by group, averaged to a size that can be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from symnmf.core.result import Result
from symnmf.display import Brief
from symnmf.grouping.naming import names_of
from symnmf.numerics import row_chunks
from symnmf.operators import SymmetricOperator

#: Number of cells along a side; larger matrices are averaged down to it.
CELLS_PER_SIDE = 200
#: Number of entries of the columns that S is multiplied with at a time.
COLUMN_ENTRIES = 1 << 22


@dataclass(frozen=True, repr=False)
class SortedMatrices(Brief):
    """S and H Hᵀ with their rows sorted by group, averaged where they are large.

    Attributes:
        seen, made: (c, c) cells of S and of H Hᵀ.
        edges: boundaries between groups, in cells.
        names: names of the rows where each cell is one row; None otherwise.
    """

    seen: np.ndarray
    made: np.ndarray
    edges: tuple[float, ...]
    names: tuple[str, ...] | None


def sort_by_group(
    S: SymmetricOperator, result: Result, cells: int = CELLS_PER_SIDE
) -> SortedMatrices:
    """S and H Hᵀ in the order of the groups, with at most ``cells`` cells per side.

    Where processes share the rows of S, all of them call this function.

    Arguments:
        S: the matrix that was factorized.
        result: its factorization.
        cells: maximum number of cells along a side.
    """
    order = group_order(result)
    place = _cells(S.n, order, cells)
    seen = averaged(place, S.n, lambda X: S.matmul(X.to(S.device, S.dtype)))
    H = cell_means(place, result.H.cpu())  # the mean of H Hᵀ over cells is the product of means
    made = H @ H.T
    labels = result.labels().cpu()[order]
    change = (labels[1:] != labels[:-1]).nonzero()[:, 0] + 1
    scale = len(seen) / S.n
    names = None
    if len(seen) == S.n:
        every = names_of(result)
        names = tuple(every[i] for i in order.tolist())
    edges = tuple(float(e) * scale - 0.5 for e in change)
    return SortedMatrices(seen.numpy(), made.numpy(), edges, names)


def group_order(result: Result) -> Tensor:  # (n,)
    """Rows by group, largest group first, clearest member first; unassigned rows last."""
    labels, margins = result.labels().cpu(), result.margins().cpu()
    sizes = torch.bincount(labels[labels >= 0], minlength=result.H.shape[1])
    place = torch.argsort(torch.argsort(-sizes, stable=True), stable=True)
    rank = torch.where(labels >= 0, place[labels.clamp(min=0)], len(place))
    order = torch.argsort(-margins, stable=True)
    return order[torch.argsort(rank[order], stable=True)]


def _cells(n: int, order: Tensor, most: int) -> Tensor:  # (n,)
    """Cell of each row in the heat map."""
    cells = torch.empty(n, dtype=torch.int64)
    cells[order] = torch.arange(n) * min(n, most) // n
    return cells


def cell_means(cells: Tensor, X: Tensor) -> Tensor:  # (n,), (n, c) -> (cells, c)
    """Mean of the rows of X in each cell, in float64."""
    count = int(cells.max()) + 1
    sums = torch.zeros(count, X.shape[1], dtype=torch.float64)
    for part in row_chunks(len(X), X.shape[1]):
        sums.index_add_(0, cells[part], X[part].to(torch.float64))
    return sums / torch.bincount(cells, minlength=count)[:, None]


def averaged(
    cells: Tensor, n: int, product: Callable[[Tensor], Tensor]
) -> Tensor:  # (cells, cells)
    """Mean of a symmetric matrix over pairs of cells, from products with the cell averages."""
    count = int(cells.max()) + 1
    sizes = torch.bincount(cells, minlength=count).to(torch.float64)
    out = torch.empty(count, count, dtype=torch.float64)
    for part in row_chunks(count, n, COLUMN_ENTRIES):
        X = torch.zeros(n, part.stop - part.start, dtype=torch.float64)
        inside = (cells >= part.start) & (cells < part.stop)
        X[inside, cells[inside] - part.start] = 1.0
        out[:, part] = cell_means(cells, product(X / sizes[part]).cpu())
    return out
