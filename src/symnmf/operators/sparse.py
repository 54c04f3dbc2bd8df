"""S stored as compressed sparse rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from symnmf.numerics import row_chunks
from symnmf.operators import validation
from symnmf.operators.base import SymmetricOperator


class SparseOperator(SymmetricOperator):
    """S as compressed sparse rows with sorted columns and no duplicates.

    Arguments:
        crow: (n + 1,) start of each row in ``col`` and ``values``.
        col: (nnz,) column of each stored entry, ascending within a row.
        values: (nnz,) float32 or float64.
        names: names of the rows.
        argument: name of the matrix in errors.

    Example:
        >>> import scipy.sparse as sp
        >>> from symnmf.operators import as_operator
        >>> as_operator(sp.csr_array(sp.identity(3))).frob_sq()
        3.0
    """

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        values: Tensor,
        names: Sequence[str] | None = None,
        argument: str = "S",
    ):
        self.n, self.dtype, self.device = len(crow) - 1, values.dtype, values.device
        self.crow, self.col, self.values = crow, col, values
        self.names = names
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
            shape = (self.n, self.n)
            self.S = torch.sparse_csr_tensor(crow, col, values, shape, check_invariants=True)
        self._check(argument)

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``.

        In float32 on the CPU rows of X are summed as bags of an embedding: the same sums, two to
        four times as fast as a product with a CSR tensor, because rows are fetched ahead.
        """
        if self._as_bags and X.dtype == torch.float32:
            return torch.embedding_bag(
                X.contiguous(), self.col, self.crow[:-1], per_sample_weights=self.values
            )[0]
        return self.S @ X

    @property
    def _as_bags(self) -> bool:
        return self.dtype == torch.float32 and self.device.type == "cpu"

    def diag(self) -> Tensor:
        """Diagonal of S, from the stored entries."""
        stored = self._rows == self.col
        out = torch.zeros(self.n, dtype=self.dtype, device=self.device)
        out[self.col[stored]] = self.values[stored]
        return out

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]`` by binary search among the stored entries."""
        if not len(self.values):  # a part of a sum may be empty
            return torch.zeros(len(i), dtype=self.dtype, device=self.device)
        key = i * self.n + j
        place = torch.searchsorted(self._keys, key).clamp_(max=len(self._keys) - 1)
        return torch.where(self._keys[place] == key, self.values[place], 0)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``."""
        out = torch.empty(len(i), len(j), dtype=self.dtype, device=self.device)
        for part in row_chunks(len(i), len(j)):
            rows = i[part].repeat_interleave(len(j))
            out[part] = self.entries(rows, j.repeat(len(i[part]))).view(-1, len(j))
        return out

    def frob_sq(self) -> float:
        """‖S‖²_F."""
        return self._frob_sq

    def mean(self) -> float:
        """Mean entry, zeros included."""
        return float(self.values.sum(dtype=torch.float64)) / self.n**2

    def row_norms(self) -> Tensor:
        """Euclidean norm of each row, from the stored entries."""
        squares = torch.zeros(self.n, dtype=torch.float64, device=self.device)
        squares.index_add_(0, self._rows, self.values.to(torch.float64).square())
        return squares.sqrt_().to(self.dtype)

    def cost(self) -> float:
        """One multiplication per stored entry."""
        return float(len(self.values))

    @cached_property
    def _frob_sq(self) -> float:
        wide = self.values.to(torch.float64)
        return float(wide @ wide)

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self._trace

    @cached_property
    def _trace(self) -> float:
        return super().trace()

    @cached_property
    def _rows(self) -> Tensor:
        rows = torch.arange(self.n, device=self.device)
        return torch.repeat_interleave(rows, self.crow[1:] - self.crow[:-1])

    @cached_property
    def _keys(self) -> Tensor:
        return self._rows * self.n + self.col

    def _check(self, argument: str) -> None:
        values = self.values
        largest = float(values.abs().max()) if len(values) else 0.0
        if largest == 0.0:
            validation.zero(argument)
        bad = ~torch.isfinite(values)
        if bad.any():
            validation.nonfinite(argument, *self._stored(bad, values))
        bad = values < -validation.ROUNDING * largest
        if bad.any():
            validation.negative(argument, *self._stored(bad, values))
        gap = (values - self._transposed()).abs()
        bad = gap > validation.ROUNDING * largest
        if bad.any():
            validation.asymmetric(argument, *self._stored(bad, gap))

    def _transposed(self) -> Tensor:  # (nnz,)
        """``S[j, i]`` for every stored entry ``S[i, j]``."""
        order = torch.argsort(self.col, stable=True)  # the entries of Sᵀ, row by row
        if torch.equal(self.col[order], self._rows) and torch.equal(self._rows[order], self.col):
            return self.values[order]
        return self.entries(self.col, self._rows)

    def _stored(self, mask: Tensor, values: Tensor) -> tuple[int, int, float]:
        m = int(mask.nonzero()[0, 0])
        return int(self._rows[m]), int(self.col[m]), float(values[m])
