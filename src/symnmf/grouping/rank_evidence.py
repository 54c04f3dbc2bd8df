"""Evidence about the number of groups from a panel: prediction, noise, halves of the days."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch

from symnmf.core.labels import adjusted_rand
from symnmf.core.problem import Problem
from symnmf.core.spectrum import Spectrum, leading
from symnmf.data.panel import Panel
from symnmf.display import Brief
from symnmf.grouping.common_factor import group_fit
from symnmf.grouping.held_out import OffDiagonal, shrunk, spectral_fit
from symnmf.grouping.panel_versions import CommonFactor, Estimator, halves
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator
from symnmf.planning.tuning import surrogate_labels

#: Splits of the days into halves, and versions without groups; fewer for many instruments, whose
#: averages over pairs vary less and whose matrices cost more.
SPLITS, VERSIONS, MANY, SPLITS_OF_MANY, VERSIONS_OF_MANY = 4, 5, 1000, 2, 3
#: Passes over a resampled matrix: its leading eigenpairs are needed to a few digits only.
PASSES = 6
#: Standard errors by which more than one factor must predict better than one.
SURE = 2.0
#: Eigenvalues above noise exceed its mean by so many standard deviations and this fraction.
DEVIATIONS, MARGIN = 3.0, 0.01
#: Eigenvalues stand clearly above noise by this fraction of it, or up to a clear end: a step at
#: which the ratio to noise falls by this much. 15 of the 16 nested and many panels of `bench ranks`
#: are counted to within 20 % with it, and no fewer with 0.2; with 0.1 more groups within groups
#: are counted, and with 0.25 two of four panels of forty groups lose too many of them.
CLEARLY, FALL = 0.15, 0.07
#: Share of the gain over one factor that predicts nearly as well.
NEARLY = 0.98
#: Least share of what k − 1 groups and a common factor leave unexplained in the other half that one
#: more group explains.
LEAST_GAIN = 3e-4


@dataclass(frozen=True, repr=False)
class Prediction(Brief):
    """How well 1, …, p factors of one half of the days predict the other half.

    Attributes:
        fits: (halves, p) squared correlation with the off-diagonal entries of the other half.
    """

    fits: np.ndarray

    @property
    def mean(self) -> np.ndarray:  # (p,)
        """Mean fit over the halves."""
        found: np.ndarray = self.fits.mean(axis=0)
        return found

    @property
    def error(self) -> np.ndarray:  # (p,)
        """Standard error of the difference from the best fit."""
        return self._error_against(self.best)

    def _error_against(self, k: int) -> np.ndarray:
        # Two halves of one split, and different splits, are not independent: the standard
        # deviation over halves, not divided by the root of their number, is the careful error.
        found: np.ndarray = (self.fits - self.fits[:, [k - 1]]).std(axis=0, ddof=1)
        return found

    @property
    def best(self) -> int:
        """Number of factors with the best mean fit."""
        return int(self.mean.argmax()) + 1

    @property
    def careful(self) -> int:
        """Least number within one standard error of the best, or with most of its gain."""
        best = self.mean[self.best - 1]
        near = (self.mean - self.mean[0]) >= NEARLY * (best - self.mean[0])
        good = near | (self.mean >= best - self.error)
        return int(np.flatnonzero(good)[0]) + 1

    @property
    def any_groups(self) -> bool:
        """Whether more than one factor surely predicts better than one."""
        gain = self.mean[self.best - 1] - self.mean[0]
        error = self._error_against(1)[self.best - 1] / np.sqrt(len(self.fits) / 2)
        return bool(self.best > 1 and gain > SURE * error)


def predict(
    panel: Panel, estimator: Estimator, most: int, seed: int
) -> tuple[Prediction, list[SymmetricOperator]]:
    """Prediction of one half of the days by the factors of the other half.

    One sketch of each half serves all numbers of factors.

    Arguments:
        panel: the returns.
        estimator: estimator of their dependence.
        most: largest number of factors.
        seed: seed of the splits and sketches.

    Returns:
        The prediction, and the matrices of the two halves of the first split.
    """
    rng = numpy_stream(seed, "halves")
    splits = SPLITS_OF_MANY if panel.values.shape[1] > MANY else SPLITS
    fits: list[np.ndarray] = []
    first: list[SymmetricOperator] = []
    for one, two in halves(len(panel.values), splits, rng):
        S = [_quiet(estimator, panel.at(rows)) for rows in (one, two)]
        first = first or S
        for mine, other in ((S[0], S[1]), (S[1], S[0])):
            spectrum = shrunk(_sketch(mine, most, seed))
            fits.append(spectral_fit(spectrum, OffDiagonal.of(other), most))
    return Prediction(np.array(fits)), first


@dataclass(frozen=True)
class Noise:
    """Eigenvalues of S compared with those of the same data without groups.

    Attributes:
        baseline: (p,) eigenvalues that those of S must exceed; the first one belongs to the
            common factor, and is not compared.
        count: number of leading eigenvalues that exceed them, at least 1.
        clear: number of leading eigenvalues that exceed them clearly, from 1 to ``count``.
    """

    baseline: np.ndarray
    count: int
    clear: int

    @classmethod
    def of(cls, values: np.ndarray, baseline: np.ndarray) -> Noise:
        """Compare eigenvalues with those of noise, the j-th with the j-th.

            r_j = λ_j / noise_j

        ``count`` is where r first falls to 1. ``clear`` is the last j up to ``count`` at which r
        falls at once, from r_j to r_j / (1 + ``FALL``) or less: there the groups end. Where there
        is none after r has come down to 1 + ``CLEARLY``, the eigenvalues glide into noise, and
        those above 1 + ``CLEARLY`` are clear.

        Arguments:
            values: (p,) leading eigenvalues of S.
            baseline: (p,) those of noise.

        Example:
            >>> noise = np.ones(6)
            >>> Noise.of(np.array([9, 3, 2, 1.2, 0.9, 0.8]), noise).clear  # a clear end
            4
            >>> glide = Noise.of(np.array([9, 1.5, 1.45, 1.1, 1.06, 1.01]), noise)
            >>> glide.count, glide.clear
            (6, 3)
        """
        ratio = values / np.maximum(baseline, np.finfo(float).tiny)
        count, clear = _leading(ratio, 1.0), _leading(ratio, 1.0 + CLEARLY)
        ends = [
            j
            for j in range(max(2, clear), min(count, len(ratio) - 1) + 1)
            if ratio[j - 1] >= (1 + FALL) * ratio[j]
        ]
        return cls(baseline, count, ends[-1] if ends else clear)


def _leading(ratio: np.ndarray, least: float) -> int:
    """Number of leading ratios above a number; the first one is not compared."""
    below = np.flatnonzero(ratio[1:] <= least)
    return int(below[0]) + 1 if len(below) else len(ratio)


def above_noise(panel: Panel, estimator: Estimator, values: np.ndarray, seed: int) -> Noise:
    """Number of leading eigenvalues above those of the data with a common factor and no groups.

    Arguments:
        panel: the returns.
        estimator: estimator of their dependence.
        values: (p,) leading eigenvalues of S.
        seed: seed of the rotations and sketches.
    """
    n = panel.values.shape[1]
    drawn, split = [], CommonFactor.of(panel.values)
    for version in range(VERSIONS_OF_MANY if n > MANY else VERSIONS):
        rng = numpy_stream(seed, "noise", version)
        S = _quiet(estimator, panel.with_values(split.without_groups(rng)))
        found = _sketch(S, len(values), seed).values.clamp(min=0).numpy()[: len(values)]
        drawn.append(np.pad(found, (0, len(values) - len(found))))
    level = np.mean(drawn, axis=0) + DEVIATIONS * np.std(drawn, axis=0, ddof=1)
    return Noise.of(values, (1 + MARGIN) * level)


@dataclass(frozen=True)
class SplitGroups:
    """Groups of two halves of the days.

    Attributes:
        common: whether k − 1 groups with a common factor predict at least as well as k groups.
        agreement: adjusted Rand index of the groups of the halves, for the better number.
    """

    common: bool
    agreement: float


def split_groups(S: list[SymmetricOperator], k: int, seed: int) -> SplitGroups:
    """Fit k and k − 1 groups to two halves of the days, and predict one half by the other.

    Arguments:
        S: dependence matrices of the two halves.
        k: number of groups, at least 2.
        seed: seed of the fits.
    """
    sums = [OffDiagonal.of(half) for half in S]
    fits: dict[int, list[float]] = {}
    agreement: dict[int, float] = {}
    for number in (k, k - 1):
        labels = [_labels(half, number, seed) for half in S]
        fits[number] = [group_fit(S[i], labels[i], number, sums[1 - i]) for i in (0, 1)]
        agreement[number] = float(adjusted_rand(labels[0], labels[1]))
    fewer, all_of_them = (float(np.mean(fits[number])) for number in (k - 1, k))
    common = k > 2 and all_of_them - fewer < LEAST_GAIN * (1 - all_of_them)
    return SplitGroups(common, agreement[k - 1 if common else k])


def _labels(S: SymmetricOperator, k: int, seed: int) -> torch.Tensor:
    if k == 1:
        return torch.zeros(S.n, dtype=torch.int64)
    return surrogate_labels(Problem(S, k, seed)).cpu()


def _quiet(estimator: Estimator, panel: Panel) -> SymmetricOperator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the estimate of the whole panel has warned
        return estimator(panel)


def _sketch(S: SymmetricOperator, most: int, seed: int) -> Spectrum:
    """Leading ``most`` eigenpairs, and a few more, to a few digits."""
    return leading(S, -(-(most + 4) // 2), seed=seed, passes=PASSES)
