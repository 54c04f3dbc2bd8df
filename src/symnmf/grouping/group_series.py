"""Return series of the groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.display import Brief
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.operators import SymmetricOperator


@dataclass(frozen=True, repr=False)
class GroupReturns(Brief):
    """Returns of the groups, and how much of each instrument they explain.

    Attributes:
        series: (T, k) mean returns of the groups, weighted by loading.
        r_squared: (n,) share of the variance of each instrument that the series of its group
            explains; NaN for an instrument without a group.
    """

    series: np.ndarray
    r_squared: np.ndarray


def group_returns(result: Result, panel: Panel, S: SymmetricOperator | None = None) -> GroupReturns:
    """Return series of the groups, and R² of every instrument against the series of its group.

    Arguments:
        result: a factorization of a dependence matrix of the panel.
        panel: the returns; missing numbers are left out.
        S: dependence matrix of :func:`symnmf.abs_correlation`; with it, a member that moves
            against the leader of its group enters with its sign reversed.

    Raises:
        InvalidInput: the columns of the panel are not the rows of the result.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> made = group_returns(sn.factorize(sn.abs_correlation(panel), k=3), panel)
        >>> made.series.shape == (len(panel.values), 3), made.r_squared.shape
        (True, (20,))
    """
    check_panel(panel, result)
    H, X = result.H.to(torch.float64).cpu().numpy(), panel.values
    there = ~np.isnan(X)
    labels = result.labels().cpu().numpy()
    signs = signs_in_groups(H, labels, S)
    filled = np.where(there, X, 0.0) * signs
    weights = there.astype(np.float64) @ H
    series = np.full_like(weights, np.nan)
    np.divide(filled @ H, weights, out=series, where=weights > 0)
    r_squared = np.full(X.shape[1], np.nan)
    for i, group in enumerate(labels):
        if group >= 0:
            both = there[:, i] & ~np.isnan(series[:, group])
            x, y = X[both, i], series[both, group]
            if x.std() > 0 and y.std() > 0:
                r_squared[i] = np.corrcoef(x, y)[0, 1] ** 2
    return GroupReturns(series, r_squared)


def signs_in_groups(
    H: np.ndarray, labels: np.ndarray, S: SymmetricOperator | None
) -> np.ndarray:  # (n,)
    """−1 for members that move against the leader of their group, else 1.

    Arguments:
        H: (n, k) factor.
        labels: (n,) columns of H; −1 for rows without a group.
        S: dependence matrix of :func:`symnmf.abs_correlation`, which knows the signs; all signs
            are 1 for other matrices.
    """
    signs = np.ones(len(H))
    about = None if S is None else S.provenance
    if isinstance(about, CorrelationEstimate):
        for group in np.unique(labels[labels >= 0]):
            members = np.flatnonzero(labels == group)
            leader = members[H[members, group].argmax()]
            row = about.signs(torch.tensor([leader]), torch.from_numpy(members))[0]
            signs[members] = np.where(row.numpy() < 0, -1.0, 1.0)
    return signs
