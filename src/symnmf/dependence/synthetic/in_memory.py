"""The benchmark matrices of the paper in memory, with their true groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from symnmf.dependence.correlation import abs_correlation_of_scores
from symnmf.dependence.synthetic.model import (
    FRACTION,
    SAMPLES,
    FactorModel,
    check_benchmark,
    heavy_factors,
    largest,
    radii_sq,
    score_blocks,
    unit_block,
)
from symnmf.display import Brief
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.provenance import Provenance
from symnmf.resources import require_memory


@dataclass(frozen=True, repr=False)
class Benchmark(Brief):
    """A benchmark matrix and its true groups.

    Attributes:
        operator: operator S; a Gram operator for the TPDM, a dense one for the correlation.
        model: factor model of the matrix.
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
        """Seed of every draw."""
        return self.model.seed

    @cached_property
    def mixing(self) -> np.ndarray:  # (n, k + 1)
        """The matrix A: the common factor, then one column per group; drawn on first use."""
        return np.concatenate([self.model.mixing(block) for block, _ in self.model.blocks()])


@dataclass(frozen=True)
class GeneratedMatrix(Provenance):
    """A matrix of the benchmark; ``kind`` is ``"tpdm"`` or ``"corr"``."""

    kind: str

    @property
    def is_tail(self) -> bool:
        """Whether it is a TPDM."""
        return self.kind == "tpdm"


def benchmark_matrix(
    kind: str, n: int, *, seed: int = 0, samples: int = SAMPLES, dtype: torch.dtype = torch.float32
) -> Benchmark:
    """A matrix of the paper's benchmark (its appendix B).

    The same seed gives the same mixing matrix, permutation and labels for both kinds.

    Arguments:
        kind: ``"tpdm"`` (heavy-tailed factors, largest 1 % of radii) or ``"corr"`` (Gaussian
            factors, absolute correlation, Ledoit–Wolf if n / samples > 0.1).
        n: number of instruments, at least 4; the number of groups is ⌊√n⌋.
        seed: seed of every draw.
        samples: number of observations.
        dtype: type of the operator.

    Example:
        >>> b = benchmark_matrix("tpdm", n=64, seed=7, samples=4000)
        >>> b.k, b.operator
        (8, GramOperator(n=64, dtype=float32))
    """
    check_benchmark(kind, n, samples)
    columns = int(FRACTION * samples) if kind == "tpdm" else samples + n
    require_memory(
        columns * n * dtype.itemsize,
        f"the {kind} matrix with n = {n}",
        "Write it to disk with symnmf generate, use the tpdm (which is never formed), or a "
        "smaller n",
    )
    model = FactorModel.draw(n, seed)
    S: SymmetricOperator
    if kind == "tpdm":
        S = GramOperator(unit_rows(model, samples, dtype), provenance=GeneratedMatrix(kind))
    else:
        S = DenseOperator(_correlation(model, samples, dtype), provenance=GeneratedMatrix(kind))
    return Benchmark(S, model, kind)


def unit_rows(model: FactorModel, samples: int, dtype: torch.dtype) -> Tensor:  # (n, n_exc)
    """The factor B of the TPDM, from the angles x_t / ‖x_t‖ of the exceedances, block by block.

    Two passes over the row blocks: the first sums the radii, the second draws only the selected
    observations again. Angles are float64; only B is held completely in memory.
    """
    Z = heavy_factors(model, samples)
    blocks = [block for block, _ in model.blocks()]
    places, radii = largest(sum(radii_sq(model, Z, blocks), np.zeros(samples)))
    B = torch.empty(model.n, len(places), dtype=dtype)
    for block, rows in model.blocks():
        B[rows] = unit_block(model, Z, places, radii, block, dtype)
    return B


def _correlation(model: FactorModel, samples: int, dtype: torch.dtype) -> Tensor:
    scores, fourth = gaussian_scores(model, samples)
    return abs_correlation_of_scores(scores, fourth, dtype)


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
