"""S held as an n×n array: in memory, or mapped from a file, never copied."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from symnmf.operators import refuse
from symnmf.operators.base import row_chunks
from symnmf.operators.rows import OfRows, Rows, Source

#: Side of the square tiles in which the checking pass reads S.
TILE = 512


class DenseOperator(OfRows):
    """S as a square float tensor or array, shared with the caller, not copied.

    One tiled pass at construction finds NaN, Inf, negative and asymmetric entries, and
    sums ‖S‖² and the mean on the way. A read-only memory map stays mapped. Rows that may lie on
    disk or with other processes come through :meth:`of`.

    Arguments:
        S: (n, n) torch tensor or numpy array of float32 or float64.
        names: names of the rows.
        argument: what to call the matrix in errors.

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
    ):
        matrix, rows = wrap(S), Rows(wrap(S))
        if isinstance(S, np.memmap) and S.filename is not None:
            rows.source = Source.of(S.filename)
        self._set(rows, *_check(matrix, argument), names)

    @classmethod
    def of(
        cls, rows: Rows, frob_sq: float, total: float, names: Sequence[str] | None = None
    ) -> DenseOperator:
        """From the rows of a matrix that was checked when it was made.

        Arguments:
            rows: n×n.
            frob_sq, total: ‖S‖² and the sum of all entries.
            names: names of the rows.
        """
        made = cls.__new__(cls)
        made._set(rows, frob_sq, total, names)
        return made

    def _set(self, rows: Rows, frob_sq: float, total: float, names: Sequence[str] | None) -> None:
        self._take_rows(rows, names)
        self._frob_sq, self._sum = frob_sq, total

    @property
    def S(self) -> Tensor:
        """The matrix itself, where one process has it."""
        return self.rows.whole

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``."""
        return self.rows.times(X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``."""
        return self.rows.at(i, lambda data, local, _: data[local[:, None], j.to(data.device)])

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]``."""
        return self.rows.at(i, lambda data, local, where: data[local, j[where].to(data.device)])

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:
        """``S[i][:, j] @ X`` in row chunks: the block is never whole, nor shipped."""

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
        if self.rows.group is None and len(self.rows.pieces) == 1:
            return self.S.diagonal().to(self.device)
        return self.rows.each(lambda piece, rows: piece[:, rows].diagonal())

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self._trace

    @cached_property
    def _trace(self) -> float:
        return super().trace()

    def row_norms(self) -> Tensor:
        """Length of each row."""
        return self.rows.each(lambda piece, _: torch.linalg.vector_norm(piece, dim=1))

    def frob_sq(self) -> float:
        """‖S‖²_F, summed by the checking pass."""
        return self._frob_sq

    def mean(self) -> float:
        """Mean entry, summed by the checking pass."""
        return self._sum / self.n**2


def wrap(S: Tensor | np.ndarray) -> Tensor:
    """A tensor over the same memory."""
    if isinstance(S, Tensor):
        return S.detach()
    with warnings.catch_warnings():
        # A read-only map is meant to be read only; nothing here writes to S.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(S)


def _check(S: Tensor, argument: str) -> tuple[float, float]:
    """Refuse a matrix that is no dependence matrix; return ‖S‖² and the sum of entries."""
    frob_sq = total = 0.0
    n, largest = len(S), 0.0
    lowest = (0.0, 0, 0)  # value, row, column
    skew = (0.0, 0, 0)
    for a in range(0, n, TILE):
        for b in range(0, a + 1, TILE):
            tile = S[a : a + TILE, b : b + TILE]
            twin = S[b : b + TILE, a : a + TILE].T
            for part, top, left in ((tile, a, b),) if a == b else ((tile, a, b), (twin.T, b, a)):
                wide = part.to(torch.float64)
                part_sum = float(wide.sum())
                if not np.isfinite(part_sum):
                    row, column = _place(~torch.isfinite(part), top, left)
                    value = float(part[row - top, column - left])
                    refuse.nonfinite(argument, row, column, value)
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
        refuse.zero(argument)
    if lowest[0] < -refuse.ROUNDING * largest:
        refuse.negative(argument, lowest[1], lowest[2], lowest[0])
    if skew[0] > refuse.ROUNDING * largest:
        refuse.asymmetric(argument, skew[1], skew[2], skew[0])
    return frob_sq, total


def _place(mask: Tensor, top: int, left: int) -> tuple[int, int]:
    row, column = mask.nonzero()[0].tolist()
    return top + row, left + column
