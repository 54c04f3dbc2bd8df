"""Candidates of the study of prediction: every estimate of dependence that could be the default."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from symnmf.data import Panel
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


#: Name of each candidate, and the function that estimates it.
CANDIDATES: dict[str, Estimate] = {
    REFERENCE: abs_correlation,
    "max(correlation, 0)": positive_correlation,
    "global q=0.05": _tail("global", 0.05),
    "global q=0.1": _tail("global", 0.1),
    "chi q=0.2": _tail("chi", 0.2),
    "pairwise q=0.1": _tail("pairwise", 0.1),
    "pairwise q=0.2": _tail("pairwise", 0.2),
    "pairwise q=0.2, baseline removed": _tail("pairwise", 0.2, shrinkage="baseline"),
    "pairwise q=0.1, EWMA": _tail("pairwise", 0.1, volatility="ewma"),
    "ramp q=0.3": _tail("ramp", 0.3),
    "ramp q=0.5": _tail("ramp", 0.5),
    "ramp q=0.5, baseline removed": _tail("ramp", 0.5, shrinkage="baseline"),
    "ramp q=0.3, baseline removed": _tail("ramp", 0.3, shrinkage="baseline"),
    "ramp q=0.5, baseline removed, EWMA": _tail(
        "ramp", 0.5, shrinkage="baseline", volatility="ewma"
    ),
    "exponential q=1, baseline removed": _tail(
        "ramp", 0.999, weight="exponential", shrinkage="baseline"
    ),
    "exponential q=0.5": _tail("ramp", 0.5, weight="exponential"),
    "exponential q=1": _tail("ramp", 0.999, weight="exponential"),
    "half ramp q=0.5, half max(correlation, 0)": _blended(_tail("ramp", 0.5), positive_correlation),
    "half pairwise q=0.2, half max(correlation, 0)": _blended(
        _tail("pairwise", 0.2), positive_correlation
    ),
}
