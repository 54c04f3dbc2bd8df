"""``make bench-large``: tail dependence at n = 10⁵ and 10⁶ (two hours, most of it drawing data).

``python -m benchmarks.large 100000:316`` runs only what is named, as ``n:k``. With ``--keep DIR``
the drawn factor is kept there and used again.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from sklearn.metrics import adjusted_rand_score

from symnmf.factorize import factorize
from symnmf.operators import GramOperator
from symnmf.synthetic import FactorModel, unit_rows

RUNS = ("100000:316", "1000000:400", "1000000:100")
SEED = 7


def factor(n: int, keep: Path | None) -> torch.Tensor:
    """The Gram factor of the benchmark TPDM, drawn or read."""
    path = None if keep is None else keep / f"tpdm{n}_{SEED}.npy"
    if path is not None and path.exists():
        return torch.from_numpy(np.load(path))
    B = unit_rows(FactorModel.draw(n, SEED), 40_000, torch.float32)
    if path is not None:
        np.save(path, B.numpy())
    return B


def main(arguments: list[str]) -> None:
    """One line a run; the peak of memory is that of the process."""
    console = Console(width=140)
    keep = None
    if "--keep" in arguments:
        at = arguments.index("--keep")
        keep = Path(arguments[at + 1])
        arguments = arguments[:at] + arguments[at + 2 :]
    for run in arguments or RUNS:
        n, k = map(int, run.split(":"))
        console.print(f"n = {n:,}, k = {k}: drawing")
        S = GramOperator(factor(n, keep))
        X = torch.rand(n, k)
        began = time.perf_counter()
        S.matmul(X)
        bare = time.perf_counter() - began
        del X
        result = factorize(S, k, progress=True)
        ari = adjusted_rand_score(FactorModel.draw(n, SEED).labels, result.labels())
        excess = result.certificate.excess
        console.print(
            f"n = {n:,}, k = {k}: {result.status.name} by {result.solver}, "
            f"excess {'–' if excess is None else f'{excess:.4f}'}, error "
            f"{result.certificate.error:.2e}, ARI {ari:.3f}, {result.seconds:.0f} s = "
            f"{result.seconds / bare:.0f} bare products, peak memory "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB"
        )
        for note in result.notes:
            console.print(f"    {note}")


if __name__ == "__main__":
    main(sys.argv[1:])
