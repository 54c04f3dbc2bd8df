"""Start factors: for each seed the same factor for every solver."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.core.kmeans import kmeans
from symnmf.core.spectrum import Spectrum
from symnmf.defaults import STARTS
from symnmf.errors import InvalidFactor, UnknownName
from symnmf.numerics import inner64, torch_stream
from symnmf.operators import SymmetricOperator


def random_start(S: SymmetricOperator, k: int, seed: int) -> Tensor:  # (n, k)
    """Entries uniform in [0, sqrt(mean(S) / k)], as in the paper's section 4.4."""
    H = torch.rand(S.n, k, generator=torch_stream(seed, "start"), dtype=S.dtype)
    return H.mul_((S.mean() / k) ** 0.5).to(S.device)


def uniform_start(S: SymmetricOperator, k: int, seed: int) -> Tensor:  # (n, k)
    """Entries uniform in [0, 1], whatever S is, as in the public code of the paper's authors.

    Reference: github.com/NVIDIA/SymNMF-factors.
    """
    H = torch.rand(S.n, k, generator=torch_stream(seed, "start"), dtype=S.dtype)
    return H.to(S.device)


def nndsvd_start(S: SymmetricOperator, k: int, spectrum: Spectrum, fill: float = 0.01) -> Tensor:
    """Non-negative parts of the leading eigenvectors (Boutsidis and Gallopoulos, 2008).

    Column j is sqrt(λ_j)·m·v/‖v‖, where v is the part of u_j (positive or negative) with the
    larger norm m. Zeros are raised to ``fill`` × sqrt(mean(S) / k), because a multiplicative update
    never leaves a zero; columns without a positive eigenvalue are filled in the same way.

    Arguments:
        S: operator to factorize.
        k: number of columns.
        spectrum: spectrum of S.
        fill: value of zeros, as a fraction of sqrt(mean(S) / k).
    """
    H = torch.zeros(S.n, k, dtype=S.dtype, device=S.device)
    usable = min(k, spectrum.positive(k), spectrum.vectors.shape[1])
    for j in range(usable):
        u = spectrum.vectors[:, j]
        parts = (u.clamp(min=0), (-u).clamp(min=0))
        H[:, j] = (
            max(parts, key=lambda v: float(v.norm())) * max(0.0, float(spectrum.values[j])) ** 0.5
        )
    return H.clamp_(min=fill * (S.mean() / k) ** 0.5)


def spectral_labels(
    spectrum: Spectrum, k: int, rng: torch.Generator, *, leading: bool = False, white: bool = True
) -> Tensor:  # (n,)
    """Groups of the rows of the leading eigenvectors, by k-means on their directions.

    Arguments:
        spectrum: spectrum of S.
        k: number of groups.
        rng: generator on the CPU.
        leading: whether to use the first eigenvector, which all rows share in most data.
        white: whether to use unscaled eigenvectors; otherwise they are scaled by the square roots
            of their eigenvalues.

    Returns:
        (n,) labels; −1 for a row with no loading on these eigenvectors.
    """
    first = 0 if leading or k == 1 else 1
    last = max(first + 1, spectrum.positive(k + first))
    X = spectrum.vectors[:, first:last]
    if not white:
        X = X * spectrum.values[first : first + X.shape[1]].clamp(min=0).sqrt().to(X)
    size = torch.linalg.vector_norm(X, dim=1, keepdim=True)
    known = (size > torch.finfo(X.dtype).eps * size.max())[:, 0]
    if bool(known.all()):
        return kmeans(X / size, k, rng)
    labels = torch.full((len(X),), -1, device=X.device)
    if bool(known.any()):
        labels[known] = kmeans(X[known] / size[known], k, rng)
    return labels


def group_start(T: SymmetricOperator, k: int, spectrum: Spectrum, labels: Tensor) -> Tensor:
    """a·P + c·u1ᵀ: P is the 0/1 matrix of the groups, u = |u₁| sqrt(n) in every column.

    The k columns together must carry the common factor. The ratio t = c / a is the best of a grid,
    a the best scale for it; f(a·(P + t·u1ᵀ)) is a polynomial in t with coefficients from k×k sums.

    Arguments:
        T: operator S, or its surrogate; two products are made.
        k: number of columns.
        spectrum: spectrum of S.
        labels: (n,) groups; −1 for a row without a group.
    """
    u = spectrum.vectors[:, 0].abs() * T.n**0.5
    grouped = labels >= 0
    P = torch.zeros(T.n, k, dtype=T.dtype, device=T.device)
    P[grouped.nonzero()[:, 0], labels[grouped]] = 1
    TP, Tu = T.matmul(P), T.matmul(u[:, None])
    sizes, shares = P.sum(dim=0, dtype=torch.float64), (P.T @ u).to(torch.float64)
    one = torch.ones(k, dtype=torch.float64, device=T.device)
    cross = shares[:, None] * one + one[:, None] * shares
    both = inner64(u[:, None], u[:, None]) * one[:, None] * one
    grams = (torch.diag(sizes), cross, both)
    inner = (inner64(P, TP), 2 * inner64(P, Tu.expand(-1, k)), k * inner64(u[:, None], Tu))
    best = (0.0, 0.0, 0.0)  # gain, t, a
    grid = (0.0, *(2.0 ** (e / 4) for e in range(-44, 13)))
    stacked = torch.stack(grams).flatten(1)
    (aa, ab, ac), (_, bb, bc), (_, _, cc) = (stacked @ stacked.T).tolist()
    for t in grid:
        square = aa + t * (2 * ab + t * (2 * ac + bb + t * (2 * bc + t * cc)))
        fit = max(0.0, inner[0] + t * inner[1] + t * t * inner[2])
        if square == 0:
            continue
        best = max(best, (fit * fit / square, t, (fit / square) ** 0.5))
    return P.add_(u[:, None], alpha=best[1]).mul_(best[2])


def given_start(H0: Tensor, S: SymmetricOperator, k: int) -> Tensor:  # (n, k)
    """Validate and copy the factor of the caller.

    Raises:
        InvalidFactor: the shape is wrong, an entry is negative or not finite, or all are zero.
    """
    if tuple(H0.shape) != (S.n, k):
        raise InvalidFactor("H0", f"has shape {tuple(H0.shape)}", f"Pass shape ({S.n}, {k})")
    H = H0.detach().to(dtype=S.dtype, device=S.device, copy=True).contiguous()
    for bad, what in ((~torch.isfinite(H), "not finite"), (H < 0, "negative")):
        if bool(bad.any()):
            row, column = bad.nonzero()[0].tolist()
            raise InvalidFactor(
                "H0",
                f"entry [{row}, {column}] is {what} ({float(H[row, column]):.6g})",
                "Every entry must be finite and at least zero",
            )
    if not bool(H.any()):
        raise InvalidFactor(
            "H0",
            "every entry is zero",
            "Zero is a stationary point: pass a factor with positive entries",
        )
    return H


def check_start(start: str | Tensor, S: SymmetricOperator, k: int) -> None:
    """Validate a start.

    Raises:
        UnknownName: the name of the start is unknown.
        InvalidFactor: the factor cannot be used.
    """
    if isinstance(start, Tensor):
        given_start(start, S, k)
    elif start not in STARTS:
        remedy = f"Choose {' or '.join(STARTS)}, or pass a factor"
        raise UnknownName("start", f"unknown start {start!r}", remedy)
