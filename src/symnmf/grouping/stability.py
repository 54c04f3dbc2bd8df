"""Stability of groups under resampling in time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.core.certificate import AGREED
from symnmf.core.labels import adjusted_rand, group_numbers, hard_labels, indicator
from symnmf.core.problem import Problem, WarmStart
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.defaults import FITTED_RESAMPLES
from symnmf.dependence import estimate
from symnmf.dependence.resampled_rows import ResampledRows
from symnmf.dependence.resampling import AtanhSpread, Resamples
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.grouping.comparison import align
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.many_problems import similar_factors
from symnmf.numerics import SMALL_PRODUCT
from symnmf.operators import SymmetricOperator
from symnmf.resources import require_memory
from symnmf.worker_threads import in_order

#: Seed of the fit of a sample, and its rows of the panel.
Sample = tuple[int, np.ndarray]
#: Instruments up to which the entries of S get intervals.
MAX_INTERVALS = 500
#: Maximum number of samples that are fitted in one batch, and of the entries of their matrices.
BATCH, BATCH_ENTRIES = 10, 40_000_000
#: Share of the samples from which a member counts as sure in a consensus: of the pairs of hard
#: panels with at least this share, 99 % are truly in one group (`symnmf bench calibration`).
SURE_SHARE = 0.7


@dataclass(frozen=True, repr=False)
class Stability(Brief):
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
        agreement: mean adjusted Rand index of the groups of the samples with those of the result.
        labels: (n,) groups of the result.
    """

    together: Tensor
    groups: np.ndarray
    members: np.ndarray
    draws: int
    block: int
    loadings: np.ndarray
    entries: np.ndarray | None
    level: float
    agreement: float
    labels: np.ndarray

    def consensus(self, sure: float = SURE_SHARE) -> np.ndarray:  # (n,)
        """Groups over all samples, with fewer and surer members; −1 for unassigned instruments.

        Average linkage of 1 − ``together`` gives as many groups as the result has. A member whose
        mean share with its group is below ``sure`` is unassigned, and so is a group of one.

        Arguments:
            sure: least mean share with the other members, from 0 to 1.
        """
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        if not 0 <= sure <= 1:
            raise InvalidInput("sure", f"got {sure!r}", "Pass a number from 0 to 1")
        share = self.together.to(torch.float64).numpy()
        distance = np.clip(1 - (share + share.T) / 2, 0, 1)
        np.fill_diagonal(distance, 0)
        tree = linkage(squareform(distance, checks=False), "average")
        found = fcluster(tree, len(self.groups), criterion="maxclust") - 1
        while True:  # the share of those that remain depends on those that leave
            own = _own_share(share, found)
            leave = (found >= 0) & ~(own >= sure)
            if not leave.any():
                break
            worst = leave & (
                own <= np.nanmin(np.where(leave, np.nan_to_num(own, nan=-1), 2)) + 1e-9
            )
            found[leave & (worst | np.isnan(own))] = -1
        sizes = np.bincount(found[found >= 0], minlength=1)
        order = {g: i for i, g in enumerate(np.argsort(-sizes, kind="stable"))}
        return np.array([order[g] if g >= 0 else -1 for g in found])

    @property
    def advice(self) -> str:
        """What would make the groups more stable; empty where they are stable."""
        if self.agreement >= AGREED or len(self.groups) < 2:
            return ""
        share, k = self.together.to(torch.float64).numpy(), len(self.groups)
        member = np.eye(k)[self.labels] * (self.labels >= 0)[:, None]
        sizes = np.maximum(member.sum(axis=0), 1)
        between = member.T @ share @ member / np.outer(sizes, sizes)
        np.fill_diagonal(between, -1)
        g, h = sorted(np.unravel_index(int(between.argmax()), between.shape))
        one, two = (int(group_numbers(np.array(x))) for x in (g, h))
        return (
            f"the groups agree with those of resampled histories to {self.agreement:.2f} only: "
            f"groups {one} and {two} mix most ({between[g, h]:.2f} of the samples join their "
            f"members); merge them, or try k = {k - 1}"
        )


def _own_share(share: np.ndarray, labels: np.ndarray) -> np.ndarray:  # (n,)
    """Mean share with the other members of the own group; NaN without any."""
    same = (labels[:, None] == labels) & (labels >= 0)[:, None]
    np.fill_diagonal(same, False)
    count = same.sum(axis=1)
    return np.where(count > 0, (share * same).sum(axis=1) / np.maximum(count, 1), np.nan)


