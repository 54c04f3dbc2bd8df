"""The view of the model in docs/scaling.md: a matrix with n = 10⁶ on many GPUs."""

from __future__ import annotations

from collections.abc import Callable

from symnmf.solvers.registry import available

N, K, GIGABYTE = 1e6, 1e3, 1e9
#: Operations and received bytes a second of a GPU, which are assumed.
RATE, NETWORK = 60e12, 50e9
GPUS = (32, 64, 128, 512)


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


VIEWS: dict[str, Callable[[], str]] = {"scaling-gpus": table}
