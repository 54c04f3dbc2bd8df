"""Requirements of a run: memory, disk, products, communication, time."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from time import perf_counter

import torch

from symnmf.display import Brief
from symnmf.errors import UnknownName, called
from symnmf.numerics import CHUNKS
from symnmf.operators import SymmetricOperator
from symnmf.operators.devices import RESIDENT_FRACTION, device_memory
from symnmf.operators.rows import TILE_BYTES
from symnmf.options import whole_number
from symnmf.resources import free_memory, require_memory
from symnmf.solvers.registry import find

FORMS = ("dense", "gram", "tiles")


#: Bytes of a float32, and bytes per entry of S with an n×n residual and its parts (the paper's
#: Table 1).
FLOAT32_BYTES, NAIVE_BYTES = 4, 20


#: Products S H that the recommended solvers take at n = 10⁴: dense, Gram (`symnmf bench phase1`,
#: means over seeds). The dense runs of the last three were cut above the gradient's gate; their
#: figures continue the power law of the last checks to the gate.
PRODUCTS = {
    "sketched": (10, 120),
    "admm": (330, 130),
    "adagrad": (2600, 3700),
    "piecewise-adagrad": (2600, 3900),
    "block-svrg-adaptgrow": (2800, 3800),
}


#: Rows of the square matrix with which the rate of products is measured.
TRIAL_SIDE = 2048


@dataclass(frozen=True, repr=False)
class Plan(Brief):
    """What one solver needs for S ≈ H Hᵀ.

    Attributes:
        solver: name of the solver.
        n, k, m: number of rows, number of groups, number of columns of B (n unless S is a Gram
            matrix).
        form: ``"dense"`` or ``"gram"`` in memory, or ``"tiles"`` mapped from disk.
        processes: number of processes that share the rows.
        memory: bytes of memory of each process.
        naive: bytes of memory with n×n residuals instead of the trace identity.
        storage: bytes of the matrix on disk.
        products: expected number of products S H.
        traffic: bytes that each process receives per product.
        seconds: expected time, from the rate of products.
        device_memory: bytes of a GPU that each process needs, with S on it if it fits.
        resident: whether S stays on the GPU; otherwise its tiles are moved for every product.
        moved: bytes moved to the GPU, once if S stays there, otherwise for every product.
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
    device_memory: float = 0.0
    resident: bool = False
    moved: float = 0.0


def plan(
    n: int,
    k: int | None = None,
    *,
    form: str = "dense",
    m: int = 400,
    processes: int = 1,
    rate: float | None = None,
    gpu_bytes: float | None = None,
) -> list[Plan]:
    """What the recommended solvers need, the default solver first.

    Arguments:
        n: number of instruments.
        k: number of groups; ⌊√n⌋ by default, as in the paper.
        form: ``"dense"``, ``"gram"`` (m columns) or ``"tiles"`` (dense, on disk).
        m: number of exceedances (columns of B) of a Gram matrix.
        processes: number of processes that share the rows.
        rate: multiply-adds per second of one process; by default measured on this machine, whose
            cores the processes then share.
        gpu_bytes: memory of a GPU, one for each process; none by default.

    Returns:
        One plan per solver.

    Raises:
        InvalidInput: a size is out of range, or ``form`` is unknown.

    Example:
        >>> default = plan(100_000, form="gram", rate=1e11)[0]
        >>> default.solver, round(default.storage / 1e6)
        ('sketched', 160)
    """
    n = whole_number("n", n, 2)
    k = isqrt(n) if k is None else whole_number("k", k, 1, n, "from 1 to n")
    if form not in FORMS:
        raise UnknownName("form", f"unknown form {form!r}", f"Choose {' or '.join(FORMS)}")
    m = whole_number("m", m, 1)
    processes = whole_number("processes", processes, 1, CHUNKS)
    if rate is None:  # measured with all cores, which processes of one machine share
        rate = product_rate(k) / processes
    width = m if form == "gram" else n
    own = FLOAT32_BYTES * n * width / processes
    held = {"dense": own, "gram": own + 8 * m * m, "tiles": 2 * TILE_BYTES}[form]
    work = (2 * n * m * k if form == "gram" else n * n * k) / processes
    traffic = FLOAT32_BYTES * n * k * (processes - 1) / processes
    if form == "gram" and processes > 1:
        traffic += FLOAT32_BYTES * m * k * (processes - 1)
    plans = []
    for name, products in PRODUCTS.items():
        count = products[form == "gram"]
        workspace = workspace_bytes(name, n, k)
        # Rows stay on the GPU if they take less than this share of what is free there.
        resident = gpu_bytes is not None and own < RESIDENT_FRACTION * gpu_bytes
        on_device = workspace + (own if resident else 2 * TILE_BYTES) + 8 * m * m * (form == "gram")
        plans.append(
            Plan(
                solver=name,
                n=n,
                k=k,
                m=width,
                form=form,
                processes=processes,
                memory=held + workspace_bytes(name, n, k),
                naive=NAIVE_BYTES * n * n / processes + workspace_bytes(name, n, k),
                storage=FLOAT32_BYTES * n * width,
                products=count,
                traffic=traffic,
                seconds=count * work / rate,
                device_memory=0.0 if gpu_bytes is None else on_device,
                resident=resident,
                moved=0.0 if gpu_bytes is None else own,
            )
        )
    return plans


def workspace_bytes(solver: str, n: int, k: int, itemsize: int = FLOAT32_BYTES) -> float:
    """Bytes that a solver needs in addition to S: its n×k arrays."""
    return float(find(solver).arrays * n * k * itemsize)


def require_workspace(S: SymmetricOperator, k: int, solver: str, local: int) -> None:
    """Raise NotEnough, in all processes or in none, where the memory does not suffice.

    Arguments:
        S: the matrix, which is in memory already.
        k: number of columns of H.
        solver: name of the solver.
        local: number of processes on this machine, which share its memory.
    """
    need = workspace_bytes(solver, S.n, k, S.dtype.itemsize)
    if S.device.type != "cpu":
        remedy = f"Use a smaller {called('k')}, another solver, or the CPU"
        have = device_memory(S.device)
        require_memory(need, f"{solver} with k = {k} on {S.device}", remedy, have)
        return
    (free,) = S.agree(free_memory())
    require_memory(
        need * (local if S.process_count > 1 else 1),
        f"{solver} with k = {k} in addition to S",
        f"Use a smaller {called('k')}, or another solver (`symnmf plan` lists what each needs)",
        free,
    )


def product_rate(k: int) -> float:
    """Multiply-adds per second of float32 products with k columns, measured on this machine."""
    k = min(k, TRIAL_SIDE)
    A, X = torch.rand(TRIAL_SIDE, TRIAL_SIDE), torch.rand(TRIAL_SIDE, k)
    A @ X
    best = float("inf")
    for _ in range(3):
        began = perf_counter()
        A @ X
        best = min(best, perf_counter() - began)
    return TRIAL_SIDE * TRIAL_SIDE * k / best
