"""Evidence about the number of groups from S alone: its spectrum, and the stability of fits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import torch

from symnmf.core.labels import adjusted_rand
from symnmf.core.problem import Problem
from symnmf.core.spectrum import leading
from symnmf.data.panel import Panel, PanelSummary
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.factorization import run
from symnmf.grouping.entry_hold_out import EntryHoldOut
from symnmf.numerics import torch_stream
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.planning.tuning import starts_agree

#: Least ratio of successive eigenvalues that counts as a gap, its least multiple of the median
#: ratio, and the share of the trace to explain where there is no gap.
GAP_RATIO, GAP_OVER_MEDIAN, TRACE_SHARE = 1.5, 1.2, 0.9


#: Number of starts compared for each candidate.
COMPARED_STARTS = 4


#: Number of samples of half of the instruments, and the maximum number of rows in one.
SUBSAMPLES, MAX_SUBSAMPLE_ROWS = 2, 2000


@dataclass(frozen=True)
class SpectralEvidence:
    """What the spectrum of S says about the number of groups.

    Attributes:
        problem: S with its spectrum.
        most: largest number that is considered.
        capped: why no larger number is considered; empty where the caller chose it.
        known: (p,) leading eigenvalues of S, as far as they are known.
        values: (most + 1,) the first of them, none of them negative.
        gap, edge, share: see :class:`symnmf.grouping.rank_selection.RankSuggestion`.
    """

    problem: Problem
    most: int
    capped: str
    known: np.ndarray
    values: np.ndarray
    gap: int | None
    edge: int | None
    share: int | None

    @property
    def ratios(self) -> np.ndarray:
        """λ_j / λ_{j+1}."""
        found: np.ndarray = self.values[:-1] / self.values[1:]
        return found


def spectral_evidence(
    S: SymmetricOperator, most: int, observations: int | None, seed: int, capped: str = ""
) -> SpectralEvidence:
    """The spectrum of S, from one sketch, with its gap, edge of noise and share of the trace.

    Arguments:
        S: the dependence matrix.
        most: largest number to consider.
        observations: number of observations behind S, where it is known.
        seed: seed of the sketch.
        capped: why no larger number is considered.
    """
    problem = Problem(S, most, seed)
    spectrum = problem.spectrum
    known = spectrum.values.numpy() * problem.unit**2
    values = np.maximum(known[: most + 1], max(float(known[0]) * 1e-6, 1e-300))
    trace = spectrum.trace * problem.unit**2
    held = np.cumsum(np.maximum(known, 0)) / trace if trace > 0 else np.zeros(1)  # a graph: none
    share = int(np.searchsorted(held, TRACE_SHARE)) + 1 if held[-1] >= TRACE_SHARE else None
    return SpectralEvidence(
        problem=problem,
        most=most,
        capped=capped,
        known=known,
        values=values,
        gap=_gap(values, trace / S.n),
        edge=_edge(S.provenance, observations, S.n, known, most),
        share=share,
    )


def matrix_suggestion(
    found: SpectralEvidence, hidden: EntryHoldOut | None, seed: int
) -> tuple[int, tuple[str, ...], dict[int, float | None], float | None]:
    """The number that a matrix alone suggests, its reasons, and the agreement of fits.

    Hidden entries decide where they give a number, otherwise the spectrum does.

    Arguments:
        found: the spectrum.
        hidden: prediction of hidden entries; None where there is none.
        seed: seed of the starts and of the samples of instruments.
    """
    problem, gap, edge, share, most = found.problem, found.gap, found.edge, found.share, found.most
    ratios = found.ratios
    agreement: dict[int, float | None] = {}

    def agreement_of(candidate: int) -> float:
        """Agreement of several starts, on the sketch."""
        if candidate not in agreement:
            agreement[candidate] = starts_agree(
                Problem(problem.surrogate, candidate, seed), COMPARED_STARTS
            )
        return agreement[candidate] or 0.0

    if edge is not None and edge <= 1:
        k = 1
        reasons = [
            "no groups: "
            + ("no eigenvalue is" if edge == 0 else "only the first eigenvalue is")
            + " above the edge of noise"
        ]
    elif hidden is not None and hidden.k is not None:
        k = hidden.k
        reasons = [f"no groups: {hidden.words}" if k == 1 else hidden.words]
        if gap is not None:
            reasons.append(f"the spectrum has its largest gap after {gap}")
    elif gap is not None:
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
        held_by = f"more than {len(found.known)}" if share is None else str(share)
        reasons = [
            f"the spectrum has no gap: {held_by} eigenvalues hold {100 * TRACE_SHARE:.0f} % of the "
            "trace, which is a convention, not a finding"
        ]
    if hidden is not None and hidden.k is None:
        reasons.append(hidden.words)
    decided = gap is not None or (hidden is not None and hidden.k is not None)
    if edge is not None and decided and k > 1:
        reasons.append(f"{edge} eigenvalues are above the edge of noise")
    if found.capped and k == most:
        reasons.append(f"{most} is the largest number considered{found.capped}")
    subsamples = None
    if k > 1:
        reasons.append(f"{COMPARED_STARTS} starts with {k} groups agree to {agreement_of(k):.2f}")
        subsamples = _subsamples(problem, k, seed)
        reasons.append(
            f"fits of half of the instruments agree with the fit of all to {subsamples:.2f}"
        )
    reasons.append(
        "only the matrix is known: the table behind it would show what predicts other days"
    )
    return k, tuple(reasons), agreement, subsamples


def panel_of_scores(S: SymmetricOperator) -> Panel | None:
    """The z-scores behind a correlation as a panel; None where they do not determine S."""
    about = S.provenance
    if not isinstance(about, CorrelationEstimate) or about.below is not None:
        return None
    if S.process_count > 1:
        return None
    values = about.scores.to("cpu", torch.float64).T.numpy()  # (T, n)
    T, n = values.shape
    names = tuple(S.names) if S.names is not None else tuple(str(i) for i in range(n))
    summary = PanelSummary("wide", "returns", T, n, T, n, 0, None, None, (), ())
    return Panel(values, names, None, summary)


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
        scores.append(adjusted_rand(whole_fit[rows], labels))
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
