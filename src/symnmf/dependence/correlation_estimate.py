"""Provenance of an absolute correlation, with the signs of the correlation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.display import Brief
from symnmf.numerics import row_chunks
from symnmf.operators import SymmetricOperator
from symnmf.provenance import Provenance


@dataclass(frozen=True, repr=False)
class CorrelationEstimate(Brief, Provenance):
    """How an absolute correlation was estimated; stored as ``operator.provenance``.

    Attributes:
        intensity: intensity of the shrinkage.
        scores: (n, T) z-scores, zero where a number is missing.
        negative: number of pairs with a negative correlation.
        steps: descriptions of the estimate, in order.
        below: (n, n) mask of negative correlations if the scores do not determine the signs, that
            is, with missing numbers or after removal of noise; otherwise None.
    """

    intensity: float
    scores: Tensor
    negative: int
    steps: tuple[str, ...]
    below: Tensor | None = None

    def signs(self, i: Tensor, j: Tensor) -> Tensor:  # (|i|, |j|)
        """Sign of the correlation of instruments i with instruments j; −1 for a hedge."""
        if self.below is not None:
            return 1.0 - 2.0 * self.below[i[:, None], j].to(self.scores.dtype)
        return torch.sign(self.scores[i] @ self.scores[j].T)

    def signed_product(self, S: SymmetricOperator, v: Tensor) -> Tensor:  # (n,)
        """R v in float64, where R is S with its signs.

        Arguments:
            S: absolute correlation.
            v: (n,) vector in float64.
        """
        if self.below is None:
            Z = self.scores.to(torch.float64)
            return (1 - self.intensity) * (Z @ (Z.T @ v)) / Z.shape[1] + self.intensity * v
        everything = torch.arange(S.n)
        out = torch.empty(S.n, dtype=torch.float64)
        for part in row_chunks(S.n, S.n):
            rows = S.block(everything[part], everything).to(torch.float64)
            out[part] = (rows * self.signs(everything[part], everything)) @ v
        return out


@dataclass(frozen=True)
class SharedCorrelationEstimate(Provenance):
    """How an absolute correlation was estimated by processes that read their own columns.

    No process has all scores, so that the signs of single correlations are not known afterwards.

    Attributes:
        intensity: intensity of the shrinkage.
        negative: number of pairs with a negative correlation.
        steps: descriptions of the estimate, in order.
    """

    intensity: float
    negative: int
    steps: tuple[str, ...]
