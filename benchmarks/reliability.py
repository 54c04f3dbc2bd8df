"""``make bench-reliability``: how often every row of the registry converges (about half an hour).

Both matrix types, n = 100 and 1 000, k = floor(sqrt(n)), three seeds: twelve runs a row, each with
its one default and a time limit. The table is markdown; ``python -m benchmarks.reliability NAME…``
runs only the rows named.
"""

from __future__ import annotations

import sys
from collections import Counter

from rich.console import Console

from symnmf.contract import Problem, Result, Status
from symnmf.engine import solve
from symnmf.solvers.registry import find, solvers
from symnmf.synthetic import benchmark_matrix

SECONDS = 12
CELLS = [(kind, n) for n in (100, 1000) for kind in ("tpdm", "corr")]
SEEDS = (7, 42, 99)


def run(name: str, kind: str, n: int, seed: int) -> Result:
    """One run of a row from its own start."""
    b = benchmark_matrix(kind, n, seed=seed)
    row = find(name)
    return solve(Problem(b.operator, b.k, seed, row.start), row.make(), max_seconds=SECONDS)


def count(results: list[Result]) -> str:
    """``3/3``, or ``1/3 (2 TIME_OUT)``, and the worst excess."""
    statuses = Counter(r.status.name for r in results)
    good = statuses.pop(Status.CONVERGED.name, 0)
    rest = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    worst = max(r.certificate.excess if r.certificate.excess is not None else 0 for r in results)
    return f"{good}/{len(results)}" + (f" ({rest})" if rest else "") + f", {worst:.3f}"


def main(names: list[str]) -> None:
    """One line a row, as soon as its runs have ended."""
    console = Console(width=200)
    console.print("| row | " + " | ".join(f"{kind} n={n}" for kind, n in CELLS) + " |")
    console.print("|---|" + "---|" * len(CELLS))
    for name in names or list(solvers()):
        cells = [count([run(name, kind, n, s) for s in SEEDS]) for kind, n in CELLS]
        console.print(f"| `{name}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
