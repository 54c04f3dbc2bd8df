"""Dependence within groups and between groups, and the groups hit by each extreme event."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from symnmf.core.labels import indicator
from symnmf.errors import InvalidInput
from symnmf.numerics import row_chunks
from symnmf.operators import GramOperator, SymmetricOperator


def dependence_between(S: SymmetricOperator, labels: Tensor, k: int) -> np.ndarray:  # (k, k)
    """Mean entry of S between the members of two groups, from one product of S.

    The diagonal is the cohesion: the mean over different members of one group. NaN where there
    are no pairs.

    Arguments:
        S: the dependence matrix.
        labels: (n,) groups from 0; −1 for rows without a group.
        k: number of groups.

    Example:
        >>> from symnmf.operators import as_operator
        >>> S = as_operator(np.array([[1.0, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]]))
        >>> dependence_between(S, torch.tensor([0, 0, 1]), 2).round(2)
        array([[0.5 , 0.15],
               [0.15,  nan]])
    """
    member = indicator(labels.to(S.device), k, S.dtype)
    image = S.matmul(member)
    sums = torch.zeros(k, k, dtype=torch.float64, device=S.device)
    for part in row_chunks(S.n, k):
        sums.addmm_(member[part].T.to(torch.float64), image[part].to(torch.float64))
    own = torch.zeros(k, dtype=torch.float64, device=S.device)
    known = labels.to(S.device) >= 0
    own.index_add_(0, labels.to(S.device)[known], S.diag().to(torch.float64)[known])
    sums -= torch.diag(own)
    sizes = member.sum(dim=0, dtype=torch.float64)
    pairs = torch.outer(sizes, sizes) - torch.diag(sizes)
    means = torch.where(pairs > 0, sums / pairs, torch.nan)
    return ((means + means.T) / 2).cpu().numpy()


def cohesion(S: SymmetricOperator, labels: Tensor, k: int) -> np.ndarray:  # (k,)
    """Mean entry of S between different members of each group; NaN for fewer than two members."""
    return dependence_between(S, labels, k).diagonal().copy()


def event_shares(S: GramOperator, labels: Tensor, k: int) -> np.ndarray:  # (events, k)
    """Share of each extreme event that fell on each group.

        share_tg = Σ_{i∈g} B_it² / Σ_i B_it²,   S = B Bᵀ, a column of B for each exceedance

    Every instrument has the same weight over all events.

    Arguments:
        S: Gram matrix of :func:`symnmf.tail_dependence`, in one process: any estimator but
            ``"pairwise"``.
        labels: (n,) groups from 0; −1 for rows without a group.
        k: number of groups.

    Raises:
        InvalidInput: S is not a Gram matrix in one process.
    """
    if not isinstance(S, GramOperator) or S.process_count > 1:
        raise InvalidInput(
            "S", "is not the Gram matrix of exceedances in one process", "Pass a Gram matrix"
        )
    member = indicator(labels.to(S.device), k, torch.float64)
    mass = S.B.to(torch.float64).square()  # (n, events)
    return ((mass.T @ member) / mass.sum(dim=0)[:, None].clamp(min=1e-300)).cpu().numpy()
