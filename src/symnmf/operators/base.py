"""The interface of a symmetric matrix that need not be formed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from symnmf.numerics import row_chunks
from symnmf.provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd


class SymmetricOperator(ABC):
    """S = Sᵀ, accessed through its products and blocks; every call may be collective.

    A subclass sets ``n``, ``dtype``, ``device`` (and ``names``, if the rows have names) and
    implements the four abstract methods. All other methods have correct but slow default
    implementations.

    Reductions to a number (``frob_sq``, ``mean``, ``trace``) are computed in float64.

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
    #: Origin of S, if this package made it; set by the constructor.
    provenance: Provenance | None = None
    #: Index of this process among those that share the rows; only process 0 writes and prints.
    process_index: int = 0
    process_count: int = 1

    @abstractmethod
    def matmul(self, X: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """``S @ X``."""

    def left_matmul(self, X: Tensor) -> Tensor:  # (c, n) -> (c, n)
        """``X @ S``: products as rows, whose layout is the faster one for few of them."""
        return self.matmul(X.T.contiguous()).T.contiguous()

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
        """``S[i_m, j_m]``, from small blocks."""
        out = torch.empty(len(i), dtype=self.dtype, device=self.device)
        for part in row_chunks(len(i), 256, 1 << 16):
            out[part] = self.block(i[part], j[part]).diagonal()
        return out

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:  # (|j|, c) -> (|i|, c)
        """``S[i][:, j] @ X`` in row chunks, without forming the whole block."""
        out = torch.empty(len(i), X.shape[1], dtype=self.dtype, device=self.device)
        for part in row_chunks(len(i), len(j)):
            torch.matmul(self.block(i[part], j), X, out=out[part])
        return out

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The values of process 0, such as clocks and interrupts; unchanged in a single process."""
        return values

    def largest(self, *values: int) -> tuple[int, ...]:
        """The largest value of all processes, such as a signal that one of them received."""
        return values

    def same(self, H: Tensor) -> bool:
        """Whether the processes that share the rows hold the same factor."""
        return True

    def require_same(  # noqa: B027
        self, what: str, marks: Mapping[str, str], remedy: str
    ) -> None:
        """Raise InvalidFile in every process that shares the rows unless their marks are equal.

        Arguments:
            what: what is compared, for the message.
            marks: checksums or words of this process, by the part that they stand for.
            remedy: instruction for the case that they differ.
        """

    def scale(self) -> float:
        """Size of the entries that H Hᵀ must reach: s = max(tr S / n, ‖S‖_F / n).

        The scale is 1 for a matrix with unit diagonal and entries in [0, 1], and is proportional
        to S.
        """
        return max(self.trace(), math.sqrt(self.frob_sq())) / self.n

    def row_norms(self) -> Tensor:  # (n,)
        """Euclidean norm of each row of S, from row blocks."""
        everything = torch.arange(self.n, device=self.device)
        out = torch.empty(self.n, dtype=self.dtype, device=self.device)
        for part in row_chunks(self.n, self.n):
            out[part] = torch.linalg.vector_norm(self.block(everything[part], everything), dim=1)
        return out

    def cost(self) -> float:
        """Number of multiplications of a product with one column."""
        return float(self.n) ** 2

    def to_dense(self) -> Tensor:  # (n, n)
        """The whole matrix as a new tensor, for small n.

        Returns:
            An (n, n) tensor with the dtype and on the device of the operator.

        Example:
            >>> from symnmf.operators import GramOperator
            >>> GramOperator(torch.tensor([[1.0, 0.0], [0.6, 0.8]])).to_dense()
            tensor([[1.0000, 0.6000],
                    [0.6000, 1.0000]])
        """
        everything = torch.arange(self.n, device=self.device)
        return self.block(everything, everything)

    def to_frame(self) -> pd.DataFrame:  # (n, n)
        """The whole matrix as a pandas DataFrame, for small n.

        Returns:
            An (n, n) table. The names of the rows label rows and columns; without names, their
            numbers from 0 do.

        Example:
            >>> from symnmf.operators import GramOperator
            >>> B = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
            >>> GramOperator(B, names=["oil", "gas"]).to_frame().round(3)
                 oil  gas
            oil  1.0  0.6
            gas  0.6  1.0
        """
        import pandas as pd

        labels = None if self.names is None else list(self.names)
        return pd.DataFrame(self.to_dense().cpu().numpy(), index=labels, columns=labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, dtype={str(self.dtype).removeprefix('torch.')})"
