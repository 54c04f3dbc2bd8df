"""A corpus of matrices that people bring: kernels, counts, graphs, correlations, with their k.

A matrix is a function decorated with :func:`matrix`; a new one takes part in every measurement
that runs over the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from symnmf.bench.us_stocks import RETURNS
from symnmf.data.samples import sp500_prices
from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.numerics import numpy_stream

#: Daily returns of industry portfolios, in the same data folder as the US stocks.
PORTFOLIOS = "ff30_daily_returns_pct.parquet"
Maker = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class CorpusMatrix:
    """A matrix of the corpus.

    Attributes:
        name, k: its name, and the number of columns to fit.
        make: makes the matrix from a generator, dense or sparse.
        file: file of the data folder that it needs, if any.
        graph: whether it is an adjacency matrix, whose noise is that of random edges.
    """

    name: str
    k: int
    make: Callable[[Path | None, np.random.Generator], Any]
    file: str | None = None
    graph: bool = False

    def matrix(self, data: Path | None = None) -> Any:
        """The matrix: the same one every time.

        Example:
            >>> CORPUS["confusion, n = 60"].matrix().shape
            (60, 60)
        """
        return self.make(data, numpy_stream(23, "corpus", self.name))

    def available(self, data: Path | None) -> bool:
        """Whether the file that it needs is there."""
        return self.file is None or (data is not None and (data / self.file).is_file())


#: The matrices by name.
CORPUS: dict[str, CorpusMatrix] = {}


def matrix(name: str, *ks: int, graph: bool = False) -> Callable[[Maker], Maker]:
    """Add the matrix that the decorated function makes, once for each k."""

    def add(make: Maker) -> Maker:
        for k in ks:
            title = name if len(ks) == 1 else f"{name}, k = {k}"
            # The draws depend on the name without k: the same matrix with several k.
            CORPUS[title] = CorpusMatrix(
                title, k, lambda data, rng: make(numpy_stream(23, "corpus", name)), None, graph
            )
        return make

    return add


def real(name: str, file: str, ks: tuple[int, ...], columns: int | None, rows: int | None) -> None:
    """Add the absolute correlations of the columns of a table in the data folder."""
    for k in ks:
        title = name if len(ks) == 1 else f"{name}, k = {k}"
        CORPUS[title] = CorpusMatrix(
            title, k, lambda data, rng: _real(str(data), file, columns, rows), file
        )


@lru_cache(maxsize=1)
def _real(folder: str, file: str, columns: int | None, rows: int | None) -> np.ndarray:
    import pandas as pd

    table = pd.read_parquet(Path(folder) / file).dropna(axis=1).to_numpy(np.float64)
    return _correlation(table[:rows, :columns])


def _correlation(X: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.abs(np.corrcoef(X, rowvar=False)).astype(np.float32)
    return found


def _symmetric(A: np.ndarray) -> np.ndarray:
    found: np.ndarray = ((A + A.T) / 2).astype(np.float32)
    return found


def _distances_sq(X: np.ndarray) -> np.ndarray:
    squares = (X**2).sum(axis=1)
    found: np.ndarray = np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0)
    return found


def _kernel(X: np.ndarray) -> np.ndarray:
    """Gaussian kernel with the median distance as its width."""
    D = _distances_sq(X)
    return _symmetric(np.exp(-D / np.median(D[D > 0])))


def _scaled(X: np.ndarray) -> np.ndarray:
    scale = X.std(axis=0)
    found: np.ndarray = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1)
    return found


# ---- kernels ----


@matrix("points kernel, n = 400", 12)
def points(rng: np.random.Generator) -> np.ndarray:
    """Gaussian kernel of points around twelve centres."""
    centres = rng.normal(size=(12, 5)) * 2
    return _kernel(centres[rng.integers(12, size=400)] + rng.normal(size=(400, 5)))


@matrix("exponential kernel, n = 300", 15)
def exponential(rng: np.random.Generator) -> np.ndarray:
    """exp(−|x − y|) of points on a line."""
    x = np.sort(rng.uniform(0, 20, size=300))
    return _symmetric(np.exp(-np.abs(x[:, None] - x)))


@matrix("circle kernel, n = 500", 25)
def circle(rng: np.random.Generator) -> np.ndarray:
    """A narrow kernel on a circle: a band matrix that has no groups."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, size=500))
    gap = np.abs(angle[:, None] - angle)
    return _symmetric(np.exp(-((np.minimum(gap, 2 * np.pi - gap) / 0.15) ** 2)))


@matrix("digits kernel, n = 1797", 20)
def digits_kernel(rng: np.random.Generator) -> np.ndarray:
    """Gaussian kernel of handwritten digits (bundled with scikit-learn)."""
    from sklearn.datasets import load_digits

    return _kernel(load_digits().data)


