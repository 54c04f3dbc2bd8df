"""Tiles of a correlation matrix in its upper triangle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import product64

#: Side of the square tiles of S.
TILE_ROWS = 1024


def upper_tiles(scores: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Tiles of the correlation of (n, T) z-scores in its upper triangle, in float64.

    Returns:
        Rows, columns and values of each tile.
    """
    n, samples = scores.shape
    for a in range(0, n, TILE_ROWS):
        for b in range(a, n, TILE_ROWS):
            rows, columns = slice(a, min(a + TILE_ROWS, n)), slice(b, min(b + TILE_ROWS, n))
            yield rows, columns, product64(scores[rows], scores[columns]).div_(samples)


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
