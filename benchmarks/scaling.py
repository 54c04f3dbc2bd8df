"""``make bench-scaling``: products of one matrix shared out over processes.

Every line is a group of processes (gloo, on this machine) and the time of one product S H.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import torch

from benchmarks.sheet import Sheet
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.operators.group import Group, join
from symnmf.operators.rows import Rows, chunk_edges

N, K, M, REPEAT = 10_000, 100, 400, 7
#: Processes and threads of each.
GROUPS = ((1, 2), (1, 1), (2, 1), (4, 1))


def share(form: str, group: Group) -> SymmetricOperator:
    """The rows of this process of a matrix of random numbers."""
    edges, own = chunk_edges(N), group.share()
    width = N if form == "dense" else M
    data = torch.rand(edges[own.stop] - edges[own.start], width)
    rows = Rows.shared_out(data, N, group)
    return DenseOperator.of(rows, 1.0, 1.0) if form == "dense" else GramOperator(rows)


def product(form: str) -> tuple[float, float]:
    """Seconds of a product, and of the collectives of one without the multiplication."""
    group = join()
    assert group is not None
    S, X = share(form, group), torch.rand(N, K)
    local = torch.rand(chunk_edges(N)[group.share().stop] - chunk_edges(N)[group.share().start], K)
    edges = chunk_edges(N)
    sizes = [edges[r.stop] - edges[r.start] for r in group.shares()]
    whole = fastest(lambda: S.matmul(X))
    wire = fastest(lambda: group.gather(local, sizes))
    if group.rank == 0:
        print(whole, wire)
    group.leave()
    return whole, wire


def fastest(call: object) -> float:
    """Of a few."""
    assert callable(call)
    times = []
    for _ in range(REPEAT):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def run(form: str, processes: int, threads: int) -> tuple[float, float]:
    """Start a group and read what its first process measured."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scaling", form],
            env=os.environ | place | {"RANK": str(r), "OMP_NUM_THREADS": str(threads)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for r in range(processes)
    ]
    words = [p.communicate()[0] for p in started]
    whole, wire = map(float, words[0].split())
    return whole, wire


def main() -> None:
    """A row for each form and group."""
    sheet = Sheet(
        "scaling",
        f"one product S H, n = {N}, k = {K} (Gram: {M} columns), shared out over processes",
        ["matrix", "processes", "threads each", "ms a product", "of it gathering", "ratio"],
        {"ratio": "higher"},
        labels=3,
    )
    for form in ("dense", "gram"):
        first = 0.0
        for processes, threads in GROUPS:
            whole, wire = run(form, processes, threads)
            first = first or whole
            gathering = 1e3 * wire if processes > 1 else None
            sheet.add(form, processes, threads, 1e3 * whole, gathering, whole / first)
    sheet.show()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        product(sys.argv[1])
    else:
        main()
