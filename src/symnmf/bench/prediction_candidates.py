"""Candidates of the study of prediction: every estimate of dependence that could be the default."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256

import numpy as np

from symnmf.data import Panel, read_panel
from symnmf.dependence.blend import blend, blend_weight
from symnmf.dependence.correlation import abs_correlation
from symnmf.dependence.tail import tail_dependence
from symnmf.operators import SymmetricOperator

Estimate = Callable[[Panel], SymmetricOperator]
#: The candidate that all others are compared with.
REFERENCE = "|correlation|"


def _tail(estimator: str, q: float, **options: object) -> Estimate:
    return partial(tail_dependence, estimator=estimator, q=q, allow_few=True, **options)  # type: ignore[arg-type]


positive_correlation = partial(abs_correlation, negative="zero")


def _blended(first: Estimate, second: Estimate, weight: float | None = 0.5) -> Estimate:
    def estimate(panel: Panel) -> SymmetricOperator:
        chosen = blend_weight(panel, first, second) if weight is None else weight
        return blend(first(panel), second(panel), chosen)

    return estimate


semicorrelation = _tail("semicorrelation", 0.5)
#: Name of each candidate, and the function that estimates it.
CANDIDATES: dict[str, Estimate] = {
    REFERENCE: abs_correlation,
    "max(correlation, 0)": positive_correlation,
    "global q=0.05": _tail("global", 0.05),
    "chi q=0.2": _tail("chi", 0.2),
    "pairwise q=0.1": _tail("pairwise", 0.1),
    "pairwise q=0.2": _tail("pairwise", 0.2),
    "pairwise q=0.1, EWMA": _tail("pairwise", 0.1, volatility="ewma"),
    "ramp q=0.5": _tail("ramp", 0.5),
    "semicorrelation q=0.5": semicorrelation,
    "half pairwise q=0.1, half |correlation|": _blended(_tail("pairwise", 0.1), abs_correlation),
    "half semicorrelation q=0.5, half max(correlation, 0)": _blended(
        semicorrelation, positive_correlation
    ),
}

#: Candidates that large panels leave out, so that the study fits in an hour: blends of others.
LEFT_OUT = (
    "half pairwise q=0.1, half |correlation|",
    "half semicorrelation q=0.5, half max(correlation, 0)",
)


def fingerprint(estimate: Estimate) -> str:
    """Digest of the matrix of a small panel: it changes when the estimate does.

    Scores that an earlier version of an estimate gave are thereby not taken for those of this one.
    """
    panel = read_panel(np.random.default_rng(0).standard_t(4, (300, 6)), kind="returns")
    matrix = estimate(panel).to_dense().double().numpy().round(5) + 0.0
    return sha256(matrix.tobytes()).hexdigest()[:12]
