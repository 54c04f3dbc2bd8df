"""The sketched solver against its bars, other people's programs, and our own rows."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.metrics import adjusted_rand_score

from benchmarks.peers import silence, symmetrized
from symnmf.certificate import Yardstick
from symnmf.contract import Check, Problem
from symnmf.engine import solve
from symnmf.labels import hard_labels
from symnmf.objective import error
from symnmf.solvers.registry import solvers
from symnmf.solvers.sketched import Sketched
from symnmf.synthetic import Benchmark, benchmark_matrix

SEEDS = (7, 42, 99)
SIZES = (1000, 10_000)


def bare_product(b: Benchmark, repeat: int = 5) -> float:
    """Seconds of S @ H with k columns."""
    X = torch.rand(b.operator.n, b.k)
    b.operator.matmul(X)
    began = time.perf_counter()
    for _ in range(repeat):
        b.operator.matmul(X)
    return (time.perf_counter() - began) / repeat


def bars(console: Console) -> None:
    """Status, excess, ARI, products and time of the default solver; spectrum included."""
    title = "sketched: floor and certificate included (time in bare products of the same run)"
    table = Table(title=title, title_justify="left")
    for heading in (
        "matrix",
        "n",
        "seed",
        "status",
        "excess",
        "ARI",
        "products",
        "time",
        "seconds",
    ):
        table.add_column(heading)
    for kind in ("corr", "tpdm"):
        for n in SIZES:
            for seed in SEEDS:
                b = benchmark_matrix(kind, n, seed=seed)
                bare = bare_product(b)
                began = time.perf_counter()
                result = solve(Problem(b.operator, b.k, 0), Sketched())
                seconds = time.perf_counter() - began
                ari = adjusted_rand_score(b.labels, result.labels())
                table.add_row(
                    kind,
                    str(n),
                    str(seed),
                    result.status.name,
                    f"{result.certificate.excess:.5f}",
                    f"{ari:.3f}",
                    f"{result.products:.1f}",
                    f"{seconds / bare:.0f}",
                    f"{seconds:.2f}",
                )
    console.print(table)


def scikit_learn(S: np.ndarray, k: int) -> np.ndarray:
    """NMF by coordinate descent from NNDSVDa."""
    from sklearn.decomposition import NMF

    model = NMF(k, init="nndsvda", solver="cd", max_iter=200, tol=1e-4)
    W = model.fit_transform(S)
    return symmetrized(W, model.components_.T)


def nmf_torch(S: np.ndarray, k: int) -> np.ndarray:
    """HALS in batches."""
    from nmf import run_nmf

    W, H, _ = run_nmf(S, k, algo="hals", mode="batch", fp_precision="float", use_gpu=False)
    return symmetrized(np.asarray(W, dtype=np.float64), np.asarray(H, dtype=np.float64).T)


def pyplanc(S: np.ndarray, k: int) -> np.ndarray:
    """Gauss–Newton (the faster of its two)."""
    import pyplanc as library

    with silence():
        out = library.symNMF(
            np.asfortranarray(S, dtype=np.float64),
            k,
            niter=100,
            algo="gnsym",
            ncores=torch.get_num_threads(),
        )
    return symmetrized(np.array(out.W), np.array(out.H))


PEERS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "scikit-learn NMF": scikit_learn,
    "nmf-torch HALS": nmf_torch,
    "pyplanc gnsym": pyplanc,
}


def peers(console: Console, n: int = 10_000, seed: int = 7) -> None:
    """Error, ARI and seconds of other programs and of ours on one correlation matrix."""
    b = benchmark_matrix("corr", n, seed=seed)
    S = b.operator
    table = Table(title=f"correlation n = {n:,}, k = {b.k}: others and we", title_justify="left")
    for heading in ("program", "seconds", "error", "ARI"):
        table.add_column(heading)
    whole = torch.as_tensor(S.block(torch.arange(n), torch.arange(n))).numpy()

    def ours(matrix: np.ndarray, k: int) -> np.ndarray:
        return solve(Problem(S, k), Sketched()).H.numpy()

    for name, run in {"symnmf": ours, **PEERS}.items():
        began = time.perf_counter()
        try:
            H = torch.from_numpy(np.ascontiguousarray(run(whole, b.k), dtype=np.float32))
        except ImportError:
            table.add_row(name, "not installed", "", "")
            continue
        seconds = time.perf_counter() - began
        value = error(H, S.matmul(H), S.frob_sq())
        ari = adjusted_rand_score(b.labels, hard_labels(H)[0])
        table.add_row(name, f"{seconds:.1f}", f"{value:.3e}", f"{ari:.3f}")
    console.print(table)


def own_rows(console: Console, n: int = 10_000, seed: int = 7, limit: float = 30.0) -> None:
    """How near every default row comes to our error in a limited time."""
    b = benchmark_matrix("corr", n, seed=seed)
    problem = Problem(b.operator, b.k)
    result = solve(problem, Sketched())
    yardstick = Yardstick(problem.spectrum, b.k, b.operator.dtype)
    ours = result.certificate.error
    table = Table(
        title=f"correlation n = {n:,}: excess after {limit:g} s (sketched: "
        f"{result.certificate.excess:.5f} in {result.seconds:.1f} s)",
        title_justify="left",
    )
    table.add_column("row")
    table.add_column("excess")
    table.add_column("seconds to our error")

    def stop(check: Check, H: torch.Tensor) -> bool:
        return check.error <= ours

    for name, row in solvers().items():
        if row.tier != "default" or name == "sketched":
            continue
        start = Problem(b.operator, b.k, 0, row.start)
        found = solve(start, row.make(), max_seconds=limit, callbacks=[stop])
        least = min(check.error for check in found.history)
        reached = f"{found.seconds:.1f}" if least <= ours else "not reached"
        table.add_row(name, f"{yardstick.excess(least):.5f}", reached)
    console.print(table)
