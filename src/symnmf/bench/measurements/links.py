"""What processes exchange over links of a stated rate and delay, and the cost model of it.

Hosts are network namespaces of this machine (:mod:`symnmf.bench.shaped_links`). The model is
fitted to single gathers and compared with the exchange of iterations, to which it is not fitted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import least_squares

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.measurements.iteration import Split
from symnmf.bench.measurements.scaling import M, share
from symnmf.bench.shaped_links import BURST, ShapedLinks, address, shaping_possible
from symnmf.bench.timing import fastest
from symnmf.core.problem import Problem
from symnmf.distributed.environment import variables
from symnmf.distributed.process_group import ProcessGroup, _nodes, join
from symnmf.errors import InvalidInput
from symnmf.numerics import CHUNKS, chunk_edges
from symnmf.operators import DenseOperator
from symnmf.solvers.registry import make_solver

N, COUNTED, K, STEPS, REPEAT = 5000, 10_000, 100, 8, 15
PROCESSES = (2, 4)
#: Gbit/s and delay in ms of the links; without a delay the kernel hands on, with one a program.
FAST = ((None, 0.0), (1, 0.0), (10, 0.0), (100, 0.0))
DELAYED = ((1, 0.1), (1, 1.0), (1, 10.0), (10, 1.0))
#: Where the processes meet, and further variables of their environment.
PORT = 29655
SETTINGS = {
    "GLOO_SOCKET_IFNAME": "eth0",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "OMP_NUM_THREADS": "1",
}
#: Bytes that a process sends in a gather.
SENT = (40_000, 400_000, 4_000_000)
#: Form, n, k and processes for which bytes are given by the formula alone.
LARGE = (("dense", 1_000_000, 1000, 64), ("gram", 1_000_000, 400, 64))
LINKS = MeasuredTable(
    "links",
    f"Gathers over shaped links, and the exchange of an iteration (Gram, n = {N}, k = {K}), in ms",
    ("processes", "Gbit/s", "delay, ms"),
    ("40 kB", "0.4 MB", "4 MB", "model off by at most", "iteration", "iteration by the model"),
    {},
)
MODEL = MeasuredTable("links-model", "The cost of a gather", ("term",), ("fitted", "unit"), {})
BYTES = MeasuredTable(
    "links-bytes",
    "What a process receives in an iteration of AdaGrad",
    ("matrix", "n", "k", "processes"),
    ("MB by the formula", "MB at the device", "ratio"),
    {},
)


def received(form: str, n: int, k: int, processes: int) -> list[int]:
    """Bytes that a process receives in each gather of a product, by the formula."""
    edges, nodes = chunk_edges(n), []
    shares = [range(CHUNKS * p // processes, CHUNKS * (p + 1) // processes)
              for p in range(processes)]  # fmt: skip
    most = max(edges[part.stop] - edges[part.start] for part in shares)
    if form == "gram":
        nodes = [4 * M * k * (processes - 1) * max(len(_nodes(part)) for part in shares)]
    return [*nodes, 4 * k * (processes - 1) * most]


def terms(processes: int, size: float, gigabits: float | None, delay: float) -> list[float]:
    """What the coefficients of the model of a gather multiply.

    A gather goes around a ring in P − 1 messages: each costs a constant and some delays of the
    link. Each byte costs its time on the link, some more in the hosts, and a part of a delay,
    because TCP waits for an answer after a window of bytes.

    Arguments:
        processes: number of processes.
        size: bytes that a process receives.
        gigabits: rate of the link in Gbit/s, or None.
        delay: delay of the link in seconds.
    """
    # The token bucket lets a burst pass at full speed.
    wire = 0.0 if gigabits is None else 8 * max(0.0, size - BURST) / (1e9 * gigabits)
    return [processes - 1, (processes - 1) * delay, size * delay, size, wire]


def fit(given: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Coefficients above zero with the least squares of the logarithms of model / measured."""
    begin = np.log([1e-4, 2.0, 1e-6, 1e-9, 1.0])
    found = least_squares(lambda x: np.log(given @ np.exp(x) / seconds), begin, loss="soft_l1")
    fitted: np.ndarray = np.exp(found.x)
    return fitted


