"""``make bench``: what a fit costs against the bare products it is made of."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import cache

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.alive import AliveTensors
from benchmarks.peers import against_planc
from benchmarks.sketched import bars, own_rows, peers
from symnmf.contract import Problem
from symnmf.engine import solve
from symnmf.objective import gradient
from symnmf.operators import SymmetricOperator
from symnmf.solvers.first_order import Entries
from symnmf.solvers.registry import make_solver, solvers
from symnmf.synthetic import Benchmark, benchmark_matrix

SEEDS = (7, 42, 99)
console = Console(width=110)


@cache
def market(kind: str, n: int, seed: int, samples: int = 40_000) -> Benchmark:
    """A benchmark matrix, made once."""
    return benchmark_matrix(kind, n, seed=seed, samples=samples)


def seconds(call: Callable[[], object], repeat: int = 1) -> float:
    """Mean wall time of a call."""
    began = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - began) / repeat


def overhead(S: SymmetricOperator, k: int, name: str, rounds: int = 7, steps: int = 10) -> float:
    """Time of an iteration, looks included, against S @ H and H (HᵀH); median over rounds."""
    problem = Problem(S, k, 7)
    problem.spectrum, problem.H0  # noqa: B018  computed before the clock starts
    H, solver = problem.H0, make_solver(name)
    ratios = []
    for _ in range(rounds):
        bare = seconds(lambda: (S.matmul(H), H @ (H.T @ H)), steps)
        whole = seconds(lambda: solve(problem, solver, max_iter=steps)) - seconds(
            lambda: solve(problem, solver, max_iter=0)
        )
        ratios.append(whole / steps / bare)
    return statistics.median(ratios)


def alive(S: SymmetricOperator, k: int, name: str) -> float:
    """Peak of tensors alive in a fit above S, in n×k arrays."""
    steps = 2 if solvers()[name].sampling is Entries else 11  # entries take minutes at this size
    steps = 200 if name == "sketched" else steps
    with AliveTensors() as tensors:
        solve(Problem(S, k, 7), make_solver(name), max_iter=steps)
    return tensors.peak / (S.n * k * S.dtype.itemsize)


def costs() -> None:
    """Overheads and memory at n = 4 000."""
    n, k = 4000, 63
    S = market("corr", n, 7, 10_000).operator
    problem = Problem(S, k, 7)
    result = solve(problem, make_solver("adagrad"), max_iter=0)
    table = Table(title=f"correlation n = {n:,}, k = {k}, dense float32", title_justify="left")
    for heading in ("", "measured", "bar"):
        table.add_column(heading)
    table.add_row("spectrum and certificate, in products", f"{result.products - 1:.1f}", "12")
    for name in ("mu", "adagrad", "admm"):
        bar = "1.15" if name == "adagrad" else "–"
        table.add_row(f"{name}: iteration / bare products", f"{overhead(S, k, name):.3f}", bar)
    H = problem.H0
    gram = seconds(lambda: gradient(H, H), 20) / seconds(lambda: S.matmul(H), 5)
    table.add_row("gradient without S @ H, in products", f"{gram:.3f}", "–")
    console.print(table)
    memory = Table(title="n×k arrays alive above S in a fit", title_justify="left")
    for heading in ("solver", "measured", "stated + 3"):
        memory.add_column(heading)
    for name, row in solvers().items():
        memory.add_row(name, f"{alive(S, k, name):.1f}", str(row.memory + 3))
    console.print(memory)


def reliability() -> None:
    """How often each row converges on the small matrices."""
    table = Table(
        title="converged with excess ≤ 0.05, of 12 (default options)", title_justify="left"
    )
    headings = ("solver", "converged", "paper's gates", "worst excess", "products n=100", "n=1 000")
    for heading in headings:
        table.add_column(heading)
    for name in ("mu", "adagrad", "admm"):
        row = solvers()[name]
        good, paper, worst, products = 0, 0, 0.0, {100: [], 1000: []}
        for kind in ("tpdm", "corr"):
            for n in products:
                for seed in SEEDS:
                    b = market(kind, n, seed)
                    result = solve(Problem(b.operator, b.k, seed, row.start), row.make())
                    excess = result.certificate.excess
                    good += result.status.good and excess <= 0.05
                    paper += result.certificate.paper_converged
                    worst = max(worst, excess)
                    products[n].append(result.products)
        spent = [f"{statistics.mean(p):.0f}" for p in products.values()]
        table.add_row(name, str(good), str(paper), f"{worst:.4f}", *spent)
    console.print(table)


def main() -> None:
    """Everything."""
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    costs()
    reliability()
    against_planc(console)
    bars(console)
    peers(console)
    own_rows(console)


if __name__ == "__main__":
    sys.exit(main())
