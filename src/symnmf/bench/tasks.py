"""The tasks of studies: functions from a run to plain numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from symnmf.bench.fits import factorize, published, stopping
from symnmf.bench.peers import PEERS, silence
from symnmf.bench.problems import study_problem
from symnmf.bench.rounded_products import rounded_products
from symnmf.bench.study import Run
from symnmf.bench.tensor_memory import TensorMemory
from symnmf.core.bounds import ErrorBounds
from symnmf.core.labels import hard_labels
from symnmf.core.objective import error, error_by_definition, gradient
from symnmf.core.problem import Problem
from symnmf.core.spectrum import diagnostics, smallest_eigenvalue
from symnmf.engine import solve as solve_stoppable
from symnmf.grouping.silhouette import silhouette
from symnmf.grouping.spherical_kmeans import spherical_kmeans
from symnmf.operators import SymmetricOperator
from symnmf.solvers.first_order import EntrySampling
from symnmf.solvers.registry import find

#: From a run and a folder for files of its own to plain numbers.
Task = Callable[[Run, Path], dict[str, Any]]
#: Rows of S up to which the spectral table has all eigenvalues: minutes and 3 GB at the most.
ALL_EIGENVALUES = 12_000
#: Ctrl-C ends the study and not a run of it, which would then count as done.
solve = partial(solve_stoppable, handle_interrupt=False)


def memory(run: Run, scratch: Path) -> dict[str, Any]:
    """Peak memory of tensors: of one loss with its gradient, or of a fit in addition to S."""
    S = study_problem(run.kind, run.n, run.seed, scratch).operator
    if run.solver in LOSSES:
        full, H = S.to_dense(), Problem(S, run.k, run.seed).H0
        with TensorMemory() as tensors:
            tensors.ignore(full, H)
            LOSSES[run.solver](full, H)
        bytes_ = tensors.peak + full.nbytes + H.nbytes
    else:
        bytes_ = peak_bytes_in_fit(S, run.k, run.solver)
    return {
        "bytes_per_n2": bytes_ / run.n**2 if run.solver in LOSSES else None,
        "largest_n_80GB": (80e9 * run.n**2 / bytes_) ** 0.5 if run.solver in LOSSES else None,
        "largest_n_192GB": (192e9 * run.n**2 / bytes_) ** 0.5 if run.solver in LOSSES else None,
        "arrays": None if run.solver in LOSSES else bytes_ / (run.n * run.k * S.dtype.itemsize),
        "stated": None if run.solver in LOSSES else find(run.solver).arrays,
    }


def peak_bytes_in_fit(S: SymmetricOperator, k: int, name: str) -> int:
    """Peak memory of the tensors of a fit in addition to S, in bytes."""
    row = find(name)
    steps = 2 if row.sampling is EntrySampling else 11  # entries take minutes at this size
    with TensorMemory() as tensors, warnings.catch_warnings():
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


def peer(run: Run, scratch: Path) -> dict[str, Any]:
    """Another program, or a row of our registry, on the same matrix with the same bounds."""
    b = study_problem(run.kind, run.n, run.seed, scratch)
    problem = Problem(b.operator, run.k, run.seed)
    bounds = ErrorBounds(problem.spectrum, run.k, b.operator.dtype)
    if run.solver in PEERS:
        S = b.operator.to_dense().numpy()
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
        ari = float(adjusted_rand_score(b.labels, found))
        nothing = dict.fromkeys(("error", "excess", "factors_explained"))
        return {"seconds": seconds, **nothing, "ari": ari}
    H = torch.from_numpy(np.ascontiguousarray(found, dtype=np.float32))
    value = error(H, b.operator.matmul(H), b.operator.frob_sq())
    return {
        "seconds": seconds,
        "error": value,
        "excess": bounds.excess(value),
        "factors_explained": bounds.factors_explained(value),
        "ari": float(adjusted_rand_score(b.labels, hard_labels(H)[0])),
    }


def spectral(run: Run, scratch: Path) -> dict[str, Any]:
    """The columns of the paper's spectral table."""
    b = study_problem(run.kind, run.n, run.seed, scratch)
    spectrum, smallest = Problem(b.operator, run.k, run.seed).spectrum, None
    if not spectrum.exact and run.n > ALL_EIGENVALUES:
        smallest = smallest_eigenvalue(b.operator)[0]
    elif not spectrum.exact:  # eigenvalue k + 2 lies in the noise: its Ritz value is too small
        values = torch.linalg.eigvalsh(b.operator.to_dense().to(torch.float64)).flip(0)
        smallest = float(values[-1])
        spectrum = replace(
            spectrum, values=values, residuals=torch.zeros_like(values), power_steps=None
        )
    d = diagnostics(spectrum, run.k, smallest)
    low, high = spectrum.floor(run.k)
    return {**vars(d), "floor_low": low, "floor_high": high, "lambda_min": smallest}


def kmeans(run: Run, scratch: Path) -> dict[str, Any]:
    """Spherical K-means from one start, as in the paper, with both silhouettes."""
    b = study_problem(run.kind, run.n, run.seed, scratch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        found = spherical_kmeans(b.operator, run.k, seed=run.seed, seeding="plain")
        seconds = time.perf_counter() - began
    cosine = silhouette(b.operator, found.labels)
    euclidean = silhouette(b.operator, found.labels, metric="euclidean", sample=1000)
    return {
        "silhouette": cosine.mean,
        "euclidean": euclidean.mean,
        "simplified": cosine.simplified,
        "passes": found.passes,
        "seconds": seconds,
        "ari": float(adjusted_rand_score(b.labels, found.labels)),
        "spread": found.spread,
        "bound": found.bound,
        "degenerate": found.degenerate,
    }


def precision(run: Run, scratch: Path) -> dict[str, Any]:
    """The error of one factor by the trace identity in several precisions, against 2ε / E.

    ``NAME_off`` has S, H, the product and the sums in one precision; ``NAME_product_off`` has S and
    H rounded to half precision for the product S H alone, which is accumulated in float32, as
    tensor cores do, with the terms of the identity in float64.
    """
    b = study_problem(run.kind, run.n, run.seed, scratch)
    problem = Problem(b.operator, run.k, run.seed)
    H = solve(problem, find("sketched").make()).H
    S = b.operator.to_dense().double()
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
    norm = float(S.square().sum())
    for name, half in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        product = S.to(half).float() @ H.to(half).float()  # products of halves are exact in float32
        value = error(H.double(), product.double(), norm)
        found[f"{name}_product_off"] = abs(value - exact) / exact
    return found


TASKS: dict[str, Task] = {
    "factorize": factorize,
    "published": published,
    "spectral": spectral,
    "kmeans": kmeans,
    "precision": precision,
    "rounded_products": rounded_products,
    "stopping": stopping,
    "memory": memory,
    "peer": peer,
}


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """The figures of a run with None for numbers that JSON cannot hold."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in found.items()
    }
