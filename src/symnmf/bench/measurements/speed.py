"""What a fit costs, and the default solver against the other solvers (under ten minutes).

Times are ratios within one run: they are compared with a product S @ H on the same machine.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Iterator

import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.tasks import peak_bytes_in_fit
from symnmf.bench.timing import mean_seconds
from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Check
from symnmf.dependence.synthetic.in_memory import Benchmark, benchmark_matrix
from symnmf.engine import solve
from symnmf.operators import SymmetricOperator
from symnmf.solvers.registry import available, find, make_solver

N, SEED, SAMPLES = 4000, 7, 10_000
#: Seconds that each of the other solvers may take.
LIMIT = 5.0
#: The solver that the others are compared with.
DEFAULT = "sketched"

COSTS = MeasuredTable(
    "speed-costs",
    "What a fit costs: correlation, dense float32",
    ("what",),
    ("measured", "bar"),
    {"measured": "higher"},
)
#: The other solvers end by the clock, so that their figures depend on the machine: only those of
#: the default solver are compared with the published ones.
AGAINST = {
    kind: MeasuredTable(
        f"speed-{kind}",
        f"{kind}: the default solver, and the others until they have its error or their time ends",
        ("row",),
        ("excess", "ARI", "products", "time in bare products", "reached the error"),
        {"excess": "higher", "ARI": "lower", "products": "higher"},
        compared=(DEFAULT,),
    )
    for kind in ("corr", "tpdm")
}


def overhead(S: SymmetricOperator, k: int, name: str, rounds: int = 7, steps: int = 10) -> float:
    """Time of an iteration, checks included, against S @ H and H (HᵀH); median over rounds."""
    problem = Problem(S, k, SEED)
    problem.spectrum, problem.H0  # noqa: B018  computed before the clock starts
    H, solver = problem.H0, make_solver(name)
    ratios = []
    for _ in range(rounds):
        products = mean_seconds(lambda: (S.matmul(H), H @ (H.T @ H)), steps)
        iterations = mean_seconds(lambda: solve(problem, solver, max_iter=steps)) - mean_seconds(
            lambda: solve(problem, solver, max_iter=0)
        )
        ratios.append(iterations / steps / products)
    return statistics.median(ratios)


def costs(b: Benchmark) -> Iterator[MeasuredRow]:
    """Overheads and memory."""
    S, k = b.operator, b.k
    result = solve(Problem(S, k, SEED), make_solver("adagrad"), max_iter=0)
    yield COSTS.row("spectrum and certificate, in products", result.products - 1, 12)
    for name in ("mu", "adagrad", "admm"):
        bar = 1.15 if name == "adagrad" else None
        yield COSTS.row(f"{name}: iteration / bare products", overhead(S, k, name), bar)
    H = Problem(S, k, SEED).H0
    gram = mean_seconds(lambda: gradient(H, H), 20) / mean_seconds(lambda: S.matmul(H), 5)
    yield COSTS.row("gradient without S @ H, in products", gram, None)
    for name in ("mu", "adagrad", "admm", "hals", DEFAULT):
        arrays = peak_bytes_in_fit(S, k, name) / (S.n * k * S.dtype.itemsize)
        yield COSTS.row(f"{name}: n×k arrays alive above S", arrays, find(name).arrays + 3)


def against_the_others(
    b: Benchmark, others: tuple[str, ...], limit: float
) -> Iterator[MeasuredRow]:
    """The default solver, then every other one until it has the same error or its time ends."""
    X = torch.rand(b.operator.n, b.k)
    b.operator.matmul(X)
    product = mean_seconds(lambda: b.operator.matmul(X), 5)
    bounds = Problem(b.operator, b.k, SEED).bounds
    target = float("inf")
    for name in (DEFAULT, *others):
        row = find(name)

        def stop(check: Check, H: torch.Tensor, target: float = target) -> bool:
            return check.error <= target < float("inf")

        problem = Problem(b.operator, b.k, SEED, row.start)
        result = solve(problem, row.make(), max_seconds=limit, callbacks=[stop])
        error = result.certificate.error
        if name == DEFAULT:
            target = error
        ari = adjusted_rand_score(b.labels, result.labels())
        reached = "yes" if error <= target else "no"
        yield AGAINST[b.kind].row(
            name, bounds.excess(error), ari, result.products, result.seconds / product, reached
        )


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows of the three tables."""
    n = choices.size(N)
    tier = [name for name, row in available().items() if row.tier == "standard"]
    others = tuple(name for name in choices.solvers or tier if name != DEFAULT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in AGAINST:
            b = benchmark_matrix(kind, n, seed=SEED, samples=SAMPLES)
            if kind == "corr":
                yield from costs(b)
            yield from against_the_others(b, others, choices.seconds or LIMIT)


MEASUREMENT = Measurement(
    "speed",
    "What a fit costs, and the default solver against the others",
    (COSTS, *AGAINST.values()),
    ("sizes", "solvers", "seconds"),
    measure,
)
