"""Provenance of a tail dependence matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.display import Brief
from symnmf.provenance import Provenance


@dataclass(frozen=True, repr=False)
class TailEstimate(Brief, Provenance):
    """How a tail dependence matrix was estimated; stored as ``operator.provenance``.

    ``"global"`` has one set of extreme observations for all instruments. The other estimators have
    one for each pair (``"pairwise"``) or each instrument (the others); exceedances are then the
    observations that are extreme for at least one of them.

    Attributes:
        tail, margins, alpha, estimator, weight: options of :func:`symnmf.tail_dependence`.
        exceedances: rows of the panel that are extreme, in order of time; one for each column of
            the factor B where S = B Bᵀ.
        dates: dates of the exceedances as text; row numbers if the panel has no dates.
        radii: sizes of the exceedances: the radius for ``"global"`` and ``"pairwise"``, the length
            of the column of weights for the others.
        threshold: radius that the exceedances are above; for weights the size of a typical
            exceedance.
        scales: (n,) diagonal of the TPDM before it was scaled to one.
        declustered: number of exceedances left out because a larger one was near.
        steps: descriptions of the estimate, in order.
        q: fraction of the observations that is extreme for an instrument, a pair, or the panel.
        volatility: filter that was applied to the returns.
        rows_a_block: rows of which only the largest observation of each instrument was used.
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
    weight: str = ""
    q: float = 0.0
    volatility: str = "none"
    rows_a_block: int = 1

    @property
    def is_tail(self) -> bool:
        """It measures dependence in the tails."""
        return True

    @property
    def events(self) -> int:
        """Number of exceedances that S is estimated from; 0 where each pair has its own."""
        return 0 if self.estimator == "pairwise" else len(self.exceedances)

    @property
    def one_radius(self) -> bool:
        """Whether one set of extreme days serves all instruments."""
        return self.estimator == "global"
