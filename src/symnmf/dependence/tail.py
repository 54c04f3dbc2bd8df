"""The tail pairwise dependence matrix (TPDM): which instruments have extremes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel, read_panel
from symnmf.defaults import TAIL, TAILS
from symnmf.dependence.margins import to_margins
from symnmf.dependence.pairwise_tail import pairwise_tpdm
from symnmf.dependence.threshold import Threshold, keep_largest
from symnmf.errors import InvalidInput, InvalidMatrix, InvalidTable, called, offered, spelled
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.options import choice
from symnmf.provenance import Provenance

#: Estimators of the TPDM.
ESTIMATORS = ("global", "pairwise")


#: Minimum of exceedances for an estimate.
MIN_EXCEEDANCES = 30


@dataclass(frozen=True)
class TailEstimate(Provenance):
    """How a TPDM was estimated; stored as ``operator.provenance``.

    Attributes:
        tail, margins, alpha, estimator: options of :func:`tail_dependence`.
        exceedances: rows of the panel that are extreme, in order of time.
        dates: dates of the exceedances as text; row numbers if the panel has no dates.
        radii: radii of the exceedances.
        threshold: radius that the exceedances are above.
        scales: (n,) diagonal of the TPDM before it was scaled to one.
        declustered: number of exceedances left out because a larger one was near.
        steps: descriptions of the estimate, in order.
    """

    tail: str
    margins: str
    alpha: float
    estimator: str
    exceedances: np.ndarray
    dates: tuple[str, ...]
    radii: np.ndarray
    threshold: float
    scales: np.ndarray
    declustered: int
    steps: tuple[str, ...]

    @property
    def is_tail(self) -> bool:
        """A TPDM measures dependence in the tails."""
        return True

    @property
    def events(self) -> int:
        """Number of exceedances that S is estimated from; 0 for the pairwise estimator."""
        return len(self.exceedances) if self.estimator == "global" else 0


def tail_dependence(
    returns: Any,
    *,
    tail: str = TAIL,
    q: float | None = None,
    quantile: float | None = None,
    count: int | None = None,
    radius: float | None = None,
    margins: str = "frechet",
    alpha: float = 2.0,
    estimator: str = "global",
    decluster: int = 0,
    allow_few: bool = False,
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """The TPDM of a table of returns, as an operator with named rows.

        S = D^{-1/2} Ωᵀ Ω D^{-1/2},   rows of Ω: x_t / ‖x_t‖ of the observations with ‖x_t‖ large

    Every instrument is first transformed to the same heavy-tailed margin. S = B Bᵀ is never
    formed. ``operator.provenance`` records the dates of the exceedances and the scales.

    Arguments:
        returns: a :class:`symnmf.data.Panel`, or a table or path that
            :func:`symnmf.data.read_panel` accepts as returns.
        tail: ``"lower"`` (losses) or ``"upper"`` (gains).
        q: fraction of observations: the ⌊q·T⌋ largest radii are exceedances. The default is 0.05
            unless another threshold is given.
        quantile: sample quantile of the radii that exceedances are above.
        count: number of exceedances.
        radius: radius that exceedances are above.
        margins, alpha: options of :func:`symnmf.dependence.margins.to_margins`.
        estimator: ``"global"``, one radius for all instruments; ``"pairwise"``, one radius for
            each pair, which is dense and not always positive semidefinite.
        decluster: number of rows; exceedances with fewer rows between them are one event, of
            which only the largest is used.
        allow_few: whether to accept fewer than 30 exceedances.
        dtype: type of the operator; estimates are computed in float64.

    Raises:
        InvalidInput: an option is invalid, or there are too few exceedances.
        InvalidTable: the returns have missing numbers.

    Example:
        >>> losses = np.random.default_rng(0).standard_t(3, size=(2000, 4))
        >>> S = tail_dependence(losses, tail="upper")
        >>> S, len(S.provenance.exceedances)
        (GramOperator(n=4, dtype=float32), 100)
    """
    choice("estimator", estimator, ESTIMATORS)
    if estimator == "pairwise" and decluster:
        raise InvalidInput(
            "decluster", f"got {decluster} with estimator='pairwise'", "Pass estimator='global'"
        )
    panel = returns if isinstance(returns, Panel) else read_panel(returns, kind="returns")
    rule = Threshold.of(q=q, quantile=quantile, count=count, radius=radius)
    X = to_margins(signed_for(panel, tail), margins, alpha)
    radii = np.sqrt(np.einsum("ti,ti->t", X, X))
    chosen, threshold = rule.exceedances(radii)
    chosen_days = keep_largest(chosen, radii, decluster)
    if len(chosen_days) < (1 if allow_few else MIN_EXCEEDANCES):
        raise InvalidInput(
            rule.name,
            f"{rule.value:g} leaves {len(chosen_days)} exceedances of {len(radii)} observations",
            f"At least {MIN_EXCEEDANCES} are needed: take a larger {called('q')}"
            + (", or pass allow_few=True for fewer" if offered("allow_few") else ""),
        )
    steps = [
        f"{'losses' if tail == 'lower' else 'gains'} on {margins} margins with index {alpha:g}",
        f"{len(chosen)} of {len(radii)} observations with a radius above {threshold:.4g} "
        f"({rule.name} = {rule.value:g})",
    ]
    if len(chosen_days) < len(chosen):
        steps.append(f"{len(chosen) - len(chosen_days)} of them left out: a larger one was near")
    if estimator == "global":
        angles = torch.from_numpy((X[chosen_days] / radii[chosen_days, None]).T.copy())
        scales = (angles.square().sum(dim=1) * (len(angles) / len(chosen_days))).numpy()
    else:
        scales = np.ones(X.shape[1])
        steps.append("one radius for each pair: the matrix may be indefinite")
    provenance = TailEstimate(
        tail=tail,
        margins=margins,
        alpha=alpha,
        estimator=estimator,
        exceedances=chosen_days,
        dates=tuple(panel.date_words(chosen_days)),
        radii=radii[chosen_days],
        threshold=threshold,
        scales=scales,
        declustered=len(chosen) - len(chosen_days),
        steps=tuple(steps),
    )
    if estimator == "global":
        return unit_diagonal_gram(angles, dtype, panel.names, provenance)
    matrix = torch.from_numpy(pairwise_tpdm(X, rule)).to(dtype)
    return DenseOperator(matrix, panel.names, provenance=provenance)


def signed_for(panel: Panel, tail: str) -> np.ndarray:  # (T, n)
    """Returns with the chosen tail turned upwards.

    Raises:
        InvalidTable: a number is missing.
    """
    choice("tail", tail, TAILS)
    if np.isnan(panel.values).any():
        raise InvalidTable(
            "returns",
            f"{int(np.isnan(panel.values).sum())} numbers are missing",
            f"Tails need complete rows: pass {spelled('missing', 'drop-columns')} or "
            f"{spelled('missing', 'drop-rows')} when the panel is read",
        )
    return -panel.values if tail == "lower" else panel.values


def unit_diagonal_gram(
    angles: Tensor,
    dtype: torch.dtype,
    names: Sequence[str] | None = None,
    provenance: Provenance | None = None,
) -> GramOperator:
    """The unit-diagonal TPDM of the angles of the exceedances, as a Gram operator.

        S = D^{-1/2} Ωᵀ Ω D^{-1/2},   D = diag(Ωᵀ Ω)

    so S = B Bᵀ, the rows of B being the columns of Ω scaled to length one; the factor n/n_exc
    of the raw estimate cancels. S itself is never formed.

    Arguments:
        angles: (n, n_exc) columns x_t / ‖x_t‖ of the exceedances; not negative.
        dtype: type of the operator.
        names: names of the rows.
        provenance: origin of S.

    Raises:
        InvalidMatrix: an instrument is zero at every exceedance.

    Reference: Cooley and Thibaud (2019), doi:10.1093/biomet/asz028.
    """
    norms = torch.linalg.vector_norm(angles, dim=1, keepdim=True)
    if not bool((norms > 0).all()):
        row = int((norms[:, 0] == 0).nonzero()[0, 0])
        raise InvalidMatrix(
            "angles",
            f"instrument {row} is zero at every exceedance",
            "Remove it, or use more exceedances",
        )
    return GramOperator((angles / norms).to(dtype), names=names, provenance=provenance)
