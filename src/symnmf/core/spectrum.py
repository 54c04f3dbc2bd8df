"""Leading eigenpairs of an operator, and the bounds on the error that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from symnmf.numerics import (
    WIDE_ENTRIES,
    cross64,
    gram64,
    row_chunks,
    symmetric_eigen,
    torch_stream,
)
from symnmf.operators import GramOperator, SymmetricOperator, unwrap

#: Dense matrices up to this size, and Gram factors whose smaller side is up to this, are solved
#: exactly.
EXACT_SIZE, EXACT_WIDTH = 256, 2048


#: Minimum and maximum passes over S of the subspace iteration, each of about 2k columns (two
#: products), and the degrees of the polynomials that follow the first passes.
MIN_PASSES, MAX_PASSES, DEGREES = 3, 11, (3, 5)
#: Directions whose Ritz value is above this multiple of the interval get no polynomials.
FILTER_RATIO = 3.0


#: Degrees if the passes begin at the eigenvectors of a similar matrix.
NEAR_DEGREES = (3, 2, 3, 5)


#: The iteration stops if the floor interval is below this fraction of its distance to rank one.
FLOOR_WIDTH = 1e-3


#: A Ritz value is isolated if its residual is below this fraction of its gap.
ISOLATED_FRACTION = 0.05


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenvalues of S with their accuracy, and the bounds that follow from them.

    Attributes:
        values: (p,) eigenvalues or Ritz values, descending, float64.
        residuals: (p,) norms ‖S u_j − θ_j u_j‖; zero for exact values.
        vectors: (n, p) orthonormal columns, in the dtype of the operator.
        n, frob_sq, trace: size, squared norm and trace of S.
        power_steps: passes over S after the first; None for an exact spectrum, in which ``values``
            has every nonzero eigenvalue, up to rounding.
    """

    values: Tensor
    residuals: Tensor
    vectors: Tensor
    n: int
    frob_sq: float
    trace: float
    power_steps: int | None

    @property
    def exact(self) -> bool:
        """Whether the eigenvalues are exact, up to rounding."""
        return self.power_steps is None

    def floor(self, m: int) -> tuple[float, float]:
        """Interval of 1 − Σ_{j≤m} max(λ_j, 0)² / ‖S‖²: no H with m columns has less error.

        Ritz values are below the eigenvalues, which gives the upper end. For the lower end each
        one is raised by twice its residual r_j, or by r_j² / gap if it is isolated, and at least to
        the level below which the subspace may have missed eigenvalues, min_i(|θ_i| + r_i). Before
        the first power step the lower end is 0. A random start makes it unlikely, not impossible,
        that a larger eigenvalue was missed: the bound is numerical, not proven.
        """
        m = min(m, len(self.values))
        least = float(self.values[:m].clamp(min=0).square().sum()) / self.frob_sq
        if self.power_steps is None:
            return max(0.0, 1.0 - least), max(0.0, 1.0 - least)
        high = min(1.0, max(0.0, 1.0 - least) + self._rounding * least)
        if m == 0 or self.power_steps == 0:
            return float(m == 0), high
        most = float(self._raised[:m].clamp(min=0).square().sum()) / self.frob_sq
        return max(0.0, 1.0 - most - self._rounding * most), high

    @property
    def rank_one(self) -> float:
        """Error of the best single column: 1 − λ₁² / ‖S‖²."""
        return max(0.0, 1.0 - float(self.values[0]) ** 2 / self.frob_sq)

    def factors_explained(self, error: float, most: int) -> int:
        """Least number m of factors, up to ``most``, whose floor is at most ``error``."""
        return next((m for m in range(most) if self.floor(m)[0] <= error), most)

    def positive(self, most: int) -> int:
        """Number of positive eigenvalues among the first ``most``."""
        resolution = float(torch.finfo(self.vectors.dtype).eps) * float(self.values[0])
        return int((self._raised[:most] > resolution).sum())

    def upper(self, m: int) -> Tensor:  # (≤ m,)
        """Upper bounds of the first eigenvalues, as the floor counts them."""
        return self._raised[:m]

    @property
    def _rounding(self) -> float:
        """Rounding of λ², relative to it, by sums of n products in the precision of S."""
        return float(max(8.0, self.n**0.5) * torch.finfo(self.vectors.dtype).eps)

    @cached_property
    def _raised(self) -> Tensor:
        """Upper bounds of the eigenvalues: Ritz values raised according to their residuals."""
        if self.power_steps is None:
            return self.values
        level = (self.values.abs() + self.residuals).min()
        gap = self.values - level
        isolated = (self.residuals < ISOLATED_FRACTION * gap) & (self.power_steps > 1)
        rise = torch.where(isolated, self.residuals.square() / gap, 2 * self.residuals)
        return torch.maximum(self.values + rise, level)


