"""Stability of groups under resampling in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.core.labels import indicator
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.factorization import run
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.numerics import numpy_stream
from symnmf.options import whole_number
from symnmf.resources import require_memory


@dataclass(frozen=True)
class Stability:
    """How often instruments are in the same group when time is resampled.

    Attributes:
        together: (n, n) share of the samples in which two instruments are in the same group.
        groups: (k,) mean of that share within each group, in the order of the columns of H; NaN
            for a group of fewer than two members.
        members: (n,) mean share with the other members of the own group; NaN where there are none.
        draws: number of samples.
        block: number of successive rows drawn together.
    """

    together: Tensor
    groups: np.ndarray
    members: np.ndarray
    draws: int
    block: int


def bootstrap(
    panel: Panel,
    result: Result,
    dependence: str = "tail",
    *,
    draws: int = 20,
    block: int = 21,
    seed: int = 0,
    **options: Any,
) -> Stability:
    """Stability of groups: blocks of rows are drawn with replacement, estimated and fitted anew.

    Arguments:
        panel: the returns.
        result: the factorization to examine.
        dependence: ``"tail"`` or ``"correlation"``.
        draws: number of samples.
        block: number of successive rows drawn together; longer than the dependence between days.
        seed: seed of the draws and the fits.
        options: further arguments of the estimator of the dependence.

    Raises:
        InvalidInput: the panel is not that of the result, or a number is out of range.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> result = sn.factorize(sn.abs_correlation(panel), k=3)
        >>> held = bootstrap(panel, result, "correlation", draws=2)
        >>> held.together.shape, len(held.groups), len(held.members)
        (torch.Size([20, 20]), 3, 20)
    """
    check_panel(panel, result)
    T, n = panel.values.shape
    draws = whole_number("draws", draws, 1, 100_000)
    block = whole_number("block", block, 1, T, f"from 1 to the {T} rows of the panel")
    require_memory(4 * n * n, f"the table of {n} × {n} pairs", "Use fewer instruments")
    k = result.H.shape[1]
    together = torch.zeros(n, n)
    for draw in range(draws):
        rng = numpy_stream(seed, "bootstrap", draw)
        begins = rng.integers(T, size=-(-T // block))
        rows = ((begins[:, None] + np.arange(block)) % T).ravel()[:T]
        S = estimate(dependence, panel.at(np.sort(rows)), **options)
        labels = run(Problem(S, k, seed), handle_interrupt=False).labels().cpu()
        member = indicator(labels, k, torch.float32)
        together.addmm_(member, member.T)
    together /= draws
    labels = result.labels().cpu()
    member = indicator(labels, k, torch.float32)
    sizes = member.sum(dim=0)
    with_group = together @ member - together.diagonal()[:, None] * member
    own = (with_group * member).sum(dim=1) / (member @ (sizes - 1))
    own[labels < 0] = torch.nan
    means = torch.stack([own[labels == g].mean() for g in range(k)])
    return Stability(together, means.numpy(), own.numpy(), draws, block)
