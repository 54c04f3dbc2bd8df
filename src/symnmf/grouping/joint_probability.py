"""Probability of joint exceedances in a max-linear model, without the noise of rare draws."""

from __future__ import annotations

import numpy as np

from symnmf.numerics import numpy_stream

#: Draws of the common factors, over all strata.
DRAWS = 4000
#: Days by which the answer of the model counts when it is scaled to the data.
PRIOR_DAYS = 2.0


def at_least(
    A: np.ndarray,  # (n, k)
    p: np.ndarray,  # (n,)
    m: int,
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """P(at least m of n exceed their levels) in the max-linear model of loadings A.

        X_i = max(a_i1 Z_1, …, a_ik Z_k, d_i Z′_i),   d_i² = 1 − Σ_j a_ij²,   Z Fréchet(2)

    Instrument i exceeds its level, which it does with probability p_i, where some common factor
    has 1 / Z_j² < −a_ij² log(1 − p_i), or its own factor has. Given the common factors the
    instruments are independent, so that the count follows a recursion; the common factors are drawn
    in strata by the first of them that makes any instrument exceed, and the stratum without one is
    exact.

    Arguments:
        A: loadings; no row is longer than one.
        p: probability that each instrument exceeds its level.
        m: number of instruments.
        draws: draws of the common factors.
        seed: seed of the draws.

    Example:
        >>> half = np.full((2, 1), 0.5**0.5)
        >>> p = np.full(2, 0.02)
        >>> exact = 1 - 2 * 0.98 + 0.98**1.5  # P(neither) = exp(−2e + e / 2), e = −log 0.98
        >>> bool(abs(at_least(half, p, 2) / exact - 1) < 0.01)
        True
    """
    n = len(A)
    if m > n:
        return 0.0
    if m <= 0:
        return 1.0
    rate = -np.log1p(-p)
    squares = A * A
    own = -np.expm1(-np.clip(1 - squares.sum(axis=1), 0.0, 1.0) * rate)
    common = squares * rate[:, None]  # (n, k)
    most = common.max(axis=0)
    used = np.flatnonzero(most > 0)
    total = float(np.exp(-most.sum())) * _reach(np.zeros((1, n), dtype=bool), own, m)[0]
    if not len(used):
        return float(total)
    each = max(50, draws // len(used))
    rng = numpy_stream(seed, "joint exceedances")
    share = (np.arange(each) + 0.5) / each
    before = 0.0
    for place, j in enumerate(used):
        weight = np.exp(-before) * -np.expm1(-most[j])
        E = rng.exponential(size=(each, len(used)))
        E[:, :place] = np.inf
        E[:, place] = -np.log1p(share * np.expm1(-most[j]))
        hit = np.zeros((each, n), dtype=bool)
        for column, other in enumerate(used):
            hit |= E[:, column, None] < common[:, other]
        total += weight * float(_reach(hit, own, m).mean())
        before += float(most[j])
    return float(total)


def scaled_to_data(
    A: np.ndarray,  # (n, k)
    p: np.ndarray,  # (n,)
    m: int,
    losses: np.ndarray,  # (T, n)
    q: float,
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """:func:`at_least`, scaled so that the model agrees with the data where these have many days.

        P(p) · (N + c) / (T · P(p′) + c),   p′ = p · q / max p

    N is the number of days with such an event at the less extreme level p′, P(p′) its probability
    under the model, and c = 2 days keep the model's answer where there are few. The model has to
    carry the event from p′ to p only. Loadings that have the dependence of all pairs need not have
    that of more instruments.

    Arguments:
        A, p, m, draws, seed: as for :func:`at_least`.
        losses: the losses of the instruments.
        q: share of the rows above which dependence was measured.
    """
    wanted = at_least(A, p, m, draws, seed)
    near = np.minimum(0.5, p * (q / float(p.max())))
    T = len(losses)
    limit = np.array([np.quantile(column, 1 - x) for column, x in zip(losses.T, near, strict=True)])
    seen = int(((losses > limit).sum(axis=1) >= m).sum())
    expected = T * at_least(A, near, m, draws, seed)
    return min(1.0, wanted * (seen + PRIOR_DAYS) / (expected + PRIOR_DAYS))


def _reach(hit: np.ndarray, own: np.ndarray, m: int) -> np.ndarray:  # (N, n) -> (N,)
    """P(at least m) for each draw, where the others exceed by themselves with ``own``."""
    count = hit.sum(axis=1)
    chance = np.where(hit, 0.0, own)
    wanted = np.maximum(0, m - count)  # how many more
    most = int(wanted.max())
    if most == 0:
        return np.ones(len(hit))
    if m == hit.shape[1]:
        product: np.ndarray = np.where(hit, 1.0, own).prod(axis=1)
        return product
    below = np.zeros((len(hit), most))  # P(exactly c by themselves), c < most
    below[:, 0] = 1.0
    for column in chance.T:
        q = column[:, None]
        moved = below[:, :-1] * q
        below *= 1 - q
        below[:, 1:] += moved
    reached = 1 - np.where(np.arange(most) < wanted[:, None], below, 0.0).sum(axis=1)
    clipped: np.ndarray = np.clip(reached, 0.0, 1.0)
    return clipped
