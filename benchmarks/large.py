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
from sklearn.metrics import adjusted_rand_score

from benchmarks.sheet import Sheet, console
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


def fit(sheet: Sheet, S: SymmetricOperator, k: int, labels: np.ndarray, what: str) -> torch.Tensor:
    """A row about a fit with the default solver; its factor."""
    bare = bare_product(S, k)
    with Peak() as peak:
        result = factorize(S, k, progress=True)
    ari = adjusted_rand_score(labels, result.labels())
    excess = result.certificate.excess
    bares, gigabytes = result.seconds / bare, peak.above / 1e9
    status = result.status.name
    sheet.add(what, S.n, k, status, excess, ari, result.products, bares, gigabytes)
    for note in result.notes:
        console.print(f"    {note}")
    return result.H


def main(arguments: list[str]) -> None:
    """A row a run; a dense matrix also in memory, for comparison."""
    folder = Path(tempfile.mkdtemp())
    if "--keep" in arguments:
        at = arguments.index("--keep")
        folder = Path(arguments[at + 1])
        arguments = arguments[:at] + arguments[at + 2 :]
    headings = ["matrix", "n", "k", "status", "excess", "ARI", "products", "time in bare products"]
    sheet = Sheet(
        "large",
        "the default solver on matrices from disk",
        [*headings, "GB of anonymous memory"],
        {"excess": "higher", "ARI": "lower", "products": "higher"},
        labels=3,
    )
    mapped = Sheet(
        "mapped",
        "a matrix on disk against the same one in memory",
        ["matrix", "n", "factors differ by", "a mapped product in products from memory"],
        {"factors differ by": "higher", "a mapped product in products from memory": "higher"},
        labels=2,
    )
    for run in arguments or RUNS:
        kind, *numbers = run.split(":")
        n, k, samples = map(int, numbers)
        where = folder / f"{kind}-{n}-{SEED}-{samples}"
        began = time.perf_counter()
        dense = kind.endswith("+dense")
        generate(kind.removesuffix("+dense"), n, where, seed=SEED, samples=samples, dense=dense)
        console.print(f"{kind}, n = {n:,}: there after {time.perf_counter() - began:.0f} s")
        S = open_matrix(where)
        labels = np.load(where / "labels.npy", allow_pickle=False)
        H = fit(sheet, S, k, labels, kind)
        if isinstance(S, DenseOperator):
            memory = DenseOperator(S.S.clone())
            inside = fit(sheet, memory, k, labels, f"{kind}, in memory")
            gap = float((H - inside).abs().max())
            mapped.add(kind, n, gap, bare_product(S, k) / bare_product(memory, k))
            mapped.show()
        sheet.show()


if __name__ == "__main__":
    main(sys.argv[1:])
