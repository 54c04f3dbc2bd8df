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


def embedding(
    spectrum: Spectrum, k: int, *, leading: bool = False, white: bool = True
) -> tuple[Tensor, Tensor]:  # (n, d), (n,)
    """Directions of the rows of the leading eigenvectors, and which of them have one.

    Arguments:
        spectrum: spectrum of S.
        k: number of groups.
        leading: whether to use the first eigenvector, which all rows share in most data.
        white: whether to use unscaled eigenvectors; otherwise they are scaled by the square roots
            of their eigenvalues.
    """
    first = 0 if leading or k == 1 else 1
    last = max(first + 1, spectrum.positive(k + first))
    X = spectrum.vectors[:, first:last]
    if not white:
        X = X * spectrum.values[first : first + X.shape[1]].clamp(min=0).sqrt().to(X)
    size = torch.linalg.vector_norm(X, dim=1, keepdim=True)
    known = size > torch.finfo(X.dtype).eps * size.max()
    return X / torch.where(known, size, 1), known[:, 0]


def spectral_labels(
    spectrum: Spectrum, k: int, rng: torch.Generator, *, leading: bool = False, white: bool = True
) -> Tensor:  # (n,)
    """Groups of the rows of the leading eigenvectors, by k-means on their directions.

    Arguments:
        spectrum: spectrum of S.
        k: number of groups.
        rng: generator on the CPU.
        leading, white: as for :func:`embedding`.

    Returns:
        (n,) labels; −1 for a row with no loading on these eigenvectors.
    """
    X, known = embedding(spectrum, k, leading=leading, white=white)
    if bool(known.all()):
        return kmeans(X, k, rng)
    labels = torch.full((len(X),), -1, device=X.device)
    if bool(known.any()):
        labels[known] = kmeans(X[known], k, rng)
    return labels


#: Ratios of the common factor to the groups that :func:`group_start` tries.
GRID = (0.0, *(2.0 ** (e / 4) for e in range(-44, 13)))


def group_starts(
    T: SymmetricOperator, k: int, spectrum: Spectrum, labels: Tensor
) -> Tensor:  # (b, n) -> (b, k, n)
    """:func:`group_start` of several labelings, as rows; one product for all of them.

    Arguments:
        T, k, spectrum: as for :func:`group_start`.
        labels: (b, n) groups of every row.
    """
    b, n = labels.shape
    u = spectrum.vectors[:, 0].abs() * T.n**0.5
    P = torch.zeros(b, k, n, dtype=T.dtype, device=T.device).scatter_(1, labels[:, None], 1)
    products = T.left_matmul(torch.cat([P.flatten(0, 1), u[None]]))
    Tu, TP = products[-1].to(torch.float64), products[:-1].view(b, k, n)
    wide = u.to(torch.float64)
    sizes, shares = P.sum(dim=2, dtype=torch.float64), (P @ u).to(torch.float64)  # (b, k)
    own, common = float(wide @ wide), float(wide @ Tu)
    # ‖G₀ + t G₁ + t² G₂‖² with G₀ = diag(sizes), G₁ = shares 1ᵀ + 1 sharesᵀ, G₂ = ‖u‖² 11ᵀ
    total, square = shares.sum(dim=1), shares.square().sum(dim=1)
    aa, ab = sizes.square().sum(dim=1), 2 * (sizes * shares).sum(dim=1)
    ac, bb = own * sizes.sum(dim=1), 2 * k * square + 2 * total.square()
    bc, cc = 2 * k * own * total, torch.full_like(total, (own * k) ** 2)
    t = torch.tensor(GRID, dtype=torch.float64, device=T.device)
    norms = torch.stack([aa, 2 * ab, 2 * ac + bb, 2 * bc, cc], dim=1) @ torch.stack(
        [t**e for e in range(5)]
    )
    ones = (P.to(torch.float64) @ Tu).sum(dim=1)
    inner = torch.stack(
        [(P * TP).sum(dim=(1, 2), dtype=torch.float64), 2 * ones, torch.full_like(ones, k * common)]
    )
    fits = (inner.T @ torch.stack([t**e for e in range(3)])).clamp_(min=0)  # (b, grid)
    best = (fits.square() / norms).argmax(dim=1, keepdim=True)
    scale = (fits / norms).gather(1, best).sqrt().to(T.dtype)[:, :, None]
    return P.add_(t[best].to(T.dtype)[:, :, None] * u).mul_(scale)


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
    stacked = torch.stack(grams).flatten(1)
    (aa, ab, ac), (_, bb, bc), (_, _, cc) = (stacked @ stacked.T).tolist()
    for t in GRID:
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
