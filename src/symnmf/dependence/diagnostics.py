"""Diagnostics for a TPDM: threshold stability, independence baseline, χ, Hill."""

from __future__ import annotations

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence.independence import independence_baseline
from symnmf.dependence.margins import hill
from symnmf.dependence.stability_curve import StabilityCurve, threshold_stability
from symnmf.dependence.tail_request import signed_for
from symnmf.errors import InvalidInput
from symnmf.operators import DenseOperator, SymmetricOperator

__all__ = [
    "StabilityCurve",
    "chi",
    "debiased",
    "hill_curve",
    "independence_baseline",
    "threshold_stability",
]


def debiased(S: SymmetricOperator, baseline: float) -> DenseOperator:
    """max(0, (S − b) / (1 − b)) with unit diagonal: the dependence above the baseline b.

    Arguments:
        S: TPDM with unit diagonal.
        baseline: number b, from :func:`independence_baseline`.

    Example:
        >>> import torch
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
    order = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0)
    above = (order + 1 > p * (len(X) + 1)).astype(np.float64)
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
