"""``make bench-phase2``: the six Phase-2 methods on the TPDM at n = 10 000 (about 25 minutes)."""

from __future__ import annotations

from rich.console import Console

from symnmf.contract import Problem
from symnmf.engine import solve
from symnmf.solvers.registry import find
from symnmf.synthetic import benchmark_matrix

METHODS = "admm rmsprop adagrad piecewise-adagrad block-svrg-adaptgrow row-svrg".split()  # noqa: SIM905


def main() -> None:
    """One line a run, as soon as it has ended."""
    console = Console()
    for seed in (7, 42, 99):
        b = benchmark_matrix("tpdm", 10_000, seed=seed)
        for name in METHODS:
            row = find(name)
            result = solve(Problem(b.operator, b.k, seed, row.start), row.make())
            excess = result.certificate.excess
            words = f"{result.iterations} iterations, excess {excess:.4f}, {result.seconds:.0f} s"
            console.print(f"seed {seed} {name}: {result.status.name}, {words}")


if __name__ == "__main__":
    main()
