"""What a run will need: memory, disk, products, communication, time."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from time import perf_counter

import torch

from symnmf.contract import whole
from symnmf.errors import UnknownName
from symnmf.operators.group import CHUNKS
from symnmf.operators.store import TILE_BYTES
from symnmf.solvers.registry import find

FORMS = ("dense", "gram", "tiles")
#: Bytes of a float32, and of S against n² with an n×n residual and its parts (the paper's Table 1).
FLOAT, NAIVE = 4, 20
#: Products S H that the recommended solvers took at n = 10⁴ (docs/performance.md): dense, Gram.
PRODUCTS = {
    "sketched": (10, 130),
    "admm": (320, 140),
    "adagrad": (2940, 3700),
    "piecewise-adagrad": (2940, 3900),
    "block-svrg-adaptgrow": (2590, 3800),
}
#: Side of the square matrix that measures the rate of products.
SIDE = 2048


@dataclass(frozen=True)
class Plan:
    """What one solver needs for S ≈ H Hᵀ.

    Attributes:
        solver: name.
        n, k, m: sizes; m columns of B for a Gram matrix, else n.
        form: ``"dense"`` and ``"gram"`` in memory, ``"tiles"`` mapped from disk.
        processes: that share the rows.
        memory: bytes of each process.
        naive: bytes with n×n residuals instead of the trace identity.
        storage: bytes of the matrix on disk.
        products: expected number of products S H.
        traffic: bytes that each process receives in a product.
        seconds: expected; from the measured rate.
    """

    solver: str
    n: int
    k: int
    m: int
    form: str
    processes: int
    memory: float
    naive: float
    storage: float
    products: int
    traffic: float
    seconds: float


def plan(
    n: int,
    k: int | None = None,
    *,
    form: str = "dense",
    m: int = 400,
    processes: int = 1,
    rate: float | None = None,
) -> list[Plan]:
    """What the recommended solvers need, the default one first.

    Arguments:
        n: number of instruments.
        k: number of groups; ⌊√n⌋ by default, as in the paper.
        form: ``"dense"``, ``"gram"`` (m columns) or ``"tiles"`` (dense, on disk).
        m: number of exceedances (columns of B) of a Gram matrix.
        processes: that share the rows.
        rate: multiply-adds a second of one process; measured by default, on this machine, whose
            cores the processes then share.

    Example:
        >>> default = plan(100_000, form="gram", rate=1e11)[0]
        >>> default.solver, round(default.storage / 1e6)
        ('sketched', 160)
    """
    n = whole("n", n, 2, float("inf"), "of at least 2")
    k = isqrt(n) if k is None else whole("k", k, 1, n, "from 1 to n")
    if form not in FORMS:
        raise UnknownName("form", f"unknown form {form!r}", f"Choose {' or '.join(FORMS)}")
    m = whole("m", m, 1, float("inf"), "that is positive")
    processes = whole("processes", processes, 1, CHUNKS, f"from 1 to {CHUNKS}")
    if rate is None:  # measured with all cores, which processes of one machine share
        rate = product_rate(k) / processes
    width = m if form == "gram" else n
    own = FLOAT * n * width / processes
    held = {"dense": own, "gram": own + 8 * m * m, "tiles": 2 * TILE_BYTES}[form]
    work = (2 * n * m * k if form == "gram" else n * n * k) / processes
    traffic = FLOAT * n * k * (processes - 1) / processes
    if form == "gram" and processes > 1:
        traffic += FLOAT * m * k * (processes - 1)
    plans = []
    for name, products in PRODUCTS.items():
        count = products[form == "gram"]
        plans.append(
            Plan(
                solver=name,
                n=n,
                k=k,
                m=width,
                form=form,
                processes=processes,
                memory=held + beside(name, n, k),
                naive=NAIVE * n * n / processes + beside(name, n, k),
                storage=FLOAT * n * width,
                products=count,
                traffic=traffic,
                seconds=count * work / rate,
            )
        )
    return plans


def beside(solver: str, n: int, k: int, itemsize: int = FLOAT) -> float:
    """Bytes that a solver needs beside S: its n×k arrays."""
    return float(find(solver).memory * n * k * itemsize)


def product_rate(k: int) -> float:
    """Multiply-adds a second of float32 products with k columns, measured here and now."""
    k = min(k, SIDE)
    A, X = torch.rand(SIDE, SIDE), torch.rand(SIDE, k)
    A @ X
    best = float("inf")
    for _ in range(3):
        began = perf_counter()
        A @ X
        best = min(best, perf_counter() - began)
    return SIDE * SIDE * k / best
