"""Whether groups are tighter than the groups that the same search finds without any."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from symnmf.core.labels import indicator
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.dependence.independence import mean_entry, recorded_options
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.factorization import run
from symnmf.fit_request import Request
from symnmf.grouping.between_groups import cohesion
from symnmf.grouping.panel_versions import Estimator, common_factor_only, rotated
from symnmf.grouping.portfolio_risk import check_panel
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator
from symnmf.options import choice, whole_number

#: What the data are compared with: independent instruments, or the common factor alone.
AGAINST = {"independence": rotated, "common factor": common_factor_only}


@dataclass(frozen=True, repr=False)
class Significance(Brief):
    """Dependence within groups, compared with groups found in data that have none.

    Attributes:
        within: (k,) mean entry of S between members of each group, in the order of the columns of
            H; NaN for fewer than two members.
        statistic: (k,) (within − mean entry without groups) · sqrt(size − 1), on which the test
            rests: chance finds tight groups among small ones.
        baseline: (draws,) the largest mean within a group of each draw.
        largest: (draws,) the largest statistic of the groups of each draw.
        p_value: (k,) share of the draws whose largest statistic reaches that of the group, never
            below 1 / (draws + 1); it holds for all groups jointly.
    """

    within: np.ndarray
    statistic: np.ndarray
    baseline: np.ndarray
    largest: np.ndarray
    p_value: np.ndarray


def significance(
    panel: Panel,
    S: SymmetricOperator,
    result: Result,
    *,
    draws: int = 39,
    against: str = "independence",
    dependence: str | None = None,
    seed: int = 0,
    **options: Any,
) -> Significance:
    """Whether the groups have more dependence than groups that arise by chance.

    Each draw rotates every column of the panel in time by its own number of rows, so that serial
    dependence stays and dependence between instruments goes; it is then estimated and fitted as
    the data were. Groups are selected for their dependence, in the data as in every draw: a
    group is compared with the best group of each draw, which keeps the level for all groups
    jointly.

    Arguments:
        panel: the returns.
        S: the dependence matrix of the panel.
        result: a factorization of S; the draws are fitted by the same solver with as many starts.
        draws: number of draws; each is estimated and fitted.
        against: ``"independence"``; or ``"common factor"``, which keeps the common factor and the
            common volatility: are there groups beyond them?
        dependence: how S was estimated, ``"tail"`` or ``"correlation"``; by default what S
            records.
        seed: seed of the draws.
        options: further arguments of the estimator.

    Raises:
        InvalidInput: it is not known how S was estimated, or the panel is not that of the result.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 1000)
        >>> S = sn.abs_correlation(panel)
        >>> found = significance(panel, S, sn.factorize(S, k=3), draws=3)
        >>> found.p_value.tolist()  # no draw has a group like these; 1 / (3 + 1) is the least
        [0.25, 0.25, 0.25]

    Reference: Westfall and Young (1993), Resampling-Based Multiple Testing, for the largest
    statistic.
    """
    draws = whole_number("draws", draws, 1, 100_000)
    version = AGAINST[choice("against", against, tuple(AGAINST))]
    check_panel(panel, result)
    if dependence is None:
        dependence, options = recorded_estimator(S, options)
    estimator = Estimator.of(S, panel, dependence, options)
    k = result.H.shape[1]
    fits = []
    for draw in range(draws):
        rng = numpy_stream(seed, "significance", draw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the groups of a draw are not reported
            T = estimator(panel.with_values(version(panel.values, rng)))
            labels = refit(T, result).labels()
        fits.append((cohesion(T, labels, k), _sizes(labels, k), mean_entry(T)))
    level = float(np.mean([mean for *_, mean in fits]))
    labels = result.labels()
    within = cohesion(S, labels, k)
    statistic = (within - level) * np.sqrt(np.maximum(_sizes(labels, k) - 1, 0))
    baseline = np.array([_largest(found) for found, *_ in fits])
    largest = np.array(
        [_largest((found - level) * np.sqrt(np.maximum(sizes - 1, 0))) for found, sizes, _ in fits]
    )
    p_value = (1 + (largest[:, None] >= statistic).sum(axis=0)) / (draws + 1)
    p_value = np.where(np.isnan(within), np.nan, p_value)
    return Significance(within, statistic, baseline, largest, p_value)


def recorded_estimator(
    S: SymmetricOperator, options: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Name and options of the estimator that S records; options of the caller take precedence.

    Raises:
        InvalidInput: S records too little.
    """
    about = S.provenance
    if isinstance(about, CorrelationEstimate):
        return "correlation", dict(options)
    if isinstance(about, TailEstimate):
        return "tail", {**recorded_options(about), **options}
    raise InvalidInput(
        "S",
        "does not record how it was estimated",
        "Pass dependence= and the options of the estimator",
    )


def refit(S: SymmetricOperator, result: Result) -> Result:
    """Fit S as the matrix of a result was: the same solver, starts and seed.

    Arguments:
        S: another version of the matrix.
        result: the factorization to repeat.
    """
    starts = result.options.get("n_init", 1)
    known = {name: value for name, value in result.options.items() if name in ("penalty", "rho")}
    name = result.solver
    own = {key: result.options[key] for key in ("precision",) if key in result.options}
    request = Request(n_init=starts, options=own if name == "sketched" else {})
    if name not in ("exact", "sketched"):
        request = Request.of(name, 1, {k: v for k, v in known.items() if v is not None})
    return run(Problem(S, result.H.shape[1], result.seed), request, handle_interrupt=False)


def _largest(values: np.ndarray) -> float:
    return float(np.nanmax(values)) if np.isfinite(values).any() else 0.0


def _sizes(labels: torch.Tensor, k: int) -> np.ndarray:  # (k,)
    return np.asarray(indicator(labels.cpu(), k, torch.float64).sum(dim=0).numpy())
