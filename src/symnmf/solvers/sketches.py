"""The matrices and the surrogates of several problems as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.operators import SymmetricOperator
from symnmf.operators.lowrank import LowRankOperator

#: Maximum of the entries of an array of matrices.
SMALL_ENTRIES = 1_000_000


def surrogates(problems: Sequence[Problem]) -> Sketches | SmallMatrices | None:
    """The surrogates of some problems as one batch; None if they are of different kinds.

    Where products with S cost no more than with a sketch, the surrogate is S; such matrices are
    put into one array if they are small.
    """
    made = [problem.surrogate for problem in problems]
    n, same = problems[0].S.n, all(p.surrogate is p.S for p in problems)
    if same and len(made) * n**2 <= SMALL_ENTRIES:
        return SmallMatrices(torch.stack([problem.S.inner.to_dense() for problem in problems]))
    return Sketches.of(made)


@dataclass(frozen=True)
class Sketches:
    """U Φ Uᵀ + diag(d) of each of several factors, which belong to different problems.

    Attributes:
        U: (b, n, p) orthonormal columns.
        core: (b, p, p) the matrices Φ.
        d: (b, 1, n) numbers added to the diagonals.

    Example:
        >>> one = LowRankOperator(torch.eye(2)[:, :1], torch.tensor([[3.0]]), torch.ones(2))
        >>> both = Sketches.of([one, one])
        >>> None if both is None else both.products(torch.ones(2, 1, 2))[0]
        tensor([[4., 1.]])
    """

    U: Tensor
    core: Tensor
    d: Tensor

    @classmethod
    def of(cls, operators: Sequence[SymmetricOperator]) -> Sketches | None:
        """The sketches of some operators; None if one is not a sketch, or their ranks differ."""
        made = [T for T in operators if isinstance(T, LowRankOperator)]
        if len(made) < len(operators) or len({T.U.shape for T in made}) != 1:
            return None
        U, core = torch.stack([T.U for T in made]), torch.stack([T.core for T in made])
        return cls(U, core, torch.stack([T.d for T in made])[:, None])

    def products(self, X: Tensor) -> Tensor:  # (b, k, n) -> (b, k, n)
        """``((X U) Φ) Uᵀ + X ∘ d`` of each factor."""
        inner = torch.bmm(torch.bmm(X, self.U), self.core)
        return torch.bmm(inner, self.U.mT).addcmul_(X, self.d)

    def only(self, chosen: Tensor) -> Sketches:
        """Those of some factors."""
        return Sketches(self.U[chosen], self.core[chosen], self.d[chosen])

    def repeated(self, times: int) -> Sketches:
        """Each of them several times in succession."""
        parts = (x.repeat_interleave(times, dim=0) for x in (self.U, self.core, self.d))
        return Sketches(*parts)


@dataclass(frozen=True)
class SmallMatrices:
    """The matrix of each of several factors, in one array.

    Attributes:
        S: (b, n, n) the matrices.
    """

    S: Tensor

    def products(self, X: Tensor) -> Tensor:  # (b, k, n) -> (b, k, n)
        """``X S`` of each factor."""
        return torch.bmm(X, self.S)

    def only(self, chosen: Tensor) -> SmallMatrices:
        """Those of some factors."""
        return SmallMatrices(self.S[chosen])

    def repeated(self, times: int) -> SmallMatrices:
        """Each of them several times in succession."""
        return SmallMatrices(self.S.repeat_interleave(times, dim=0))


@dataclass(frozen=True)
class Matrices:
    """The matrix of each of several factors, which belong to different problems.

    Attributes:
        operators: the matrices; products with them follow one another.

    Example:
        >>> from symnmf.operators import as_operator
        >>> both = Matrices((as_operator(torch.eye(2)), as_operator(torch.ones(2, 2))))
        >>> both.products(torch.ones(2, 1, 2))[:, 0]
        tensor([[1., 1.],
                [2., 2.]])
    """

    operators: tuple[SymmetricOperator, ...]

    def products(self, X: Tensor) -> Tensor:  # (b, k, n) -> (b, k, n)
        """``X S`` of each factor."""
        pairs = zip(self.operators, X, strict=True)
        return torch.stack([S.left_matmul(rows) for S, rows in pairs])

    def only(self, chosen: Tensor) -> Matrices:
        """Those of some factors."""
        return Matrices(tuple(self.operators[m] for m in chosen.tolist()))
