"""S with missing or weighted entries, as what solvers need: the product of S completed by H."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.errors import InvalidMatrix
from symnmf.numerics import row_chunks
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.observed_masks import alone, numbers, require_names, truth_values


class ObservedMatrix(SymmetricOperator):
    """What the problem of some entries of S needs, dense or sparse.

    Attributes:
        share: share of the entries that is observed.
        mass: sum of the weights.
    """

    share: float
    mass: float
    _frob_sq: float
    _mean: float
    _diag: Tensor

    @abstractmethod
    def error(self, H: Tensor) -> float:
        """Σ W (S − H Hᵀ)² / Σ W S²."""

    @abstractmethod
    def completed(self, H: Tensor | None = None) -> SymmetricOperator:
        """S with its missing entries from H Hᵀ; by default from a fit by the means of the rows."""

    @abstractmethod
    def weighted_sum(self, X: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """(W ∘ S) X."""

    @abstractmethod
    def weight_sum(self, X: Tensor) -> Tensor:  # (n, c) -> (n, c)
        """W X."""

    @abstractmethod
    def completed_times(self, H: Tensor, X: Tensor) -> tuple[Tensor, float]:  # (n, k), (n, c)
        """Z X where H completes Z, and ‖W ∘ (S − H Hᵀ)‖²."""

    @abstractmethod
    def diagonal_weights(self) -> Tensor:  # (n,)
        """The weights of the diagonal, zero where it is missing."""

    @abstractmethod
    def scaled(self, factor: float) -> ObservedMatrix:
        """The observed entries of factor · S."""

    @property
    def whole(self) -> bool:
        """Whether every entry is observed with the same weight, so that nothing is special."""
        return self.share == 1.0 and self.mass >= (1 - 1e-12) * float(self.n) ** 2

    def diag(self) -> Tensor:
        """The diagonal, zero where it is missing."""
        return self._diag

    def frob_sq(self) -> float:
        """Σ W S²."""
        return self._frob_sq

    def mean(self) -> float:
        """Weighted mean of the observed entries."""
        return self._mean

    def scale(self) -> float:
        """Size of the entries that H Hᵀ must reach: that of the diagonal or of all entries."""
        seen = self.diagonal_weights() > 0
        own = float(self._diag[seen].mean(dtype=torch.float64)) if bool(seen.any()) else 0.0
        return max(own, float(np.sqrt(self._frob_sq / max(self.mass, 1e-300))))

    def left_on_diagonal(self, H: Tensor) -> Tensor:  # (n, k) -> (n,)
        """The diagonal of W ∘ (S − H Hᵀ)."""
        return (self._diag - H.square().sum(dim=1)) * self.diagonal_weights()

    def row_means(self) -> Tensor:  # (n, 1)
        """One column whose products are about the means of the rows."""
        one = torch.ones(self.n, 1, dtype=self.dtype, device=self.device)
        row = self.weighted_sum(one) / self.weight_sum(one).clamp(min=1e-30)
        return row.div(max(self._mean, 1e-30) ** 0.5)


class ObservedEntries(ObservedMatrix):
    """The observed entries of S, with weights; every other entry is that of the present fit.

        Z = W ∘ S + (1 − W) ∘ H Hᵀ,   0 ≤ W ≤ 1,   matmul(H) = Z H = H HᵀH + (W ∘ (S − H Hᵀ)) H

    The product depends on H in both places, so this is not a linear operator: it serves solvers
    that use S only in the product S H. For them the gradient at Z is that of the weighted error
    Σ W (S − H Hᵀ)², and ‖Z − X Xᵀ‖² is an upper bound of it for every X, equal at X = H up to a
    constant: each step on Z is a step on the weighted error (expectation and maximization).

    ``frob_sq`` and ``mean`` are those of the observed entries, ``diag`` is zero where it is
    missing.

    Arguments:
        S: (n, n) symmetric matrix; entries without weight may be anything.
        weights: (n, n) symmetric, from 0 to 1; truth values for a mask.
        names: names of the rows.

    Reference: Srebro and Jaakkola (2003), Weighted low-rank approximations, ICML.

    Example:
        >>> S = torch.ones(3, 3)
        >>> S[0, 1] = S[1, 0] = torch.nan
        >>> seen = ObservedEntries(S, ~torch.isnan(S))
        >>> seen.share, seen.matmul(torch.ones(3, 1))[:, 0]  # fitted exactly: Z H = H HᵀH
        (0.7777777777777778, tensor([3., 3., 3.]))
    """

    def __init__(self, S: Tensor, weights: Tensor, names: Sequence[str] | None = None):
        self.n, self.dtype, self.device, self.names = len(S), S.dtype, S.device, names
        self.weights = weights.to(S.dtype)  # products with truth values are four times slower
        self.S = torch.where(weights > 0, S * weights, torch.zeros((), dtype=S.dtype))  # W ∘ S
        self.share = float((weights > 0).sum()) / self.n**2
        total = frob_sq = mass = 0.0
        for part in row_chunks(self.n, self.n):
            known = weights[part] > 0
            values = torch.where(known, S[part], 0).to(torch.float64)
            w = weights[part].to(torch.float64)
            total += float((w * values).sum())
            frob_sq += float((w * values.square()).sum())
            mass += float(w.sum())
        self._is_mask = weights.dtype == torch.bool or bool(((weights == 0) | (weights == 1)).all())
        self.mass, self._frob_sq, self._mean = mass, frob_sq, total / max(mass, 1e-300)
        self._diag = torch.where(weights.diagonal() > 0, S.diagonal(), 0)

    def matmul(self, X: Tensor) -> Tensor:
        """Z X, where X also completes Z."""
        out = X @ (X.T @ X)
        for part in row_chunks(self.n, self.n):
            out[part] += self._residual(X, part) @ X
        return out

    def completed_times(self, H: Tensor, X: Tensor) -> tuple[Tensor, float]:
        """Z X where H completes Z, and ‖W ∘ (S − H Hᵀ)‖²."""
        out, left = H @ (H.T @ X), 0.0
        for part in row_chunks(self.n, self.n):
            R = self._residual(H, part)
            out[part] += R @ X
            left += float(R.square_().sum(dtype=torch.float64))
        return out, left

    def error(self, H: Tensor) -> float:
        """Σ W (S − H Hᵀ)² / Σ W S²."""
        total = 0.0
        for part in row_chunks(self.n, self.n):
            R = self._residual(H, part)
            if not self._is_mask:
                R.div_(self.weights[part].clamp(min=1e-30).sqrt())
            total += float(R.square_().sum(dtype=torch.float64))
        return total / self._frob_sq

    def _residual(self, H: Tensor, part: slice) -> Tensor:  # (rows of the part, n)
        """W ∘ (S − H Hᵀ)."""
        fit = H[part] @ H.T
        return torch.addcmul(self.S[part], self.weights[part], fit, value=-1, out=fit)

    def block(self, i: Tensor, j: Tensor) -> Tensor:
        """Observed entries, zero where there is none."""
        w = self.weights[i[:, None], j].to(self.dtype)
        return torch.where(w > 0, self.S[i[:, None], j] / w.clamp(min=1e-30), 0)

    def weighted_sum(self, X: Tensor) -> Tensor:
        """(W ∘ S) X."""
        return self.S @ X

    def weight_sum(self, X: Tensor) -> Tensor:
        """W X."""
        return self.weights.to(X.dtype) @ X

    def diagonal_weights(self) -> Tensor:
        """The weights of the diagonal, zero where it is missing."""
        return self.weights.diagonal()

    def scaled(self, factor: float) -> ObservedEntries:
        """The observed entries of factor · S."""
        w = self.weights.to(self.dtype)
        whole = torch.where(w > 0, self.S / w.clamp(min=1e-30) * factor, 0)
        return ObservedEntries(whole, self.weights, self.names)

    def completed(self, H: Tensor | None = None) -> DenseOperator:
        """S with its missing entries from H Hᵀ; by default from a fit by the means of the rows."""
        H = self.row_means() if H is None else H
        fit = H @ H.T
        filled = torch.addcmul(fit, self.weights, fit, value=-1).add_(self.S)
        return DenseOperator(filled.clamp_(min=0))


def observed_entries(
    S: Any, mask: Any, weights: Any, dtype: torch.dtype | None, names: Sequence[str] | None
) -> ObservedEntries:
    """Validate a matrix with its mask or weights.

    Arguments:
        S: (n, n) array, tensor, data frame or sparse matrix.
        mask: (n, n) truth values, True where S is observed; ``"nan"`` for the entries that are
            not NaN; or None.
        weights: (n, n) numbers of at least zero, or None; zero where an entry is missing.
        dtype: type of the operator.
        names: names of the rows.

    Raises:
        InvalidMatrix: S is not symmetric and non-negative where it is observed, or mask and
            weights have another shape, or a row has no observed entry besides the diagonal.
    """
    values = numbers(S, "S")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        raise InvalidMatrix("S", f"has shape {values.shape}", "Pass a square matrix")
    argument = "weights" if mask is None else "mask"
    require_names(weights if mask is None else mask, argument, names)
    if isinstance(mask, str):
        if mask != "nan":
            raise InvalidMatrix("mask", f"got {mask!r}", "Pass 'nan', or an array of truth values")
        seen = ~np.isnan(values)
        W = np.asarray(seen & seen.T)
    else:
        W = numbers(weights, argument) if mask is None else truth_values(mask)
    if W.shape != values.shape:
        problem = f"has shape {W.shape}, S has {values.shape}"
        raise InvalidMatrix(argument, problem, "Pass one entry for each entry of S")
    if W.dtype != bool:
        if not np.isfinite(W).all() or (W < 0).any() or not (W > 0).any():
            raise InvalidMatrix(argument, "has entries that are not finite and non-negative",
                                "Pass weights of at least zero, some of them positive")  # fmt: skip
        W = W / W.max()
    if not (np.array_equal(W, W.T) or (W.dtype != bool and np.allclose(W, W.T))):
        raise InvalidMatrix(argument, "is not symmetric", "Weigh [i, j] and [j, i] alike")
    seen = W > 0
    known = np.where(seen, values, 0.0)
    for bad, what in ((~np.isfinite(known), "not finite"), (known < 0, "negative")):
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise InvalidMatrix("S", f"the observed entry [{i}, {j}] is {what} ({known[i, j]})",
                                "Mask it, or correct it")  # fmt: skip
    if np.abs(known - known.T).max() > 1e-5 * np.abs(known).max():
        raise InvalidMatrix("S", "is not symmetric where it is observed", "Use (S + S.T) / 2")
    unseen = seen.sum(axis=1) - seen.diagonal() == 0
    if unseen.any():
        raise alone(int(np.flatnonzero(unseen)[0]), names)
    kind = dtype or (torch.float64 if values.dtype == np.float64 else torch.float32)
    tensor = torch.from_numpy(np.ascontiguousarray(known)).to(kind)
    W_tensor = torch.from_numpy(np.ascontiguousarray(W))
    return ObservedEntries(tensor, W_tensor if W.dtype == bool else W_tensor.to(kind), names)
