"""One start of spherical K-means on the paper's matrices: greedy and plain first centres.

Products are those of the start and the passes; the spectrum for the angular bound is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.core.problem import Problem
from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.grouping.spherical_kmeans import SEEDINGS, UnitRows, one_start
from symnmf.numerics import torch_stream

SIZE, SEEDS = 1000, (7, 42, 123, 200, 201)
OUTSIDE = "scikit-learn KMeans on unit rows"
SEEDING = MeasuredTable(
    "seeding",
    "One start of K-means on the rows of S: mean of five matrices",
    ("matrix", "n", "k", "first centres"),
    ("ARI", "least ARI", "products", "of them first centres and exchanges", "passes"),
    {"ARI": "lower", "products": "higher"},
)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each kind of matrix and each way to choose the first centres."""
    n = choices.size(SIZE)
    for kind in ("tpdm", "corr"):
        made = [benchmark_matrix(kind, n, seed=seed) for seed in SEEDS]
        for seeding in SEEDINGS:
            scores, products, passes = [], [], []
            for seed, b in zip(SEEDS, made, strict=True):
                problem = Problem(b.operator, b.k, seed)
                rows, before = UnitRows(problem.S), problem.S.work
                found = one_start(rows, b.k, torch_stream(seed, "spherical", 0), seeding)
                scores.append(float(adjusted_rand_score(b.labels, found.labels)))
                products.append(problem.products(since=before))
                passes.append(found.passes)
            first = [p - 2 * done + 1 for p, done in zip(products, passes, strict=True)]
            yield SEEDING.row(
                kind, n, made[0].k, seeding,
                mean(scores), min(scores), mean(products), mean(first), mean(passes),
            )  # fmt: skip
        scores, passes = [], []
        for seed, b in zip(SEEDS, made, strict=True):
            S = b.operator.to_dense().numpy()
            unit = S / np.linalg.norm(S, axis=1, keepdims=True)
            model = KMeans(b.k, n_init=1, random_state=seed).fit(unit)
            scores.append(float(adjusted_rand_score(b.labels, model.labels_)))
            passes.append(model.n_iter_)
        yield SEEDING.row(
            kind, n, made[0].k, OUTSIDE, mean(scores), min(scores), None, None, mean(passes)
        )


MEASUREMENT = Measurement(
    "seeding",
    "First centres of spherical K-means",
    (SEEDING,),
    ("sizes",),
    measure,
)
