"""Products of one matrix whose rows several processes share (gloo, on this machine)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import torch

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.timing import fastest
from symnmf.distributed.process_group import ProcessGroup, join
from symnmf.numerics import chunk_edges
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.operators.rows import Rows

N, K, M, REPEAT = 10_000, 100, 400, 7
#: Processes, and threads of each.
GROUPS = ((1, 2), (1, 1), (2, 1), (4, 1))
SCALING = MeasuredTable(
    "scaling",
    f"One product S H, k = {K} (Gram: {M} columns), with rows shared by several processes",
    ("matrix", "processes", "threads each"),
    ("ms a product", "of it gathering", "ratio"),
    {"ratio": "higher"},
)


def share(form: str, n: int, group: ProcessGroup) -> SymmetricOperator:
    """A matrix of random numbers of which this process has its rows."""
    edges, own = chunk_edges(n), group.share()
    data = torch.rand(edges[own.stop] - edges[own.start], n if form == "dense" else M)
    rows = Rows.shared_out(data, n, group)
    return DenseOperator.of(rows, 1.0, 1.0) if form == "dense" else GramOperator(rows)


def time_product(form: str, n: int) -> None:
    """Print the seconds of a product, and of what the processes exchange in it; in each process."""
    group = join()
    assert group is not None, "this runs under torchrun"
    S, X, edges = share(form, n, group), torch.rand(n, K), chunk_edges(n)
    sizes = [edges[r.stop] - edges[r.start] for r in group.shares()]
    local = torch.rand(sizes[group.process_index], K)
    whole = fastest(lambda: S.matmul(X), REPEAT)
    gathering = fastest(lambda: group.gather(local, sizes), REPEAT)
    if group.process_index == 0:
        sys.stdout.write(f"{whole} {gathering}\n")
        sys.stdout.flush()
    group.leave()


def in_processes(form: str, n: int, processes: int, threads: int) -> tuple[float, float]:
    """Start the processes and read what the first of them measured."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), "-m", __spec__.name, form, str(n)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    whole, gathering = map(float, done.stdout.split())
    return whole, gathering


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each form and number of processes."""
    n = choices.size(N)
    for form in ("dense", "gram"):
        first = 0.0
        for processes, threads in GROUPS:
            whole, gathering = in_processes(form, n, processes, threads)
            first = first or whole
            yield SCALING.row(
                form,
                processes,
                threads,
                1e3 * whole,
                1e3 * gathering if processes > 1 else None,
                whole / first,
            )


MEASUREMENT = Measurement(
    "scaling", "Products shared by several processes", (SCALING,), ("sizes",), measure
)

if __name__ == "__main__":
    time_product(sys.argv[1], int(sys.argv[2]))
