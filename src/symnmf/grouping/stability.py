"""Stability of groups under resampling in time, and significance against independence."""

from __future__ import annotations

import warnings
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
from symnmf.dependence.independence import estimate_again, rearranged
from symnmf.dependence.resampling import Resamples
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.errors import InvalidInput
from symnmf.factorization import run
from symnmf.grouping.between_groups import cohesion
from symnmf.grouping.comparison import align
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator
from symnmf.resources import require_memory

#: Instruments up to which the entries of S get intervals.
MAX_INTERVALS = 500


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
        loadings: (2, n, k) ends of the intervals of the loadings, the columns of every sample
            being matched with those of H.
        entries: (2, n, n) ends of the intervals of the entries of S, up to 500 instruments; None
            for more.
        level: coverage of these intervals.
    """

    together: Tensor
    groups: np.ndarray
    members: np.ndarray
    draws: int
    block: int
    loadings: np.ndarray
    entries: np.ndarray | None
    level: float


def bootstrap(
    panel: Panel,
    result: Result,
    dependence: str = "tail",
    *,
    draws: int = 20,
    block: int = 21,
    level: float = 0.9,
    seed: int = 0,
    **options: Any,
) -> Stability:
    """Stability of groups: blocks of rows are drawn with replacement, estimated and fitted anew.

    The same samples (:class:`symnmf.dependence.resampling.Resamples`) give intervals of the labels
    (``together``), of the loadings and of the entries of S. Intervals are percentiles of the
    samples, so that they need many of them: about 100 for a level of 0.9.

    Arguments:
        panel: the returns.
        result: the factorization to examine.
        dependence: ``"tail"`` or ``"correlation"``.
        draws: number of samples.
        block: number of successive rows drawn together; longer than the dependence between days.
        level: coverage of the intervals of loadings and entries.
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
    resamples = Resamples(T, draws, block, seed)
    require_memory(4 * n * n, f"the table of {n} × {n} pairs", "Use fewer instruments")
    k = result.H.shape[1]
    together = torch.zeros(n, n)
    loadings = np.empty((draws, n, k), dtype=np.float32)
    entries = np.empty((draws, n, n), dtype=np.float32) if n <= MAX_INTERVALS else None
    for draw, rows in enumerate(resamples):
        S = estimate(dependence, panel.at(np.sort(rows)), **options)
        fit = run(Problem(S, k, seed), handle_interrupt=False)
        loadings[draw] = fit.H[:, align(fit.H, result.H)].cpu().numpy()
        if entries is not None:
            entries[draw] = S.to_dense().cpu().numpy()
        member = indicator(fit.labels().cpu(), k, torch.float32)
        together.addmm_(member, member.T)
    together /= draws
    labels = result.labels().cpu()
    member = indicator(labels, k, torch.float32)
    sizes = member.sum(dim=0)
    with_group = together @ member - together.diagonal()[:, None] * member
    own = (with_group * member).sum(dim=1) / (member @ (sizes - 1))
    own[labels < 0] = torch.nan
    means = torch.stack([own[labels == g].mean() for g in range(k)])
    ends = [(1 - level) / 2, (1 + level) / 2]
    return Stability(
        together,
        means.numpy(),
        own.numpy(),
        draws,
        block,
        np.quantile(loadings, ends, axis=0),
        None if entries is None else np.quantile(entries, ends, axis=0),
        level,
    )


@dataclass(frozen=True)
class Significance:
    """Tail dependence within groups, compared with groups found in independent instruments.

    Attributes:
        within: (k,) mean entry of S between members of each group, in the order of the columns of
            H; NaN for fewer than two members.
        baseline: (draws,) the largest such mean over the groups found after the blocks of every
            column of the panel were rearranged in time.
        p_value: (k,) share of the rearrangements whose best group reaches the mean of the group,
            never below 1 / (draws + 1); it holds for all groups jointly.
    """

    within: np.ndarray
    baseline: np.ndarray
    p_value: np.ndarray


def significance(
    panel: Panel, S: SymmetricOperator, result: Result, *, draws: int = 39, seed: int = 0
) -> Significance:
    """Whether the groups of tail dependence are tighter than groups that arise by chance.

    The blocks of every column are rearranged in time: dependence between instruments disappears,
    that of each instrument on its recent past remains. Groups are selected for their dependence, in
    the data as in every rearrangement. A group is therefore compared with the best group of each
    rearrangement.

    Arguments:
        panel: the returns.
        S: the tail dependence matrix of the panel, without shrinkage.
        result: a factorization of S.
        draws: number of rearrangements; each is estimated and fitted.
        seed: seed of the rearrangements and the fits.

    Raises:
        InvalidInput: S is not a tail dependence matrix, or the panel is not that of the result.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.tail_dependence(panel)
        >>> found = significance(panel, S, sn.factorize(S, k=3), draws=3)
        >>> found.p_value.tolist()  # none of three has a group like these: the least
        [0.25, 0.25, 0.25]
    """
    about = S.provenance
    if not isinstance(about, TailEstimate):
        raise InvalidInput(
            "S",
            "is not a tail dependence matrix",
            "Pass the matrix that tail_dependence returned",
        )
    check_panel(panel, result)
    labels, k = result.labels(), result.H.shape[1]
    found = cohesion(S, labels, k)
    baseline = np.empty(draws)
    for draw in range(draws):
        values = rearranged(panel.values, numpy_stream(seed, "significance", draw))
        T0 = estimate_again(about, panel.with_values(values))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these groups are not reported
            fit = run(Problem(T0, k, seed), handle_interrupt=False)
        chance = cohesion(T0, fit.labels(), k)
        baseline[draw] = np.nanmax(chance) if np.isfinite(chance).any() else 0.0
    p_value = (1 + (baseline[:, None] >= found).sum(axis=0)) / (draws + 1)
    return Significance(found, baseline, np.where(np.isnan(found), np.nan, p_value))
