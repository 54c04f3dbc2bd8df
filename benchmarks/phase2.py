"""``make bench-phase2``: the six Phase-2 methods at n = 10 000 (an hour and a half).

``python -m benchmarks.phase2 corr:7 tpdm:99`` runs only the problems named, as ``type:seed``.
"""

from __future__ import annotations

import sys

from rich.console import Console

from symnmf.contract import Problem
from symnmf.engine import solve
from symnmf.solvers.registry import find
from symnmf.synthetic import benchmark_matrix

METHODS = "admm rmsprop adagrad piecewise-adagrad block-svrg-adaptgrow row-svrg".split()  # noqa: SIM905
PROBLEMS = ("tpdm:7", "tpdm:42", "tpdm:99", "corr:7")


def main(problems: list[str]) -> None:
    """One line a run, as soon as it has ended."""
    console = Console(width=120)
    for problem in problems or PROBLEMS:
        kind, seed = problem.split(":")
        b = benchmark_matrix(kind, 10_000, seed=int(seed))
        for name in METHODS:
            row = find(name)
            result = solve(Problem(b.operator, b.k, int(seed), row.start), row.make())
            excess = result.certificate.excess
            words = f"{result.iterations} iterations, excess {excess:.4f}, {result.seconds:.0f} s"
            console.print(f"{kind} seed {seed} {name}: {result.status.name}, {words}")


if __name__ == "__main__":
    main(sys.argv[1:])
