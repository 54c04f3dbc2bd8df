"""What a run does: a name, a function from a run to plain numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.study import Run
from symnmf.contract import Problem
from symnmf.engine import solve
from symnmf.groups.silhouette import silhouette
from symnmf.groups.spherical_kmeans import spherical_kmeans
from symnmf.objective import error, error_by_definition
from symnmf.solvers.registry import find
from symnmf.spectrum import diagnostics, smallest_eigenvalue
from symnmf.synthetic import Benchmark, benchmark_matrix

Task = Callable[[Run], dict[str, Any]]


@lru_cache(maxsize=2)
def market(kind: str, n: int, seed: int) -> Benchmark:
    """The matrix of a problem; the last two stay."""
    return benchmark_matrix(kind, n, seed=seed)


def factorize(run: Run) -> dict[str, Any]:
    """A solver from the start of its seed, judged by the paper's gates and by the certificate."""
    b, row = market(run.kind, run.n, run.seed), find(run.solver)
    problem = Problem(b.operator, run.k, run.seed, row.start)
    problem.spectrum  # noqa: B018  shared by all; not part of the solver's time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(
            problem,
            row.make(**run.options),
            name=run.solver,
            max_iter=run.iterations,
            max_seconds=run.seconds,
        )
    c, last = result.certificate, result.history[-1]
    wall = result.seconds - result.looking
    return {
        "status": result.status.name,
        "paper_converged": c.paper_converged,
        "converged": c.converged,
        "error": c.error,
        "excess": c.excess,
        "worth": c.worth,
        "kkt_ratio": last.kkt_ratio,
        "ari": float(adjusted_rand_score(b.labels, result.labels())),
        "iterations": result.iterations,
        "products": result.products,
        "seconds": wall,
        "ms_per_iteration": 1e3 * wall / max(1, result.iterations),
        "looks": [
            [
                h.iteration,
                round(h.seconds, 3),
                round(h.products, 1),
                _digits(h.error),
                _digits(h.kkt_ratio),
            ]
            for h in _thinned(result.history)
        ],
        "threads": torch.get_num_threads(),
    }


def spectral(run: Run) -> dict[str, Any]:
    """The columns of the paper's spectral table."""
    b = market(run.kind, run.n, run.seed)
    problem = Problem(b.operator, run.k, run.seed)
    smallest = None if problem.spectrum.exact else smallest_eigenvalue(b.operator)[0]
    d = diagnostics(problem.spectrum, run.k, smallest)
    low, high = problem.spectrum.floor(run.k)
    return {**vars(d), "floor_low": low, "floor_high": high, "lambda_min": smallest}


def kmeans(run: Run) -> dict[str, Any]:
    """Spherical K-means from one start, with both silhouettes."""
    b = market(run.kind, run.n, run.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = spherical_kmeans(b.operator, run.k, seed=run.seed)
    cosine = silhouette(b.operator, found.labels)
    euclidean = silhouette(b.operator, found.labels, metric="euclidean", sample=1000)
    return {
        "silhouette": cosine.mean,
        "euclidean": euclidean.mean,
        "simplified": cosine.simplified,
        "passes": found.passes,
        "ari": float(adjusted_rand_score(b.labels, found.labels)),
        "spread": found.spread,
        "bound": found.bound,
        "degenerate": found.degenerate,
    }


def precision(run: Run) -> dict[str, Any]:
    """The error of one factor by the trace identity in three precisions, against 2ε / E."""
    b = market(run.kind, run.n, run.seed)
    problem = Problem(b.operator, run.k, run.seed)
    H = solve(problem, find("sketched").make()).H
    everything = torch.arange(run.n)
    S = b.operator.block(everything, everything).double()
    exact = error_by_definition(S, H)
    found: dict[str, Any] = {"exact": exact}
    for name, dtype in (
        ("bfloat16", torch.bfloat16),
        ("float32", torch.float32),
        ("float64", torch.float64),
    ):
        part, factor = S.to(dtype), H.to(dtype)
        value = error(factor, part @ factor, float(part.double().square().sum()))
        found[f"{name}_off"] = abs(value - exact) / exact
        found[f"{name}_law"] = 2 * float(torch.finfo(dtype).eps) / exact
    return found


TASKS: dict[str, Task] = {
    "factorize": factorize,
    "spectral": spectral,
    "kmeans": kmeans,
    "precision": precision,
}


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON knows; others become None."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in found.items()
    }


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def _thinned(history: tuple[Any, ...], most: int = 30) -> list[Any]:
    """At most so many looks, the first and the last among them."""
    if len(history) <= most:
        return list(history)
    step = (len(history) - 1) / (most - 1)
    return [history[round(m * step)] for m in range(most)]
