"""The positions of a portfolio, and the parts of its risk in some of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symnmf.dependence.margins import to_margins
from symnmf.dependence.pairwise_tail import pairwise_tpdm
from symnmf.dependence.threshold import Threshold
from symnmf.errors import InvalidInput
from symnmf.grouping.portfolio_risk import TAIL_SHARE, by_group
from symnmf.grouping.tail_factors import continued_loadings

#: Days that count as the worst, at least.
LEAST_WORST = 10


class Positions:
    """Losses of the positions of a portfolio, and the parts of its risk in some of the rows.

    Arguments:
        X: (T, m) losses of the instruments that are held.
        w: (m,) positions.
        labels: (m,) group of each.
        k: number of groups.
        dependence, q: as for :func:`portfolio_risk`.
        names: names of the instruments.
    """

    def __init__(
        self,
        X: np.ndarray,
        w: np.ndarray,
        labels: np.ndarray,
        k: int,
        dependence: str,
        q: float,
        names: tuple[str, ...],
    ):
        self.X, self.w, self.labels, self.k, self.q = X, w, labels, k, q
        self.names = names
        self.start: np.ndarray | None = None
        tailed = dependence == "tail"
        self._measure: Callable[[np.ndarray], tuple[np.ndarray, ...]] = (
            self._tail if tailed else self._deviation
        )
        self.tailed = tailed
        self.notes: list[str] = []
        short = int((w < 0).sum())
        if tailed and short:
            self.notes.append(
                f"{short} of {len(w)} positions {'is' if short == 1 else 'are'} short. The tail "
                "scale and its shares are those of the losses of all positions, a short position "
                "losing when its instrument gains, without the gains of the others: an upper "
                "bound. The net tail scale and what the factors leave out are not given: tails "
                "that are not negative hold no offsetting gains. The shares of the worst days do "
                "net gains and losses."
            )

    @property
    def long_only(self) -> bool:
        """Whether no position is short."""
        return bool((self.w > 0).all())

    def worst_count(self, T: int) -> int:
        """Number of days that count as the worst of T."""
        return min(T, max(LEAST_WORST, int(TAIL_SHARE * T)))

    def own_measure(self, losses: np.ndarray) -> float:
        """The measure of a series of losses of the whole portfolio."""
        if not self.tailed:
            return float(losses.std())
        m = max(2, int(TAIL_SHARE * len(losses)))
        return float(np.sort(losses)[-m] * (m / len(losses)) ** 0.5)

    def parts(self, rows: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Total, shares, marginal risk, what is left out, and shares of the worst days.

        Arguments:
            rows: rows of a sample; all by default.
        """
        X = self.X if rows is None else self.X[rows]
        losses = X @ self.w
        m = self.worst_count(len(X))
        worst = np.argpartition(losses, len(X) - m)[len(X) - m :]
        lost = by_group((X[worst] * self.w).sum(axis=0), self.labels, self.k)
        whole = float(losses[worst].sum())
        return *self._measure(X), lost / (whole if whole > 0 else np.nan)

    def _tail(self, X: np.ndarray) -> tuple[np.ndarray, ...]:
        turned = X * np.sign(self.w)
        T = len(X)
        m = max(2, int(TAIL_SHARE * T))
        top = np.partition(turned, T - m, axis=0)[T - m]
        if (top <= 0).any():
            name = self.names[int(np.flatnonzero(top <= 0)[0])]
            raise InvalidInput(
                "weights", f"the position {name!r} loses on fewer than {m} of {T} days",
                "Leave it out",
            )  # fmt: skip
        s = top * (m / T) ** 0.5
        S = np.ones((1, 1))
        if X.shape[1] > 1:
            S = pairwise_tpdm(to_margins(turned), Threshold("q", self.q), 0)
        v = np.abs(self.w) * s
        image = S @ v
        square = float(v @ image)
        left = np.array(np.nan)
        if self.start is not None:
            A = continued_loadings(S, self.start)
            if X is self.X:  # the samples continue from the loadings of all rows
                self.start = A
            left = np.array(1 - float(np.square(A.T @ v).sum()) / square)
        return np.array(square**0.5), v * image / square, s * image / square**0.5, left

    def _deviation(self, X: np.ndarray) -> tuple[np.ndarray, ...]:
        whole = X @ self.w
        centred = whole - whole.mean()
        image = (X - X.mean(axis=0)).T @ centred / len(X)  # covariance with the portfolio
        variance = float(np.square(centred).mean())
        total = variance**0.5
        shares = self.w * image / (variance or np.nan)
        return (
            np.array(total),
            shares,
            image * np.sign(self.w) / (total or np.nan),
            np.array(np.nan),
        )
