"""How many groups: what the spectrum and the stability of fits say."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np

from symnmf.contract import Problem, whole
from symnmf.dependence.correlation import CorrelationEstimate
from symnmf.operators import as_operator
from symnmf.probe import starts_agree

#: A ratio of eigenvalues that counts as a gap, also against the median one, and the share of the
#: positive ones to be explained.
GAP, CLEAR, SHARE = 1.5, 1.2, 0.9
#: Starts that are compared for each candidate.
STARTS = 4


@dataclass(frozen=True)
class RankSuggestion:
    """How many groups, and why.

    Attributes:
        k: the recommendation.
        reasons: sentences, the deciding one first.
        values: (p,) leading eigenvalues.
        ratios: (p − 1,) λ_j / λ_{j+1}.
        gap: rank before the largest gap; None where the spectrum has none.
        edge: eigenvalues above the edge of Marchenko and Pastur, where n and T are known.
        share: rank that holds nine tenths of what the positive eigenvalues hold.
        agreement: candidate → agreement of several starts.
        products: of S with k columns that it took.
    """

    k: int
    reasons: tuple[str, ...]
    values: np.ndarray
    ratios: np.ndarray
    gap: int | None
    edge: int | None
    share: int
    agreement: dict[int, float | None]
    products: float


def suggest_rank(
    S: Any, most: int | None = None, *, observations: int | None = None, seed: int = 0
) -> RankSuggestion:
    """How many groups S has, from one sketch of it.

    Arguments:
        S: matrix or operator.
        most: largest number to consider; 1.5·√n by default, and at least 10.
        observations: T of a correlation matrix; known for one of :func:`symnmf.abs_correlation`.
        seed: of the sketch and the starts.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("corr", n=100)
        >>> abs(suggest_rank(b.operator).k - b.k) <= 1
        True
    """
    operator = as_operator(S)
    n = operator.n
    default = max(10, int(1.5 * isqrt(n)))
    most = whole("most", min(default, n - 1) if most is None else most, 1, n, f"from 1 to {n}")
    problem = Problem(operator, most, seed)
    spectrum = problem.spectrum
    values = spectrum.values.numpy()
    floor = max(float(values[0]) * 1e-6, 1e-300)
    values = np.maximum(values[: most + 1], floor)
    ratios = values[:-1] / values[1:]
    gap = _gap(values, spectrum.trace / n)
    edge = _edge(operator.about, observations, n, spectrum.values.numpy())
    positive = np.maximum(spectrum.values.numpy(), 0)
    share = int(np.searchsorted(np.cumsum(positive) / positive.sum(), SHARE)) + 1
    reasons = []
    if gap is not None:
        k = gap
        reasons.append(
            f"the spectrum has a gap after {gap}: λ_{gap} / λ_{gap + 1} = {ratios[gap - 1]:.3g}"
        )
        if edge is not None:
            reasons.append(f"{edge} eigenvalues stand above the edge of noise")
    elif edge is not None and edge > 0:
        k = min(edge, most)
        reasons.append(f"{edge} eigenvalues stand above the edge of noise; the spectrum has no gap")
    else:
        k = min(share, most)
        reasons.append(
            f"the spectrum has no gap: {share} eigenvalues hold {100 * SHARE:.0f} %, which is a "
            "convention, not a finding; look at the plot and at what you need the groups for"
        )
    agreement: dict[int, float | None] = {}
    for candidate in sorted({max(2, k - 1), k, min(most, k + 1)} if k > 1 else {1}):
        twin = Problem(problem.surrogate, candidate, seed)
        agreement[candidate] = starts_agree(twin, STARTS) if candidate > 1 else 1.0
    if agreement.get(k) is not None:
        reasons.append(f"{STARTS} starts with {k} groups agree to {agreement[k]:.2f}")
    products = problem.S.work / (n**2 * k)
    return RankSuggestion(k, tuple(reasons), values, ratios, gap, edge, share, agreement, products)


def _gap(values: np.ndarray, mean: float) -> int | None:
    """The rank before the largest gap that stands out.

    The first eigenvalue is the common one and says nothing about groups; those below the mean of
    all are less than what one instrument brings.
    """
    ratios = (values[:-1] / values[1:])[1:]
    inner = ratios[values[1:-1] >= mean]
    if not len(inner):
        return None
    at = int(inner.argmax())
    stands = inner[at] >= GAP and inner[at] >= CLEAR * float(np.median(ratios))
    return at + 2 if stands else None


def _edge(about: Any, observations: int | None, n: int, values: np.ndarray) -> int | None:
    """Eigenvalues above (1 + sqrt(n / T))²."""
    T = observations
    if T is None and isinstance(about, CorrelationEstimate):
        T = about.scores.shape[1]
    if T is None:
        return None
    return int((values > (1 + sqrt(n / T)) ** 2).sum())
