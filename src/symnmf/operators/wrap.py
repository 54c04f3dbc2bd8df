"""Operators around an operator: scaled, shifted on the diagonal, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from symnmf.errors import InvalidInput
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.gram import GramOperator


class _Wrapped(SymmetricOperator):
    def __init__(self, inner: SymmetricOperator):
        self.inner = inner
        self.n, self.dtype, self.device = inner.n, inner.dtype, inner.device
        self.names, self.about = inner.names, inner.about
        self.rank, self.processes = inner.rank, inner.processes

    def agree(self, *values: Any) -> tuple[Any, ...]:
        return self.inner.agree(*values)

    def same(self, H: Tensor) -> bool:
        return self.inner.same(H)

    def cost(self) -> float:
        return self.inner.cost()


class ScaledOperator(_Wrapped):
    """c · S for a positive number c.

    Example:
        >>> import torch
        >>> from symnmf.operators import DenseOperator
        >>> ScaledOperator(DenseOperator(torch.eye(2)), 3.0).trace()
        6.0
    """

    def __init__(self, inner: SymmetricOperator, factor: float):
        if not 0 < factor < float("inf"):
            raise InvalidInput("factor", f"got {factor}", "Pass a positive, finite number")
        super().__init__(inner)
        self.factor = factor

    def matmul(self, X: Tensor) -> Tensor:
        """``c · S @ X``."""
        return self._scaled(self.inner.matmul, X)

    def _scaled(self, product: Callable[[Tensor], Tensor], X: Tensor) -> Tensor:
        """A small S meets a large X, a large S is made smaller afterwards: nothing underflows."""
        if self.factor > 1:
            return product(X * self.factor)
        return product(X).mul_(self.factor)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``c · S[i][:, j]``."""
        return self.inner.block(i, j) * self.factor

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``c · S[i_m, j_m]``."""
        return self.inner.entries(i, j) * self.factor

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:
        """``c · S[i][:, j] @ X``."""
        return self._scaled(lambda Y: self.inner.block_matmul(i, j, Y), X)

    def diag(self) -> Tensor:
        """``c · diag(S)``."""
        return self.inner.diag() * self.factor

    def frob_sq(self) -> float:
        """``c² ‖S‖²``."""
        return self.factor**2 * self.inner.frob_sq()

    def trace(self) -> float:
        """``c · tr S``."""
        return self.factor * self.inner.trace()

    def mean(self) -> float:
        """``c · mean(S)``."""
        return self.factor * self.inner.mean()


def rescaled(S: SymmetricOperator, exponent: int) -> SymmetricOperator:
    """2^exponent · S, to the bit; a Gram matrix in memory stays one.

    Arguments:
        S: the operator.
        exponent: an even number.
    """
    if isinstance(S, GramOperator) and S.rows.group is None and len(S.rows.pieces) == 1:
        d = None if S.d is None else S.d * 2.0**exponent
        made: SymmetricOperator = GramOperator(S.B * 2.0 ** (exponent // 2), d, S.names)
        made.about = S.about
        return made
    return ScaledOperator(S, 2.0**exponent)


class DiagonalShift(_Wrapped):
    """S + diag(d) for a vector d.

    Example:
        >>> import torch
        >>> from symnmf.operators import DenseOperator
        >>> DiagonalShift(DenseOperator(torch.eye(2)), torch.tensor([1.0, 2.0])).diag()
        tensor([2., 3.])
    """

    def __init__(self, inner: SymmetricOperator, d: Tensor):
        if d.shape != (inner.n,):
            raise InvalidInput("d", f"has shape {tuple(d.shape)}", f"Pass {inner.n} numbers")
        super().__init__(inner)
        self.d = d.to(dtype=inner.dtype, device=inner.device)

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X + d ∘ X``."""
        return self.inner.matmul(X).addcmul_(self.d[:, None], X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``, and d where the indices meet."""
        return self.inner.block(i, j) + torch.where(i[:, None] == j, self.d[i][:, None], 0)

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]``, and d where the indices meet."""
        return self.inner.entries(i, j) + torch.where(i == j, self.d[i], 0)

    def diag(self) -> Tensor:
        """``diag(S) + d``."""
        return self.inner.diag() + self.d

    def frob_sq(self) -> float:
        """``‖S‖² + 2⟨d, diag(S)⟩ + ‖d‖²``."""
        d = self.d.to(torch.float64)
        return self.inner.frob_sq() + float(d @ (2 * self.inner.diag().to(torch.float64) + d))

    def mean(self) -> float:
        """Mean entry."""
        return self.inner.mean() + float(self.d.sum(dtype=torch.float64)) / self.n**2


def bare(S: SymmetricOperator) -> SymmetricOperator:
    """S without its counter."""
    return S.inner if isinstance(S, CountingOperator) else S


class CountingOperator(_Wrapped):
    """S, and how much of it was multiplied: the cost axis of every comparison.

    ``work`` counts entries of S times columns, exactly: n²·c for a product, |i|·|j|·c for a
    block of one, 1 for an entry that is read. ``columns`` is that in columns of full products;
    divided by k it is the number of ``S @ H`` equivalents.

    Example:
        >>> import torch
        >>> from symnmf.operators import DenseOperator
        >>> S = CountingOperator(DenseOperator(torch.eye(4)))
        >>> _ = S.matmul(torch.ones(4, 2)), S.block(torch.arange(2), torch.arange(4))
        >>> S.columns
        2.5
    """

    def __init__(self, inner: SymmetricOperator):
        super().__init__(inner)
        self.work = 0

    @property
    def columns(self) -> float:
        """Columns of full products."""
        return self.work / self.n**2

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``, counted."""
        self.work += self.n**2 * X.shape[1]
        return self.inner.matmul(X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i][:, j]``, counted."""
        self.work += len(i) * len(j)
        return self.inner.block(i, j)

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``S[i_m, j_m]``, counted."""
        self.work += len(i)
        return self.inner.entries(i, j)

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:
        """``S[i][:, j] @ X``, counted."""
        self.work += len(i) * len(j) * X.shape[1]
        return self.inner.block_matmul(i, j, X)

    def diag(self) -> Tensor:
        """Diagonal of S."""
        return self.inner.diag()

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self.inner.trace()

    def frob_sq(self) -> float:
        """‖S‖²_F."""
        return self.inner.frob_sq()

    def mean(self) -> float:
        """Mean entry."""
        return self.inner.mean()

    def row_norms(self) -> Tensor:
        """Length of each row."""
        return self.inner.row_norms()
