"""Loadings of tail dependence matrices, continued from a fit of another matrix."""

from __future__ import annotations

import numpy as np

#: Sweeps over the rows, and the change of an entry at which they end.
SWEEPS, SETTLED = 30, 1e-4
#: Size of a gradient against its right side, or of an eigenvalue against the largest, that is zero.
SIGN = 1e-12


def continued_loadings(
    C: np.ndarray,  # (n, n)
    start: np.ndarray,  # (n, k)
    sweeps: int = SWEEPS,
) -> np.ndarray:  # (n, k)
    """Loadings A ≥ 0 with A Aᵀ ≈ C outside the diagonal, continued from a factor of another matrix.

        a_i ← argmin_{a ≥ 0} Σ_{l ≠ i} (C_il − aᵀ a_l)²,   i = 1, …, n, until nothing moves

    What a row lacks of length one belongs to the instrument alone, so that the diagonal is not
    fitted and no row is longer than one. Every step solves its row exactly. The columns begin as
    those of the start; an instrument may come to load most on another of them.

    Arguments:
        C: dependence matrix with unit diagonal.
        start: factor of a fit of the same instruments, such as ``result.H``.
        sweeps: maximum number of sweeps over the rows.

    Example:
        >>> A = np.array([[0.9, 0.0], [0.8, 0.1], [0.0, 0.7], [0.1, 0.9], [0.5, 0.5]])
        >>> C = A @ A.T
        >>> np.fill_diagonal(C, 1.0)
        >>> found = continued_loadings(C, A + 0.1)
        >>> bool(np.abs(found @ found.T - C)[~np.eye(5, dtype=bool)].max() < 0.01)
        True
    """
    A = np.array(start, dtype=np.float64)
    if len(A) < 2:
        return np.minimum(A, 1.0)
    for _ in range(sweeps):
        moved = 0.0
        gram = A.T @ A
        for i, before in enumerate(A.copy()):
            gram -= before[:, None] * before
            row = _least_squares(gram, A.T @ C[i] - C[i, i] * before, before > 0)
            row /= max(1.0, float(row @ row) ** 0.5)
            moved = max(moved, float(np.abs(row - before).max()))
            gram += row[:, None] * row
            A[i] = row
        if moved < SETTLED:
            break
    return A


