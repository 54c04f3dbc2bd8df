"""``make bench``: what a fit costs, and the default solver against the rest (under ten minutes).

Ratios within one run, beside the figures last published; what got worse is marked.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable

import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.sheet import Sheet, console
from symnmf.bench.tasks import alive_in_fit
from symnmf.certificate import Yardstick
from symnmf.contract import Check, Problem
from symnmf.engine import solve
from symnmf.objective import gradient
from symnmf.operators import SymmetricOperator
from symnmf.solvers.registry import find, make_solver, solvers
from symnmf.synthetic import Benchmark, benchmark_matrix

N, SEED, SAMPLES = 4000, 7, 10_000
#: Seconds that each of the other rows may take.
LIMIT = 5.0


def seconds(call: Callable[[], object], repeat: int = 1) -> float:
    """Mean wall time of a call."""
    began = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - began) / repeat


def overhead(S: SymmetricOperator, k: int, name: str, rounds: int = 7, steps: int = 10) -> float:
    """Time of an iteration, looks included, against S @ H and H (HᵀH); median over rounds."""
    problem = Problem(S, k, SEED)
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


def costs(b: Benchmark) -> int:
    """Overheads and memory."""
    S, k = b.operator, b.k
    sheet = Sheet(
        "costs",
        f"correlation n = {N}, k = {k}, dense float32",
        ["what", "measured", "bar"],
        {"measured": "higher"},
    )
    result = solve(Problem(S, k, SEED), make_solver("adagrad"), max_iter=0)
    sheet.add("spectrum and certificate, in products", result.products - 1, 12)
    for name in ("mu", "adagrad", "admm"):
        bar = 1.15 if name == "adagrad" else None
        sheet.add(f"{name}: iteration / bare products", overhead(S, k, name), bar)
    H = Problem(S, k, SEED).H0
    gram = seconds(lambda: gradient(H, H), 20) / seconds(lambda: S.matmul(H), 5)
    sheet.add("gradient without S @ H, in products", gram, None)
    for name in ("mu", "adagrad", "admm", "hals", "sketched"):
        arrays = alive_in_fit(S, k, name) / (S.n * k * S.dtype.itemsize)
        sheet.add(f"{name}: n×k arrays alive above S", arrays, find(name).memory + 3)
    return sheet.show()


def flagship(b: Benchmark) -> int:
    """The default solver, then every other default row until it has the same error, or LIMIT."""
    problem = Problem(b.operator, b.k, SEED)
    X = torch.rand(b.operator.n, b.k)
    b.operator.matmul(X)
    bare = seconds(lambda: b.operator.matmul(X), 5)
    sheet = Sheet(
        f"flagship-{b.kind}",
        f"{b.kind} n = {N}, k = {b.k}: the default solver, and the other rows after {LIMIT:g} s",
        ["row", "excess", "ARI", "products", "time in bare products", "reached the error"],
        {"excess": "higher", "ARI": "lower", "products": "higher"},
    )
    target = float("inf")
    names = [name for name, row in solvers().items() if row.tier == "default"]
    for name in ["sketched", *(name for name in names if name != "sketched")]:
        row = find(name)
        fresh = Problem(b.operator, b.k, SEED, row.start)

        def stop(check: Check, H: torch.Tensor, target: float = target) -> bool:
            return check.error <= target < float("inf")

        result = solve(fresh, row.make(), max_seconds=LIMIT, callbacks=[stop])
        if name == "sketched":
            target = result.certificate.error
        excess = Yardstick(problem.spectrum, b.k, b.operator.dtype).excess(result.certificate.error)
        reached = "yes" if result.certificate.error <= target else "no"
        ari = adjusted_rand_score(b.labels, result.labels())
        sheet.add(name, excess, ari, result.products, result.seconds / bare, reached)
    return sheet.show()


def main() -> None:
    """Everything."""
    warnings.simplefilter("ignore")
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    began, worse = time.perf_counter(), 0
    for kind in ("corr", "tpdm"):
        b = benchmark_matrix(kind, N, seed=SEED, samples=SAMPLES)
        worse += (costs(b) if kind == "corr" else 0) + flagship(b)
    minutes = (time.perf_counter() - began) / 60
    console.print(f"{worse} figures got worse since the last published ones; {minutes:.1f} minutes")


if __name__ == "__main__":
    sys.exit(main())
