"""``make bench-large``: matrices from disk at n = 30 000 to 10⁶ (hours, most of it drawing data).

``python -m benchmarks.large --keep DIR corr+dense:30000:173:10000`` runs only what is named, as
``kind:n:k:samples``, and keeps the matrices in DIR, where a second run finds them. A correlation
is a Gram matrix where that is smaller, unless it is to be dense.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from sklearn.metrics import adjusted_rand_score

from symnmf.factorize import factorize
from symnmf.generate import generate
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.operators.store import open_matrix

RUNS = (
    "corr+dense:30000:173:10000",
    "corr:100000:316:4000",
    "tpdm:100000:316:40000",
    "tpdm:1000000:400:40000",
    "tpdm:1000000:100:40000",
)
SEED = 7


class Peak:
    """Largest anonymous memory of this process, above what it had at the beginning, in bytes."""

    def __enter__(self) -> Peak:
        self.first = self.most = anonymous()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.ended.wait(0.02):
            self.most = max(self.most, anonymous())

    @property
    def above(self) -> float:
        """What came on top."""
        return self.most - self.first


def anonymous() -> float:
    """Bytes of memory of this process that are not backed by a file."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("RssAnon:"):
            return float(line.split()[1]) * 1024
    return 0.0


def bare_product(S: SymmetricOperator, k: int, repeat: int = 3) -> float:
    """Seconds of S @ H, the fastest of a few."""
    X, best = torch.rand(S.n, k), float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        S.matmul(X)
        best = min(best, time.perf_counter() - began)
    return best


def fit(
    console: Console, S: SymmetricOperator, k: int, labels: np.ndarray, what: str
) -> torch.Tensor:
    """One line about a fit with the default solver; its factor."""
    bare = bare_product(S, k)
    with Peak() as peak:
        result = factorize(S, k, progress=True)
    excess = result.certificate.excess
    console.print(
        f"{what}, k = {k}: {result.status.name} by {result.solver}, excess "
        f"{'–' if excess is None else f'{excess:.4f}'}, error {result.certificate.error:.2e}, ARI "
        f"{adjusted_rand_score(labels, result.labels()):.3f}, {result.products:.0f} products, "
        f"{result.seconds:.0f} s = {result.seconds / bare:.0f} bare products of {bare:.2f} s, "
        f"{peak.above / 1e9:.2f} GB of anonymous memory"
    )
    for note in result.notes:
        console.print(f"    {note}")
    return result.H


def main(arguments: list[str]) -> None:
    """One line a run; a dense matrix also in memory, for comparison."""
    console = Console(width=140)
    folder = Path(tempfile.mkdtemp())
    if "--keep" in arguments:
        at = arguments.index("--keep")
        folder = Path(arguments[at + 1])
        arguments = arguments[:at] + arguments[at + 2 :]
    for run in arguments or RUNS:
        kind, *numbers = run.split(":")
        n, k, samples = map(int, numbers)
        where = folder / f"{kind}-{n}-{SEED}-{samples}"
        began = time.perf_counter()
        dense = kind.endswith("+dense")
        generate(kind.removesuffix("+dense"), n, where, seed=SEED, samples=samples, dense=dense)
        console.print(f"{kind}, n = {n:,}: written in {time.perf_counter() - began:.0f} s")
        began = time.perf_counter()
        S = open_matrix(where)
        console.print(f"{S} opened and checked in {time.perf_counter() - began:.1f} s")
        labels = np.load(where / "labels.npy", allow_pickle=False)
        H = fit(console, S, k, labels, f"{kind}, n = {n:,}, mapped")
        if isinstance(S, DenseOperator):
            memory = DenseOperator(S.S.clone())
            inside = fit(console, memory, k, labels, f"{kind}, n = {n:,}, in memory")
            gap = float((H - inside).abs().max())
            ratio = bare_product(S, k) / bare_product(memory, k)
            console.print(f"factors differ by {gap:.1e}; a mapped product takes {ratio:.2f} × one")


if __name__ == "__main__":
    main(sys.argv[1:])
