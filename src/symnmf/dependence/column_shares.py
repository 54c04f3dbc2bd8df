"""Estimates from columns of which each process reads its own: what they ask of the processes.

The columns are in 64 fixed parts (chunks), and each process has some of them. Everything that is
computed from a part is computed from it alone, and sums over parts follow a fixed tree, so that an
estimate is the same, bit for bit, for every number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import CHUNKS
from symnmf.operators import DenseOperator, GramOperator
from symnmf.operators.rows import Rows
from symnmf.provenance import Provenance

T = TypeVar("T")
#: Function of the observations (T, c) of a part and the names of its columns.
OfPart = Callable[[np.ndarray, Sequence[str]], Tensor]


class ColumnShares(Protocol):
    """The columns of a table, shared by processes. Methods marked so are collective."""

    names: Sequence[str]
    samples: int
    dates: np.ndarray | None

    def own(self) -> range:
        """Parts of this process."""

    def rows_of(self, part: int) -> slice:
        """Places of the columns of a part among all columns."""

    def read(self, part: int) -> np.ndarray:  # (T, c)
        """Observations of a part, of this process or of another."""

    def total(self, leaf: Callable[[int], Tensor]) -> Tensor:
        """Sum over all parts of what the function returns for each; collective."""

    def gather(self, local: Tensor) -> Tensor:  # (own columns, …) -> (n, …)
        """Values for all columns from the values of each process; collective."""

    def room(self, width: int, dtype: torch.dtype) -> Tensor:  # (own columns, width)
        """Memory for the rows of this process."""

    def as_rows(self, data: Tensor) -> Rows:
        """The rows of this process as its share of an array."""

    def act(self, work: Callable[[], T]) -> T:
        """Work of this process alone; if it fails in one, all processes raise; collective."""


def gram_of_parts(
    shares: ColumnShares, of_part: OfPart, dtype: torch.dtype, drop: bool = True
) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """The factor B part by part.

    Arguments:
        shares: the columns.
        of_part: function that returns the (c, T) rows of B of a part, in float64.
        dtype: type of B.
        drop: whether to leave out columns of B that are zero.

    Returns:
        The rows of this process, the length of each column of B, and the columns that were kept.
    """
    data = shares.room(shares.samples, dtype)
    begin = shares.rows_of(shares.own().start).start

    def fill() -> Tensor:
        squares = []
        for part in shares.own():
            rows = shares.rows_of(part)
            B = of_part(shares.read(part), shares.names[rows])
            data[rows.start - begin : rows.stop - begin] = B.to(dtype)
            squares.append(B.square().sum(dim=0))
        return torch.stack(squares)

    squares = shares.act(fill)
    first = shares.own().start
    sizes = shares.total(lambda part: squares[part - first]).sqrt().numpy()
    used = np.flatnonzero(sizes > 0)
    if drop and len(used) < shares.samples:
        fewer = shares.room(len(used), dtype)
        fewer.copy_(data[:, torch.from_numpy(used)])
        data = fewer
    return data, sizes, used


class CorrelationParts:
    """R = Z Zᵀ / T of scores that are computed part by part; only the rows of this process.

    A tile between parts a ≤ b is always computed as Z_a Z_bᵀ, whichever process needs it, so that
    R is symmetric to the last bit.

    Arguments:
        shares: the columns.
        of_part: function that returns the (c, T) scores of a part, in float64.
    """

    def __init__(self, shares: ColumnShares, of_part: OfPart):
        self.shares, self.of_part = shares, of_part
        self._own: dict[int, Tensor] = shares.act(
            lambda: {part: self._scores(part) for part in shares.own()}
        )

    def _scores(self, part: int) -> Tensor:
        rows = self.shares.rows_of(part)
        return self.of_part(self.shares.read(part), self.shares.names[rows])

    def pass_over(self, keep: Callable[[slice, slice, Tensor], None] | None) -> Tensor:  # (own, 2)
        """‖R‖² and the number of negative entries of the rows of each own part.

        Arguments:
            keep: function called with the rows and columns of a tile and the tile.
        """
        sums = {part: torch.zeros(2, dtype=torch.float64) for part in self._own}
        for b in range(CHUNKS):
            others = self._own[b] if b in self._own else self._scores(b)
            for a, scores in self._own.items():
                low, high = (scores, others) if a <= b else (others, scores)
                tile = low @ high.T / self.shares.samples
                tile = tile if a <= b else tile.T
                sums[a] += torch.stack([tile.square().sum(), (tile < 0).sum().double()])
                if keep is not None:
                    keep(self.shares.rows_of(a), self.shares.rows_of(b), tile)
        return torch.stack(list(sums.values()))

    def sums(self, keep: Callable[[slice, slice, Tensor], None] | None = None) -> Tensor:  # (2,)
        """‖R‖² and the number of negative entries; collective."""
        found, first = self.shares.act(lambda: self.pass_over(keep)), self.shares.own().start
        return self.shares.total(lambda part: found[part - first])

    def fourth(self) -> float:
        """Σ_t ‖z_t‖⁴; collective."""
        squares = self.shares.total(lambda part: self._own[part].square().sum(dim=0))
        return float(squares.square().sum())

    def factor(self, scale: float, dtype: torch.dtype) -> Tensor:  # (own columns, T)
        """The rows of Z of this process, times a number."""
        data = self.shares.room(self.shares.samples, dtype)
        begin = self.shares.rows_of(self.shares.own().start).start
        for part, scores in self._own.items():
            rows = self.shares.rows_of(part)
            data[rows.start - begin : rows.stop - begin] = (scores * scale).to(dtype)
        return data


def dense_rows(
    parts: CorrelationParts, positive: bool, dtype: torch.dtype
) -> tuple[Tensor, float, int]:
    """|R|, or max(R, 0), of the rows of this process, with ‖R‖² and the number of its hedges."""
    shares = parts.shares
    data = shares.room(len(shares.names), dtype)
    begin = shares.rows_of(shares.own().start).start

    def keep(rows: slice, columns: slice, tile: Tensor) -> None:
        size = tile.clamp(min=0) if positive else tile.abs()
        data[rows.start - begin : rows.stop - begin, columns] = size.to(dtype)

    frob_sq, negative = parts.sums(keep).tolist()
    return data, frob_sq, int(negative) // 2


def dense_operator(
    shares: ColumnShares, data: Tensor, scale: float, about: Provenance
) -> DenseOperator:
    """A dense operator from the rows of each process, times a number, with unit diagonal."""
    begin = shares.rows_of(shares.own().start).start
    data.mul_(scale).clamp_(max=1.0)
    data[torch.arange(len(data)), torch.arange(begin, begin + len(data))] = 1.0
    rows = shares.as_rows(data)

    def both(piece: Tensor, _: slice) -> Tensor:
        wide = piece.to(torch.float64)
        return torch.stack([wide.square().sum(), wide.sum()])

    frob_sq, total = rows.total(both).tolist()
    return DenseOperator.of(rows, frob_sq, total, shares.names, about)


def gram_operator(
    shares: ColumnShares, data: Tensor, shift: float, about: Provenance
) -> GramOperator:
    """A Gram operator from the rows of each process, with a number added to the diagonal."""
    d = torch.full((len(shares.names),), shift, dtype=data.dtype) if shift else None
    return GramOperator(shares.as_rows(data), d, shares.names, about)
