"""How much of their worst days instruments share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.grouping.between_groups import dependence_between
from symnmf.operators import SymmetricOperator

#: Share of the days of an instrument that count as its crashes.
CRASHES = 0.05


@dataclass(frozen=True)
class WindowDependence:
    """Dependence within and between the groups of a window.

    Attributes:
        within: mean dependence of two members of one group; None where no group has two.
        between: mean dependence of members of different groups; None for one group.
        groups: mean dependence within each group, in the order of the columns of H.
        crash_within: when an instrument has one of its worst 5 % of days, the share of the other
            members of its group that have one, too.
        crash_any: the same share among all instruments; 0.05 for independent ones.
    """

    within: float | None
    between: float | None
    groups: tuple[float | None, ...]
    crash_within: float | None
    crash_any: float | None


def window_dependence(
    S: SymmetricOperator, result: Result, values: np.ndarray, lower: bool = True
) -> WindowDependence:
    """Dependence within and between groups, and the share of joint crashes.

    Arguments:
        S: dependence matrix of the window.
        result: its factorization.
        values: (T, n) returns of the fitted instruments.
        lower: whether crashes are losses; otherwise they are gains.
    """
    labels, k = result.labels(), result.H.shape[1]
    means = dependence_between(S, labels, k)
    sizes = torch.bincount(labels[labels >= 0], minlength=k).cpu().numpy().astype(float)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    own = np.eye(k, dtype=bool)
    sums = np.nan_to_num(means) * pairs
    within, between = (
        float(sums[part].sum() / pairs[part].sum()) if pairs[part].sum() > 0 else None
        for part in (own, ~own)
    )
    inside, everywhere = crash_shares(values if lower else -values, labels.cpu().numpy())
    groups = tuple(None if np.isnan(v) else float(v) for v in means.diagonal())
    return WindowDependence(within, between, groups, inside, everywhere)


def crash_shares(
    values: np.ndarray, labels: np.ndarray, share: float = CRASHES
) -> tuple[float | None, float | None]:
    """Share of the other members, and of all others, that crash when an instrument crashes.

        Σ_t Σ_g c_tg (c_tg − 1) / Σ_t Σ_g c_tg (n_g − 1),   c_tg crashes of group g on day t

    Arguments:
        values: (T, n) returns; NaN where one is missing.
        labels: (n,) groups; −1 for none.
        share: share of its days that count as crashes of an instrument.

    Example:
        >>> X = np.array([[-9.0, -9, 1], [0, 0, 0], [1, 1, 2], [2, 2, -9]])
        >>> crash_shares(X, np.array([0, 0, 1]), share=0.25)
        (1.0, 0.3333333333333333)
    """
    T = len(values)
    count = max(1, round(share * T))
    worst = np.argpartition(np.where(np.isnan(values), np.inf, values), count - 1, axis=0)[:count]
    crash = np.zeros(values.shape, dtype=np.float32)
    np.put_along_axis(crash, worst, 1.0, axis=0)

    def share_of(members: np.ndarray) -> tuple[float, float]:
        c = crash[:, members].sum(axis=1, dtype=np.float64)
        return float((c * (c - 1)).sum()), float(c.sum() * (int(members.sum()) - 1))

    inside = np.array([share_of(labels == g) for g in np.unique(labels[labels >= 0])])
    joint, possible = inside.sum(axis=0) if len(inside) else (0.0, 0.0)
    all_joint, all_possible = share_of(np.ones(len(labels), dtype=bool))
    return (
        float(joint / possible) if possible > 0 else None,
        float(all_joint / all_possible) if all_possible > 0 else None,
    )