def _least_squares(gram: np.ndarray, right: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """argmin_{a ≥ 0} aᵀ gram a − 2 rightᵀa.

    The entries that were positive mostly stay so: they are tried first.

    Arguments:
        gram: (k, k) positive semidefinite.
        right: (k,) right side.
        positive: (k,) entries that may be the positive ones.
    """
    from scipy.linalg.lapack import dposv  # it takes longer to import than most commands to run
    from scipy.optimize import nnls

    found = np.zeros_like(right)
    if not right.any():
        return found
    some = positive.nonzero()[0]
    x, singular = (right[some], 0)
    if len(some):
        x, singular = dposv(gram[some[:, None], some], right[some])[1:]
    if not singular and x.min(initial=0.0) >= 0:
        found[some] = x
        if (gram @ found - right)[~positive].min(initial=0.0) >= -SIGN * np.abs(right).max():
            return found
    values, vectors = np.linalg.eigh(gram)
    known = values > SIGN * values[-1]
    root = np.sqrt(values[known])
    square = vectors[:, known].T * root[:, None]
    best: np.ndarray = nnls(square, vectors[:, known].T @ right / root)[0]
    return best


def joint_tail(X: np.ndarray, q: float) -> np.ndarray:  # (n, n)
    """The coefficient of tail dependence at the quantile 1 − q, of all pairs.

        χ_il = 2 − log P(U_i ≤ 1 − q, U_l ≤ 1 − q) / log(1 − q)

    It is 0 for independent instruments at every level, and 1 for identical ones.

    Arguments:
        X: (T, n) observations whose large values are extreme.
        q: share of the observations that is extreme.

    Example:
        >>> X = np.random.default_rng(0).normal(size=(20_000, 2))
        >>> joint_tail(X, 0.1).round(1)
        array([[1., 0.],
               [0., 1.]])

    Reference: Coles, Heffernan and Tawn (1999), doi:10.1023/A:1009963131610.
    """
    limit = np.quantile(X, 1 - q, axis=0)
    calm = (limit >= X).astype(np.float64)
    both = calm.T @ calm / len(X)
    alone = np.log(both.diagonal())
    least = np.finfo(float).tiny
    chi = 2 - 2 * np.log(np.maximum(both, least)) / (alone[:, None] + alone)
    found: np.ndarray = np.clip(chi, 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def max_linear_tail(A: np.ndarray) -> np.ndarray:  # (n, k) -> (n, n)
    """Coefficient of tail dependence in the max-linear model: χ_il = Σ_j min(a_ij², a_lj²).

    The diagonal holds the squared lengths of the rows.

    Example:
        >>> max_linear_tail(np.array([[0.6, 0.0], [0.5, 0.5]])).round(2)
        array([[0.36, 0.25],
               [0.25, 0.5 ]])
    """
    squares = A * A
    total = np.zeros((len(A), len(A)))
    for column in squares.T:
        total += np.minimum(column[:, None], column)
    return total


def max_linear_loadings(
    chi: np.ndarray,  # (…, n, n)
    start: np.ndarray,  # (n, k)
    sweeps: int = SWEEPS,
) -> np.ndarray:  # (…, n, k)
    """Loadings whose max-linear model has given coefficients of tail dependence of the pairs.

        min Σ_{i ≠ l} (χ_il − Σ_j min(b_ij, b_lj))²,   b_ij = a_ij² ≥ 0,   Σ_j b_ij ≤ 1

    by one entry of b after another, each to its exact minimum: between the entries of the other
    instruments the sum is a parabola. Loadings with A Aᵀ = χ would have less dependence than χ,
    because Σ_j min(a_ij², a_lj²) is at most Σ_j a_ij a_lj.

    Arguments:
        chi: coefficients of the pairs, from :func:`joint_tail`; several matrices are fitted side
            by side, each as it would be alone.
        start: loadings to begin with.
        sweeps: maximum number of sweeps over all entries.

    Example:
        >>> A = np.sqrt([[0.7, 0.0], [0.6, 0.1], [0.2, 0.7], [0.1, 0.6]])
        >>> found = max_linear_loadings(max_linear_tail(A), A + 0.1)
        >>> off = ~np.eye(4, dtype=bool)
        >>> bool(np.abs(max_linear_tail(found) - max_linear_tail(A))[off].max() < 0.05)
        True
    """
    b = np.square(np.asarray(start, dtype=np.float64))
    b /= np.maximum(1.0, b.sum(axis=1, keepdims=True))
    n, k = b.shape
    shape = (*chi.shape[:-2], n, k)
    C = chi.reshape(-1, n, n)
    b = np.repeat(b[None], len(C), axis=0)  # (matrices, n, k)
    if n < 2:
        return np.sqrt(b).reshape(shape)
    others = [np.flatnonzero(np.arange(n) != i) for i in range(n)]
    left_over = np.arange(len(C))  # matrices whose loadings still move
    for _ in range(sweeps):
        part, moved = b[left_over], np.zeros(len(left_over))
        for i in range(n):
            rest = others[i]
            theirs = part[:, rest]
            mine = np.minimum(part[:, i, None], theirs)  # (matrices, n − 1, k)
            left = C[left_over][:, rest, i] - mine.sum(axis=2)
            for j in range(k):
                most = np.maximum(0.0, 1.0 - (part[:, i].sum(axis=1) - part[:, i, j]))
                new = _best_entry(left + mine[:, :, j], theirs[:, :, j], most)
                moved = np.maximum(moved, np.abs(new - part[:, i, j]))
                part[:, i, j] = new
                left += mine[:, :, j] - np.minimum(new[:, None], theirs[:, :, j])
        b[left_over] = part
        left_over = left_over[moved >= SETTLED]
        if not len(left_over):
            break
    return np.sqrt(b).reshape(shape)


def _best_entry(wanted: np.ndarray, theirs: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The x from 0 to ``most`` with the least Σ_l (wanted_l − min(x, theirs_l))², for each row."""
    order = np.argsort(theirs, axis=1)
    c = np.minimum(np.take_along_axis(theirs, order, axis=1), most[:, None])
    r = np.take_along_axis(wanted, order, axis=1)
    # With x between c[s − 1] and c[s], the first s have reached their entries and the others give
    # a parabola in x with its bottom at the mean of what they want.
    none = np.zeros((len(c), 1))
    reached = np.hstack((none, np.cumsum((r - c) ** 2, axis=1)))
    count = np.arange(c.shape[1], -1, -1)
    first = np.hstack((np.cumsum(r[:, ::-1], axis=1)[:, ::-1], none))
    second = np.hstack((np.cumsum((r * r)[:, ::-1], axis=1)[:, ::-1], none))
    low, high = np.hstack((none, c)), np.hstack((c, most[:, None]))
    x = np.clip(first / np.maximum(count, 1), low, high)
    cost = reached + second - 2 * x * first + count * x * x
    found: np.ndarray = np.take_along_axis(x, cost.argmin(axis=1)[:, None], axis=1)[:, 0]
    return found
