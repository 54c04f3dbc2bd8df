"""The views of the model in docs/scaling.md: matrices on many GPUs, and the paper's times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from symnmf.bench.measurement import find_measurement, published_rows
from symnmf.bench.results_store import Store
from symnmf.solvers.registry import available

N, K, GIGABYTE = 1e6, 1e3, 1e9
#: Operations and received bytes a second of a GPU, which are assumed.
RATE, NETWORK = 60e12, 50e9
GPUS = (32, 64, 128, 512)
#: AdaGrad in table "Phase 2" of arXiv:2607.24518: matrix, n, k, GPUs, seconds, iterations. The
#: products of both kinds are dense there.
PAPER = (
    ("correlation", 1e5, 316, 4, 7.9, 82),
    ("TPDM", 1e5, 316, 4, 9.3, 99),
    ("correlation", 1e6, 1000, 64, 2.0 * 60, 72),
    ("TPDM", 1e6, 400, 64, 4.8 * 60, 395),
)


def table() -> str:
    """Memory of each GPU and the time of a product, for several numbers of GPUs."""
    workspace = 4 * N * K * available()["adagrad"].arrays / GIGABYTE
    gather, replicated = 4 * N * K / NETWORK, 4 * N * K**2 / RATE
    rows = [
        "| GPUs | S on each | beside S, adagrad | multiply | gather 4 GB | replicated 4 n k² "
        "| a product |",
        "|---|---|---|---|---|---|---|",
    ]
    for count in GPUS:
        own, multiply = 4 * N**2 / count / GIGABYTE, 2 * N**2 * K / count / RATE
        product = multiply + gather + replicated
        rows.append(
            f"| {count} | {int(own + 0.5)} GB | {workspace:.0f} GB | {multiply:.2f} s "
            f"| {gather:.2f} s | {replicated:.2f} s | {product:.2g} s |"
        )
    return "\n".join(rows)


def iteration(n: float, k: int, gpus: int, rate: float) -> float:
    """Seconds of an iteration by the model."""
    return (2 * n**2 * k / gpus + 4 * n * k**2) / rate + 4 * n * k / NETWORK


def fitted_rate() -> float:
    """Operations a second of a GPU with which the model gives the paper's times for n = 10⁵."""
    rates = [
        (2 * n**2 * k / gpus + 4 * n * k**2) / (seconds / steps - 4 * n * k / NETWORK)
        for _, n, k, gpus, seconds, steps in PAPER
        if n == 1e5
    ]
    return sum(rates) / len(rates)


def beside_the_paper() -> str:
    """Seconds of an iteration: the paper's, the model's, and the model's with a fitted rate."""
    rate = fitted_rate()
    rows = [
        f"| matrix | n | k | GPUs | paper, s | {RATE / 1e12:.0f} TFLOP/s, s "
        f"| {rate / 1e12:.1f} TFLOP/s, s | off by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for matrix, n, k, gpus, seconds, steps in PAPER:
        paper, fitted = seconds / steps, iteration(n, k, gpus, rate)
        assumed = iteration(n, k, gpus, RATE)
        rows.append(
            f"| {matrix} | {n:.0e} | {k} | {gpus} | {paper:.3g} | {assumed:.2g} "
            f"| {fitted:.3g} | {100 * (fitted / paper - 1):+.0f} % |".replace("e+0", "e")
        )
    return "\n".join(rows)


def model_error() -> str:
    """Largest relative error of the model of a product, over the measured rows."""
    store = Store(Path(__file__).parents[1] / "results")
    found = [
        row.found
        for row in published_rows(find_measurement("iteration"), store, any_numerics=True)
        if row.table == "iteration-split"
    ]
    worst = max(abs(row["product by the model"] / row["product"] - 1) for row in found)
    return f"{100 * worst:.0f} %"


VIEWS: dict[str, Callable[[], str]] = {
    "scaling-gpus": table,
    "scaling-paper": beside_the_paper,
    "iteration-error": model_error,
}
