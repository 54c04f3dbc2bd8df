"""Scores of groups on days that were not used for the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.prediction_panels import PredictionPanel
from symnmf.core.result import Result
from symnmf.data import Panel
from symnmf.factorization import factorize
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator

#: Quantile of the window below which a return is a crash, rows of a block, and bootstrap draws.
CRASH, BLOCK, DRAWS = 0.05, 10, 200
#: The number of groups is chosen in at most so many windows; of large panels in one.
CHOSEN = 2
#: Starts of a fit, and rows of the blocks that are split into halves.
STARTS, HALF_BLOCK = 3, 21


def crash_sums(
    crashes: np.ndarray, labels: Sequence[int] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # (T,), (T,)
    """For each day: crashing pairs within groups per pair within groups, and among all pairs.

    Arguments:
        crashes: (T, n) whether each instrument crashed on each day.
        labels: (n,) groups; an instrument with −1 is in none.
    """
    hits = np.asarray(crashes, dtype=np.float64)
    labels = np.asarray(labels)
    n = hits.shape[1]
    count = hits.sum(axis=1)
    inside, pairs = np.zeros(len(hits)), 0
    for group in np.unique(labels[labels >= 0]):
        member = labels == group
        own, size = hits[:, member].sum(axis=1), int(member.sum())
        inside += np.square(own) - own
        pairs += size * (size - 1)
    every = (np.square(count) - count) / max(1, n * (n - 1))
    return inside / pairs if pairs else np.full(len(hits), np.nan), every


def crash_lift(
    crashes: np.ndarray, labels: Sequence[int] | np.ndarray
) -> float:  # (T, n) of truth values, (n,)
    """How much likelier two members of one group crash together than a random pair.

    Arguments:
        crashes: whether each instrument crashed on each day.
        labels: groups; an instrument with −1 is in none.

    Returns:
        The lift; nan when no two instruments of one group, or no two at all, can crash together.

    Example:
        >>> crash_lift(np.array([[True, True, False, False]]), [0, 0, 1, 1])
        3.0
    """
    inside, every = crash_sums(crashes, labels)
    return float(inside.sum() / every.sum()) if every.sum() > 0 else float("nan")


def drawn_days(ahead: int, begin: int) -> np.ndarray:  # (DRAWS + 1, ahead)
    """The days of a window as they are, then drawn again in blocks, the same for all candidates."""
    rng = numpy_stream(0, "days", begin)
    begins = rng.integers(ahead, size=(DRAWS, -(-ahead // BLOCK)))
    days = (begins[:, :, None] + np.arange(BLOCK)) % ahead
    return np.vstack([np.arange(ahead), days.reshape(DRAWS, -1)[:, :ahead]])


def drawn_windows(about: PredictionPanel) -> np.ndarray:  # (windows, DRAWS + 1)
    """The windows as they are, then drawn with replacement, the same for all candidates.

    Groups differ from window to window by chance, which days drawn within a window do not show.
    """
    count = len(about.begins)
    rng = numpy_stream(0, "windows", count)
    return np.column_stack([np.arange(count), rng.integers(count, size=(count, DRAWS))])


@dataclass(frozen=True)
class WindowScore:
    """What a candidate scored in one window.

    Attributes:
        lifts: lift of the days ahead, then of days drawn again.
        chosen_lift, chosen_k: lift with the number of groups that is suggested, and that number;
            nan and 0 in windows for which none is suggested.
        classes: agreement with the classes (adjusted Rand index); nan without classes.
        unexplained: share of the variance of the off-diagonal entries of the next window's matrix
            that H Hᵀ leaves unexplained.
    """

    lifts: list[float]
    chosen_lift: float
    chosen_k: int
    classes: float
    unexplained: float


def window_score(
    about: PredictionPanel,
    begin: int,
    S: SymmetricOperator | None,
    ahead: SymmetricOperator | None,
    labels: np.ndarray | None = None,
) -> WindowScore:
    """Scores of a matrix, or of given labels, in the window that begins at a row.

    Arguments:
        about: the panel.
        begin: first row of the window.
        S: matrix of the window; None where the labels are given.
        ahead: matrix of the rows ahead, for ``unexplained``; None leaves it out.
        labels: groups that do not come from a matrix.
    """
    values = about.panel.values
    stop = begin + about.window
    crashes = values[stop : stop + about.ahead] < np.quantile(values[begin:stop], CRASH, axis=0)
    unexplained, chosen_lift, chosen_k = float("nan"), float("nan"), 0
    if S is not None:
        fit = fitted(S, about.k)
        labels = fit.labels().numpy()
        unexplained = float("nan") if ahead is None else unexplained_share(fit, ahead)
        if begin in about.begins[:: -(-len(about.begins) // (1 if about.large else CHOSEN))]:
            chosen_k = suggest_rank(S).k
            chosen = labels if chosen_k == about.k else fitted(S, chosen_k).labels().numpy()
            chosen_lift = crash_lift(crashes, chosen)
    assert labels is not None
    inside, every = crash_sums(crashes, labels)
    days = drawn_days(about.ahead, begin)
    totals = every[days].sum(axis=1)
    lifts = np.where(totals > 0, inside[days].sum(axis=1) / np.where(totals > 0, totals, 1), np.nan)
    agreement = float("nan")
    if about.classes is not None:
        known = about.classes >= 0
        agreement = float(adjusted_rand_score(about.classes[known], labels[known]))
    return WindowScore([float(x) for x in lifts], chosen_lift, chosen_k, agreement, unexplained)


def fitted(S: SymmetricOperator, k: int) -> Result:
    """The groups of a matrix."""
    return factorize(S, k, n_init=STARTS)


def unexplained_share(fit: Result, S: SymmetricOperator) -> float:
    """1 − r² between the off-diagonal entries of H Hᵀ and those of another matrix."""
    H = fit.H.double()
    off = ~torch.eye(S.n, dtype=torch.bool)
    pairs = torch.stack([(H @ H.T)[off], S.to_dense().double()[off]])
    r = float(torch.corrcoef(pairs)[0, 1])
    return 1 - r * r


def halves(panel: Panel, split: int) -> tuple[Panel, Panel]:
    """Two halves of a panel: blocks of a month, drawn at random."""
    T = len(panel.values)
    blocks = np.arange(T) // HALF_BLOCK
    order = numpy_stream(0, "halves", split).permutation(blocks[-1] + 1)
    half = np.isin(blocks, order[: (blocks[-1] + 1) // 2])
    return panel.at(np.flatnonzero(half)), panel.at(np.flatnonzero(~half))
