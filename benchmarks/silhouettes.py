"""``make bench-kmeans``: spherical K-means and its silhouettes beside the paper's table."""

from __future__ import annotations

import time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.metrics import adjusted_rand_score

from symnmf.groups.silhouette import silhouette
from symnmf.groups.spherical_kmeans import spherical_kmeans
from symnmf.operators import DenseOperator
from symnmf.synthetic import benchmark_matrix

SEEDS = (7, 42, 99)
PAPER = {
    ("corr", 100): 0.78,
    ("corr", 1000): 0.71,
    ("corr", 10_000): 0.57,
    ("tpdm", 100): 0.75,
    ("tpdm", 1000): 0.67,
    ("tpdm", 10_000): 0.60,
}


def main() -> None:
    """Means over three seeds, of one start and of ten, and of the true groups."""
    console = Console(width=130)
    title = "silhouette: exact and by centroids, cosine and Euclidean; mean over three seeds"
    table = Table(title=title, title_justify="left")
    for heading in ("matrix", "groups", "cosine", "Euclidean", "cosine, centroids",
                    "Euclidean, centroids", "paper", "ARI", "passes", "seconds"):  # fmt: skip
        table.add_column(heading)
    for (kind, n), published in PAPER.items():
        markets = [benchmark_matrix(kind, n, seed=seed) for seed in SEEDS]
        for words, starts in (("one start", 1), ("ten starts", 10), ("the true ones", 0)):
            rows = []
            for b in markets:
                began, passes = time.perf_counter(), 0
                labels = torch.from_numpy(b.labels)
                if starts:
                    found = spherical_kmeans(b.operator, b.k, seed=b.seed, n_init=starts)
                    labels, passes = found.labels, found.passes
                seconds = time.perf_counter() - began
                both = [
                    silhouette(b.operator, labels, metric=metric, sample=1000)
                    for metric in ("cosine", "euclidean")
                ]
                ari = adjusted_rand_score(b.labels, labels)
                values = [s.mean for s in both] + [s.simplified for s in both]
                rows.append([*values, ari, passes, seconds])
            mean = np.mean(rows, axis=0)
            table.add_row(
                f"{kind} {n}",
                words,
                *(f"{v:.2f}" for v in mean[:4]),
                f"{published:.2f}",
                f"{mean[4]:.2f}",
                f"{mean[5]:.1f}",
                f"{mean[6]:.2f}",
            )
    console.print(table)
    b = benchmark_matrix("tpdm", 10_000, seed=7)
    B = b.operator.B  # type: ignore[attr-defined]
    began = time.perf_counter()
    spherical_kmeans(b.operator, b.k, seed=7)
    gram = time.perf_counter() - began
    formed = DenseOperator(B @ B.T)
    began = time.perf_counter()
    spherical_kmeans(formed, b.k, seed=7)
    ratio = (time.perf_counter() - began) / gram
    console.print(f"tpdm 10000: through the factor {ratio:.1f} × as fast as on the formed matrix")


if __name__ == "__main__":
    main()