@dataclass(frozen=True)
class Diagnostics:
    """The columns of the paper's spectral table (its section 4.2) at rank k.

    Where the spectrum is not exact, eigenvalue k + 2 is a Ritz value, which at the edge of noise is
    up to a quarter too small, and ``gamma_k1`` then too large. ``kappa`` is None if the
    smallest eigenvalue is not known to be positive.
    """

    lambda_1: float
    lambda_k: float
    lambda_k1: float
    kappa: float | None
    r_eff: float
    gamma_k: float
    gamma_k1: float
    var_k: float


def leading(
    S: SymmetricOperator,
    k: int,
    seed: int = 0,
    passes: int = MAX_PASSES,
    basis: Tensor | None = None,
) -> Spectrum:
    """Leading eigenpairs of S: exact if that is cheap, otherwise by block subspace iteration.

    About 2k columns are iterated, at most ``passes`` times, until the floor interval of rank k
    is narrow.

    Arguments:
        S: operator.
        k: rank of interest; eigenvalues k+1 and k+2 are included.
        seed: seed of the random start.
        passes: maximum passes over S; each costs about two n×k products.
        basis: (n, q) initial directions, such as the eigenvectors of a similar matrix.

    Example:
        >>> from symnmf.operators import DenseOperator
        >>> leading(DenseOperator(torch.diag(torch.tensor([3.0, 2.0, 1.0]))), k=1).values[:2]
        tensor([3., 2.], dtype=torch.float64)
    """
    p = min(S.n, k + max(k, 8))
    inner = unwrap(S)
    if isinstance(inner, GramOperator) and inner.d is None and min(inner.m, S.n) <= EXACT_WIDTH:
        return _exact_gram(inner, p) if inner.m <= S.n else _exact_wide(inner, p)
    if S.n <= EXACT_SIZE:
        return _exact_dense(S, p)
    return _subspace(S, k, p, seed, passes, basis)


def _exact_gram(S: GramOperator, p: int) -> Spectrum:
    """Eigenpairs of B Bᵀ, which has the nonzero eigenvalues of BᵀB."""
    values, V = symmetric_eigen(S.small_gram)
    values, V = values.flip(0).clamp_(min=0), V.flip(1)
    p = min(p, S.n, S.m)
    size = values[:p].sqrt()
    keep = size > 1e-6 * size[0]  # smaller directions are noise; their columns stay zero
    weights = torch.where(keep, 1 / size.clamp(min=torch.finfo(torch.float64).tiny), 0)
    vectors = S.expand((V[:, :p] * weights).to(S.dtype))
    return _spectrum(S, values[: min(S.n, S.m)], vectors)


def _exact_wide(S: GramOperator, p: int) -> Spectrum:
    """Eigenpairs of B Bᵀ itself, for a factor that is wider than tall."""
    values, U = symmetric_eigen(S.large_gram)
    return _spectrum(S, values.flip(0).clamp_(min=0), U.flip(1)[:, :p].to(S.dtype).contiguous())


def _exact_dense(S: SymmetricOperator, p: int) -> Spectrum:
    values, U = symmetric_eigen(S.to_dense().to(torch.float64))
    return _spectrum(S, values.flip(0), U.flip(1)[:, :p].to(S.dtype).contiguous())


