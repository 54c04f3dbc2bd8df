"""Number of groups: what predicts, what is above noise, and what stands beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np

from symnmf.core.problem import Problem
from symnmf.data.panel import Panel
from symnmf.defaults import DEPENDENCE, EVENTS_A_GROUP
from symnmf.dependence import estimate
from symnmf.display import Brief
from symnmf.grouping.entry_hold_out import EntryHoldOut, hold_out_entries
from symnmf.grouping.panel_versions import Estimator
from symnmf.grouping.rank_evidence import Noise, Prediction, above_noise, predict, split_groups
from symnmf.grouping.rank_spectrum import (
    COMPARED_STARTS,
    SpectralEvidence,
    matrix_suggestion,
    panel_of_scores,
    spectral_evidence,
)
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.options import whole_number
from symnmf.planning.tuning import starts_agree


@dataclass(frozen=True, repr=False)
class RankSuggestion(Brief):
    """A number of groups with its range and the reasons.

    Attributes:
        k: the suggested number; 1 where there are no groups.
        low, high: range of numbers that do nearly as well.
        reasons: sentences, the deciding one first.
        values: (p,) leading eigenvalues of S.
        ratios: (p − 1,) λ_j / λ_{j+1}.
        gap: rank before the largest gap; None where the spectrum has no gap.
        edge: number of eigenvalues above the Marchenko–Pastur edge, where n and T are known; of
            the signed correlation where it is known, else of S, which has more of them.
        share: rank that holds nine tenths of the trace; None where it is beyond the sketch.
        agreement: candidate → agreement of several starts.
        subsamples: agreement of fits of half of the instruments with the fit of all, where only S
            is known; otherwise agreement of the fits of two halves of the days.
        products: number of products of S with k columns that were spent, without those of
            resampled matrices.
        prediction: fit of 1, 2, … factors of one half of the days to the other half; None where
            only S is known.
        noise: (p,) eigenvalues that S would have with its common factor and no groups; None where
            only S is known.
        by_prediction: the number that predicts best; None where only S is known.
        by_noise: number of eigenvalues above those of noise; None where only S is known.
        clear: number of eigenvalues that are clearly above those of noise; None where only S is
            known.
        hidden: prediction of hidden entries, where only S is known and its size allows it.
    """

    k: int
    low: int
    high: int
    reasons: tuple[str, ...]
    values: np.ndarray
    ratios: np.ndarray
    gap: int | None
    edge: int | None
    share: int | None
    agreement: dict[int, float | None]
    subsamples: float | None
    products: float
    prediction: Prediction | None = None
    noise: np.ndarray | None = None
    by_prediction: int | None = None
    by_noise: int | None = None
    clear: int | None = None
    hidden: EntryHoldOut | None = None

    @property
    def considered(self) -> int:
        """Largest number that was considered."""
        return len(self.ratios)

    @property
    def words(self) -> str:
        """The number and its range, for people."""
        if self.k == 1:
            return "no groups"
        if self.low == self.high:
            return f"{self.k} groups"
        return f"{self.k} groups; {self.low} to {self.high} do nearly as well"


def suggest_rank(
    data: Any,
    most: int | None = None,
    *,
    dependence: str = DEPENDENCE,
    observations: int | None = None,
    seed: int = 0,
    **options: Any,
) -> RankSuggestion:
    """Suggest a number of groups: what is clearly above noise, if it predicts other days.

    Blocks of days are split into halves several times. The factors of one half predict the
    dependence in the other half. The eigenvalues of S are compared with those of the same data
    with their common factor, but with everything else rotated in time. Where those above noise
    have a clear end, their number is the answer. Where they glide into noise, those that exceed it
    by 15 % are counted. The range begins with the least number that predicts nearly as well
    as the best, and ends with all that are above noise. If one factor predicts best or nothing
    else is above noise, there are no groups. Where a common factor explains the last of them,
    it is not counted.

    Arguments:
        data: a :class:`symnmf.data.Panel`; or a matrix or operator S. The observations behind an
            S of :func:`symnmf.abs_correlation` are known. For other matrices the number is the
            one that predicts hidden entries best, where these give one, and otherwise that of
            the spectrum; the reasons say which.
        most: largest number to consider; by default 1.5·√n, at least 10, and at most a fifth of
            the exceedances of a tail dependence matrix that has them.
        dependence: kind of dependence of a panel: ``"tail"`` or ``"correlation"``.
        observations: number of observations T behind a correlation matrix of unknown origin.
        seed: seed of the splits, the sketches and the starts.
        options: further arguments of the estimator of the dependence of a panel.

    Returns:
        The number with its range and its reasons, the deciding reason first.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("corr", n=100)
        >>> abs(suggest_rank(b.operator).k - b.k) <= 1
        True

    Reference: Horn (1965), doi:10.1007/BF02289447, for the comparison with noise; Owen and Perry
    (2009), doi:10.1214/08-AOAS227, for the choice of a rank by prediction.
    """
    if isinstance(data, Panel):
        S = estimate(dependence, data, **options)
        return suggest_for_panel(data, S, Estimator.of(S, data, dependence, options), most, seed)
    S = as_operator(data)
    panel = panel_of_scores(S)
    if panel is not None:
        return suggest_for_panel(panel, S, Estimator.of(S, panel, "correlation", {}), most, seed)
    found = _evidence(S, most, observations, seed)
    hidden = hold_out_entries(S, found.most, seed)
    made = _of(found, *matrix_suggestion(found, hidden, seed))
    if hidden is None or hidden.k != made.k:
        return replace(made, hidden=hidden)
    others = [k for k in hidden.numbers.values() if hidden.confirmed and k > 1]
    low, high = min([made.k, *others[-2:]]), max([made.k, *others[-2:]])
    return replace(made, hidden=hidden, low=low, high=high)


def suggest_for_panel(
    panel: Panel,
    S: SymmetricOperator,
    estimator: Estimator,
    most: int | None,
    seed: int,
    compare_starts: bool = True,
) -> RankSuggestion:
    """:func:`suggest_rank` for a panel whose dependence matrix is known.

    Arguments:
        panel: the returns.
        S: their dependence matrix.
        estimator: how it was estimated, for versions of the panel.
        most, seed: as for :func:`suggest_rank`.
        compare_starts: whether to compare several starts at the suggested number; a caller that
            fits the whole matrix next compares its own.
    """
    found = _evidence(S, most, None, seed)
    most = found.most
    prediction, first = predict(panel, estimator, most, seed)
    noise = above_noise(panel, estimator, found.values, seed)
    a, b = prediction.best, min(noise.count, most)
    known: dict[str, Any] = {
        "prediction": prediction,
        "noise": noise.baseline,
        "by_prediction": a,
        "by_noise": noise.count,
        "clear": noise.clear,
    }
    predicts = f"{a} factors of one half of the days predict the other half best"
    above = _above(noise, len(found.values))
    if a == 1 or b == 1 or not prediction.any_groups:
        why = (
            f"no groups: {_why_none(a, b)}",
            *([above] if b > 1 else []),
            *_spectrum_words(found),
        )
        return replace(_of(found, 1, why), **known)
    k = min(max(2, noise.clear), most)
    low, high = min(prediction.careful, k), b
    decided = f"{above}, {predicts}"
    split = split_groups(first, k, seed)
    if split.common:
        decided += f"; one of {k} factors is common to all"
        k, low, high = k - 1, min(low, k - 1), high - 1
    if found.capped and b >= most:
        decided += f"; {most} is the largest number considered{found.capped}"
    reasons = [decided]
    agreement: dict[int, float | None] = {}
    if compare_starts:
        twin = Problem(found.problem.surrogate, k, seed)
        agreement[k] = starts_agree(twin, COMPARED_STARTS)
    if agreement.get(k) is not None:
        reasons.append(f"{COMPARED_STARTS} starts with {k} groups agree to {agreement[k]:.2f}")
    reasons.append(f"the groups of two halves of the days agree to {split.agreement:.2f}")
    made = _of(found, k, (*reasons, *_spectrum_words(found)))
    known |= {"low": low, "high": high, "agreement": agreement}
    return replace(made, subsamples=split.agreement, **known)


def _evidence(
    S: SymmetricOperator, most: int | None, observations: int | None, seed: int
) -> SpectralEvidence:
    """The spectrum of S up to the largest number to consider."""
    n, given = S.n, most is not None
    most = max(10, int(1.5 * isqrt(n))) if most is None else most
    most = whole_number("most", most if given else min(most, n - 1), 1, n, f"from 1 to {n}")
    events = 0 if S.provenance is None else S.provenance.events
    capped = "" if given else f" for {n} instruments"
    if events and most > max(1, events // EVENTS_A_GROUP):
        most, capped = max(1, events // EVENTS_A_GROUP), f", a fifth of the {events} exceedances"
    return spectral_evidence(S, most, observations, seed, capped)


def _of(
    found: SpectralEvidence,
    k: int,
    reasons: tuple[str, ...],
    agreement: dict[int, float | None] | None = None,
    subsamples: float | None = None,
) -> RankSuggestion:
    return RankSuggestion(
        k=k,
        low=k,
        high=k,
        reasons=reasons,
        values=found.values,
        ratios=found.ratios,
        gap=found.gap,
        edge=found.edge,
        share=found.share,
        agreement=agreement or {},
        subsamples=subsamples,
        products=found.problem.S.work / (found.problem.S.n**2 * k),
    )


def _spectrum_words(found: SpectralEvidence) -> tuple[str, ...]:
    """What the spectrum of S alone says."""
    words = []
    if found.gap is not None:
        words.append(f"the spectrum has its largest gap after {found.gap}")
    if found.edge is not None:
        words.append(f"{found.edge} eigenvalues are above the edge of Marchenko and Pastur")
    return tuple(words)


def _why_none(by_prediction: int, by_noise: int) -> str:
    if by_noise == 1 and by_prediction == 1:
        why = "one factor predicts other days best, and nothing else is above noise"
    elif by_prediction == 1 or by_noise > 1:
        why = "more than one factor does not predict other days better than one"
    else:
        why = "nothing but one factor is above noise"
    return why


def _above(noise: Noise, known: int) -> str:
    count, clear = noise.count, noise.clear
    if count == 1:
        return "one eigenvalue is above those of noise"
    words = f"at least {count}" if count >= known else str(count)
    if clear == count:
        return f"{words} eigenvalues are above those of noise"
    clearly = f"{clear} of them" if clear > 1 else "none of them but the first"
    return f"{words} eigenvalues are above those of noise, {clearly} clearly"


__all__ = ["RankSuggestion", "suggest_for_panel", "suggest_rank"]
