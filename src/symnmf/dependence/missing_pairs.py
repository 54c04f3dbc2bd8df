"""Correlation of a panel with missing numbers, pair by pair."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.errors import InvalidInput, spelled
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.resources import require_memory


def correlation_of_pairs(
    panel: Panel,
    X: Tensor,
    holes: Tensor,
    shrinkage: str | float,
    remove: tuple[str, ...],
    dtype: torch.dtype,
    positive: bool = False,
) -> SymmetricOperator:
    """Estimate each correlation from the rows in which neither instrument is missing.

    Arguments:
        panel: panel of returns.
        X: (n, T) values of the panel.
        holes: (n, T) mask of the missing numbers.
        shrinkage, remove, dtype: options of :func:`symnmf.abs_correlation`.
        positive: whether negative correlations count as zero.

    Raises:
        InvalidInput: an option requires complete data, or a pair shares too few rows.
    """
    if remove or shrinkage not in ("auto", "none", 0):
        raise InvalidInput(
            "remove" if remove else "shrinkage",
            "cannot be combined with missing numbers",
            f"Pass {spelled('missing', 'drop-columns')} or {spelled('missing', 'drop-rows')}",
        )
    require_memory(
        64 * len(X) ** 2,
        f"the correlation of {len(X)} instruments with missing numbers",
        "Use fewer instruments, or drop rows or columns",
    )
    mask = (~holes).to(torch.float64)
    filled = torch.where(holes, 0.0, X - torch.nanmean(X, dim=1, keepdim=True))
    count = mask @ mask.T
    sums, squares = filled @ mask.T, filled.square() @ mask.T  # of i over the rows of i and j
    product = filled @ filled.T * count - sums * sums.T
    spread = (squares * count - sums.square()).clamp_(min=0)
    R = product / (spread * spread.T).sqrt()
    few = (count < 3) | ~torch.isfinite(R)
    few.fill_diagonal_(False)
    if bool(few.any()):
        i, j = few.nonzero()[0].tolist()
        raise InvalidInput(
            "returns",
            f"{panel.names[i]!r} and {panel.names[j]!r} share {int(count[i, j])} usable rows",
            f"Drop columns with many missing numbers: {spelled('missing', 'drop-columns')}",
        )
    negative = int((R < 0).sum()) // 2
    S = (R.clamp(min=0) if positive else R.abs()).to(dtype)
    S.fill_diagonal_(1.0)
    least = int(count.min())
    steps = (
        f"each correlation from the rows that both instruments have, at least {least}; not shrunk, "
        "and not always positive semidefinite",
    )
    scores = filled / (squares.diagonal() / count.diagonal()).sqrt()[:, None]
    provenance = CorrelationEstimate(0.0, scores, negative, steps, R < 0)
    return DenseOperator(S, panel.names, provenance=provenance)
