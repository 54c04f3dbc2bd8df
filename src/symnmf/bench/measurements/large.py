"""The default solver on matrices from disk, n = 30 000 to 10⁶ (hours, mostly to draw the data)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from math import isqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.peak_memory import PeakMemory
from symnmf.bench.timing import fastest
from symnmf.dependence.synthetic.on_disk import generate
from symnmf.factorization import factorize
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.operators.stored import open_matrix

SEED = 7
LARGE = MeasuredTable(
    "large",
    "The default solver on matrices from disk",
    ("matrix", "n", "k"),
    ("status", "excess", "ARI", "products", "time in bare products", "GB of anonymous memory"),
    {"excess": "higher", "ARI": "lower", "products": "higher"},
)
MAPPED = MeasuredTable(
    "large-mapped",
    "A matrix on disk against the same one in memory",
    ("matrix", "n"),
    ("factors differ by", "a mapped product in products from memory"),
    {"factors differ by": "higher", "a mapped product in products from memory": "higher"},
)


class Case(NamedTuple):
    """A matrix; a correlation is a Gram matrix where that is smaller, unless it is dense."""

    kind: str
    n: int
    k: int
    samples: int


CASES = (
    Case("corr+dense", 30_000, 173, 10_000),
    Case("corr", 100_000, 316, 4000),
    Case("tpdm", 100_000, 316, 40_000),
    Case("tpdm", 1_000_000, 400, 40_000),
    Case("tpdm", 1_000_000, 100, 40_000),
)


def cases(sizes: tuple[int, ...]) -> list[Case]:
    """The cases of the given sizes; a size without a case gets one of each kind.

    Example:
        >>> [case.kind for case in cases((30_000, 64))]
        ['corr+dense', 'corr+dense', 'corr', 'tpdm']
    """
    if not sizes:
        return list(CASES)
    found = [case for case in CASES if case.n in sizes]
    for n in sizes:
        if n not in {case.n for case in CASES}:
            kinds = ("corr+dense", "corr", "tpdm")
            found += [Case(kind, n, isqrt(n), 4000) for kind in kinds]
    return found


def fit(
    S: SymmetricOperator, k: int, labels: np.ndarray, name: str, choices: Choices
) -> tuple[MeasuredRow, torch.Tensor]:
    """A row about a fit with the default solver, and its factor."""
    product = product_seconds(S, k)
    with PeakMemory() as memory:
        result = factorize(S, k, n_init=1, progress=True)
    for note in result.notes:
        choices.note(f"    {note}")
    row = LARGE.row(
        name,
        S.n,
        k,
        result.status.name,
        result.certificate.excess,
        adjusted_rand_score(labels, result.labels()),
        result.products,
        result.seconds / product,
        memory.added / 1e9,
    )
    return row, result.H


def product_seconds(S: SymmetricOperator, k: int) -> float:
    """Seconds of S @ H."""
    X = torch.rand(S.n, k)
    return fastest(lambda: S.matmul(X), 3)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """One row per case; a dense matrix is also measured in memory, for comparison."""
    with ExitStack() as stack:
        folder = choices.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for kind, n, k, samples in cases(choices.sizes):
            where, began = folder / f"{kind}-{n}-{SEED}-{samples}", time.perf_counter()
            dense = kind.endswith("+dense")
            generate(kind.removesuffix("+dense"), n, where, seed=SEED, samples=samples, dense=dense)
            choices.note(f"{kind}, n = {n:,}: on disk after {time.perf_counter() - began:.0f} s")
            S = open_matrix(where)
            labels = np.load(where / "labels.npy", allow_pickle=False)
            row, H = fit(S, k, labels, kind, choices)
            yield row
            if isinstance(S, DenseOperator):
                memory = DenseOperator(S.S.clone())
                row, from_memory = fit(memory, k, labels, f"{kind}, in memory", choices)
                yield row
                gap = float((H - from_memory).abs().max())
                ratio = product_seconds(S, k) / product_seconds(memory, k)
                yield MAPPED.row(kind, n, gap, ratio)


MEASUREMENT = Measurement(
    "large",
    "Matrices from disk",
    (LARGE, MAPPED),
    ("sizes", "data"),
    measure,
    named=True,
)