def bootstrap(
    panel: Panel,
    result: Result,
    dependence: str = "tail",
    *,
    draws: int = FITTED_RESAMPLES,
    block: int | None = None,
    level: float = 0.9,
    seed: int = 0,
    **options: Any,
) -> Stability:
    """Stability of groups: blocks of rows are drawn with replacement, estimated and fitted anew.

    The same samples (:class:`symnmf.dependence.resampling.Resamples`) give intervals of the labels
    (``together``), of the loadings and of the entries of S. Intervals of loadings are percentiles
    of the samples, so that they need many of them: about 100 for a level of 0.9. Those of the
    entries are normal on the scale of atanh. Both are wider the fewer blocks there are, so that
    they hold for series whose volatility lasts for months (``symnmf bench intervals``).
    Each sample is fitted from the result and from fresh seeds, and the best fit counts:
    groups that differ are then not mere accidents of a start, nor are they held by it. The fits
    end where the criterion is met: the next 0.1 % of the error are far below what resampling
    changes. Samples are fitted in batches; of small ones, there is a batch on each thread of torch.

    Arguments:
        panel: the returns.
        result: the factorization to examine.
        dependence: ``"tail"`` or ``"correlation"``.
        draws: number of samples.
        block: number of successive rows drawn together; longer than the dependence between days.
            By default a sixth of the rows.
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
    resamples = Resamples.of(T, draws, block, seed)
    require_memory(4 * n * n, f"the table of {n} × {n} pairs", "Use fewer instruments")
    k = result.H.shape[1]
    together = torch.zeros(n, n)
    loadings = np.empty((draws, n, k), dtype=np.float32)
    samples = Samples(panel, result, dependence, options, n <= MAX_INTERVALS)
    entries = AtanhSpread(samples.S.to_dense().cpu()) if n <= MAX_INTERVALS else None
    mine, agreed = result.labels().cpu(), []
    size = max(1, min(BATCH, BATCH_ENTRIES // n**2))
    rows = _batches(enumerate(resamples, start=seed), size)
    jobs = (partial(samples.fit, batch) for batch in rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the groups of a sample are not reported
        threads = None if n * n * k <= SMALL_PRODUCT else 1
        fits = chain.from_iterable(in_order(jobs, threads))
        for draw, (H, S) in enumerate(fits):
            labels = hard_labels(H)[0].cpu()
            agreed.append(adjusted_rand(mine, labels))
            loadings[draw] = H[:, align(H, result.H)].cpu().numpy()
            if entries is not None and S is not None:
                entries.add(S.to_dense().cpu())
            member = indicator(labels, k, torch.float32)
            together.addmm_(member, member.T)
    together /= draws
    labels = mine
    member = indicator(labels, k, torch.float32)
    sizes = member.sum(dim=0)
    with_group = together @ member - together.diagonal()[:, None] * member
    own = (with_group * member).sum(dim=1) / (member @ (sizes - 1))
    own[labels < 0] = torch.nan
    means = torch.stack([own[labels == g].mean() for g in range(k)])
    return Stability(
        together,
        means.numpy(),
        own.numpy(),
        draws,
        resamples.block,
        np.maximum(resamples.percentiles(result.H.cpu().numpy(), loadings, level), 0.0),
        None if entries is None else np.maximum(resamples.around_spread(entries, level), 0.0),
        level,
        float(np.mean(agreed)),
        labels.numpy(),
    )


def _batches(samples: Iterator[Sample], size: int) -> Iterator[list[Sample]]:
    """Successive samples, as many at a time."""
    while batch := list(islice(samples, size)):
        yield batch


class Samples:
    """Fits of samples of the rows, each from the result and from fresh seeds.

    Arguments:
        panel, result, dependence, options: as for :func:`bootstrap`.
        with_matrices: whether the matrices of the samples are wanted.

    Attributes:
        S: the estimate of the whole panel.
    """

    def __init__(
        self,
        panel: Panel,
        result: Result,
        dependence: str,
        options: dict[str, Any],
        with_matrices: bool,
    ):
        self.estimate = ResampledRows(panel, dependence, options)
        self.with_matrices = with_matrices
        self.S, self.k = estimate(dependence, panel, **options), result.H.shape[1]
        self.warm_start: WarmStart | None = None
        if bool(result.H.any()):
            H = result.H.to(dtype=self.S.dtype, device=self.S.device)
            self.warm_start = WarmStart(H, Problem(self.S, self.k).spectrum.vectors)

    def fit(self, samples: Sequence[Sample]) -> list[tuple[Tensor, SymmetricOperator | None]]:
        """The factors of some samples, with their S if it is wanted.

        Arguments:
            samples: seed and rows of the panel of each of them.
        """
        made = [self.estimate(rows) for _, rows in samples]
        problems = [
            Problem(S, self.k, seed, warm_start=self.warm_start)
            for (seed, _), S in zip(samples, made, strict=True)
        ]
        wanted = made if self.with_matrices else [None] * len(made)
        return list(zip(similar_factors(problems), wanted, strict=True))
