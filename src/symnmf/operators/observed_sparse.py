"""Sparse S with missing or weighted entries, without an n×n array."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.errors import InvalidMatrix
from symnmf.numerics import gram64, row_chunks
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.observed_entries import ObservedMatrix, observed_entries
from symnmf.operators.observed_masks import alone, require_names, truth_values
from symnmf.operators.sparse import SparseOperator


class SignedSparse(SparseOperator):
    """A symmetric sparse part of a sum, whose entries may be negative."""

    def _check(self, argument: str) -> None:
        """A part of a sum needs no check: the caller made it symmetric and finite."""


class SparseObserved(ObservedMatrix):
    """The observed entries of a sparse S, with weights; every other entry is that of the fit.

        W = c + D,   Z = W ∘ S + (1 − W) ∘ H Hᵀ,   matmul(H) = Z H

    c is 0 where few entries are observed and 1 where few are missing; D and S are sparse. A product
    costs k multiplications for each stored entry of D and of S, and n·k².

    Arguments:
        known: (n, n) W ∘ S.
        deviation: (n, n) D = W − c; its entries are negative for c = 1.
        base: the number c, 0 or 1.
        names: names of the rows.

    Example:
        >>> import scipy.sparse as sp
        >>> S = sp.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
        >>> hidden = sp.csr_array(([-1.0, -1.0], ([0, 1], [1, 0])), shape=(4, 4))
        >>> seen = SparseObserved(S + S.multiply(hidden), hidden, 1)
        >>> H = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).double()
        >>> seen.share, seen.error(H)  # fitted exactly
        (0.875, 0.0)
    """

    def __init__(self, known: Any, deviation: Any, base: int, names: Sequence[str] | None = None):
        self.known, self.base, self.names = _signed(known), base, names
        self.deviation = _signed(deviation, self.known.dtype)
        self.n, self.dtype, self.device = self.known.n, self.known.dtype, self.known.device
        rows, col, d = self.deviation._rows, self.deviation.col, self.deviation.values
        self._weights_there = base + d  # W where D is stored
        #: W ∘ S where D is stored, so that residuals and not their parts are multiplied.
        self._known_there = self.known.entries(rows, col) if base == 0 else torch.zeros_like(d)
        unseen = int((self._weights_there <= 0).sum())
        self.share = ((self.n**2 if base else len(d)) - unseen) / self.n**2
        self.mass = base * float(self.n) ** 2 + float(d.sum(dtype=torch.float64))
        at = self.known
        own = at.values.to(torch.float64)
        weight = base + self.deviation.entries(at._rows, at.col).to(torch.float64)
        total = float(own.sum())
        self._frob_sq = float((own.square() / weight.clamp(min=1e-300)).sum())
        self._mean = total / max(self.mass, 1e-300)
        weights = self.diagonal_weights()
        self._diag = torch.where(weights > 0, at.diag() / weights.clamp(min=1e-30), 0)

    @cached_property
    def _diagonal_weights(self) -> Tensor:
        return self.base + self.deviation.diag()

    def matmul(self, X: Tensor) -> Tensor:
        """Z X, where X also completes Z."""
        return self._completed_times(X, X)[0]

    def completed_times(self, H: Tensor, X: Tensor) -> tuple[Tensor, float]:
        """Z X where H completes Z, and ‖W ∘ (S − H Hᵀ)‖²."""
        out, rest = self._completed_times(H, X)
        if self.base == 0:
            return out, float(rest.square().sum(dtype=torch.float64))
        return out, self.error(H) * self._frob_sq

    def _completed_times(self, H: Tensor, X: Tensor) -> tuple[Tensor, Tensor]:
        """Z X, and what a fit leaves where D is stored."""
        rest = self._known_there - self.deviation.values * self._fit(H)
        out: Tensor = self._with(rest) @ X
        return out + (self.known.matmul(X) if self.base else H @ (H.T @ X)), rest

    def error(self, H: Tensor) -> float:
        """Σ W (S − H Hᵀ)² / Σ W S²."""
        H = H.to(torch.float64)
        d = self.deviation.values.to(torch.float64)
        fit = self._fit(H)
        if self.base:
            at = self.known
            cross = _dots(H, at._rows, at.col) @ at.values.to(torch.float64)
            whole = gram64(H).square().sum()
            total = float(self._frob_sq - 2 * cross + whole + d @ fit.square())
        else:
            known = self._known_there.to(torch.float64) / d.clamp(min=1e-300)
            total = float(d @ torch.where(d > 0, known - fit, 0).square())
        return max(0.0, total) / self._frob_sq

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """Observed entries, zero where there is none."""
        w = self.base + self.deviation.block(i, j)
        return torch.where(w > 0, self.known.block(i, j) / w.clamp(min=1e-30), 0)

    def diagonal_weights(self) -> Tensor:
        """The weights of the diagonal, zero where it is missing."""
        return self._diagonal_weights

    def weighted_sum(self, X: Tensor) -> Tensor:
        """(W ∘ S) X."""
        return self.known.matmul(X)

    def weight_sum(self, X: Tensor) -> Tensor:
        """W X."""
        return self.deviation.matmul(X) + self.base * X.sum(dim=0)

    def cost(self) -> float:
        """One multiplication per stored entry."""
        return float(len(self.known.values) + len(self.deviation.values))

    def scaled(self, factor: float) -> SparseObserved:
        """The observed entries of factor · S."""
        known = SignedSparse(self.known.crow, self.known.col, self.known.values * factor)
        return SparseObserved(known, self.deviation, self.base, self.names)

    def completed(self, H: Tensor | None = None) -> SymmetricOperator:
        """S with its missing entries from H Hᵀ; by default from a fit by the means of the rows."""
        H = self.row_means() if H is None else H
        if self.base == 0:
            rest = self._known_there - self.deviation.values * self._fit(H)
            D = self.deviation
            return SparsePlusFactor(SignedSparse(D.crow, D.col, rest), H)
        filled = _scipy(self._with(-self.deviation.values * self._fit(H)))
        return _signed(_scipy(self.known.S) + filled, self.dtype)

    def _fit(self, H: Tensor) -> Tensor:  # (nnz,)
        """H Hᵀ where D is stored."""
        return _dots(H, self.deviation._rows, self.deviation.col)

    def _with(self, values: Tensor) -> Tensor:
        """Other values where D is stored."""
        return _csr(self.deviation.crow, self.deviation.col, values, self.n)


class SparsePlusFactor(SymmetricOperator):
    """R + H Hᵀ with a sparse R: a matrix completed by a fit.

    Arguments:
        rest: the sparse R; its entries may be negative, those of the sum are not.
        H: (n, k) factor.

    Example:
        >>> import scipy.sparse as sp
        >>> R = _signed(sp.csr_array(np.diag([1.0, 0.0])))
        >>> SparsePlusFactor(R, torch.ones(2, 1).double()).to_dense()
        tensor([[2., 1.],
                [1., 1.]], dtype=torch.float64)
    """

    def __init__(self, rest: SparseOperator, H: Tensor):
        self.rest, self.H = rest, H.to(rest.dtype)
        self.n, self.dtype, self.device = rest.n, rest.dtype, rest.device

    def matmul(self, X: Tensor) -> Tensor:
        """``R @ X + H (Hᵀ X)``."""
        return self.rest.matmul(X) + self.H @ (self.H.T @ X)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """``R[i][:, j] + H[i] H[j]ᵀ``."""
        return self.rest.block(i, j) + self.H[i] @ self.H[j].T

    def entries(self, i: Tensor, j: Tensor) -> Tensor:
        """Entries of the sum."""
        return self.rest.entries(i, j) + _dots(self.H, i, j)

    def frob_sq(self) -> float:
        """‖R‖² + 2 ⟨R, H Hᵀ⟩ + ‖HᵀH‖²."""
        R = self.rest
        cross = _dots(self.H.to(torch.float64), R._rows, R.col) @ R.values.to(torch.float64)
        return R.frob_sq() + 2 * float(cross) + float(gram64(self.H).square().sum())

    def mean(self) -> float:
        """Mean entry."""
        sums = self.H.sum(dim=0, dtype=torch.float64)
        return self.rest.mean() + float(sums @ sums) / self.n**2

    def cost(self) -> float:
        """One multiplication per stored entry of R and of H, twice."""
        return float(len(self.rest.values) + 2 * self.H.numel())


def observed_matrix(
    S: Any, mask: Any, weights: Any, dtype: torch.dtype | None, names: Sequence[str] | None
) -> ObservedMatrix:
    """The observed entries: sparse where S and what is observed or missing are.

    Arguments:
        S, mask, weights: as for :func:`symnmf.factorize`.
        dtype: type of the entries; by default that of S.
        names: names of the rows.
    """
    found = sparse_observed(S, mask, weights, dtype, names) if is_sparse(S) else None
    return found or observed_entries(S, mask, weights, dtype, names)


def sparse_observed(
    S: Any, mask: Any, weights: Any, dtype: torch.dtype | None, names: Sequence[str] | None
) -> SparseObserved | None:
    """Validate a sparse matrix with its mask or weights.

    Arguments:
        S: (n, n) scipy or torch sparse matrix, or a :class:`SparseOperator`.
        mask: ``"nan"``, where stored entries that are NaN are missing and entries that are not
            stored are zero; a sparse matrix, whose stored entries that are not zero are observed;
            or (n, n) truth values.
        weights: a sparse matrix of weights, zero where nothing is stored.
        dtype: type of the operator.
        names: names of the rows.

    Returns:
        The observed entries; None for weights that are not sparse, which need an n×n array anyway.
    """
    import scipy.sparse as sp

    A = _scipy(S)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] < 2:
        raise InvalidMatrix("S", f"has shape {A.shape}", "Pass a square matrix")
    kind = dtype or (torch.float64 if A.dtype == np.float64 else torch.float32)
    A = A.astype(np.float64)
    n, base, argument = A.shape[0], 0, "weights" if mask is None else "mask"
    given = weights if mask is None else mask
    require_names(given, argument, names)
    if isinstance(mask, str):
        if mask != "nan":
            raise InvalidMatrix("mask", f"got {mask!r}", "Pass 'nan', or truth values")
        hole = _pattern(A, np.isnan(A.data))
        D, base = -((hole + hole.T) != 0).astype(np.float64), 1
    elif is_sparse(given):
        D = _scipy(given).astype(np.float64)
        D = _pattern(D, D.data != 0) if mask is not None else D
    elif mask is None:
        return None
    else:
        seen = truth_values(given)
        base = int(seen.mean() > 0.5) if seen.size else 0
        D = sp.csr_array(~seen if base else seen).astype(np.float64) * (-1.0 if base else 1.0)
    if D.shape != A.shape:
        problem = f"has shape {D.shape}, S has {A.shape}"
        raise InvalidMatrix(argument, problem, "Pass one entry for each entry of S")
    _check_weights(D, base, argument)
    if not base and float(D.max()) != 1.0:
        D = D / float(D.max())
    D.eliminate_zeros()
    known = _observed_part(A, D, base)
    degree = np.asarray(abs(D).sign().sum(axis=1)).ravel() - (D.diagonal() != 0)
    unseen = degree == (n - 1 if base else 0)
    if unseen.any():
        raise alone(int(np.flatnonzero(unseen)[0]), names)
    return SparseObserved(_signed(known, kind), _signed(D, kind), base, names)


def is_sparse(x: Any) -> bool:
    """Whether x is a sparse matrix of scipy or torch, or a sparse operator."""
    if isinstance(x, Tensor):
        return x.layout != torch.strided
    return isinstance(x, SparseOperator) or hasattr(x, "tocsr")


def _check_weights(D: Any, base: int, argument: str) -> None:
    if argument == "mask" and not base and not D.nnz:
        raise InvalidMatrix("mask", "observes no entry", "Pass True where S is observed")
    if not base and (not np.isfinite(D.data).all() or (D.data < 0).any() or D.max() <= 0):
        raise InvalidMatrix(argument, "has entries that are not finite and non-negative",
                            "Pass weights of at least zero, some of them positive")  # fmt: skip
    if abs(D - D.T).max() > 1e-8 * abs(D).max():
        raise InvalidMatrix(argument, "is not symmetric", "Weigh [i, j] and [j, i] alike")


def _observed_part(A: Any, D: Any, base: int) -> Any:
    """W ∘ S, validated where it is observed."""
    A = A.tocoo()
    i, j = A.coords if hasattr(A, "coords") else (A.row, A.col)
    w = base + np.asarray(D.tocsr()[i, j]).ravel()
    values = np.where(w > 0, A.data, 0.0)
    for bad, what in ((~np.isfinite(values), "not finite"), (values < 0, "negative")):
        if bad.any():
            m = int(np.flatnonzero(bad)[0])
            raise InvalidMatrix("S", f"the observed entry [{i[m]}, {j[m]}] is {what} ({values[m]})",
                                "Mask it, or correct it")  # fmt: skip
    import scipy.sparse as sp

    found = sp.csr_array((w * values, (i, j)), shape=A.shape)
    if abs(found - found.T).max() > 1e-5 * max(abs(found).max(), 1e-300):
        raise InvalidMatrix("S", "is not symmetric where it is observed", "Use (S + S.T) / 2")
    found.eliminate_zeros()
    return found


def _pattern(A: Any, chosen: np.ndarray) -> Any:
    """Ones where an entry of A is stored and chosen."""
    made = A.copy()
    made.data = chosen.astype(np.float64)
    made.eliminate_zeros()
    return made


def _scipy(x: Any) -> Any:
    """The matrix as scipy's compressed rows, sorted and without duplicates."""
    import scipy.sparse as sp

    if isinstance(x, SparseOperator):
        x = x.S
    if isinstance(x, Tensor):
        coo = x.detach().to_sparse(layout=torch.sparse_coo).coalesce().cpu()
        x = sp.csr_array((coo.values().numpy(), coo.indices().numpy()), shape=tuple(x.shape))
    made = sp.csr_array(x)
    if made.dtype.kind not in "fiub":
        raise InvalidMatrix("S", f"has entries of type {made.dtype}", "Pass numbers")
    if not made.has_canonical_format:
        made = made.copy()
        made.sum_duplicates()
    return made


def _signed(x: Any, dtype: torch.dtype | None = None) -> SparseOperator:
    """A sparse operator whose entries may be negative."""
    if isinstance(x, SparseOperator):
        return x
    x = _scipy(x)
    crow, col = (torch.from_numpy(np.asarray(v, dtype=np.int64)) for v in (x.indptr, x.indices))
    values = torch.from_numpy(np.ascontiguousarray(x.data))
    return SignedSparse(crow, col, values.to(dtype or values.dtype))


def _csr(crow: Tensor, col: Tensor, values: Tensor, n: int) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        made: Tensor = torch.sparse_csr_tensor(crow, col, values, (n, n), check_invariants=False)
    return made


def _dots(H: Tensor, i: Tensor, j: Tensor) -> Tensor:  # (m,)
    """⟨H[i_m], H[j_m]⟩ in chunks."""
    out = torch.empty(len(i), dtype=H.dtype, device=H.device)
    for part in row_chunks(len(i), H.shape[1]):
        out[part] = torch.linalg.vecdot(H[i[part]], H[j[part]])
    return out
