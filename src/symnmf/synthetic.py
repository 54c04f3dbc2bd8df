"""The paper's benchmark matrices, with their true groups.

Both types come from one factor model X = A Z + ε with a common factor and k groups. Draws are
made in row blocks with a stream each, so that a matrix written tile by tile is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.correlation import abs_correlation_of_scores, standardize
from symnmf.dependence.tail import unit_diagonal_gram
from symnmf.errors import InvalidInput, UnknownName
from symnmf.memory import require
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.seeds import numpy_stream

#: Observations, and the fraction of them with the largest radii (the paper's section 4.4).
SAMPLES, FRACTION = 40_000, 0.01
#: Rows drawn from one stream. A multiple of four, so that Philox counters fall on samples.
ROWS = 256
KINDS = ("tpdm", "corr")


@dataclass(frozen=True)
class FactorModel:
    """X = A Z + ε: labels, permutation, and row blocks of A on request."""

    n: int
    k: int
    seed: int
    labels: np.ndarray
    permutation: np.ndarray

    @classmethod
    def draw(cls, n: int, seed: int) -> FactorModel:
        """Group sizes within ±40 % of n/k and a random order of the rows."""
        k = isqrt(n)
        rng = numpy_stream(seed, "groups")
        weights = rng.uniform(0.6, 1.4, k)
        edges = np.rint(np.cumsum(weights) / weights.sum() * n).astype(np.int64)
        groups = np.searchsorted(edges, np.arange(n), side="right")
        permutation = rng.permutation(n)
        return cls(n, k, seed, groups[permutation], permutation)

    def blocks(self) -> Iterator[tuple[int, slice]]:
        """Number and rows of each block."""
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


@dataclass(frozen=True)
class Benchmark:
    """A benchmark matrix and the truth behind it.

    Attributes:
        operator: S; a Gram operator for the TPDM, dense for the correlation.
        model: what it was drawn from.
        kind: ``"tpdm"`` or ``"corr"``.
    """

    operator: SymmetricOperator
    model: FactorModel
    kind: str

    @property
    def labels(self) -> np.ndarray:  # (n,)
        """True group of each row."""
        return self.model.labels

    @property
    def permutation(self) -> np.ndarray:  # (n,)
        """Place of each row before the rows were shuffled."""
        return self.model.permutation

    @property
    def k(self) -> int:
        """Number of groups, ⌊√n⌋."""
        return self.model.k

    @property
    def seed(self) -> int:
        """Of every draw."""
        return self.model.seed

    @cached_property
    def mixing(self) -> np.ndarray:  # (n, k + 1)
        """A: common factor, then one column a group; drawn on first use."""
        return np.concatenate([self.model.mixing(block) for block, _ in self.model.blocks()])


def benchmark_matrix(
    kind: str, n: int, *, seed: int = 0, samples: int = SAMPLES, dtype: torch.dtype = torch.float32
) -> Benchmark:
    """A matrix of the paper's benchmark (its appendix B).

    The same seed gives the same mixing matrix, permutation and labels for both kinds.

    Arguments:
        kind: ``"tpdm"`` (heavy-tailed factors, largest 1 % of radii) or ``"corr"`` (Gaussian
            factors, absolute correlation, Ledoit–Wolf when n / samples > 0.1).
        n: number of instruments, at least 4; the number of groups is ⌊√n⌋.
        seed: of every draw.
        samples: number of observations.
        dtype: of the operator.

    Example:
        >>> b = benchmark_matrix("tpdm", n=64, seed=7, samples=4000)
        >>> b.k, b.operator
        (8, GramOperator(n=64, dtype=float32))
    """
    check_benchmark(kind, n, samples)
    columns = int(FRACTION * samples) if kind == "tpdm" else samples + n
    require(
        columns * n * dtype.itemsize,
        f"the {kind} matrix with n = {n}",
        "Write it to disk with symnmf generate, take the tpdm (which is never formed), or a "
        "smaller n",
    )
    model = FactorModel.draw(n, seed)
    S: SymmetricOperator
    if kind == "tpdm":
        S = GramOperator(unit_rows(model, samples, dtype))
    else:
        S = DenseOperator(_correlation(model, samples, dtype))
    return Benchmark(S, model, kind)


def check_benchmark(kind: str, n: int, samples: int) -> None:
    """Refuse what makes no benchmark matrix."""
    if kind not in KINDS:
        raise UnknownName("kind", f"unknown matrix {kind!r}", f"Choose {' or '.join(KINDS)}")
    if n < 4:
        raise InvalidInput("n", f"got {n}", "At least 4 instruments make two groups")
    if samples < 1 / FRACTION:
        raise InvalidInput("samples", f"got {samples}", "At least 100 observations are needed")


def pareto(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Pareto(2) draws, P(X > x) = x^{-2} for x ≥ 1, one uniform each."""
    u = rng.random(shape)
    np.subtract(1.0, u, out=u)
    return np.divide(1.0, np.sqrt(u, out=u), out=u)


