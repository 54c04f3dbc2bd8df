"""S = B Bᵀ + diag(d), stored as its factor B and never formed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from symnmf.errors import InvalidMatrix
from symnmf.numerics import CHUNK_ENTRIES, gram64, row_chunks
from symnmf.operators.rows import RowOperator, Rows
from symnmf.provenance import Provenance

#: Matrices B Bᵀ of a factor that is wider than tall are formed up to this size.
FORMED_SIZE = 8192


class GramOperator(RowOperator):
    """S = B Bᵀ + diag(d): a product costs 4·n·m·c operations, not 2·n²·c.

    ‖S‖² and the mean come from the small Gram matrix in float64. A factor in memory that is wider
    than tall (m > n) takes more space than B Bᵀ, which is then formed at the first product.

    Arguments:
        B: (n, m) factor, or its :class:`Rows`. The entries of B Bᵀ + diag(d) must not be
            negative; it is sufficient that those of B and d are not.
        d: (n,) numbers added to the diagonal.
        names: names of the rows.
        provenance: origin of S.

    Example:
        >>> import torch
        >>> S = GramOperator(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        >>> S.block(torch.tensor([0]), torch.tensor([0, 1]))
        tensor([[1., 1.]])
    """

    def __init__(
        self,
        B: Tensor | Rows,
        d: Tensor | None = None,
        names: Sequence[str] | None = None,
        provenance: Provenance | None = None,
    ):
        if isinstance(B, Tensor) and (B.ndim != 2 or not B.is_floating_point()):
            raise InvalidMatrix(
                "B",
                f"needs two float dimensions, got {B.dtype} {tuple(B.shape)}",
                "Pass the (n, m) factor of S = B Bᵀ",
            )
        rows = B if isinstance(B, Rows) else Rows(B.detach())
        if d is not None and d.shape != (rows.n,):
            raise InvalidMatrix("d", f"has shape {tuple(d.shape)}", f"Pass {rows.n} numbers")
        self._take_rows(rows, names, provenance, d)
        sizes = rows.each(lambda piece, _: torch.linalg.vector_norm(piece, ord=torch.inf, dim=1))
        for name, x in (("B", sizes), ("d", d)):
            if x is not None and not bool(torch.isfinite(x).all()):
                row = int((~torch.isfinite(x)).nonzero()[0, 0])
                raise InvalidMatrix(name, f"row {row} is not finite", "Remove the instrument")
        self.m = rows.m
        self.d = None if d is None else d.detach().to(dtype=rows.dtype, device=rows.device)

    @property
    def B(self) -> Tensor:
        """The factor, if one process holds all of its rows."""
        return self.rows.whole

    def expand(self, Y: Tensor) -> Tensor:  # (m, c) -> (n, c)
        """``B Y``."""
        return self.rows.times(Y)

    def matmul(self, X: Tensor) -> Tensor:
        """``B (Bᵀ X) + d ∘ X``."""
        product = self._formed @ X if self.wide else self.rows.times(self.rows.transposed_times(X))
        return product if self.d is None else product.addcmul_(self.d[:, None], X)

    @property
    def wide(self) -> bool:
        """Whether B is in memory and wider than tall, so that B Bᵀ is the smaller matrix."""
        return self.n <= FORMED_SIZE and self.m > self.n and self.rows.in_memory

    @cached_property
    def large_gram(self) -> Tensor:  # (n, n)
        """``B Bᵀ`` in float64, for a factor that is wider than tall."""
        whole = self.rows.each(lambda piece, _: piece)
        total = torch.zeros(self.n, self.n, dtype=torch.float64, device=whole.device)
        for part in row_chunks(self.m, self.n):
            columns = whole[:, part].to(torch.float64)
            total.addmm_(columns, columns.T)
        return total

    @cached_property
    def _formed(self) -> Tensor:  # (n, n)
        return self.large_gram.to(self.dtype)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``B[i] B[j]ᵀ``, plus d where the indices are equal."""
        everything = self._formed[i[:, None], j] if self.wide else None
        out = self._rows_times(i, self.rows.take(j).T) if everything is None else everything
        if self.d is not None:
            out += torch.where(i[:, None] == j, self.d[i][:, None], 0)
        return out

    def _rows_times(self, i: Tensor, Y: Tensor) -> Tensor:  # (m, c) -> (|i|, c)
        def product(data: Tensor, local: Tensor, _: Tensor) -> Tensor:
            return data[local].to(Y.device) @ Y

        return self.rows.at(i, product, by_chunk=True)

    def block_matmul(self, i: Tensor, j: Tensor, X: Tensor) -> Tensor:
        """``B[i] (B[j]ᵀ X)``: 2·(|i| + |j|)·m·c operations."""
        if self.wide:
            out = self._formed[i[:, None], j] @ X
        else:
            out = self._rows_times(i, self.rows.take(j).T @ X)
        if self.d is not None:
            embedded = torch.zeros(self.n, X.shape[1], dtype=X.dtype, device=X.device)
            embedded[j] = X
            out.addcmul_(self.d[i][:, None], embedded[i])
        return out

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """``⟨b_i, b_j⟩``, m operations per entry, in chunks."""
        if self.wide:
            out = self._formed[i, j]
        else:
            out = torch.empty(len(i), dtype=self.dtype, device=self.device)
            for part in row_chunks(len(i), self.m):
                out[part] = torch.linalg.vecdot(self.rows.take(i[part]), self.rows.take(j[part]))
        return out if self.d is None else out + torch.where(i == j, self.d[i], 0)

    def diag(self) -> Tensor:
        """Squared row norms of B, plus d."""
        return self._diag

    @cached_property
    def _diag(self) -> Tensor:
        squares = self.rows.each(lambda piece, _: torch.linalg.vecdot(piece, piece))
        return squares if self.d is None else squares + self.d

    def trace(self) -> float:
        """Sum of the diagonal."""
        return self._trace

    @cached_property
    def _trace(self) -> float:
        return super().trace()

    @cached_property
    def small_gram(self) -> Tensor:  # (m, m)
        """``BᵀB`` in float64, which has the nonzero eigenvalues of B Bᵀ."""
        return self.rows.total(lambda piece, _: gram64(piece, CHUNK_ENTRIES))

    def frob_sq(self) -> float:
        """‖BᵀB‖² + 2·⟨d, diag(B Bᵀ)⟩ + ‖d‖²."""
        return self._frob_sq

    @cached_property
    def _frob_sq(self) -> float:
        total = 0.0
        if self.m <= self.n:
            total = float(self.small_gram.square().sum())
        elif self.n <= FORMED_SIZE:
            total = float(self.large_gram.square().sum())
        else:
            whole = self.rows.each(lambda piece, _: piece).to(torch.float64)
            for part in row_chunks(self.n, self.n):
                total += float((whole[part] @ whole.T).square_().sum())
        if self.d is not None:
            d = self.d.to(torch.float64)
            total += float(d @ (2 * self._diag.to(torch.float64) - d))
        return total

    def row_norms(self) -> Tensor:
        """‖s_i‖² = b_i (BᵀB) b_iᵀ + 2·d_i·‖b_i‖² + d_i², in float64."""
        if self.n <= FORMED_SIZE and self.m > self.n:
            formed = self.large_gram.clone()
            if self.d is not None:
                formed.diagonal().add_(self.d.to(torch.float64))
            norms: Tensor = torch.linalg.vector_norm(formed, dim=1)
            return norms.to(self.dtype)
        gram = self.small_gram  # collective: also called by a process without rows

        def squares(piece: Tensor, rows: slice) -> Tensor:
            out = torch.empty(len(piece), dtype=torch.float64, device=piece.device)
            for part in row_chunks(len(piece), self.m):
                wide = piece[part].to(torch.float64)
                out[part] = torch.linalg.vecdot(wide @ gram, wide)
                if self.d is not None:
                    d = self.d[rows][part].to(torch.float64)
                    out[part] += d * (2 * torch.linalg.vecdot(wide, wide) + d)
            return out

        return self.rows.each(squares).clamp_(min=0).sqrt_().to(self.dtype)

    def cost(self) -> float:
        """Two products with the factor, or one with B Bᵀ where that is the smaller matrix."""
        return float(self.n) ** 2 if self.wide else 2.0 * self.n * self.m

    def mean(self) -> float:
        """``(‖Bᵀ1‖² + Σd) / n²``."""
        columns = self.rows.total(lambda piece, _: piece.sum(dim=0, dtype=torch.float64))
        total = columns @ columns
        if self.d is not None:
            total = total + self.d.sum(dtype=torch.float64)
        return float(total) / self.n**2
