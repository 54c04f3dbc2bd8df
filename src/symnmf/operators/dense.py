"""S held as an n×n array: in memory, or mapped from a file, never copied."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from symnmf.operators import refuse
from symnmf.operators.base import SymmetricOperator

#: Side of the square tiles in which the checking pass reads S.
TILE = 512


class DenseOperator(SymmetricOperator):
    """S as a square float tensor or array, shared with the caller, not copied.

    One tiled pass at construction finds NaN, Inf, negative and asymmetric entries, and
    sums ‖S‖² and the mean on the way. A read-only memory map stays mapped.

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
        self.S = _wrap(S)
        self.n, self.dtype, self.device = len(self.S), self.S.dtype, self.S.device
        self.names = names
        self._frob_sq, self._sum = _check(self.S, argument)

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``."""
        return self.S @ X

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``."""
        return self.S[i[:, None], j]

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]``."""
        return self.S[i, j]

    def diag(self) -> Tensor:
        """Diagonal of S."""
        return self.S.diagonal()

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self._trace

    @cached_property
    def _trace(self) -> float:
        return super().trace()

    def frob_sq(self) -> float:
        """‖S‖²_F, summed by the checking pass."""
        return self._frob_sq

    def mean(self) -> float:
        """Mean entry, summed by the checking pass."""
        return self._sum / self.n**2


def _wrap(S: Tensor | np.ndarray) -> Tensor:
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
