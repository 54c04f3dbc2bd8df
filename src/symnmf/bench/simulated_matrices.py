"""Matrices with a known number of groups and no table: correlations, graphs, kernels, noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symnmf.bench.simulated_panels import simulate
from symnmf.dependence.correlation import abs_correlation

#: Kinds of panels whose absolute correlations are taken, and kinds of other matrices.
OF_PANELS = ("easy", "hard", "noise", "one factor")
OTHERS = ("block model", "random graph", "kernel of clusters", "blocks and noise")
#: Instruments of a matrix, at most; number of the first panel, so that those of `bench ranks` and
#: those with which the rule was chosen are not used.
MOST, FIRST = 300, 20_000


@dataclass(frozen=True)
class SimulatedMatrix:
    """A matrix with known groups.

    Attributes:
        S: (n, n) symmetric, non-negative.
        k: number of groups; 1 where there are none.
    """

    S: np.ndarray
    k: int


def simulated_matrices(kind: str, count: int) -> Iterator[SimulatedMatrix]:
    """The first matrices of a kind.

    Example:
        >>> [made.k for made in simulated_matrices("random graph", 2)]
        [1, 1]
    """
    number = FIRST
    while count:
        number += 1
        if kind in OF_PANELS:
            made = simulate(kind, number)
            if made.panel.values.shape[1] > MOST:
                continue
            yield SimulatedMatrix(abs_correlation(made.panel).to_dense().double().numpy(), made.k)
        else:
            yield _other(kind, np.random.default_rng([OTHERS.index(kind), number]))
        count -= 1


def _other(kind: str, rng: np.random.Generator) -> SimulatedMatrix:
    n, k = int(rng.choice([100, 200, 300])), int(rng.integers(3, 9))
    if kind == "random graph":
        k = 1
    label = np.sort(rng.integers(0, k, n))
    together = label[:, None] == label
    if kind == "kernel of clusters":
        x = 3 * rng.normal(size=(k, 5))[label] + rng.normal(size=(n, 5))
        square = ((x[:, None] - x) ** 2).sum(axis=2)
        return SimulatedMatrix(np.exp(-square / (0.25 * np.median(square))), k)
    if kind == "blocks and noise":
        H = np.eye(k)[label] * rng.uniform(0.3, 0.9, (n, 1)) + 0.15 * rng.random((n, k))
        noise = np.triu(rng.exponential(float(rng.choice([0.1, 0.3])), (n, n)), 1)
        return SimulatedMatrix(H @ H.T + noise + noise.T, k)
    degree = rng.uniform(0.5, 1.5, n)
    P = np.where(together, rng.choice([5.0, 10.0]), 1.0) * np.outer(degree, degree)
    P *= float(rng.choice([15.0, 30.0, 40.0])) / P.sum(axis=1).mean()
    A = np.triu(rng.random((n, n)) < P, 1).astype(float)
    return SimulatedMatrix(A + A.T, k)
