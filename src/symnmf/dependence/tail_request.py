"""The options of an estimate of tail dependence, and the estimate from a panel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from symnmf.data.panel import Panel
from symnmf.defaults import FRACTIONS, MAX_SEMICORRELATION, TAIL_ESTIMATORS, TAILS
from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.margins import from_scores, to_margins
from symnmf.dependence.pair_scores import PairScores
from symnmf.dependence.pairwise_tail import pairwise_tpdm, pairwise_with_holes
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.dependence.tail_weights import (
    WEIGHTS,
    block_maxima,
    scaled_rows,
    semicorrelation,
    tail_weights,
    unit_weights,
    weights_with_holes,
)
from symnmf.dependence.threshold import Threshold, keep_largest
from symnmf.dependence.volatility import ewma_filtered
from symnmf.display import counted
from symnmf.errors import InvalidInput, InvalidTable, called, offered, spelled
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.options import choice, whole_number
from symnmf.resources import require_memory

#: Filters of the returns.
VOLATILITIES = ("none", "ewma")
#: Minimum of exceedances for an estimate, and for weights by rank that grow into the tail: half of
#: the 52 weeks of a year.
MIN_EXCEEDANCES, MIN_GRADED = 30, 25
#: The largest share of days that is taken as extreme.
HALF = 0.5


def _weight(estimator: str, weight: str | None) -> str:
    """The weight of an estimator; an error for those that have none, or another."""
    own = {"chi": "indicator", "ramp": "ramp", "semicorrelation": "ramp"}.get(estimator, "")
    if weight is None:
        return own
    if estimator not in ("ramp", "semicorrelation") and weight != own:
        raise InvalidInput(
            "weight",
            f"got {weight!r} with {spelled('estimator', estimator)}",
            f"Pass {spelled('estimator', 'ramp')}",
        )
    return choice("weight", weight, tuple(WEIGHTS))


class TooFewExtremes(InvalidInput):
    """A table has too few extreme observations for an estimate."""


class TailRequest:
    """The options of an estimate, which can be repeated on other rows of the panel."""

    def __init__(
        self,
        panel: Panel,
        tail: str,
        rule: Threshold,
        margins: str,
        alpha: float,
        estimator: str,
        weight: str,
        decluster: int,
        volatility: str,
        allow_few: bool,
        dtype: torch.dtype,
    ):
        self.panel, self.tail, self.rule = panel, tail, rule
        self.margins, self.alpha = margins, alpha
        self.estimator, self.weight, self.decluster = estimator, weight, decluster
        self.volatility, self.allow_few, self.dtype = volatility, allow_few, dtype

    @classmethod
    def of(
        cls,
        panel: Panel,
        *,
        tail: str,
        q: float | None,
        quantile: float | None,
        count: int | None,
        radius: float | None,
        estimator: str,
        weight: str | None,
        decluster: int,
        volatility: str,
        shrinkage: str | float = "none",
        **others: Any,
    ) -> TailRequest:
        """A request from the options of :func:`tail_dependence`, which are validated."""
        if choice("estimator", estimator, TAIL_ESTIMATORS) == "auto":
            few = len(panel.names) <= MAX_SEMICORRELATION
            estimator = "semicorrelation" if few else "ramp"
        choice("volatility", volatility, VOLATILITIES)
        choice("tail", tail, TAILS)
        decluster = whole_number("decluster", decluster, 0, 10**9)
        rules = {"q": q, "quantile": quantile, "count": count, "radius": radius}
        return cls(
            panel,
            tail=tail,
            rule=Threshold.of(FRACTIONS[estimator], **rules),
            estimator=estimator,
            weight=_weight(estimator, weight),
            decluster=decluster,
            volatility=volatility,
            **others,
        )

    def of_rows(self, rows: np.ndarray) -> SymmetricOperator:
        """The same estimate from some rows, however few extremes they have."""
        rule = self.rule
        if rule.name == "count":  # the same share of fewer rows
            rule = Threshold("q", min(1.0, rule.value / len(self.panel.values)))
        return TailRequest(
            self.panel.at(rows), self.tail, rule, self.margins, self.alpha, self.estimator,
            self.weight, self.decluster, self.volatility, True, self.dtype,
        ).estimate()  # fmt: skip

    def estimate(self) -> SymmetricOperator:
        """Estimate S from the panel."""
        X = signed_for(self.panel, self.tail, holes=self.estimator != "global")
        steps = []
        if self.volatility == "ewma":
            X = ewma_filtered(X)
            steps.append("returns divided by their exponentially weighted volatility")
        if self.weight:
            return self._weighted(X, steps)
        return self._radial(X, steps)

    # ---- one radius for all, or for each pair ----

    def _radial(self, X: np.ndarray, steps: list[str]) -> SymmetricOperator:
        holes = bool(np.isnan(X).any())
        heavy = to_margins(X, self.margins, self.alpha)
        radii = np.sqrt(np.nansum(heavy * heavy, axis=1))
        chosen, threshold = self.rule.exceedances(radii)
        days = keep_largest(chosen, radii, self.decluster)
        self.enough(len(days), len(radii))
        steps.append(f"{self.what} on {self.margins} margins with index {self.alpha:g}")
        if self.estimator == "pairwise":
            n = X.shape[1]
            require_memory(
                24 * n * n,
                f"the tail dependence of {n} pairs",
                f"Use {spelled('estimator', 'ramp')}",
            )
            steps.append(
                f"one radius for each pair ({self.rule.name} = {self.rule.value:g}): the matrix "
                "may be indefinite"
            )
            if holes:
                steps.append("each pair from the rows that both instruments have")
            if self.decluster:
                steps.append(
                    f"of extremes of a pair within {self.decluster} rows only the largest is used"
                )
            matrix = self._pairs(X, heavy, holes)
            about = self.about(days, radii[days], threshold, np.ones(n), 0, steps)
            return DenseOperator(
                torch.from_numpy(matrix).to(self.dtype), self.panel.names, provenance=about
            )
        steps.append(
            f"{len(chosen)} of {len(radii)} observations with a radius above {threshold:.4g} "
            f"({self.rule.name} = {self.rule.value:g})"
        )
        left_out = len(chosen) - len(days)
        if left_out:
            steps.append(f"{left_out} of them left out: a larger one was near")
        with np.errstate(invalid="ignore"):  # no radius: the error names an instrument
            angles = torch.from_numpy((heavy[days] / radii[days, None]).T.copy())
        scales = (angles.square().sum(dim=1) * (len(angles) / len(days))).numpy()
        about = self.about(days, radii[days], threshold, scales, left_out, steps)
        return unit_diagonal_gram(angles, self.dtype, self.panel.names, about)

    def _pairs(self, X: np.ndarray, heavy: np.ndarray, holes: bool) -> np.ndarray:
        if not holes:
            return pairwise_tpdm(heavy, self.rule, self.decluster)
        if self.margins not in ("frechet", "pareto"):
            raise InvalidInput(
                "margins",
                f"got {self.margins!r} with missing numbers",
                "Pass 'frechet' or 'pareto'",
            )
        scores = PairScores(X, self.panel.names)

        def heavy_margin(u: np.ndarray) -> np.ndarray:
            return from_scores(u, self.margins, self.alpha)

        return pairwise_with_holes(scores, heavy_margin, self.rule, self.decluster)

    # ---- a weight for each observation ----

    def _weighted(self, X: np.ndarray, steps: list[str]) -> SymmetricOperator:
        begins = np.arange(len(X))
        if self.decluster > 1:
            X, begins = block_maxima(X, self.decluster)
            steps.append(f"largest value of each instrument in blocks of {self.decluster} rows")
        if self.rule.name == "radius":
            raise InvalidInput(
                "radius", f"is not a threshold for estimator={self.estimator!r}", "Pass q"
            )
        q, words = self.share_of(len(X))
        steps += words
        names = self.panel.names
        ones = np.ones(X.shape[1])
        if np.isnan(X).any():
            require_memory(
                24 * X.shape[1] ** 2, f"the tail dependence of {X.shape[1]} pairs",
                "Drop the rows or columns with missing numbers",
            )  # fmt: skip
            steps.append("each pair from the rows that both instruments have, not a Gram matrix")
            scores = PairScores(X, names)
            matrix = weights_with_holes(scores, q, self.weight, centred=self._centred)
            share = np.where(np.isnan(X), 0.0, 1.0).mean(axis=1)
            about = self.about(begins, share, 1.0, ones, 0, steps, q)
            return DenseOperator(torch.from_numpy(matrix).to(self.dtype), names, provenance=about)
        B = unit_weights(X, q, self.weight, names)
        return self._gram(B, begins, steps, q)

    @property
    def by_ranks(self) -> bool:
        """Whether S depends on the ranks of the returns alone."""
        plain = self.volatility == "none" and self.decluster <= 1 and self.rule.name != "radius"
        return bool(self.weight) and plain and not np.isnan(self.panel.values).any()

    def from_scores(self, panel: Panel, u: np.ndarray) -> SymmetricOperator:
        """The estimate from uniform scores of the returns that are already known.

        Arguments:
            panel: panel of returns.
            u: (n, T) scores of its returns; large returns have large scores.
        """
        T = u.shape[1]
        q, steps = self.share_of(T)
        scores = 1 - u if self.tail == "lower" else u
        X = -panel.values if self.tail == "lower" else panel.values
        B = scaled_rows(tail_weights(scores, q, self.weight), X, panel.names)
        return TailRequest(
            panel, self.tail, self.rule, self.margins, self.alpha, self.estimator, self.weight,
            self.decluster, self.volatility, self.allow_few, self.dtype,
        )._gram(B, np.arange(T), steps, q)  # fmt: skip

    def share_of(self, T: int) -> tuple[float, list[str]]:
        """Fraction of T observations that have a weight, and a sentence about it."""
        q = {"q": self.rule.value, "quantile": 1 - self.rule.value}.get(
            self.rule.name, min(1.0, self.rule.value / T)
        )
        self.enough(int(q * T + 1e-9), T)
        return q, [
            f"{self.what}: {self.weight} weights of the observations of each instrument above its "
            f"quantile {1 - q:.4g} ({self.rule.name} = {self.rule.value:g})"
        ]

    def _gram(
        self, B: np.ndarray, begins: np.ndarray, steps: list[str], q: float
    ) -> SymmetricOperator:
        sizes = np.sqrt(np.einsum("it,it->t", B, B))
        used = np.flatnonzero(sizes > 0)
        typical = float(np.sqrt(len(B) / len(used)))
        ones = np.ones(len(B))
        if self._centred:
            n = len(B)
            require_memory(
                16 * n * n,
                f"the semicorrelation of {n} instruments",
                f"Use {spelled('estimator', 'ramp')}",
            )
            matrix, negative = semicorrelation(B, self.dtype)
            steps = [*steps, f"correlation of the weights; {negative} of {n * (n - 1) // 2} are "
                     "negative and count as zero"]  # fmt: skip
            about = self.about(begins[used], sizes[used], typical, ones, 0, steps, q)
            names = self.panel.names
            return DenseOperator(matrix, names, provenance=about)
        about = self.about(begins[used], sizes[used], typical, ones, 0, steps, q)
        factor = torch.from_numpy(B[:, used] if len(used) < B.shape[1] else B).to(self.dtype)
        return GramOperator(factor, names=self.panel.names, provenance=about)

    # ---- shared ----

    @property
    def _centred(self) -> bool:
        return self.estimator == "semicorrelation"

    @property
    def what(self) -> str:
        """The tail in a word."""
        return "losses" if self.tail == "lower" else "gains"

    def enough(self, found: int, observations: int) -> None:
        """Raise an error if there are too few exceedances."""
        least = MIN_EXCEEDANCES if self.weight in ("", "indicator") else MIN_GRADED
        if found >= (1 if self.allow_few else least):
            return
        remedy = f"take a larger {called('q')}"
        if observations < least or (self.rule.name == "q" and self.rule.value >= HALF):
            longer = "pass a table with more rows"  # no share of these rows is enough
            remedy = f"{longer}, or {spelled('dependence', 'correlation')}"
        raise TooFewExtremes(
            self.rule.name,
            f"{self.rule.value:g} leaves {counted(found, 'exceedance')} of "
            f"{counted(observations, 'observation')}",
            f"At least {least} are needed: {remedy}"
            + (f", or pass {spelled('allow_few', True)} for fewer" if offered("allow_few") else ""),
        )

    def about(
        self,
        rows: np.ndarray,
        sizes: np.ndarray,
        threshold: float,
        scales: np.ndarray,
        left_out: int,
        steps: list[str],
        q: float | None = None,
    ) -> TailEstimate:
        """What is recorded about the estimate."""
        T = len(self.panel.values)
        return TailEstimate(
            tail=self.tail,
            margins=self.margins,
            alpha=self.alpha,
            estimator=self.estimator,
            exceedances=rows,
            dates=tuple(self.panel.date_words(rows)),
            radii=sizes,
            threshold=threshold,
            scales=scales,
            declustered=left_out,
            steps=tuple(steps),
            weight=self.weight,
            q=len(rows) / T if q is None else q,
            volatility=self.volatility,
            rows_a_block=max(1, self.decluster) if self.weight else 1,
        )


def signed_for(panel: Panel, tail: str, holes: bool = False) -> np.ndarray:  # (T, n)
    """Returns with the chosen tail turned upwards.

    Arguments:
        panel: panel of returns.
        tail: ``"lower"`` or ``"upper"``.
        holes: whether missing numbers are allowed.

    Raises:
        InvalidTable: a number is missing.
    """
    choice("tail", tail, TAILS)
    if not holes and np.isnan(panel.values).any():
        raise InvalidTable(
            "returns",
            f"{int(np.isnan(panel.values).sum())} numbers are missing",
            f"Tails with one radius need complete rows: pass {spelled('missing', 'drop-columns')} "
            f"or {spelled('missing', 'drop-rows')} when the panel is read, or "
            f"{spelled('estimator', 'auto')}",
        )
    return -panel.values if tail == "lower" else panel.values