def work(place: ProcessGroup) -> None:
    """Do what the lines of the standard input ask for; in each process."""
    for line in sys.stdin:
        job = json.loads(line)
        found: dict[str, Any] = {}
        count = place.process_count
        for size in job.get("gathers", ()):
            local = torch.rand(size // 4)
            sizes = [len(local)] * count
            found[str(size)] = fastest(lambda x=local, s=sizes: place.gather(x, s), REPEAT)  # type: ignore[misc]
        if "form" in job:
            found |= _iterate(place, job["form"], job["n"], job["steps"])
        if place.process_index == 0:
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()
    place.leave()


def _iterate(place: ProcessGroup, form: str, n: int, steps: int) -> dict[str, float]:
    """Seconds of the exchange of the fastest iteration, and bytes received in one."""
    S = share(form, n, place)
    if isinstance(S, DenseOperator):
        S._frob_sq, S._sum = n * n / 3, n * n / 2
    problem, own = Problem(S, K, 7), dict(place.__dict__)
    solver, rng = make_solver("adagrad"), torch.Generator().manual_seed(1)
    state = solver.step(problem, solver.init_state(problem), rng)
    split, least = Split(place, S), float("inf")
    place._call(place._dist.barrier)
    before = _device_bytes()
    for _ in range(steps):
        place._call(place._dist.barrier)  # what another process does beside is not exchange
        already = split.exchange
        state = solver.step(problem, state, rng)
        least = min(least, split.exchange - already)
    counted = (_device_bytes() - before) / steps
    for name in ("_call", "tree"):
        place.__dict__.pop(name)
    place.__dict__.update({name: own[name] for name in ("_call", "tree") if name in own})
    return {"exchange": least, "bytes": counted}


def _device_bytes() -> int:
    """Bytes that the network device of this host has received."""
    lines = Path("/proc/self/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("eth0:"))


class ProcessesOnHosts:
    """Processes on hosts of their own, which do one job after the other."""

    def __init__(self, links: ShapedLinks):
        count, command = len(links.hosts), [sys.executable, "-m", __spec__.name]
        self.processes = [
            links.start(number, command, **variables(number, count, address(0), PORT), **SETTINGS)
            for number in range(count)
        ]

    def do(self, **job: Any) -> dict[str, float]:
        """What the first process found."""
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        assert self.processes[0].stdout is not None
        found: dict[str, float] = json.loads(self.processes[0].stdout.readline())
        return found

    def end(self) -> None:
        """Close the inputs and wait."""
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self.processes:
            process.wait(60)
        if self.processes[0].stdout is not None:
            self.processes[0].stdout.close()


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """Links, the model that is fitted to them, and bytes."""
    if not shaping_possible():
        raise InvalidInput("links", "cannot be made here", "Run as root, with ip, tc and a tun")
    n, counted = (choices.size(N), choices.size(COUNTED))
    seen: list[tuple[int, float | None, float, dict[str, float]]] = []
    amounts = []
    for processes in PROCESSES:
        for settings, delayed in ((FAST, False), (DELAYED, True)):
            with ShapedLinks(processes, delayed) as links:
                run = ProcessesOnHosts(links)
                for gigabits, delay in settings:
                    links.shape(gigabits, delay / 1e3)
                    time.sleep(0.2)
                    found = run.do(gathers=SENT, form="gram", n=n, steps=STEPS)
                    choices.note(f"{processes} processes, {gigabits} Gbit/s, {delay} ms: {found}")
                    seen.append((processes, gigabits, delay / 1e3, found))
                if not delayed:
                    links.shape(None)
                    for form in ("dense", "gram"):
                        there = run.do(form=form, n=counted, steps=3)["bytes"]
                        amounts.append((form, counted, K, processes, there))
                run.end()
    yield from _rows(n, seen)
    for form, size, k, processes, there in amounts:
        formula = sum(received(form, size, k, processes))
        yield BYTES.row(form, size, k, processes, formula / 1e6, there / 1e6, there / formula)
    for form, size, k, processes in LARGE:
        yield BYTES.row(form, size, k, processes, sum(received(form, size, k, processes)) / 1e6,
                        None, None)  # fmt: skip


def _rows(
    n: int, seen: list[tuple[int, float | None, float, dict[str, float]]]
) -> Iterator[MeasuredRow]:
    """The rows of links, with the model that is fitted to their gathers."""
    given, took = [], []
    for processes, gigabits, delay, found in seen:
        for size in SENT:
            given.append(terms(processes, (processes - 1) * size, gigabits, delay))
            took.append(found[str(size)])
    seconds = np.array(took)
    fitted = fit(np.array(given), seconds)
    modelled = (np.array(given) @ fitted).reshape(-1, len(SENT))
    missed: list[float] = []
    for (processes, gigabits, delay, found), model in zip(seen, modelled, strict=True):
        times = np.array([found[str(size)] for size in SENT])
        sizes = received("gram", n, K, processes)
        predicted = sum(float(terms(processes, size, gigabits, delay) @ fitted) for size in sizes)
        missed.append(abs(predicted / found["exchange"] - 1))
        yield LINKS.row(
            processes, "as fast as it is" if gigabits is None else gigabits, 1e3 * delay,
            *(1e3 * times), f"{100 * np.abs(model / times - 1).max():.0f} %",
            1e3 * found["exchange"], 1e3 * predicted,
        )  # fmt: skip
    units = (
        ("a message", 1e6, "µs"),
        ("a message, for the delay", 1, "delays of the link"),
        ("a megabyte, for the delay", 1e6, "delays of the link"),
        ("a byte, in the hosts", 1e9, "ns"),
        ("a byte, on the link", 1, "of 8 bits / rate"),
    )
    for (term, factor, unit), value in zip(units, fitted, strict=True):
        yield MODEL.row(term, factor * value, unit)
    off = np.abs(modelled.ravel() / seconds - 1)
    yield MODEL.row("median error of a gather", float(100 * np.median(off)), "%")
    yield MODEL.row("median error of an iteration", float(100 * np.median(missed)), "%")


MEASUREMENT = Measurement(
    "links", "Processes on hosts with shaped links", (LINKS, MODEL, BYTES), ("sizes",), measure
)

if __name__ == "__main__":
    joined = join()
    assert joined is not None, "this runs on the hosts of the measurement"
    work(joined)
