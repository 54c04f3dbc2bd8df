"""Panels drawn from a max-linear model, whose risk and joint crashes are known in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Loadings of eight instruments on three factors, before rows are cut to their lengths: two groups
#: of three, one of two, and a factor that all share.
GROUPS = ((0, 1, 2), (3, 4, 5), (6, 7))
#: Share of yesterday in the factors of a panel whose extremes come in clusters.
YESTERDAY = 0.36


@dataclass(frozen=True)
class MaxLinearPanel:
    """A max-linear model of daily losses.

    Attributes:
        loadings: (n, k) loadings; no row is longer than one.
        sizes: (n,) scales of the losses.
        weights: (n,) positions of a portfolio.
        labels: (n,) group of each instrument.
    """

    loadings: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray
    labels: np.ndarray

    @classmethod
    def usual(cls) -> MaxLinearPanel:
        """Eight instruments in three groups."""
        A = np.full((8, 3), 0.2)
        labels = np.empty(8, dtype=np.int64)
        for g, members in enumerate(GROUPS):
            for place, i in enumerate(members):
                A[i, g] = 0.85 - 0.1 * place
                labels[i] = g
        sizes = np.array([1.0, 1.2, 0.8, 1.5, 1.0, 0.7, 2.0, 1.1])
        weights = np.array([0.2, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1])
        return cls(A, sizes, weights, labels)

    def draw(self, days: int, clustered: bool, rng: np.random.Generator) -> np.ndarray:
        """(days, n) losses with Fréchet(2) tails.

        Arguments:
            days: number of days.
            clustered: whether extremes come in clusters: every factor is then the larger of a part
                of today's draw and a part of yesterday's, which keeps its distribution.
            rng: generator of the draws.
        """
        n, k = self.loadings.shape
        own = 1 - np.square(self.loadings).sum(axis=1)
        E = rng.exponential(size=(days + 1, n + k))
        today = E[1:]
        if clustered:
            today = np.minimum(E[1:] / (1 - YESTERDAY), E[:-1] / YESTERDAY)
        least = today[:, :n] / own
        for j, column in enumerate(np.square(self.loadings).T):
            least = np.minimum(least, today[:, n + j, None] / column)
        losses: np.ndarray = self.sizes * least**-0.5
        return losses

    @property
    def tpdm(self) -> np.ndarray:  # (n, n)
        """The tail pairwise dependence matrix, whose diagonal is one."""
        S: np.ndarray = self.loadings @ self.loadings.T
        np.fill_diagonal(S, 1.0)
        return S

    @property
    def shares(self) -> tuple[float, np.ndarray]:
        """Tail scale of the portfolio, and the share of each instrument, far out."""
        v = self.weights * self.sizes
        image = self.tpdm @ v
        return float(v @ image) ** 0.5, v * image / float(v @ image)

    def all_exceed(self, members: tuple[int, ...], p: float) -> float:
        """P(all of some instruments exceed the level that each exceeds with probability p).

        By inclusion and exclusion of P(none of a set exceeds) = exp(−e Σ_j max_i a_ij²).
        """
        from itertools import combinations

        own = 1 - np.square(self.loadings).sum(axis=1)
        full = np.hstack((np.square(self.loadings), np.diag(own)))
        e = -np.log1p(-p)
        total = 1.0
        for size in range(1, len(members) + 1):
            for some in combinations(members, size):
                total += (-1) ** size * float(np.exp(-e * full[list(some)].max(axis=0).sum()))
        return total
