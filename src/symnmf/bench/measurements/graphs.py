"""The default solver on sparse graphs: what a fit costs, and whether its groups are those planted.

Block models have 20 neighbours per node, 14 of them in the own block; the digits are a graph of
nearest neighbours. ``--sizes`` chooses the numbers of nodes of the block models. On graphs up to
10 000 nodes other programs are run as well: spectral clustering of scikit-learn, which needs the
number of groups, and Leiden's modularity, which finds one (if leidenalg is installed).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.corpus import block_model, nearest_digits
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.peak_memory import PeakMemory
from symnmf.factorization import factorize
from symnmf.numerics import numpy_stream
from symnmf.operators import SymmetricOperator, as_operator

#: Numbers of nodes of the block models, their blocks, and neighbours in the own block and beside.
SIZES, BLOCKS, INSIDE, OUTSIDE = (1000, 10_000, 100_000, 1_000_000), 20, 14, 6
GRAPHS = MeasuredTable(
    "graphs",
    "The default solver on sparse graphs",
    ("graph", "n", "k"),
    ("status", "excess", "ARI", "ARI of spectral clustering", "products", "of them spectrum",
     "CPU seconds", "CPU in bare products", "GB of memory"),
    {"ARI": "lower", "products": "higher", "GB of memory": "higher"},
)  # fmt: skip
PEERS = MeasuredTable(
    "graphs-peers",
    "Groups of the same graphs by other programs",
    ("graph", "n", "program"),
    ("groups", "ARI", "CPU seconds"),
    {"ARI": "lower"},
    ("symnmf",),
)


class Graph(NamedTuple):
    """A graph with the groups of its nodes."""

    name: str
    A: Any
    labels: np.ndarray
    k: int


def graphs(sizes: tuple[int, ...]) -> Iterator[Graph]:
    """The digits, and block models of these sizes.

    Example:
        >>> [graph.A.shape[0] for graph in graphs((100,))]
        [1797, 100]
    """
    from sklearn.datasets import load_digits

    rng = numpy_stream(23, "graphs")
    yield Graph("nearest digits", nearest_digits(rng), load_digits().target, 10)
    for n in sizes:
        blocks = min(BLOCKS, n // 50)
        A, labels = block_model(numpy_stream(23, "graphs", n), n, blocks, INSIDE, OUTSIDE)
        yield Graph("block model", A, labels, blocks)


def spectral_clustering(graph: Graph) -> np.ndarray:
    """Labels of scikit-learn's spectral clustering."""
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(graph.k, affinity="precomputed", random_state=0)
    A = graph.A
    parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))  # it takes no others
    labels: np.ndarray = model.fit_predict(sp.csr_array(parts, shape=A.shape))
    return labels


def leiden(graph: Graph) -> np.ndarray:
    """Labels of the partition with the largest modularity that Leiden's algorithm finds."""
    import igraph
    import leidenalg

    upper = sp.triu(graph.A, k=1).tocoo()
    links = igraph.Graph(graph.A.shape[0], np.stack(upper.coords, axis=1).tolist())
    kind = leidenalg.ModularityVertexPartition
    found = leidenalg.find_partition(links, kind, weights=upper.data.tolist(), seed=0)
    return np.array(found.membership)


def other_programs(graph: Graph, choices: Choices) -> dict[str, tuple[np.ndarray, float]]:
    """Labels and CPU seconds of the programs that can be run on a graph of its size."""
    n = graph.A.shape[0]
    found = {}
    for name, (run, most) in PROGRAMS.items():
        if n > most:
            continue
        began = process_time()
        try:
            found[name] = (run(graph), process_time() - began)
        except ImportError as missing:
            choices.note(f"{name}: {missing}")
    return found


#: Other programs, each with the largest number of nodes of a graph on which it is run.
SPECTRAL = "spectral clustering"
PROGRAMS = {SPECTRAL: (spectral_clustering, 2000), "Leiden": (leiden, 10_000)}


def agreement(graph: Graph, labels: Any) -> float:
    """Agreement of labels with the groups of a graph."""
    return float(adjusted_rand_score(graph.labels, labels))


def product_seconds(S: SymmetricOperator, k: int) -> float:
    """CPU seconds of S @ H, the least of a few."""
    X = torch.rand(S.n, k)
    found = []
    for _ in range(5):
        began = process_time()
        S.matmul(X)
        found.append(process_time() - began)
    return min(found)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each graph."""
    for graph in graphs(choices.sizes or SIZES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            others = other_programs(graph, choices)
            with PeakMemory() as memory:
                began = process_time()
                S = as_operator(graph.A)
                result = factorize(S, graph.k)
                seconds = process_time() - began
        choices.note(f"{graph.name}, n = {S.n}: {result.certificate.verdict}")
        yield GRAPHS.row(
            graph.name,
            S.n,
            graph.k,
            result.status.name,
            result.certificate.excess,
            agreement(graph, result.labels()),
            agreement(graph, others[SPECTRAL][0]) if SPECTRAL in others else None,
            round(result.products),
            round(result.history[0].products) - 1,  # the first check takes a product
            round(seconds, 2),
            round(seconds / product_seconds(S, graph.k)),
            round(memory.added / 1e9, 3),
        )
        ours = {"symnmf": (np.asarray(result.labels()), seconds)} if others else {}
        for name, (labels, spent) in (ours | others).items():
            score, groups = agreement(graph, labels), len(set(labels.tolist()))
            yield PEERS.row(graph.name, S.n, name, groups, score, round(spent, 2))


MEASUREMENT = Measurement(
    "graphs",
    "Sparse graphs",
    (GRAPHS, PEERS),
    ("sizes",),
    measure,
    named=True,
)
