"""How many factors predict entries of S that were hidden: evidence from a matrix alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from symnmf.core.spectrum import Spectrum, leading
from symnmf.grouping.held_out import shrunk
from symnmf.numerics import numpy_stream
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.operators.rows import Rows

#: Shares of the pairs that are hidden, tried in this order.
SHARES = (0.1, 0.3, 0.5, 0.7)
#: Times that pairs are hidden, for each share; fewer for many instruments.
SPLITS, SPLITS_OF_MANY, MANY = 5, 3, 500
#: Fewer instruments have too few pairs to hide some; more need too much memory.
LEAST, MOST = 40, 5000
#: Hidden pairs that are compared, at most; passes over a matrix with hidden entries.
COMPARED, PASSES = 50_000, 6
#: The next larger share confirms a number if its own is lower by at most one, or by this part:
#: weak groups are lost one by one as more is hidden, what is no group is lost at once.
LOST = 0.25
#: Standard errors by which more than one factor must predict better than one.
SURE = 2.0
#: Least gain over one factor, against the part of its own variance that shared noise predicts.
SHARED = 0.5
#: Least part of the diagonal that factors are taken to leave.
LEAST_LEFT = 0.05
#: Steps towards the best single column, which stands for hidden entries.
STEPS = 12


@dataclass(frozen=True)
class EntryHoldOut:
    """Numbers of factors that predict hidden entries best, by the share of hidden entries.

    Attributes:
        numbers: share of the pairs that were hidden → the number that predicts them best; 1 where
            more than one factor does not surely predict better.
        fits: share → (splits, p) squared correlation of 1, …, p factors with the hidden entries.
        most: largest number that was considered; it is no answer.
        share: the share whose number is the answer; None where there is none.
        confirmed: whether the next larger share gives the same number.
    """

    numbers: dict[float, int]
    fits: dict[float, np.ndarray]
    most: int
    share: float | None
    confirmed: bool

    @property
    def k(self) -> int | None:
        """The number that predicts hidden entries best; None where there is no answer."""
        return None if self.share is None else self.numbers[self.share]

    @property
    def words(self) -> str:
        """The numbers in a sentence, for people."""
        found = ", ".join(f"{100 * f:.0f} %: {k}" for f, k in self.numbers.items())
        if self.share is None:
            return (
                f"hidden entries are predicted better by every further factor (hidden {found}): "
                "they are smooth or share their noise, and do not tell the number"
            )
        if self.k == 1:
            return f"more than one factor does not predict hidden entries better (hidden {found})"
        return f"{self.k} factors predict hidden entries best (hidden {found})"


def hold_out_entries(S: SymmetricOperator, most: int, seed: int) -> EntryHoldOut | None:
    """Hide pairs of S, and count the factors of the rest that predict them.

    Entries of S are not independent: those of a correlation share the noise of their instruments,
    those of a kernel vary smoothly. With few entries hidden, such noise predicts the hidden
    entries, too, and the number is too large; with many hidden, weak groups are lost. The share is
    therefore calibrated: it is the smallest whose number the next larger one confirms, up to the
    loss of weak groups. A number at the end of the range is no answer.

    The rest is completed by its best single column h, with what it lacks,

        A = h hᵀ + M ∘ (S − h hᵀ) / p,   M the observed pairs, p their share

    whose expected value is S; its leading eigenvectors, with shrunk eigenvalues, predict.

    Arguments:
        S: the matrix.
        most: largest number of factors.
        seed: seed of the hidden pairs.

    Returns:
        The numbers; None for a matrix that is too small or too large for this.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> noise = np.triu(rng.exponential(0.1, (60, 60)), 1)
        >>> S = np.kron(np.eye(3), np.ones((20, 20))) + noise + noise.T
        >>> hold_out_entries(DenseOperator(torch.from_numpy(S)), 10, 0).k
        3

    Reference: Owen and Perry (2009), doi:10.1214/08-AOAS227; Li, Levina and Zhu (2020),
    doi:10.1093/biomet/asaa006, for networks.
    """
    if not LEAST <= S.n <= MOST or S.process_count > 1 or most < 2:
        return None
    dense = S.to_dense().to("cpu", torch.float32)
    numbers: dict[float, int] = {}
    fits: dict[float, np.ndarray] = {}
    before: float | None = None
    for share in SHARES:
        fits[share], noise = _fits(dense, most, share, seed)
        limit = most if before is None else numbers[before]
        # Hiding more can only lose factors: a larger number is chance.
        numbers[share] = min(_number(fits[share], share, noise), limit)
        if before is not None and _confirmed(numbers[before], numbers[share], most):
            return EntryHoldOut(numbers, fits, most, before, True)
        before = share
    last = SHARES[-1] if numbers[SHARES[-1]] < most else None
    return EntryHoldOut(numbers, fits, most, last, False)


def _confirmed(number: int, next_number: int, most: int) -> bool:
    """Whether the next share confirms a number; none confirms 1, and the largest is no answer."""
    if 1 in (number, next_number):
        return number == next_number
    return number < most and number - next_number <= max(1, LOST * number)


def _number(fits: np.ndarray, share: float, noise: np.ndarray) -> int:
    """The number with the best mean fit; 1 where it is not surely better than one factor.

    Noise that instruments share predicts itself: N_ij has the correlation p·sqrt(n / T) with the
    sum over m of N_im N_mj, in a correlation of T observations of which a share p is known. The
    gain over one factor must exceed half of that, in terms of explained variance.

    Arguments:
        fits: (splits, p) squared correlations with hidden entries.
        share: share of the hidden pairs.
        noise: (p,) n / T if what 1, …, p factors leave were the noise of T observations.
    """
    mean = fits.mean(axis=0)
    best = int(mean.argmax())
    gain, error = mean[best] - mean[0], float((fits[:, best] - fits[:, 0]).std(ddof=1))
    least = SHARED * (1 - share) ** 2 * min(1.0, noise[best]) * (1 - mean[0])
    return best + 1 if gain > max(SURE * error, least) else 1


def _fits(
    S: Tensor, most: int, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:  # (splits, most), (most,)
    """Squared correlations of 1, …, most factors with hidden entries, and the ratio n / T.

    What the factors leave of the diagonal is u; chance gives entries the variance u² / T then.
    """
    n = len(S)
    i, j = (torch.from_numpy(v) for v in np.triu_indices(n, 1))
    variance, d = float(S[i, j].double().var()), float(S.diagonal().double().mean())
    found, left = [], []
    for split in range(SPLITS_OF_MANY if n > MANY else SPLITS):
        rng = numpy_stream(seed, f"hidden entries {share:g}", split)
        order = torch.from_numpy(rng.permutation(len(i)))[: round(share * len(i))]
        there = i[order], j[order]
        seen = torch.ones(n, n, dtype=torch.bool).fill_diagonal_(False)
        seen[there] = seen[there[::-1]] = False
        spectrum = shrunk(_sketch(_completed(S, seen, 1 - share), most, seed))
        few = order[:COMPARED]
        found.append(_correlations(spectrum, i[few], j[few], S[i[few], j[few]], most))
        held = spectrum.values.clamp(min=0).cumsum(0).numpy()[:most] / n
        left.append(d - np.pad(held, (0, most - len(held)), mode="edge"))
    fits, u = np.array(found), np.mean(left, axis=0)
    if d <= 0:  # a graph: entries do not share their noise
        return fits, np.zeros(most)
    return fits, n * variance * (1 - fits.mean(axis=0)) / np.maximum(u, LEAST_LEFT * d) ** 2


def _completed(S: Tensor, seen: Tensor, p: float) -> Tensor:  # (n, n)
    """The matrix A of :func:`hold_out_entries`, without a diagonal."""
    W = seen.to(S.dtype)
    known = torch.where(seen, S, 0)
    h = torch.full((len(S), 1), max(float(known.sum() / W.sum()), 1e-30) ** 0.5, dtype=S.dtype)
    for _ in range(STEPS):
        there = (known @ h) / (W @ h.square()).clamp(min=1e-30)
        h = ((h + there) / 2).clamp_(min=0)
    fit = h @ h.T
    return torch.where(seen, fit + (S - fit) / p, fit).fill_diagonal_(0)


def _sketch(A: Tensor, most: int, seed: int) -> Spectrum:
    operator = DenseOperator.of(Rows(A), float(A.double().square().sum()), float(A.double().sum()))
    return leading(operator, -(-(most + 4) // 2), seed=seed, passes=PASSES)


def _correlations(
    spectrum: Spectrum, i: Tensor, j: Tensor, entries: Tensor, most: int
) -> np.ndarray:  # (most,)
    """Squared correlation of nested approximations with entries; 0 below zero."""
    U, values = spectrum.vectors.to(torch.float64), spectrum.values.clamp(min=0)
    y = entries.to(torch.float64)
    y = y - y.mean()
    fit, found = torch.zeros_like(y), []
    for g in range(min(most, U.shape[1], len(values))):
        fit = fit + values[g] * U[i, g] * U[j, g]
        x = fit - fit.mean()
        size = float(x @ x) * float(y @ y)
        found.append(max(0.0, float(x @ y)) ** 2 / size if size > 1e-300 else 0.0)
    return np.pad(found, (0, most - len(found)), mode="edge")
