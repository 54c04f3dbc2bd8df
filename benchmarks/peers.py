"""Against other people's programs, where installed: same matrix, same threads, same judge."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from symnmf.contract import Check, Problem
from symnmf.engine import solve
from symnmf.objective import error
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.solvers.registry import find
from symnmf.synthetic import benchmark_matrix

#: Algorithm and iterations of the two runs of pyplanc.
PLANC = (("anlsbpp", 60), ("gnsym", 100))
OURS = ("anls", "hals", "pgncg")


@contextmanager
def silence() -> Iterator[None]:
    """What a library prints past Python goes nowhere."""
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        yield
    finally:
        for descriptor, copy in enumerate(kept, start=1):
            os.dup2(copy, descriptor)
            os.close(copy)
        os.close(nowhere)


def symmetrized(W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """One factor of two: the mean direction of each pair of columns, at their common size."""
    if W.shape != H.shape:
        return H
    w, h = (np.maximum(np.linalg.norm(X, axis=0), 1e-300) for X in (W, H))
    return (W / w + H / h) / 2 * np.sqrt(w * h)


def planc(S: np.ndarray, k: int, algorithm: str, iterations: int) -> tuple[float, float]:
    """Seconds and error of pyplanc, from its own start, in float64 as it demands."""
    import pyplanc

    began = time.perf_counter()
    with silence():
        out = pyplanc.symNMF(
            np.asfortranarray(S, dtype=np.float64),
            k,
            niter=iterations,
            algo=algorithm,
            ncores=torch.get_num_threads(),
        )
    seconds = time.perf_counter() - began
    H = torch.from_numpy(symmetrized(np.array(out.W), np.array(out.H)))
    full = torch.from_numpy(S).double()
    return seconds, error(H, full @ H, float(full.square().sum()))


def reach(S: SymmetricOperator, k: int, seed: int, name: str, target: float) -> float | None:
    """Seconds until a row of ours has an error of at most ``target``, spectrum included."""
    row = find(name)

    def stop(check: Check, H: torch.Tensor) -> bool:
        return check.error <= target

    began = time.perf_counter()
    result = solve(Problem(S, k, seed, row.start), row.make(), callbacks=[stop])
    reached = result.history[-1].error <= target
    return time.perf_counter() - began if reached else None


def against_planc(console: Console, n: int = 1000, seed: int = 7) -> None:
    """Time of our rows to 1.02 × the final error of pyplanc's."""
    try:
        import pyplanc  # noqa: F401
    except ImportError:
        console.print("pyplanc is not installed: no comparison with it (pip install pyplanc)")
        return
    table = Table(
        title=f"seconds to 1.02 × pyplanc's final error, n = {n:,} (bar: pyplanc's own time)",
        title_justify="left",
    )
    for heading in ("matrix", "pyplanc", "its error", "its seconds", *OURS):
        table.add_column(heading)
    for kind in ("corr", "tpdm"):
        b = benchmark_matrix(kind, n, seed=seed)
        everything = torch.arange(n)
        S = b.operator.block(everything, everything).contiguous()
        for algorithm, iterations in PLANC:
            seconds, final = planc(S.numpy(), b.k, algorithm, iterations)
            ours = [reach(as_operator(S), b.k, seed, name, 1.02 * final) for name in OURS]
            words = ["not reached" if t is None else f"{t:.2f}" for t in ours]
            table.add_row(kind, algorithm, f"{final:.3e}", f"{seconds:.2f}", *words)
    console.print(table)