def heavy_factors(model: FactorModel, samples: int) -> np.ndarray:  # (k + 1, samples)
    """Z of the TPDM."""
    return pareto(numpy_stream(model.seed, "pareto factors"), model.k + 1, samples)


def radii_sq(model: FactorModel, Z: np.ndarray, blocks: Iterable[int]) -> Iterator[np.ndarray]:
    """For each block, its part of ‖x_t‖² for every observation, in order."""
    samples = Z.shape[1]

    def part(block: int) -> np.ndarray:
        X = pareto(_noise(model, block), samples, ROWS).T[: len(_rows(model, block))]
        X *= 0.3
        X += model.mixing(block) @ Z
        return np.asarray(np.einsum("it,it->t", X, X))

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        yield from pool.map(part, blocks)


def largest(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and radii of the ⌊q·samples⌋ observations with the largest radii, in their order."""
    places = np.argsort(-total, kind="stable")[: int(FRACTION * len(total))]
    places.sort()
    return places, np.sqrt(total[places])


def unit_rows(model: FactorModel, samples: int, dtype: torch.dtype) -> Tensor:  # (n, n_exc)
    """The factor B of the TPDM, from the angles x_t / ‖x_t‖ of the exceedances, block by block.

    Two passes over the row blocks: the first sums the radii, the second draws again only the
    observations that were kept. Angles are float64; only B is held whole.
    """
    Z = heavy_factors(model, samples)
    blocks = [block for block, _ in model.blocks()]
    places, radii = largest(sum(radii_sq(model, Z, blocks), np.zeros(samples)))
    B = torch.empty(model.n, len(places), dtype=dtype)
    for block, rows in model.blocks():
        B[rows] = unit_block(model, Z, places, radii, block, dtype)
    return B


def unit_block(
    model: FactorModel,
    Z: np.ndarray,
    places: np.ndarray,
    radii: np.ndarray,
    block: int,
    dtype: torch.dtype,
) -> Tensor:  # (≤ ROWS, n_exc)
    """Rows of the factor B of the TPDM."""
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


def _correlation(model: FactorModel, samples: int, dtype: torch.dtype) -> Tensor:
    scores, fourth = gaussian_scores(model, samples)
    return abs_correlation_of_scores(scores, fourth, dtype).S


def gaussian_scores(model: FactorModel, samples: int) -> tuple[Tensor, float]:
    """(n, samples) z-scores of Gaussian factors plus noise, in float32, and Σ_t ‖x_t‖⁴."""
    scores = torch.empty(model.n, samples, dtype=torch.float32)
    squares = np.zeros(samples)
    blocks = list(model.blocks())
    parts = score_blocks(model, samples, [block for block, _ in blocks])
    for (_, rows), part in zip(blocks, parts, strict=True):
        scores[rows] = part
        squares += part.square().sum(dim=0).numpy()
    return scores, float(squares @ squares)


def score_blocks(model: FactorModel, samples: int, blocks: Sequence[int]) -> Iterator[Tensor]:
    """For each block its rows of z-scores, in float64, in order."""
    Z = numpy_stream(model.seed, "normal factors").standard_normal((model.k + 1, samples))

    def part(block: int) -> Tensor:
        X = numpy_stream(model.seed, "normal noise", block).standard_normal((ROWS, samples))
        X = X[: len(_rows(model, block))]
        X += model.mixing(block) @ Z
        return standardize(torch.from_numpy(X))

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        few = 2 * torch.get_num_threads()  # results that wait for their turn are large
        for begin in range(0, len(blocks), few):
            yield from pool.map(part, blocks[begin : begin + few])
