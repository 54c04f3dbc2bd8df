"""Diagnostics for a TPDM: threshold stability, independence baseline, χ, Hill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata

from symnmf.data.panel import Panel
from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.independence import independence_baseline
from symnmf.dependence.margins import hill, to_margins
from symnmf.dependence.tail import signed_for
from symnmf.dependence.threshold import Threshold
from symnmf.errors import InvalidInput
from symnmf.numerics import numpy_stream
from symnmf.operators import DenseOperator, SymmetricOperator

__all__ = [
    "StabilityCurve",
    "chi",
    "debiased",
    "hill_curve",
    "independence_baseline",
    "threshold_stability",
]


@dataclass(frozen=True)
class StabilityCurve:
    """Mean tail dependence against the threshold.

    Attributes:
        q: (m,) fractions of observations taken as extreme.
        count: (m,) numbers of exceedances.
        mean: (m,) mean off-diagonal entries.
        low, high: (m,) ends of a bootstrap band of the mean.
    """

    q: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def threshold_stability(
    panel: Panel,
    q: np.ndarray | None = None,
    *,
    tail: str = "lower",
    margins: str = "frechet",
    draws: int = 50,
    level: float = 0.9,
    seed: int = 0,
) -> StabilityCurve:
    """Mean entry of the TPDM as a function of the threshold; it should level off.

    Arguments:
        panel: panel of returns.
        q: fractions of observations taken as extreme; by default 0.01 to 0.2.
        tail, margins: options of :func:`symnmf.tail_dependence`.
        draws: number of bootstrap samples of the exceedances for the band.
        level: coverage of the band.
        seed: seed of the bootstrap.
    """
    fractions = np.geomspace(0.01, 0.2, 12) if q is None else np.asarray(q, dtype=float)
    X, radii = _heavy(panel, tail, margins)
    rng = numpy_stream(seed, "stability")
    rows = []
    for fraction in fractions:
        at, _ = Threshold("q", float(fraction)).exceedances(radii)
        if len(at) < 2:
            raise InvalidInput(
                "q", f"{fraction:g} leaves {len(at)} exceedances", "Pass larger fractions"
            )
        angles = X[at] / radii[at, None]
        sample = [_mean_entry(angles[rng.integers(len(at), size=len(at))]) for _ in range(draws)]
        band = np.quantile(sample, [(1 - level) / 2, (1 + level) / 2]) if draws else (np.nan,) * 2
        rows.append((len(at), _mean_entry(angles), *band))
    count, mean, low, high = np.array(rows).T
    return StabilityCurve(fractions, count.astype(int), mean, low, high)


def debiased(S: SymmetricOperator, baseline: float) -> DenseOperator:
    """max(0, (S − b) / (1 − b)) with unit diagonal: the dependence above the baseline b.

    Arguments:
        S: TPDM with unit diagonal.
        baseline: number b, from :func:`independence_baseline`.

    Example:
        >>> S = DenseOperator(torch.tensor([[1.0, 0.4], [0.4, 1.0]]))
        >>> debiased(S, 0.2).S
        tensor([[1.0000, 0.2500],
                [0.2500, 1.0000]])
    """
    if not 0 <= baseline < 1:
        raise InvalidInput("baseline", f"got {baseline!r}", "Pass a number from 0 to below 1")
    matrix = S.to_dense().sub_(baseline).div_(1 - baseline).clamp_(min=0)
    matrix.fill_diagonal_(1.0)
    made = DenseOperator(matrix)
    made.names = S.names
    return made


def chi(panel: Panel, p: float = 0.95, tail: str = "lower") -> np.ndarray:  # (n, n)
    """The empirical coefficient of tail dependence, P(U_i > p | U_j > p), symmetrized.

        χ_ij = #{u_i > p, u_j > p} / ((#{u_i > p} + #{u_j > p}) / 2)

    Ties are broken by time, so that every instrument has the same number of extremes.

    Arguments:
        panel: panel of returns.
        p: level of the quantile.
        tail: ``"lower"`` or ``"upper"``.
    """
    X = signed_for(panel, tail)
    above = (rankdata(X, method="ordinal", axis=0) > p * (len(X) + 1)).astype(np.float64)
    count = above.sum(axis=0)
    middle = (count[:, None] + count) / 2
    out: np.ndarray = np.divide(
        above.T @ above, middle, out=np.zeros_like(middle), where=middle > 0
    )
    return out


def hill_curve(
    panel: Panel, counts: np.ndarray | None = None, tail: str = "lower"
) -> tuple[np.ndarray, np.ndarray]:  # (m,), (m, n)
    """Hill's estimate of the tail index of every margin, as a function of the number of extremes.

    Arguments:
        panel: panel of returns.
        counts: numbers of extremes; by default about 20 from 10 to a fifth of the observations.
        tail: ``"lower"`` or ``"upper"``.

    Returns:
        The numbers of extremes, and the estimates for each number and instrument.
    """
    X = signed_for(panel, tail)
    T = len(X)
    counts = (
        np.unique(np.geomspace(10, max(11, T // 5), 20).astype(int)) if counts is None else counts
    )
    return counts, np.array([[hill(X[:, j], int(m)) for j in range(X.shape[1])] for m in counts])


def _heavy(
    panel: Panel, tail: str, margins: str, alpha: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    X = to_margins(signed_for(panel, tail), margins, alpha)
    return X, np.sqrt(np.einsum("ti,ti->t", X, X))


def _mean_entry(angles: np.ndarray) -> float:  # (n_exc, n)
    """Mean off-diagonal entry of the unit-diagonal TPDM of some angles."""
    n = angles.shape[1]
    S = unit_diagonal_gram(torch.from_numpy(angles.T.copy()), torch.float64)
    return float((S.mean() * n**2 - n) / (n * (n - 1)))