def _spectrum(
    S: SymmetricOperator,
    values: Tensor,
    vectors: Tensor,
    residuals: Tensor | None = None,
    power_steps: int | None = None,
) -> Spectrum:
    residuals = torch.zeros_like(values) if residuals is None else residuals
    return Spectrum(values, residuals, vectors, S.n, S.frob_sq(), S.trace(), power_steps)


def _subspace(
    S: SymmetricOperator, k: int, p: int, seed: int, passes: int, basis: Tensor | None
) -> Spectrum:
    """Q ← orth(S Q), with Rayleigh–Ritz values and residuals; then Chebyshev polynomials of S."""
    start = torch.randn(S.n, p, generator=torch_stream(seed, "spectrum"), dtype=S.dtype)
    start = start.to(S.device)
    fewest, plan = MIN_PASSES, list(DEGREES)
    if basis is not None:  # accurate enough for polynomials; the remaining columns stay random
        known = min(p - 2, basis.shape[1])
        start[:, :known] = basis[:, :known]
        fewest, plan = 1, list(NEAR_DEGREES)
    Q = torch.linalg.qr(start).Q
    del start
    done, degrees = 0, iter(plan)
    while True:
        Y = S.matmul(Q)
        done += 1
        values, V, residuals = _rayleigh_ritz(Q, Y)
        spectrum = _spectrum(S, values, Q, residuals, done - 1)
        low, high = spectrum.floor(k)
        narrow = high - low <= FLOOR_WIDTH * (spectrum.rank_one - low)
        if done >= passes or (narrow and done >= fewest):
            break
        degree = next(degrees, plan[-1]) if done >= fewest else 1
        degree = min(degree, passes - done)
        c = _interval(values, residuals)
        Q = torch.linalg.qr(Y).Q if degree == 1 else _filtered(S, Q, Y, values, V, c, degree)
        del Y
        done += degree - 1
    return replace(spectrum, vectors=Q @ V.to(Q.dtype))


def _interval(values: Tensor, residuals: Tensor) -> float:
    """The c of the interval [−c, c] that polynomials damp: the smallest Ritz value.

    An indefinite S, such as a graph, has Ritz values near zero that are no eigenvalues: directions
    that mix positive and negative ones. Their residuals tell how far S moves them.
    """
    size = values.abs()
    if bool((values < 0).any()):
        size = size + residuals
    return float(size.min())


def _filtered(
    S: SymmetricOperator, Q: Tensor, Y: Tensor, values: Tensor, V: Tensor, c: float, degree: int
) -> Tensor:
    """orth(T_m(S / c) Q): grows like cosh(m·acosh(λ / c)) above c, stays below 1 between −c and c.

    Directions far above c, which would dominate all others in float32, get power steps, and the
    remaining directions are orthogonalized against them.

    Arguments:
        S: operator; ``degree`` − 1 products are made.
        Q, Y: basis and product S Q.
        values, V: Ritz values and coefficients.
        c: the interval.
        degree: degree m of the polynomial.
    """
    c = max(c, float(torch.finfo(Q.dtype).tiny))
    far = values.abs() > FILTER_RATIO * c
    V = V.to(Q.dtype)
    m = int(far.sum())
    order = torch.cat([far.nonzero()[:, 0], (~far).nonzero()[:, 0]])
    before, block = Q @ V[:, order[m:]], Y @ V[:, order]
    block[:, m:] /= c
    for _ in range(degree - 1):
        block[:, :m] = torch.linalg.qr(block[:, :m]).Q
        block[:, m:] -= block[:, :m] @ (block[:, :m].T @ block[:, m:])
        product = S.matmul(block)
        product[:, m:].mul_(2 / c).sub_(before)
        before, block = block[:, m:], product
    basis: Tensor = torch.linalg.qr(block).Q
    return basis


