"""Operators that wrap an operator: scaled, counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from symnmf.errors import InvalidInput
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.gram import GramOperator
from symnmf.operators.observed_entries import ObservedMatrix


class WrappedOperator(SymmetricOperator):
    """A wrapper with the names, the provenance and the processes of the inner operator.

    Arguments:
        inner: operator to wrap.
    """

    def __init__(self, inner: SymmetricOperator):
        self.inner = inner
        self.n, self.dtype, self.device = inner.n, inner.dtype, inner.device
        self.names, self.provenance = inner.names, inner.provenance
        self.process_index, self.process_count = inner.process_index, inner.process_count

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The values of process 0."""
        return self.inner.agree(*values)

    def largest(self, *values: int) -> tuple[int, ...]:
        """The largest value of all processes."""
        return self.inner.largest(*values)

    def same(self, H: Tensor) -> bool:
        """Whether the processes that share the rows hold the same factor."""
        return self.inner.same(H)

    def require_same(self, what: str, marks: Mapping[str, str], remedy: str) -> None:
        """Raise InvalidFile in every process that shares the rows unless their marks are equal."""
        self.inner.require_same(what, marks, remedy)

    def cost(self) -> float:
        """Number of multiplications of a product with one column."""
        return self.inner.cost()


class ScaledOperator(WrappedOperator):
    """c · S for a positive number c.

    Arguments:
        inner: operator S.
        factor: number c.

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

    def left_matmul(self, X: Tensor) -> Tensor:
        """``c · X @ S``."""
        return self._scaled(self.inner.left_matmul, X)

    def _scaled(self, product: Callable[[Tensor], Tensor], X: Tensor) -> Tensor:
        """Scale X before the product for c > 1, the product otherwise: nothing underflows."""
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
    """2^exponent · S without rounding; a Gram operator in memory stays a Gram operator.

    Arguments:
        S: operator to scale.
        exponent: even number.
    """
    if isinstance(S, GramOperator) and S.rows.process_group is None and len(S.rows.pieces) == 1:
        d = None if S.d is None else S.d * 2.0**exponent
        return GramOperator(S.B * 2.0 ** (exponent // 2), d, S.names, S.provenance)
    if isinstance(S, ObservedMatrix):  # its products are not linear
        return S.scaled(2.0**exponent)
    return ScaledOperator(S, 2.0**exponent)


def unwrap(S: SymmetricOperator) -> SymmetricOperator:
    """S without its counter."""
    return S.inner if isinstance(S, CountingOperator) else S


class CountingOperator(WrappedOperator):
    """S with a count of the work done with it: the cost axis of every comparison.

    ``work`` counts entries of S times columns, exactly: n²·c for a product, |i|·|j|·c for a
    product with a block, 1 for an entry that is read. ``columns`` is the same in columns of full
    products; divided by k it is the number of ``S @ H`` equivalents.

    Arguments:
        inner: operator S.

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
        """Work in columns of full products."""
        return self.work / self.n**2

    def matmul(self, X: Tensor) -> Tensor:
        """``S @ X``, counted."""
        self.work += self.n**2 * X.shape[1]
        return self.inner.matmul(X)

    def left_matmul(self, X: Tensor) -> Tensor:
        """``X @ S``, counted."""
        self.work += self.n**2 * X.shape[0]
        return self.inner.left_matmul(X)

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
        """Euclidean norm of each row."""
        return self.inner.row_norms()
