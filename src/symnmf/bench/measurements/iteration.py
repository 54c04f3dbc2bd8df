"""Where the time of an iteration goes when processes share the rows, and what it says of the model.

Computing is measured in processor seconds of the first process, which other work on the machine
does not change much; what processes exchange is measured by the clock, with its waiting.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torch

from symnmf.bench.iteration_profile import profiled_parts
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.measurements.scaling import M, share
from symnmf.core.problem import Problem
from symnmf.distributed.process_group import ProcessGroup, join
from symnmf.factorization import factorize
from symnmf.operators import DenseOperator, GramOperator
from symnmf.solvers.registry import make_solver
from symnmf.storage.checkpoint import Checkpoint

N, K, WARM, STEPS = 5000, 100, 2, 10
PROCESSES = (1, 2, 4)
SPLIT = MeasuredTable(
    "iteration-split",
    f"An iteration of AdaGrad, k = {K} (Gram: {M} columns), one thread a process, in ms",
    ("matrix", "n", "processes"),
    ("product", "reduction", "host", "exchange", "product by the model", "host by the model"),
    {},
)
PROFILE = MeasuredTable(
    "iteration-profile",
    "The same iterations by torch's profiler, in ms of the clock of the first process",
    ("matrix", "n", "processes"),
    ("product", "communication", "reduction", "other operators", "host"),
    {},
)
EXTRA = MeasuredTable(
    "iteration-extra",
    "What a check and a checkpoint cost, in iterations of AdaGrad",
    ("matrix", "n"),
    ("a check", "a checkpoint"),
    {},
)
T = TypeVar("T")


class Split:
    """Processor seconds of products and of reductions, and seconds of the clock of exchanges."""

    def __init__(self, group: ProcessGroup, S: Any):
        self.product = self.reduction = self.exchange = self.waited = 0.0
        call, tree, matmul = group._call, group.tree, S.matmul

        def timed_call(collective: Callable[[], T]) -> T:
            clock, processor = time.perf_counter(), time.thread_time()
            try:
                return call(collective)
            finally:
                self.exchange += time.perf_counter() - clock
                self.waited += time.thread_time() - processor

        def timed_tree(leaf: Callable[[int], torch.Tensor]) -> torch.Tensor:
            began, before, inside = time.thread_time(), self.waited, [0.0]

            def timed_leaf(chunk: int) -> torch.Tensor:
                start = time.thread_time()
                made = leaf(chunk)
                inside[0] += time.thread_time() - start
                return made

            made = tree(timed_leaf)
            self.reduction += time.thread_time() - began - inside[0] - (self.waited - before)
            return made

        def timed_matmul(X: torch.Tensor) -> torch.Tensor:
            began, before = time.thread_time(), self.waited + self.reduction
            made: torch.Tensor = matmul(X)
            self.product += time.thread_time() - began - (self.waited + self.reduction - before)
            return made

        group.__dict__.update(_call=timed_call, tree=timed_tree)
        S.__dict__["matmul"] = timed_matmul


def time_iterations(form: str, n: int) -> None:
    """Print the parts of an iteration, of a check and of a checkpoint; in each process."""
    group = join()
    assert group is not None, "this runs under torchrun"
    torch.manual_seed(group.process_index)
    S = share(form, n, group)
    if isinstance(S, DenseOperator):
        S._frob_sq, S._sum = n * n / 3, n * n / 2
    problem = Problem(S, K, 7)
    solver, rng = make_solver("adagrad"), torch.Generator().manual_seed(1)
    state = solver.init_state(problem)
    for _ in range(WARM):
        state = solver.step(problem, state, rng)
    profile = profiled_parts(group, S, lambda: solver.step(problem, state, rng), STEPS)
    split, began = Split(group, S), time.thread_time()
    for _ in range(STEPS):
        state = solver.step(problem, state, rng)
    total = time.thread_time() - began
    parts = [split.product, split.reduction, total - split.product - split.reduction - split.waited]
    found = {"parts": [1e3 * x / STEPS for x in (*parts, split.exchange)], "profile": profile}
    if group.process_count == 1:
        found["extra"] = _extra(form, n)
    if group.process_index == 0:
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
    group.leave()


def _extra(form: str, n: int) -> list[float]:
    """A check and a checkpoint of a fit, as multiples of one of its iterations."""
    rng, saving = torch.Generator().manual_seed(1), [0.0, 0.0]
    B = torch.rand(n, n if form == "dense" else M, generator=rng)
    S = DenseOperator(B.add_(B.T.clone()).div_(2)) if form == "dense" else GramOperator(B)
    save = Checkpoint.save

    def timed_save(*given: Any) -> None:
        began = time.perf_counter()
        save(*given)
        saving[0] += time.perf_counter() - began
        saving[1] += 1

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Checkpoint.save = timed_save  # type: ignore[method-assign, assignment]
        try:
            found = factorize(
                S, K, "adagrad", max_iter=40, checkpoint=Checkpoint(Path(folder), every_seconds=0)
            )
        finally:
            Checkpoint.save = save  # type: ignore[method-assign]
    step = (found.seconds - found.check_seconds - saving[0]) / max(1, found.iterations)
    check = found.check_seconds / max(1, len(found.history))
    return [check / step, saving[0] / max(1.0, saving[1]) / step]


def in_processes(form: str, n: int, processes: int) -> dict[str, list[float]]:
    """Start the processes and read what the first of them measured."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), "-m", __spec__.name, form, str(n)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each form and number of processes, beside what the model says.

    The model has one rate of products, which is fitted to all rows of a form, and one of replicated
    work: 2·n²·k / P (4·n·m·k / P for a Gram matrix) and 4·n·k² operations.
    """
    n = choices.size(N)
    extra = []  # rows of the other tables
    for form in ("dense", "gram"):
        every = {p: in_processes(form, n, p) for p in PROCESSES}
        work = {p: (2 * n * n * K if form == "dense" else 4 * n * M * K) / p for p in PROCESSES}
        # Least squares of the logarithm: the rate with the same relative error up and down.
        rate = _geometric([work[p] / every[p]["parts"][0] for p in PROCESSES])
        host = _geometric([every[p]["parts"][2] for p in PROCESSES])
        for p in PROCESSES:
            product, reduction, rest, exchange = every[p]["parts"]
            yield SPLIT.row(
                form, n, p, product, reduction, rest, exchange if p > 1 else None, work[p] / rate,
                host,
            )  # fmt: skip
        for p in PROCESSES:
            product, communication, *others = every[p]["profile"]
            known = communication if p > 1 else None
            extra.append(PROFILE.row(form, n, p, product, known, *others))
        extra.append(EXTRA.row(form, n, *every[1]["extra"]))
    yield from extra


def _geometric(values: list[float]) -> float:
    """Geometric mean."""
    return float(torch.tensor(values, dtype=torch.float64).log().mean().exp())


MEASUREMENT = Measurement(
    "iteration", "Where the time of an iteration goes", (SPLIT, PROFILE, EXTRA), ("sizes",), measure
)

if __name__ == "__main__":
    time_iterations(sys.argv[1], int(sys.argv[2]))