@matrix("wine kernel, n = 178", 6)
def wine(rng: np.random.Generator) -> np.ndarray:
    """Gaussian kernel of wines (bundled with scikit-learn)."""
    from sklearn.datasets import load_wine

    return _kernel(_scaled(load_wine().data))


@matrix("tumours kernel, n = 569", 10)
def tumours(rng: np.random.Generator) -> np.ndarray:
    """Gaussian kernel of breast tumours (bundled with scikit-learn)."""
    from sklearn.datasets import load_breast_cancer

    return _kernel(_scaled(load_breast_cancer().data))


@matrix("doubly stochastic kernel, n = 200", 10)
def doubly_stochastic(rng: np.random.Generator) -> np.ndarray:
    """A kernel whose rows and columns sum to one."""
    K = _kernel(rng.normal(size=(200, 3))).astype(np.float64)
    for _ in range(200):
        scale = np.sqrt(K.sum(axis=1))
        K /= scale[:, None] * scale
    return _symmetric(K)


# ---- counts ----


@lru_cache(maxsize=1)
def _word_counts() -> np.ndarray:
    """Words by documents of a topic model with 25 topics."""
    rng = numpy_stream(23, "topics")
    topics = rng.dirichlet(np.full(800, 0.05), size=25)
    mixes = rng.dirichlet(np.full(25, 0.2), size=1500)
    counts: np.ndarray = rng.poisson(80 * mixes @ topics).T.astype(np.float64)
    return counts


@matrix("topic counts, n = 800", 20)
def topic_counts(rng: np.random.Generator) -> np.ndarray:
    """Cosines between the rows of words in documents."""
    X = _word_counts()
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return _symmetric(X @ X.T + 1e-6)


@matrix("PPMI of words, n = 600", 25)
def ppmi(rng: np.random.Generator) -> np.ndarray:
    """Positive pointwise mutual information of words that occur in the same documents."""
    X = _word_counts()[:600]
    together = X @ X.T + 1e-9
    share = together.sum(axis=1) / together.sum()
    return _symmetric(np.maximum(np.log(together / together.sum() / np.outer(share, share)), 0))


@matrix("baskets, n = 250", 12)
def baskets(rng: np.random.Generator) -> np.ndarray:
    """How often two articles are bought together, square roots."""
    tastes = rng.gamma(0.15, size=(12, 250))
    buys = rng.poisson(0.3 * tastes[rng.integers(12, size=3000)] + 0.01) > 0
    return _symmetric(np.sqrt(buys.T @ buys.astype(np.float64)))


@matrix("confusion, n = 60", 8)
def confusion(rng: np.random.Generator) -> np.ndarray:
    """Symmetric counts of confusions between sixty classes in eight families."""
    family = rng.integers(8, size=60)
    rate = np.where(family[:, None] == family, 4.0, 0.3) + np.diag(rng.uniform(20, 60, size=60))
    return _symmetric(rng.poisson(rate).astype(np.float64))


# ---- factors and noise ----


@matrix("low rank with noise, n = 300", 10)
def noisy_low_rank(rng: np.random.Generator) -> np.ndarray:
    """W Wᵀ of sparse non-negative W, plus symmetric noise, cut at zero."""
    W = rng.exponential(size=(300, 10)) * (rng.uniform(size=(300, 10)) < 0.3)
    noise = rng.normal(size=(300, 300))
    return _symmetric(np.maximum(W @ W.T + 0.3 * (noise + noise.T), 0))


@matrix("uniform noise, n = 200", 8)
def uniform_noise(rng: np.random.Generator) -> np.ndarray:
    """Independent entries: there are no groups."""
    return _symmetric(rng.uniform(size=(200, 200)))


def _stocks(rng: np.random.Generator, n: int, groups: int, days: int) -> np.ndarray:
    """Correlations of a market, groups of unequal size and strength, and noise."""
    size = rng.dirichlet(np.full(groups, 2.0))
    group = rng.choice(groups, size=n, p=size)
    strength = rng.uniform(0.3, 1.1, size=groups)
    market, own = rng.standard_t(5, size=(days, 1)), rng.standard_t(5, size=(days, groups))
    noise = rng.standard_t(5, size=(days, n))
    load = rng.uniform(0.5, 1.1, size=n)
    return _correlation(market * load + own[:, group] * strength[group] + 1.5 * noise)


@matrix("simulated stocks, n = 452", 11, 40)
def stocks_452(rng: np.random.Generator) -> np.ndarray:
    """As the S&P 500."""
    return _stocks(rng, 452, 15, 1250)


@matrix("simulated stocks, n = 1133", 20, 100)
def stocks_1133(rng: np.random.Generator) -> np.ndarray:
    """More stocks than days."""
    return _stocks(rng, 1133, 40, 750)


@matrix("20 stocks", 4)
def bundled_stocks(rng: np.random.Generator) -> np.ndarray:
    """The bundled stocks."""
    prices = sp500_prices().to_numpy(np.float64)
    return _correlation(np.diff(np.log(prices), axis=0))


