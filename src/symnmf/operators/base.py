"""The contract of a symmetric matrix that may never be formed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

#: Largest temporary, in entries, that a default method gathers at a time.
CHUNK_ENTRIES = 1 << 20
#: Entries widened to float64 at a time by a reduction.
WIDE_ENTRIES = 1 << 16


def row_chunks(n: int, width: int, entries: int = CHUNK_ENTRIES) -> Iterator[slice]:
    """Slices over ``n`` rows such that a slice times ``width`` stays below ``entries``."""
    rows = max(1, entries // max(1, width))
    for begin in range(0, n, rows):
        yield slice(begin, min(begin + rows, n))


def gram64(X: Tensor, entries: int = WIDE_ENTRIES) -> Tensor:  # (n, c) -> (c, c)
    """``XᵀX`` in float64, summed over row chunks."""
    total = torch.zeros(X.shape[1], X.shape[1], dtype=torch.float64, device=X.device)
    for part in row_chunks(len(X), X.shape[1], entries):
        rows = X[part].to(torch.float64)
        total.addmm_(rows.T, rows)
    return total


class SymmetricOperator(ABC):
    """S = Sᵀ, known through its products and blocks; every call may be collective.

    A subclass sets ``n``, ``dtype``, ``device`` (and ``names``, if the rows have names) and
    implements the four abstract methods. The others have slow, right defaults.

    Reductions to a number (``frob_sq``, ``mean``, ``trace``) are made in float64.

    Example:
        >>> class Ones(SymmetricOperator):
        ...     def __init__(self, n):
        ...         self.n, self.dtype, self.device = n, torch.float32, torch.device("cpu")
        ...     def matmul(self, X):
        ...         return X.sum(dim=0).expand(self.n, -1).clone()
        ...     def block(self, i, j):
        ...         return torch.ones(len(i), len(j))
        ...     def frob_sq(self):
        ...         return float(self.n**2)
        ...     def mean(self):
        ...         return 1.0
        >>> Ones(4), Ones(4).trace(), Ones(4).row_norms()
        (Ones(n=4, dtype=float32), 4.0, tensor([2., 2., 2., 2.]))
    """

    n: int
    dtype: torch.dtype
    device: torch.device
    names: Sequence[str] | None = None
    #: How it was estimated, where an estimator of this package made it.
    about: Any = None
    #: Number of this process among those that share the rows; only 0 writes and talks.
    rank: int = 0
    processes: int = 1

    @abstractmethod
    def matmul(self, X: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """``S @ X``."""

    @abstractmethod
    def block(self, i: Tensor, j: Tensor) -> Tensor:  # (|i|,), (|j|,) -> (|i|, |j|)
        """``S[i][:, j]`` for index vectors ``i`` and ``j``."""

    @abstractmethod
    def frob_sq(self) -> float:
        """‖S‖²_F."""

    @abstractmethod
    def mean(self) -> float:
        """Mean of all n² entries."""

    def diag(self) -> Tensor:  # (n,)
        """Diagonal of S."""
        index = torch.arange(self.n, device=self.device)
        return self.entries(index, index)

    def trace(self) -> float:
        """Sum of the diagonal."""
        return float(self.diag().sum(dtype=torch.float64))

    def entries(self, i: Tensor, j: Tensor) -> Tensor:  # (m,), (m,) -> (m,)
        """``S[i_m, j_m]``, gathered in chunks of small blocks."""
        out = torch.empty(len(i), dtype=self.dtype, device=self.device)
        for part in row_chunks(len(i), 256, 1 << 16):
            out[part] = self.block(i[part], j[part]).diagonal()
        return out

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:  # (|j|, c) -> (|i|, c)
        """``S[i][:, j] @ X`` in row chunks: the block is never whole."""
        out = torch.empty(len(i), X.shape[1], dtype=self.dtype, device=self.device)
        for part in row_chunks(len(i), len(j)):
            torch.matmul(self.block(i[part], j), X, out=out[part])
        return out

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """Rank 0's values for clocks and interrupts; the values themselves when not sharded."""
        return values

    def same(self, H: Tensor) -> bool:
        """Whether the processes that share the rows hold the same factor."""
        return True

    def scale(self) -> float:
        """Size of the entries that H Hᵀ must reach: s = max(tr S / n, ‖S‖_F / n).

        It is 1 for a matrix with unit diagonal and entries in [0, 1], and multiplies with S.
        """
        return max(self.trace(), math.sqrt(self.frob_sq())) / self.n

    def row_norms(self) -> Tensor:  # (n,)
        """Length of each row of S, from row blocks."""
        everything = torch.arange(self.n, device=self.device)
        out = torch.empty(self.n, dtype=self.dtype, device=self.device)
        for part in row_chunks(self.n, self.n):
            out[part] = torch.linalg.vector_norm(self.block(everything[part], everything), dim=1)
        return out

    def cost(self) -> float:
        """Multiplications of a product with one column."""
        return float(self.n) ** 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, dtype={str(self.dtype).removeprefix('torch.')})"
