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
from symnmf.dependence.independence import estimate_again, rotated
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.errors import InvalidInput
from symnmf.factorization import run
from symnmf.grouping.between_groups import cohesion
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator
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


@dataclass(frozen=True)
class Significance:
    """Tail dependence within groups, compared with groups found in independent instruments.

    Attributes:
        within: (k,) mean entry of S between members of each group, in the order of the columns of
            H; NaN for fewer than two members.
        baseline: (draws,) the largest such mean over the groups found after every column of the
            panel was rotated in time by its own random amount.
        p_value: (k,) share of the rotations whose best group reaches the mean of the group, never
            below 1 / (draws + 1); it holds for all groups jointly.
    """

    within: np.ndarray
    baseline: np.ndarray
    p_value: np.ndarray


def significance(
    panel: Panel, S: SymmetricOperator, result: Result, *, draws: int = 39, seed: int = 0
) -> Significance:
    """Whether the groups of tail dependence are tighter than groups that arise by chance.

    Every column is rotated in time by its own random amount: dependence between instruments
    disappears, that of each instrument on its own past remains. Groups are selected for their
    dependence, in the data as in every rotation. A group is therefore compared with the best group
    of each rotation.

    Arguments:
        panel: the returns.
        S: the tail dependence matrix of the panel, without shrinkage.
        result: a factorization of S.
        draws: number of rotations; each is estimated and fitted.
        seed: seed of the rotations and the fits.

    Raises:
        InvalidInput: S is not a tail dependence matrix, or the panel is not that of the result.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.tail_dependence(panel)
        >>> found = significance(panel, S, sn.factorize(S, k=3), draws=3)
        >>> found.p_value.tolist()  # no rotation has a group like these; 1 / (3 + 1) is the least
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
        values = rotated(panel.values, numpy_stream(seed, "significance", draw))
        T0 = estimate_again(about, panel.with_values(values))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the groups of a rotation are not reported
            fit = run(Problem(T0, k, seed), handle_interrupt=False)
        chance = cohesion(T0, fit.labels(), k)
        baseline[draw] = np.nanmax(chance) if np.isfinite(chance).any() else 0.0
    p_value = (1 + (baseline[:, None] >= found).sum(axis=0)) / (draws + 1)
    return Significance(found, baseline, np.where(np.isnan(found), np.nan, p_value))
