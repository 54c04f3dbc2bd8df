"""How well k factors of one half of the days predict the dependence in the other half."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from symnmf.core.result import Result
from symnmf.core.spectrum import Spectrum, leading
from symnmf.errors import InvalidInput
from symnmf.operators import SymmetricOperator


@dataclass(frozen=True)
class OffDiagonal:
    """Sums over the off-diagonal entries of S, from which fits follow.

    Attributes:
        S: the dependence matrix.
        diag: (n,) its diagonal.
        pairs: number of entries.
        mean, spread: their mean, and the sum of squared deviations from it.
    """

    S: SymmetricOperator
    diag: Tensor
    pairs: int
    mean: float
    spread: float

    @classmethod
    def of(cls, S: SymmetricOperator) -> OffDiagonal:
        """The sums of an operator."""
        diag = S.diag().to("cpu", torch.float64)
        pairs = S.n * (S.n - 1)
        total = S.mean() * S.n**2 - float(diag.sum())
        squares = S.frob_sq() - float(diag.square().sum())
        return cls(S, diag, pairs, total / pairs, max(0.0, squares - total**2 / pairs))

    def fit(self, total: Tensor, squares: Tensor, cross: Tensor) -> np.ndarray:  # (p,)
        """Squared correlation of the entries of S with those of other matrices; 0 below zero.

        Arguments:
            total, squares, cross: (p,) sums over the off-diagonal entries of each other matrix:
                of the entries, of their squares, and of their products with the entries of S.
        """
        shared = (cross - total * self.mean).clamp(min=0)
        own = (squares - total.square() / self.pairs).clamp(min=0)
        product = own * self.spread
        tiny = np.finfo(np.float64).eps * squares * self.spread + np.finfo(np.float64).tiny
        found: np.ndarray = torch.where(product > tiny, shared.square() / product, 0.0).numpy()
        return found


def spectral_fit(spectrum: Spectrum, other: OffDiagonal, most: int) -> np.ndarray:  # (most,)
    """Squared correlation of the best approximations of rank 1, …, most with another matrix.

        M_k = Σ_{j≤k} λ_j u_j u_jᵀ,   R²(k) = corr(M_k, S')² over the off-diagonal entries

    A scale and a level are free, because a half of the days has another bias than the whole. The
    approximations are nested, so one product S' U serves all k.

    Arguments:
        spectrum: leading eigenpairs of S, from one half of the days.
        other: S' of the other half.
        most: largest rank; where fewer eigenpairs are known, the last value is repeated.
    """
    U = spectrum.vectors[:, :most]
    values = spectrum.values[: U.shape[1]].clamp(min=0).to("cpu")
    image = other.S.matmul(U.to(other.S.dtype)).to("cpu", torch.float64)
    U = U.to("cpu", torch.float64)
    diag = torch.cumsum(values * U.square(), dim=1)  # of every M_k
    total = torch.cumsum(values * U.sum(dim=0).square(), dim=0) - diag.sum(dim=0)
    squares = torch.cumsum(values.square(), dim=0) - diag.square().sum(dim=0)
    cross = torch.cumsum(values * (U * image).sum(dim=0), dim=0)
    found = other.fit(total, squares, cross - other.diag @ diag)
    return np.pad(found, (0, most - len(found)), mode="edge")


def shrunk(spectrum: Spectrum) -> Spectrum:
    """The spectrum of the off-diagonal part of S, with eigenvalues as far as they predict.

        λ_j → sqrt((λ_j − d)² − (λ_p − d)²),   d the mean of the diagonal, λ_p the last known value

    Noise raises the eigenvalue of a weak factor and turns its eigenvector. For symmetric noise
    whose spectrum ends at e, the best weight of a direction with the value y is sqrt(y² − e²);
    the last value of the sketch stands for e. Without it, factors that are real but weak would
    predict worse than none.

    Arguments:
        spectrum: leading eigenpairs of S.

    Reference: Gavish and Donoho (2017), doi:10.1109/TIT.2017.2653801.
    """
    values, diag = spectrum.values, spectrum.trace / spectrum.n
    last = min(spectrum.vectors.shape[1], len(values)) - 1
    edge = float(values[last]) - diag
    # A sketch also has the lower end of the spectrum, which mirrors the upper one.
    edge = max(0.0, edge) if spectrum.exact else abs(edge)
    weight = ((values - diag).clamp(min=0).square() - edge**2).clamp(min=0).sqrt()
    return replace(spectrum, values=weight)


def factor_fit(H: Tensor, other: OffDiagonal) -> float:
    """Squared correlation of the off-diagonal entries of H Hᵀ with those of another matrix.

    Arguments:
        H: (n, k) factor.
        other: the other matrix.
    """
    image = other.S.matmul(H.to(other.S.dtype)).to("cpu", torch.float64)
    H = H.to("cpu", torch.float64)
    diag = H.square().sum(dim=1)
    total = H.sum(dim=0).square().sum() - diag.sum()
    squares = (H.T @ H).square().sum() - diag.square().sum()
    cross = (H * image).sum() - other.diag @ diag
    return float(other.fit(total[None], squares[None], cross[None])[0])


def score_on(result: Result, S: SymmetricOperator, other: SymmetricOperator) -> float:
    """Fit of a factorization to the dependence of other days, relative to that of one factor.

        1 − (1 − R²(H Hᵀ, S')) / (1 − R²(λ₁ u₁ u₁ᵀ, S'))

    Arguments:
        result: a factorization of S.
        S: the matrix that was factorized.
        other: S', of the same instruments on other days.

    Raises:
        InvalidInput: the instruments differ.
    """
    mine, theirs = list(S.names or range(S.n)), list(other.names or range(other.n))
    H, vectors = result.H, leading(S, 1)
    if mine != theirs:
        if sorted(map(str, mine)) != sorted(map(str, theirs)):
            away = sorted({*map(str, mine)} ^ {*map(str, theirs)})
            raise InvalidInput(
                "X",
                f"has not the instruments of the fit: {', '.join(away[:5])} differ",
                "Pass a table with the same columns",
            )
        place = {name: i for i, name in enumerate(mine)}
        order = torch.tensor([place[name] for name in theirs])
        H = H[order]
        vectors = replace(vectors, vectors=vectors.vectors[order])
    sums = OffDiagonal.of(other)
    one = float(spectral_fit(vectors, sums, 1)[0])
    return 1 - (1 - factor_fit(H, sums)) / max(1 - one, 1e-12)
