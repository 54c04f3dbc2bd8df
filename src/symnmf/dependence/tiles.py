"""Tiles of a correlation matrix in its upper triangle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import product64

#: Side of the square tiles of S on disk, and of those in memory: several passes over such a tile
#: in float64 stay in the cache of a core, and half of the tiles on the diagonal is little work.
TILE_ROWS, TILE_IN_MEMORY = 1024, 384


def upper_tiles(scores: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Tiles of the correlation of (n, T) z-scores in its upper triangle, in float64.

    Returns:
        Rows, columns and values of each tile.
    """
    n, samples = scores.shape
    for rows, columns in upper_places(n):
        yield rows, columns, product64(scores[rows], scores[columns]).div_(samples)


def upper_places(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles of an n×n matrix in its upper triangle, row after row.

    Example:
        >>> [(rows.start, columns.start) for rows, columns in upper_places(500)]
        [(0, 0), (0, 384), (384, 384)]
    """
    side = TILE_IN_MEMORY
    for a in range(0, n, side):
        for b in range(a, n, side):
            yield slice(a, min(a + side, n)), slice(b, min(b + side, n))


def absolute(
    tiles: Iterator[tuple[slice, slice, Tensor]],
    n: int,
    dtype: torch.dtype,
    positive: bool = False,
) -> tuple[Tensor, float, int]:
    """|R|, or max(R, 0), from the upper tiles of R, with ‖R‖² and the number of negative pairs."""
    S = torch.empty(n, n, dtype=dtype)
    sums = np.zeros(3)
    for rows, columns, tile in tiles:
        sums += tile_sums(tile, rows != columns)
        tile = (tile.clamp_(min=0) if positive else tile.abs_()).to(dtype)
        S[rows, columns] = tile
        S[columns, rows] = tile.T
    return S, float(sums[0]), int(sums[1])


def tile_sums(tile: Tensor, twice: bool) -> np.ndarray:  # (3,)
    """‖R‖², number of negative pairs, and ‖|R| − R‖² of a tile.

    Arguments:
        tile: tile of R.
        twice: whether to count the tile and its mirror image below the diagonal.
    """
    below = tile.clamp(max=0)
    squares = [float(tile.square().sum()), 4 * float(below.square().sum())]
    count = int((tile < 0).sum()) // (2 - twice)
    return np.array([(1 + twice) * squares[0], count, (1 + twice) * squares[1]])
