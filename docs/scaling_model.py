"""The views of the model in docs/scaling.md: matrices on many GPUs, and the paper's times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from symnmf.bench.measurement import MeasuredRow, find_measurement, published_rows
from symnmf.bench.results_store import Store
from symnmf.solvers.registry import available

N, K, GIGABYTE = 1e6, 1e3, 1e9
#: Operations and received bytes a second of a GPU and seconds of delay, which are assumed.
RATE, NETWORK, DELAY = 60e12, 50e9, 5e-6
#: Links for which an iteration is predicted: Gbit/s and seconds of delay.
LINKS = ((10, 1e-3), (100, 1e-4), (8 * NETWORK / 1e9, DELAY))
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


def measured(name: str, table: str) -> list[MeasuredRow]:
    """Published rows of a table of a measurement."""
    store = Store(Path(__file__).parents[1] / "results")
    every = published_rows(find_measurement(name), store, any_numerics=True)
    return [row for row in every if row.table == table]


def term(name: str) -> float:
    """A number of the model of gathers, fitted to shaped links."""
    return next(
        float(str(row.found["fitted"]))
        for row in measured("links", "links-model")
        if row.labels["term"] == name
    )


def exchange(n: float, k: int, gpus: int, gigabits: float, delay: float) -> float:
    """Seconds of the exchange of an iteration by the model.

    The latency is the fitted number of delays of each of P − 1 messages. No byte is faster than
    its link, and what TCP and the hosts of the measurement add is left out.
    """
    wire = max(1.0, term("a byte, on the link")) * 8 / (1e9 * gigabits)
    received = 4 * n * k * (gpus - 1) / gpus
    return (gpus - 1) * term("a message, for the delay") * delay + received * wire


def computing(n: float, k: int, gpus: int) -> float:
    """Operations of a GPU in an iteration: its product and the replicated work."""
    return 2 * n**2 * k / gpus + 4 * n * k**2


def iteration(n: float, k: int, gpus: int, rate: float) -> float:
    """Seconds of an iteration by the model, with the assumed network."""
    return computing(n, k, gpus) / rate + exchange(n, k, gpus, *LINKS[-1])


def fitted_rate() -> float:
    """Operations a second of a GPU with which the model gives the paper's times for n = 10⁵."""
    rates = [
        computing(n, k, gpus) / (seconds / steps - exchange(n, k, gpus, *LINKS[-1]))
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


def predicted() -> str:
    """Prediction of an iteration on GPUs that are joined by several links."""
    rate = fitted_rate()
    rows = [
        "| matrix | n | GPUs | link | predicted, s | of it exchange | overlapping saves at most "
        "| paper, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for matrix, n, k, gpus, seconds, steps in PAPER:
        product = 2 * n**2 * k / gpus / rate
        for gigabits, delay in LINKS:
            gather = exchange(n, k, gpus, gigabits, delay)
            whole = computing(n, k, gpus) / rate + gather
            link = f"{gigabits:.0f} Gbit/s, {1e3 * delay:g} ms"
            rows.append(
                f"| {matrix} | {n:.0e} | {gpus} | {link} | {whole:.3g} | {gather:.2g} "
                f"| {100 * min(gather, product) / whole:.0f} % "
                f"| {seconds / steps:.3g} |".replace("e+0", "e")
            )
    return "\n".join(rows)


def model_error() -> str:
    """Largest relative error of the model of a product, over the measured rows."""
    found = [row.found for row in measured("iteration", "iteration-split")]
    worst = max(
        abs(float(str(row["product by the model"])) / float(str(row["product"])) - 1)
        for row in found
    )
    return f"{100 * worst:.0f} %"


def links_error() -> str:
    """Median error of the model of gathers."""
    return f"{term('median error of a gather'):.0f} %"


def links_iteration_error() -> str:
    """Median error of the model of gathers in the exchange of whole iterations."""
    return f"{term('median error of an iteration'):.0f} %"


VIEWS: dict[str, Callable[[], str]] = {
    "scaling-gpus": table,
    "scaling-paper": beside_the_paper,
    "scaling-predicted": predicted,
    "iteration-error": model_error,
    "links-error": links_error,
    "links-iteration-error": links_iteration_error,
}
