"""The factor model behind the benchmark matrices of the paper (its appendix B)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isqrt

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.removal import standardize
from symnmf.display import Brief
from symnmf.errors import InvalidInput, UnknownName
from symnmf.numerics import numpy_stream

#: Number of observations, and fraction with the largest radii (the paper's section 4.4).
SAMPLES, FRACTION = 40_000, 0.01


#: Rows drawn from one stream; a multiple of four, because Philox counts in fours.
ROWS = 256


#: Kinds of benchmark matrices.
KINDS = ("tpdm", "corr")


@dataclass(frozen=True, repr=False)
class FactorModel(Brief):
    """The factor model X = A Z + ε; row blocks of A are drawn on request.

    Attributes:
        n, k: number of instruments and of groups.
        seed: seed of every draw.
        labels: (n,) true group of each row.
        permutation: (n,) place of each row before the rows were shuffled.
    """

    n: int
    k: int
    seed: int
    labels: np.ndarray
    permutation: np.ndarray

    @classmethod
    def draw(cls, n: int, seed: int) -> FactorModel:
        """Draw the sizes of the groups and a random order of the rows.

        The weights of the groups are within ±40 % of one, as in the paper; divided by their sum,
        so that the sizes add up to n, they give sizes from 0.59 to 1.45 of n/k (seeds 7, 42 and
        99, n from 100 to 10⁶).
        """
        k = isqrt(n)
        rng = numpy_stream(seed, "groups")
        weights = rng.uniform(0.6, 1.4, k)
        edges = np.rint(np.cumsum(weights) / weights.sum() * n).astype(np.int64)
        groups = np.searchsorted(edges, np.arange(n), side="right")
        permutation = rng.permutation(n)
        return cls(n, k, seed, groups[permutation], permutation)

    def blocks(self) -> Iterator[tuple[int, slice]]:
        """Index and rows of each block."""
        for block, begin in enumerate(range(0, self.n, ROWS)):
            yield block, slice(begin, min(begin + ROWS, self.n))

    def mixing(self, block: int) -> np.ndarray:  # (≤ ROWS, k + 1)
        """Rows of A: common loading N(0.8, 0.15), own group U[0.6, 1.8], others N(0, 0.05)."""
        labels = self.labels[block * ROWS : (block + 1) * ROWS]
        rng = numpy_stream(self.seed, "mixing", block)
        A = rng.normal(0.0, 0.05, (len(labels), self.k + 1))
        A[:, 0] = rng.normal(0.8, 0.15, len(labels))
        A[np.arange(len(labels)), labels + 1] = rng.uniform(0.6, 1.8, len(labels))
        return np.maximum(A, 0.0, out=A)


def check_benchmark(kind: str, n: int, samples: int) -> None:
    """Raise an error if the options do not describe a benchmark matrix."""
    if kind not in KINDS:
        raise UnknownName("kind", f"unknown matrix {kind!r}", f"Choose {' or '.join(KINDS)}")
    if n < 4:
        raise InvalidInput("n", f"got {n}", "Pass at least 4, which make two groups")
    if samples < 1 / FRACTION:
        raise InvalidInput("samples", f"got {samples}", "Pass at least 100 observations")


def pareto(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Pareto(2) draws, P(X > x) = x^{-2} for x ≥ 1, from one uniform number each."""
    u = rng.random(shape)
    np.subtract(1.0, u, out=u)
    return np.divide(1.0, np.sqrt(u, out=u), out=u)


def heavy_factors(model: FactorModel, samples: int) -> np.ndarray:  # (k + 1, samples)
    """The factors Z of the TPDM."""
    return pareto(numpy_stream(model.seed, "pareto factors"), model.k + 1, samples)


def radii_sq(model: FactorModel, Z: np.ndarray, blocks: Iterable[int]) -> Iterator[np.ndarray]:
    """The contribution of each block to ‖x_t‖² of every observation, in order of the blocks."""
    samples = Z.shape[1]

    def part(block: int) -> np.ndarray:
        X = pareto(_noise(model, block), samples, ROWS).T[: len(_rows(model, block))]
        X *= 0.3
        X += model.mixing(block) @ Z
        return np.asarray(np.einsum("it,it->t", X, X))

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        yield from pool.map(part, blocks)


def largest(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices and radii of the ⌊q·samples⌋ observations with the largest radii, ascending."""
    places = np.argsort(-total, kind="stable")[: int(FRACTION * len(total))]
    places.sort()
    return places, np.sqrt(total[places])


def unit_block(
    model: FactorModel,
    Z: np.ndarray,
    places: np.ndarray,
    radii: np.ndarray,
    block: int,
    dtype: torch.dtype,
) -> Tensor:  # (≤ ROWS, n_exc)
    """Rows of a block of the factor B of the TPDM."""
    noise = np.empty((len(places), ROWS))
    bits = _noise(model, block).bit_generator
    assert isinstance(bits, np.random.Philox)
    at = 0
    for m, t in enumerate(places):
        bits.advance((int(t) - at) * ROWS // 4)  # Philox counts in fours
        noise[m] = pareto(np.random.Generator(bits), ROWS)
        at = int(t) + 1
    angles = model.mixing(block) @ Z[:, places] + 0.3 * noise.T[: len(_rows(model, block))]
    return unit_diagonal_gram(torch.from_numpy(angles / radii), dtype).B


def _rows(model: FactorModel, block: int) -> range:
    return range(block * ROWS, min((block + 1) * ROWS, model.n))


def _noise(model: FactorModel, block: int) -> np.random.Generator:
    return numpy_stream(model.seed, "pareto noise", block)


def score_blocks(model: FactorModel, samples: int, blocks: Sequence[int]) -> Iterator[Tensor]:
    """The z-scores of each block in float64, in order of the blocks."""
    Z = numpy_stream(model.seed, "normal factors").standard_normal((model.k + 1, samples))

    def part(block: int) -> Tensor:
        X = numpy_stream(model.seed, "normal noise", block).standard_normal((ROWS, samples))
        X = X[: len(_rows(model, block))]
        X += model.mixing(block) @ Z
        return standardize(torch.from_numpy(X))

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        few = 2 * torch.get_num_threads()  # results that wait are large
        for begin in range(0, len(blocks), few):
            yield from pool.map(part, blocks[begin : begin + few])
