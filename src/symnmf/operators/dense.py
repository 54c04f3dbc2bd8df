"""S stored as an n×n array: in memory or mapped from a file, never copied."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import row_chunks
from symnmf.operators import validation
from symnmf.operators.rows import RowOperator, Rows
from symnmf.provenance import Provenance
from symnmf.storage.mapped import MappedFile

#: Side of the square tiles in which the validation pass reads S.
CHECK_TILE = 512


class DenseOperator(RowOperator):
    """S as a square float tensor or array, shared with the caller, not copied.

    One tiled pass at construction finds NaN, Inf, negative and asymmetric entries, and computes
    ‖S‖² and the mean. A read-only memory map stays mapped. For rows on disk or in other
    processes use :meth:`of`.

    Arguments:
        S: (n, n) torch tensor or numpy array of float32 or float64.
        names: names of the rows.
        argument: name of the matrix in errors.
        provenance: origin of S.

    Raises:
        InvalidMatrix: S is zero, or an entry is not finite, negative or asymmetric.

    Example:
        >>> import numpy as np
        >>> DenseOperator(np.eye(3, dtype=np.float32)).trace()
        3.0
    """

    def __init__(
        self,
        S: Tensor | np.ndarray,
        names: Sequence[str] | None = None,
        argument: str = "S",
        provenance: Provenance | None = None,
    ):
        matrix, rows = wrap(S), Rows(wrap(S))
        if isinstance(S, np.memmap) and S.filename is not None:
            rows.source = MappedFile.of(S.filename)
        self._set(rows, *_check(matrix, argument), names, provenance)

    @classmethod
    def of(
        cls,
        rows: Rows,
        frob_sq: float,
        total: float,
        names: Sequence[str] | None = None,
        provenance: Provenance | None = None,
    ) -> DenseOperator:
        """Create an operator from the rows of a matrix that is already validated.

        Arguments:
            rows: rows of the n×n matrix.
            frob_sq, total: ‖S‖² and the sum of all entries.
            names: names of the rows.
            provenance: origin of S.
        """
        made = cls.__new__(cls)
        made._set(rows, frob_sq, total, names, provenance)
        return made

    def _set(
        self,
        rows: Rows,
        frob_sq: float,
        total: float,
        names: Sequence[str] | None,
        provenance: Provenance | None,
    ) -> None:
        self._take_rows(rows, names, provenance, frob_sq, total)
        self._frob_sq, self._sum = frob_sq, total

    @property
    def S(self) -> Tensor:
        """The matrix, if one process holds all of its rows."""
        return self.rows.whole

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``."""
        return self.rows.times(X)

    def left_matmul(self, X: Tensor) -> Tensor:
        """``X @ S``."""
        return X @ self.S.T if self.rows.in_memory else super().left_matmul(X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``."""
        return self.rows.at(i, lambda data, local, _: data[local[:, None], j.to(data.device)])

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]``."""
        return self.rows.at(i, lambda data, local, where: data[local, j[where].to(data.device)])

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:
        """``S[i][:, j] @ X`` in row chunks: the block is neither formed whole nor sent."""

        def product(data: Tensor, local: Tensor, _: Tensor) -> Tensor:
            out = torch.empty(len(local), X.shape[1], dtype=X.dtype, device=X.device)
            columns = j.to(data.device)
            for part in row_chunks(len(local), len(j)):
                torch.matmul(data[local[part][:, None], columns].to(X.device), X, out=out[part])
            return out

        return self.rows.at(i, product, by_chunk=True)

    def diag(self) -> Tensor:
        """Diagonal of S."""
        return self._diag

    @cached_property
    def _diag(self) -> Tensor:
        if self.rows.process_group is None and len(self.rows.pieces) == 1:
            return self.S.diagonal().to(self.device)
        return self.rows.each(lambda piece, rows: piece[:, rows].diagonal())

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self._trace

    @cached_property
    def _trace(self) -> float:
        return super().trace()

    def row_norms(self) -> Tensor:
        """Euclidean norm of each row."""
        return self.rows.each(lambda piece, _: torch.linalg.vector_norm(piece, dim=1))

    def frob_sq(self) -> float:
        """‖S‖²_F, computed by the validation pass."""
        return self._frob_sq

    def mean(self) -> float:
        """Mean entry, computed by the validation pass."""
        return self._sum / self.n**2


def wrap(S: Tensor | np.ndarray) -> Tensor:
    """A tensor over the same memory."""
    if isinstance(S, Tensor):
        return S.detach()
    if S.flags.writeable:
        return torch.from_numpy(S)
    with warnings.catch_warnings():
        # Nothing here writes to S, so a read-only map is safe.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(S)


def _check(S: Tensor, argument: str) -> tuple[float, float]:
    """Validate a dependence matrix; return ‖S‖² and the sum of the entries."""
    frob_sq = total = 0.0
    n, largest = len(S), 0.0
    lowest = (0.0, 0, 0)  # value, row, column
    skew = (0.0, 0, 0)
    for a in range(0, n, CHECK_TILE):
        for b in range(0, a + 1, CHECK_TILE):
            tile = S[a : a + CHECK_TILE, b : b + CHECK_TILE]
            twin = S[b : b + CHECK_TILE, a : a + CHECK_TILE].T
            for part, top, left in ((tile, a, b),) if a == b else ((tile, a, b), (twin.T, b, a)):
                wide = part.to(torch.float64)
                part_sum = float(wide.sum())
                if not np.isfinite(part_sum):
                    row, column = _place(~torch.isfinite(part), top, left)
                    value = float(part[row - top, column - left])
                    validation.nonfinite(argument, row, column, value)
                total += part_sum
                frob_sq += float((wide * wide).sum())
                low, high = (float(v) for v in part.aminmax())
                largest = max(largest, high, -low)
                if low < lowest[0]:
                    lowest = (low, *_place(part == low, top, left))
            gap = (tile - twin).abs_()
            worst = float(gap.max())
            if worst > skew[0]:
                skew = (worst, *_place(gap == worst, a, b))
    if largest == 0.0:
        validation.zero(argument)
    if lowest[0] < -validation.ROUNDING * largest:
        validation.negative(argument, lowest[1], lowest[2], lowest[0])
    if skew[0] > validation.ROUNDING * largest:
        validation.asymmetric(argument, skew[1], skew[2], skew[0])
    return frob_sq, total


def _place(mask: Tensor, top: int, left: int) -> tuple[int, int]:
    row, column = mask.nonzero()[0].tolist()
    return top + row, left + column