@matrix("the paper's correlation, n = 1000", 31)
def paper_correlation(rng: np.random.Generator) -> np.ndarray:
    """The founding paper's benchmark."""
    found: np.ndarray = benchmark_matrix("corr", 1000, seed=123).operator.to_dense().numpy()
    return found


@matrix("the paper's TPDM, n = 1000", 31)
def paper_tpdm(rng: np.random.Generator) -> np.ndarray:
    """The founding paper's benchmark."""
    found: np.ndarray = benchmark_matrix("tpdm", 1000, seed=123).operator.to_dense().numpy()
    return found


# ---- graphs ----


def block_model(
    rng: np.random.Generator, n: int, k: int, inside: float, outside: float
) -> tuple[Any, np.ndarray]:
    """A stochastic block model with equal blocks, and its labels.

    Arguments:
        rng: generator.
        n, k: nodes and blocks.
        inside, outside: mean number of neighbours of a node in its own block, and in all others.

    Example:
        >>> A, labels = block_model(np.random.default_rng(0), 100, 2, 8, 2)
        >>> A.shape, bool((A != A.T).nnz == 0)
        ((100, 100), True)
    """
    labels = np.arange(n) % k
    pairs = []
    for count, same in ((round(n * inside / 2), True), (round(n * outside / 2), False)):
        i = rng.integers(n, size=count)
        if same:
            j = (i + k * rng.integers(1, max(2, n // k), size=count)) % n
            j = np.where(labels[j] == labels[i], j, labels[i])
        else:
            j = (i + 1 + k * rng.integers(n // k, size=count) + rng.integers(k - 1, size=count)) % n
        pairs.append(np.stack([i, j]))
    return _graph(np.concatenate(pairs, axis=1), n), labels


def _graph(pairs: np.ndarray, n: int) -> Any:
    """Adjacency matrix of edges, without loops and multiplicities."""
    i, j = pairs[:, pairs[0] != pairs[1]]
    A = sp.coo_array((np.ones(len(i), np.float32), (i, j)), shape=(n, n)).tocsr()
    A = A + A.T
    A.data[:] = 1
    return A


@matrix("block model, clear, n = 1000", 5, graph=True)
def clear_blocks(rng: np.random.Generator) -> Any:
    """Groups that every method finds."""
    return block_model(rng, 1000, 5, 16, 4)[0]


@matrix("block model near the threshold, n = 2000", 5, graph=True)
def hard_blocks(rng: np.random.Generator) -> Any:
    """(c_in − c_out)² is about k²·c: groups can just be detected."""
    return block_model(rng, 2000, 5, 7, 8)[0]


@matrix("block model below the threshold, n = 1000", 8, graph=True)
def hopeless_blocks(rng: np.random.Generator) -> Any:
    """Groups that no method can find."""
    return block_model(rng, 1000, 8, 2, 8)[0]


@matrix("random graph, n = 500", 8, graph=True)
def random_graph(rng: np.random.Generator) -> Any:
    """Independent edges, mean degree 10."""
    return _graph(rng.integers(500, size=(2, 2500)), 500)


@matrix("graph of few hubs, n = 600", 10, graph=True)
def hubs(rng: np.random.Generator) -> Any:
    """Preferential attachment: degrees with a heavy tail."""
    targets, ends = [0, 1], []
    for new in range(2, 600):
        chosen = set(rng.choice(targets, size=4))
        ends += [(new, old) for old in chosen if old != new]
        targets += [*chosen, *([new] * len(chosen))]
    return _graph(np.array(ends).T, 600)


@matrix("two-sided graph, n = 300", 6, graph=True)
def two_sided(rng: np.random.Generator) -> Any:
    """Edges only between two halves: every eigenvalue has a negative twin."""
    left, right = rng.integers(150, size=1800), rng.integers(150, size=1800)
    near = (left % 3 == right % 3) | (rng.uniform(size=1800) < 0.2)
    return _graph(np.stack([left, right + 150])[:, near], 300)


@matrix("grid, n = 400", 20, graph=True)
def grid(rng: np.random.Generator) -> Any:
    """Twenty by twenty nodes with four neighbours."""
    line = sp.diags_array([np.ones(19), np.ones(19)], offsets=[1, -1])
    one = sp.identity(20)
    return (sp.kron(line, one) + sp.kron(one, line)).tocsr().astype(np.float32)


@matrix("nearest digits, n = 1797", 10, graph=True)
def nearest_digits(rng: np.random.Generator) -> Any:
    """Ten nearest neighbours of each handwritten digit, either way."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    A = sp.csr_array(kneighbors_graph(load_digits().data, 10))
    return A.maximum(A.T).astype(np.float32)


real("US stocks, n = 1133", RETURNS, (20, 100), 1133, None)
real("US stocks, n = 452, 500 days", RETURNS, (11, 40), 452, 500)
real("industry portfolios, n = 30", PORTFOLIOS, (5,), None, None)
