"""Probability of joint exceedances in a max-linear model, without the noise of rare draws."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from symnmf.numerics import numpy_stream

#: Draws of the common factors, over all strata.
DRAWS = 4000
#: Days by which the answer of the model counts when it is scaled to the data, at either level. In
#: simulations beside `symnmf bench risks`, which share a few of its seeds, fewer days raise the
#: error for sets of two and three, and more days leave the bias of the model for many instruments
#: outside the interval.
PRIOR_DAYS = 5.0


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
    return float(at_least_each(A[None], p[None], m, draws, seed)[0])


def at_least_each(
    A: np.ndarray,  # (models, n, k)
    p: np.ndarray,  # (models, n)
    m: int,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:  # (models,)
    """:func:`at_least` of several models side by side, with the same random numbers.

    Arguments:
        A, p, m, draws, seed: as for :func:`at_least`, with 1 ≤ m ≤ n.

    Example:
        >>> A = np.array([np.zeros((2, 1)), np.ones((2, 1))])
        >>> at_least_each(A, np.full((2, 2), 0.1), 2).round(6)
        array([0.01, 0.1 ])
    """
    count, n, _ = A.shape
    rate = -np.log1p(-p)
    squares = A * A
    own = -np.expm1(-np.clip(1 - squares.sum(axis=2), 0.0, 1.0) * rate)
    common = squares * rate[:, :, None]  # (models, n, k)
    most = common.max(axis=1)  # (models, k)
    used = np.flatnonzero(most.max(axis=0) > 0)
    calm = np.zeros((count, n), dtype=bool)
    total: np.ndarray = np.exp(-most.sum(axis=1)) * _reach(calm, own, m)
    if not len(used):
        return total
    each = max(50, draws // len(used))
    rng = numpy_stream(seed, "joint exceedances")
    share = (np.arange(each) + 0.5) / each
    before = np.zeros(count)
    chance = np.repeat(own, each, axis=0)
    for place, j in enumerate(used):
        weight = np.exp(-before) * -np.expm1(-most[:, j])
        E = rng.exponential(size=(each, len(used)))
        hit = np.log1p(share[:, None] * np.expm1(-most[:, None, j, None])) > -common[:, None, :, j]
        for column in range(place + 1, len(used)):
            hit |= E[:, column, None] < common[:, None, :, used[column]]
        reached = _reach(hit.reshape(-1, n), chance, m).reshape(count, each)
        total += weight * reached.mean(axis=1)
        before += most[:, j]
    return total


def scaled_to_data(
    A: np.ndarray,  # (models, n, k)
    p: np.ndarray,  # (models, n)
    m: int,
    losses: Iterable[np.ndarray],  # (T, n) for each model
    q: float,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:  # (models,)
    """:func:`at_least`, scaled so that the model agrees with the data where these have many days.

        P(p) · (N(p′) + c) / (T · P(p′) + c) · (N(p) + c) / (N(p′) · P(p) / P(p′) + c)

    N(p) is the number of days with such an event, p′ = p · q / max p the less extreme level at
    which dependence was measured, P(p′) the probability of the event under the model, and c = 5
    days keep the model's answer where there are few. The first factor makes the model right at p′,
    the second how fast the event becomes rare from there to p: loadings that have the dependence of
    all pairs need not have that of more instruments, and fitted to few days they have too much of
    it.

    Arguments:
        A, p, m, draws, seed: as for :func:`at_least_each`.
        losses: losses of the instruments, one table for each model.
        q: share of the rows above which dependence was measured.

    Example:
        >>> X = np.random.default_rng(0).normal(size=(1000, 2))
        >>> wrong = np.full((1, 2, 1), 0.9)  # these instruments are independent
        >>> bool(scaled_to_data(wrong, np.full((1, 2), 0.1), 2, [X], 0.1)[0] < 0.02)
        True
    """
    near = np.minimum(0.5, p * (q / p.max(axis=1, keepdims=True)))
    found = at_least_each(np.concatenate((A, A)), np.concatenate((p, near)), m, draws, seed)
    seen = [(len(X), days_of_event(X, a, m), days_of_event(X, b, m))
            for X, a, b in zip(losses, p, near, strict=True)]  # fmt: skip
    T, here, there = np.array(seen, dtype=float).T
    wanted, usual = found[: len(A)], found[len(A) :]
    falls = np.where(usual > 0, wanted / np.where(usual > 0, usual, 1.0), 1.0)
    first = (there + PRIOR_DAYS) / (T * usual + PRIOR_DAYS)
    second = (here + PRIOR_DAYS) / (there * falls + PRIOR_DAYS)
    return np.asarray(np.minimum(1.0, wanted * first * second))


def days_of_event(losses: np.ndarray, p: np.ndarray, m: int) -> int:
    """Days on which at least m instruments have one of their worst days, p_i of all days each.

    Every instrument has round(p_i T) worst days: of equal losses, as in a history with repeated
    days, the later rows count, for all instruments alike.

    Example:
        >>> days_of_event(np.array([[3.0, 3.0], [3.0, 3.0], [1.0, 2.0]]), np.full(2, 1 / 3), 2)
        1
    """
    T = len(losses)
    order = np.argsort(losses, axis=0, kind="stable")
    worst = np.zeros(losses.shape, dtype=bool)
    np.put_along_axis(worst, order, np.arange(T)[:, None] >= T - np.rint(p * T), axis=0)
    return int((worst.sum(axis=1) >= m).sum())


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