def _rayleigh_ritz(Q: Tensor, Y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Ritz values, coefficients and residual norms of Y = S Q, in float64.

    Q is orthonormal only to float32, which would affect the sixth digit of the values; the small
    eigenproblem therefore includes the Gram matrix of Q.
    """
    L = torch.linalg.cholesky(gram64(Q))
    T = cross64(Q, Y)
    half = torch.linalg.solve_triangular(L, (T + T.T) / 2, upper=False)
    values, W = symmetric_eigen(torch.linalg.solve_triangular(L, half.T, upper=False))
    values, W = values.flip(0), W.flip(1)
    V = torch.linalg.solve_triangular(L.T, W, upper=True)
    R = _residual_gram(Q, Y, (V * values) @ (W.T @ L.T))
    return values, V, torch.linalg.vecdot(V, R @ V, dim=0).clamp_(min=0).sqrt_()


def _residual_gram(Q: Tensor, Y: Tensor, M: Tensor) -> Tensor:
    """(Y − Q M)ᵀ (Y − Q M) in float64, without the n×p difference."""
    total = torch.zeros_like(M)
    for part in row_chunks(len(Q), Q.shape[1], WIDE_ENTRIES):
        difference = Y[part].to(torch.float64) - Q[part].to(torch.float64) @ M
        total.addmm_(difference.T, difference)
    return total


def smallest_eigenvalue(
    S: SymmetricOperator, seed: int = 0, steps: int = 200, accuracy: float = 1e-3
) -> tuple[float, float]:
    """λ_min of S by Lanczos with full reorthogonalization.

    Arguments:
        S: operator.
        seed: seed of the random start.
        steps: maximum number of products with one column each.
        accuracy: residual at which to stop, as a fraction of the scale of S.

    Returns:
        The Ritz value (never below λ_min, up to rounding) and its residual.

    Example:
        >>> from symnmf.operators import DenseOperator
        >>> value, _ = smallest_eigenvalue(DenseOperator(torch.diag(torch.arange(1.0, 9.0))))
        >>> round(value, 4)
        1.0
    """
    steps = min(steps, S.n)
    basis = torch.empty(S.n, steps + 1, dtype=S.dtype, device=S.device)
    first = torch.randn(S.n, generator=torch_stream(seed, "lanczos"), dtype=S.dtype)
    basis[:, 0] = first.to(S.device) / first.norm()
    diagonal: list[float] = []
    side: list[float] = []
    target = accuracy * S.scale()
    while True:
        m = len(diagonal)
        w = S.matmul(basis[:, m : m + 1])[:, 0]
        diagonal.append(float(w.to(torch.float64) @ basis[:, m].to(torch.float64)))
        for _ in range(2):  # two reorthogonalizations suffice
            w = w - basis[:, : m + 1] @ (basis[:, : m + 1].T @ w)
        beta = float(w.norm())
        T = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
        if side:
            off = torch.tensor(side, dtype=torch.float64)
            T += torch.diag(off, 1) + torch.diag(off, -1)
        values, V = torch.linalg.eigh(T)
        residual = abs(beta * float(V[-1, 0]))
        ended = beta <= torch.finfo(S.dtype).eps * float(values.abs().max())
        if residual <= target or ended or m + 1 == steps:
            return float(values[0]), residual
        side.append(beta)
        basis[:, m + 1] = w / beta


def diagnostics(spectrum: Spectrum, k: int, lambda_min: float | None = None) -> Diagnostics:
    """The paper's spectral quantities at rank k.

    Arguments:
        spectrum: spectrum of S, with at least k + 2 values.
        k: rank of the factorization.
        lambda_min: smallest eigenvalue, for κ⁺ of a full-rank S; not needed for an exact spectrum.
    """
    values = [float(v) for v in spectrum.values] + [0.0] * (k + 2)
    smallest = lambda_min
    if smallest is None and spectrum.exact:
        smallest = float(spectrum.values[spectrum.values > 1e-12 * values[0]][-1])
    return Diagnostics(
        lambda_1=values[0],
        lambda_k=values[k - 1],
        lambda_k1=values[k],
        kappa=values[0] / smallest if smallest is not None and smallest > 0 else None,
        r_eff=_ratio(spectrum.trace, values[0]),
        gamma_k=_ratio(values[k - 1], values[k]),
        gamma_k1=_ratio(values[k], values[k + 1]),
        var_k=100.0 * _ratio(sum(values[:k]), spectrum.trace),
    )


def _ratio(a: float, b: float) -> float:
    return a / b if b > 0 else float("nan")
