"""What a run does: a name, a function from a run to plain numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from math import isfinite
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from symnmf.bench.alive import AliveTensors
from symnmf.bench.peers import PEERS, silence
from symnmf.bench.study import Run
from symnmf.certificate import Yardstick
from symnmf.contract import Check, Problem
from symnmf.engine import solve as solve_stoppable
from symnmf.engine.monitor import paper_gates
from symnmf.groups.silhouette import silhouette
from symnmf.groups.spherical_kmeans import spherical_kmeans
from symnmf.labels import hard_labels
from symnmf.objective import error, error_by_definition, gradient
from symnmf.operators import SymmetricOperator
from symnmf.seeds import torch_stream
from symnmf.solvers.first_order import Entries
from symnmf.solvers.registry import find
from symnmf.spectrum import diagnostics, smallest_eigenvalue
from symnmf.synthetic import Benchmark, benchmark_matrix

Task = Callable[[Run], dict[str, Any]]
#: Ctrl-C ends the study, not a run of it, which would count as done.
solve = partial(solve_stoppable, stoppable=False)


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


#: When rivals of the criterion stop, from a look and its tolerance (the paper's section 4.1).
RULES: dict[str, Callable[[Check, float, int], bool]] = {
    "error decreases by less than": lambda c, tol, n: c.relative_decrease < tol,
    "factor changes by less than": lambda c, tol, n: c.iterate_change < tol,
    "gradient against its start below": lambda c, tol, n: c.kkt_relative < tol,
    "the paper's gates": lambda c, tol, n: paper_gates(c, n),
}


def stopping(run: Run) -> dict[str, Any]:
    """What a solver has when a rival rule stops it; without a rule, when our criterion does.

    ``start="uniform"`` begins with entries in [0, 1] instead of the start of the paper's text.
    """
    b, row = market(run.kind, run.n, run.seed), find(run.solver)
    options = dict(run.options)
    name, tolerance = options.pop("rule", None), options.pop("tolerance", 0.0)
    start: str | Tensor = row.start
    if options.pop("start", None) == "uniform":
        start = torch.rand(run.n, run.k, generator=torch_stream(run.seed, "start"))
    problem = Problem(b.operator, run.k, run.seed, start)
    rule = RULES[name] if name else lambda check, tol, n: False

    def stop(check: Check, H: Tensor) -> bool:
        return check.iteration > 0 and rule(check, tolerance, run.n)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(
            problem,
            row.make(**options),
            max_iter=run.iterations,
            max_seconds=run.seconds,
            callbacks=[stop],
        )
    last = result.history[-1]
    return {
        "status": result.status.name,
        "fired": stop(last, result.H),
        "iterations": result.iterations,
        "products": result.products,
        "error": result.certificate.error,
        "excess": result.certificate.excess,
        "worth": result.certificate.worth,
        "kkt_ratio": last.kkt_ratio,
        "ari": float(adjusted_rand_score(b.labels, result.labels())),
    }


def memory(run: Run) -> dict[str, Any]:
    """Most bytes alive at a time: of one loss with its gradient, or of a fit above S."""
    S = market(run.kind, run.n, run.seed).operator
    if run.solver in LOSSES:
        everything = torch.arange(run.n)
        full, H = S.block(everything, everything), Problem(S, run.k, run.seed).H0
        with AliveTensors() as tensors:
            tensors.ignore(full, H)
            LOSSES[run.solver](full, H)
        bytes_ = tensors.peak + full.nbytes + H.nbytes
    else:
        bytes_ = alive_in_fit(S, run.k, run.solver)
    return {
        "bytes_per_n2": bytes_ / run.n**2 if run.solver in LOSSES else None,
        "largest_n_80GB": (80e9 * run.n**2 / bytes_) ** 0.5 if run.solver in LOSSES else None,
        "largest_n_192GB": (192e9 * run.n**2 / bytes_) ** 0.5 if run.solver in LOSSES else None,
        "arrays": None if run.solver in LOSSES else bytes_ / (run.n * run.k * S.dtype.itemsize),
        "stated": None if run.solver in LOSSES else find(run.solver).memory,
    }


def alive_in_fit(S: SymmetricOperator, k: int, name: str) -> int:
    """Peak of tensors alive in a fit above S, in bytes."""
    row = find(name)
    steps = 2 if row.sampling is Entries else 11  # entries take minutes at this size
    with AliveTensors() as tensors, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve(
            Problem(S, k, 7, row.start), row.make(), max_iter=200 if name == "sketched" else steps
        )
    return int(tensors.peak)


def _naive(S: Tensor, H: Tensor) -> None:
    H = H.clone().requires_grad_()
    torch.autograd.backward(((S - H @ H.T) ** 2).sum())


def _trace(S: Tensor, H: Tensor) -> None:
    SH = S @ H
    error(H, SH, 1.0)
    gradient(H, SH)


#: The loss with its gradient, through the residual and through the trace identity.
LOSSES: dict[str, Callable[[Tensor, Tensor], None]] = {"residual": _naive, "trace": _trace}


def peer(run: Run) -> dict[str, Any]:
    """Another program, or a row of ours, on the same matrix, judged by the same yardstick."""
    b = market(run.kind, run.n, run.seed)
    everything = torch.arange(run.n)
    problem = Problem(b.operator, run.k, run.seed)
    yardstick = Yardstick(problem.spectrum, run.k, b.operator.dtype)
    if run.solver in PEERS:
        S = b.operator.block(everything, everything).numpy()
        began = time.perf_counter()
        with silence(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = PEERS[run.solver](S, run.k, run.seed)
        seconds = time.perf_counter() - began
    else:
        began = time.perf_counter()
        fresh = Problem(b.operator, run.k, run.seed, find(run.solver).start)  # spectrum included
        found = solve(fresh, find(run.solver).make(), max_seconds=run.seconds).H.numpy()
        seconds = time.perf_counter() - began
    if found.ndim == 1:
        return {"seconds": seconds, "error": None, "excess": None, "worth": None,
                "ari": float(adjusted_rand_score(b.labels, found))}  # fmt: skip
    H = torch.from_numpy(np.ascontiguousarray(found, dtype=np.float32))
    value = error(H, b.operator.matmul(H), b.operator.frob_sq())
    return {
        "seconds": seconds,
        "error": value,
        "excess": yardstick.excess(value),
        "worth": yardstick.worth(value),
        "ari": float(adjusted_rand_score(b.labels, hard_labels(H)[0])),
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
    "stopping": stopping,
    "memory": memory,
    "peer": peer,
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
