"""Number of groups: evidence from the spectrum and from the stability of fits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.core.problem import Problem
from symnmf.core.spectrum import leading
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.factorization import run
from symnmf.numerics import torch_stream
from symnmf.operators import DenseOperator, GramOperator, as_operator
from symnmf.options import whole_number
from symnmf.planning.tuning import starts_agree

#: Least ratio of successive eigenvalues that counts as a gap, its least multiple of the median
#: ratio, and the share of the trace to explain where there is no gap.
GAP_RATIO, GAP_OVER_MEDIAN, TRACE_SHARE = 1.5, 1.2, 0.9


#: Number of starts compared for each candidate.
COMPARED_STARTS = 4


#: Number of samples of half of the instruments, and the maximum number of rows in one.
SUBSAMPLES, MAX_SUBSAMPLE_ROWS = 2, 2000


@dataclass(frozen=True)
class RankSuggestion:
    """A number of groups, with reasons.

    Attributes:
        k: the suggested number.
        reasons: sentences, the deciding one first.
        values: (p,) leading eigenvalues.
        ratios: (p − 1,) λ_j / λ_{j+1}.
        gap: rank before the largest gap; None where the spectrum has no gap.
        edge: number of eigenvalues above the Marchenko–Pastur edge, where n and T are known; of
            the signed correlation where it is known, else of S, which has more of them.
        share: rank that holds nine tenths of the trace; None where it is beyond the sketch.
        agreement: candidate → agreement of several starts.
        subsamples: agreement of fits of half of the instruments with the fit of all.
        products: number of products of S with k columns that were spent.
    """

    k: int
    reasons: tuple[str, ...]
    values: np.ndarray
    ratios: np.ndarray
    gap: int | None
    edge: int | None
    share: int | None
    agreement: dict[int, float | None]
    subsamples: float | None
    products: float


def suggest_rank(
    S: Any, most: int | None = None, *, observations: int | None = None, seed: int = 0
) -> RankSuggestion:
    """Suggest a number of groups for S, from one sketch of S.

    Arguments:
        S: matrix or operator.
        most: largest number to consider; by default 1.5·√n, at least 10.
        observations: number of observations T behind a correlation matrix; known for a matrix of
            :func:`symnmf.abs_correlation`.
        seed: seed of the sketch and the starts.

    Returns:
        The number with its reasons, the deciding reason first.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("corr", n=100)
        >>> abs(suggest_rank(b.operator).k - b.k) <= 1
        True
    """
    operator = as_operator(S)
    n = operator.n
    default = max(10, int(1.5 * isqrt(n)))
    most = whole_number(
        "most", min(default, n - 1) if most is None else most, 1, n, f"from 1 to {n}"
    )
    problem = Problem(operator, most, seed)
    spectrum = problem.spectrum
    known = spectrum.values.numpy() * problem.unit**2
    values = np.maximum(known[: most + 1], max(float(known[0]) * 1e-6, 1e-300))
    ratios = values[:-1] / values[1:]
    trace = spectrum.trace * problem.unit**2
    gap = _gap(values, trace / n)
    edge = _edge(operator.provenance, observations, n, known, most)
    held = np.cumsum(np.maximum(known, 0)) / trace
    share = int(np.searchsorted(held, TRACE_SHARE)) + 1 if held[-1] >= TRACE_SHARE else None
    agreement: dict[int, float | None] = {}

    def agreement_of(candidate: int) -> float:
        """Agreement of several starts, on the sketch."""
        if candidate not in agreement:
            agreement[candidate] = starts_agree(
                Problem(problem.surrogate, candidate, seed), COMPARED_STARTS
            )
        return agreement[candidate] or 0.0

    if gap is not None:
        k = gap
        reasons = [
            f"the spectrum has a gap after {gap}: λ_{gap} / λ_{gap + 1} = {ratios[gap - 1]:.3g}"
        ]
        if gap > 2 and ratios[gap - 2] >= GAP_RATIO and agreement_of(gap - 1) >= agreement_of(gap):
            k = gap - 1
            reasons.append(
                f"one factor is common to all: starts with {k} groups agree at least as well"
            )
    elif edge:
        k = min(edge, most)
        reasons = [f"{edge} eigenvalues are above the edge of noise; the spectrum has no gap"]
    else:
        k = most if share is None else min(share, most)
        held_by = f"more than {len(known)}" if share is None else str(share)
        reasons = [
            f"the spectrum has no gap: {held_by} eigenvalues hold {100 * TRACE_SHARE:.0f} % of the "
            "trace, which is a convention, not a finding"
        ]
    if edge is not None and gap is not None:
        reasons.append(f"{edge} eigenvalues are above the edge of noise")
    subsamples = None
    if k > 1:
        reasons.append(f"{COMPARED_STARTS} starts with {k} groups agree to {agreement_of(k):.2f}")
        subsamples = _subsamples(problem, k, seed)
        reasons.append(
            f"fits of half of the instruments agree with the fit of all to {subsamples:.2f}"
        )
    products = problem.S.work / (n**2 * k)
    return RankSuggestion(
        k, tuple(reasons), values, ratios, gap, edge, share, agreement, subsamples, products
    )


def _subsamples(problem: Problem, k: int, seed: int) -> float:
    """Mean ARI between fits of some instruments and the fit of all, over those instruments."""
    whole_fit = run(Problem(problem.surrogate, k, seed), handle_interrupt=False).labels().cpu()
    S, scores = problem.S, []
    for draw in range(SUBSAMPLES):
        rows = torch.randperm(S.n, generator=torch_stream(seed, "subsample", draw))
        rows = rows[: min(max(S.n // 2, k + 1), MAX_SUBSAMPLE_ROWS)].sort().values
        part = S.block(rows.to(S.device), rows.to(S.device))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = (
                run(Problem(DenseOperator(part), k, seed), handle_interrupt=False).labels().cpu()
            )
        scores.append(adjusted_rand_score(whole_fit[rows], labels))
    return float(np.mean(scores))


def _gap(values: np.ndarray, mean: float) -> int | None:
    """The rank before the largest gap that stands out.

    The first eigenvalue belongs to the common factor and carries no information about groups;
    eigenvalues below the mean explain less than one instrument does.
    """
    ratios = (values[:-1] / values[1:])[1:]
    inner = ratios[values[1:-1] >= mean]
    if not len(inner):
        return None
    at = int(inner.argmax())
    stands = inner[at] >= GAP_RATIO and inner[at] >= GAP_OVER_MEDIAN * float(np.median(ratios))
    return at + 2 if stands else None


def _edge(
    about: Any, observations: int | None, n: int, values: np.ndarray, most: int
) -> int | None:
    """Eigenvalues of the correlation above (1 + sqrt(n / T))²; signed where the signs are known."""
    if isinstance(about, CorrelationEstimate):
        scores = about.scores
        T = scores.shape[1]
        signed = GramOperator((scores / T**0.5).to(torch.float32))
        values = leading(signed, most).values.numpy()
    elif observations is not None:
        T = observations
    else:
        return None
    return int((values > (1 + sqrt(n / T)) ** 2).sum())
