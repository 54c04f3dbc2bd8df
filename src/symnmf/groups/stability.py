"""Do groups hold? Resampled in time, and against independence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.contract import Problem, Result, whole
from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.dependence.tail import TailEstimate
from symnmf.errors import InvalidInput
from symnmf.factorize import run
from symnmf.groups.between import cohesion
from symnmf.groups.naming import ordered
from symnmf.groups.risk import check_panel
from symnmf.labels import indicator
from symnmf.memory import require
from symnmf.operators import SymmetricOperator
from symnmf.seeds import numpy_stream


@dataclass(frozen=True)
class Stability:
    """How often instruments are together when time is resampled.

    Attributes:
        together: (n, n) share of the samples in which two instruments have one group.
        groups: (k,) mean of that share within each group of the factorization; NaN for groups of
            fewer than two.
        members: (n,) mean share with the other members of the own group; NaN without any.
        draws: number of samples.
        block: rows that were drawn together.
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
    """Groups of resampled time: blocks of rows drawn with replacement, estimated and fitted anew.

    Arguments:
        panel: returns.
        result: the factorization in question; columns in the order of :func:`ordered`.
        dependence: ``"tail"`` or ``"correlation"``; ``options`` of its estimator.
        draws: number of samples.
        block: rows drawn together, longer than what one day tells about the next.
        seed: of the draws and the fits.

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
    draws = whole("draws", draws, 1, 100_000, "from 1 to 100000")
    block = whole("block", block, 1, T, f"from 1 to the {T} rows of the panel")
    require(4 * n * n, f"the table of {n} × {n} pairs", "Take fewer instruments")
    k = result.H.shape[1]
    together = torch.zeros(n, n)
    for draw in range(draws):
        rng = numpy_stream(seed, "bootstrap", draw)
        begins = rng.integers(T, size=-(-T // block))
        rows = ((begins[:, None] + np.arange(block)) % T).ravel()[:T]
        S = estimate(dependence, panel.at(np.sort(rows)), **options)
        labels = run(Problem(S, k, seed), stoppable=False).labels().cpu()
        member = indicator(labels, k, torch.float32)
        together.addmm_(member, member.T)
    together /= draws
    labels = ordered(result).labels().cpu()
    member = indicator(labels, k, torch.float32)
    sizes = member.sum(dim=0)
    with_group = together @ member - together.diagonal()[:, None] * member
    own = (with_group * member).sum(dim=1) / (member @ (sizes - 1))
    own[labels < 0] = torch.nan
    means = torch.stack([own[labels == g].mean() for g in range(k)])
    return Stability(together, means.numpy(), own.numpy(), draws, block)


@dataclass(frozen=True)
class Significance:
    """Tail dependence within groups against that of groups found in independent instruments.

    Attributes:
        within: (k,) mean entry of S between members of each group; NaN for fewer than two.
        baseline: (draws,) the largest such mean of groups found anew when every column of the panel
            is shuffled by itself.
        p_value: (k,) share of the shuffles whose best group reaches what was found, never below
            1 / (draws + 1); it holds for all groups together.
    """

    within: np.ndarray
    baseline: np.ndarray
    p_value: np.ndarray


def significance(
    panel: Panel, S: SymmetricOperator, result: Result, *, draws: int = 39, seed: int = 0
) -> Significance:
    """Whether the groups of a TPDM have more in common than groups that chance makes.

    Groups are chosen for their dependence, in the data as in every shuffle, so that the best group
    of each shuffle is what a group has to be held against.

    Arguments:
        panel: returns.
        S: their TPDM, by the global estimator.
        result: a factorization of it; columns in the order of :func:`ordered`.
        draws: shuffles; each is estimated and fitted.
        seed: of the shuffles and the fits.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.tail_dependence(panel)
        >>> found = significance(panel, S, sn.factorize(S, k=3), draws=3)
        >>> found.p_value.tolist()  # no shuffle has a group like these; 1 / (3 + 1) is the least
        [0.25, 0.25, 0.25]
    """
    from symnmf.dependence.tail import tail_dependence

    about = S.about
    if not isinstance(about, TailEstimate) or about.estimator != "global":
        raise InvalidInput(
            "S", "is not a TPDM of tail_dependence by the global estimator", "Pass what it returned"
        )
    check_panel(panel, result)
    labels, k = ordered(result).labels(), result.H.shape[1]
    found = cohesion(S, labels, k)
    options: dict[str, Any] = {"tail": about.tail, "margins": about.margins, "alpha": about.alpha}
    baseline = np.empty(draws)
    for draw in range(draws):
        values = numpy_stream(seed, "significance", draw).permuted(panel.values, axis=0)
        shuffled = panel.with_values(values)
        T0 = tail_dependence(shuffled, count=len(about.exceedances), few=True, **options)
        T0.about = None  # its groups are not for anyone to warn of
        chance = cohesion(T0, run(Problem(T0, k, seed), stoppable=False).labels(), k)
        baseline[draw] = np.nanmax(chance) if np.isfinite(chance).any() else 0.0
    p_value = (1 + (baseline[:, None] >= found).sum(axis=0)) / (draws + 1)
    return Significance(found, baseline, np.where(np.isnan(found), np.nan, p_value))
