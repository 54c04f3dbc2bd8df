"""What many tests share."""

from functools import cache
from pathlib import Path

import numpy as np
import torch

from symnmf.dependence.synthetic import Benchmark, benchmark_matrix
from symnmf.operators.wrappers import WrappedOperator

SEEDS = (7, 42, 99)
#: Names that a spreadsheet, a page or a terminal could misunderstand.
STRANGE_NAMES = (
    "a", "=cmd|'/c calc'!A0", "</script><script>alert(1)</script>", "مرحبا", "🚀", "x" * 500,
)  # fmt: skip
#: Values of other programs and closed forms, in the repository.
GOLDEN = Path(__file__).parent / "golden"
#: Tables that may not be copied into the repository; tests that read them are marked shared_data.
SHARED = Path(__file__).parents[2] / "shared" / "data"
US_STOCKS = "us_rsr_logret_2013_2017.parquet"


@cache
def market(kind: str, n: int, seed: int = 7) -> Benchmark:
    """A benchmark matrix, made once a session."""
    return benchmark_matrix(kind, n, seed=seed)


def golden(name: str, folder: Path = GOLDEN) -> np.ndarray:
    """A table of golden values."""
    return np.loadtxt(folder / name, delimiter=",")


def blocks(sizes, noise, seed=0):
    """A matrix of groups of these sizes with noise, and the group of each row."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    S = np.where(labels[:, None] == labels, 0.8, 0.1)
    S += noise * np.triu(rng.normal(size=S.shape), 1)
    S = np.abs(np.triu(S, 1) + np.triu(S, 1).T)
    np.fill_diagonal(S, 1)
    return S.astype(np.float32), labels


def dense(operator) -> torch.Tensor:
    """The formed matrix of a small operator, in float64."""
    everything = torch.arange(operator.n)
    return operator.block(everything, everything).to(torch.float64)


def population_tpdm(A: np.ndarray, alpha: float = 2.0) -> np.ndarray:  # (n, k) -> (n, n)
    """The TPDM of A Z with independent factors of index α: Σ_j ‖a_j‖^{α−2} a_j a_jᵀ."""
    weights = np.linalg.norm(A, axis=0) ** (alpha - 2)
    return (A * weights) @ A.T


def population_correlation(A: np.ndarray, noise: float = 1.0) -> np.ndarray:  # (n, k) -> (n, n)
    """The correlation of A Z + ε with independent Z of variance one and ε of variance noise."""
    covariance = A @ A.T + noise * np.eye(len(A))
    size = np.sqrt(np.diag(covariance))
    return covariance / size / size[:, None]


class DiagonalShift(WrappedOperator):
    """S + diag(d): an operator of the tests, which has only what the contract asks for."""

    def __init__(self, inner, d):
        super().__init__(inner)
        self.d = d.to(dtype=inner.dtype)

    def matmul(self, X):
        return self.inner.matmul(X).addcmul_(self.d[:, None], X)

    def block(self, i, j):
        return self.inner.block(i, j) + torch.where(i[:, None] == j, self.d[i][:, None], 0)

    def frob_sq(self):
        d = self.d.to(torch.float64)
        return self.inner.frob_sq() + float(d @ (2 * self.inner.diag().to(torch.float64) + d))

    def mean(self):
        return self.inner.mean() + float(self.d.sum(dtype=torch.float64)) / self.n**2
