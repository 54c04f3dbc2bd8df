"""What a fit of the observed entries of a matrix finds when a fifth of them is hidden.

``--sizes`` are sizes of the paper's matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import process_time

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.factorization import factorize
from symnmf.numerics import numpy_stream

#: Sizes, share of the pairs of entries that is hidden, and seed of the matrices.
SIZES, HIDDEN, SEED = (300, 1000, 4000), 0.2, 7
TABLE = MeasuredTable(
    "masked",
    "Fits with a fifth of the entries hidden, and without",
    ("matrix", "n", "k"),
    (
        "unmasked excess", "observed error / unmasked", "hidden error / unmasked", "ARI",
        "ARI unmasked", "CPU / ADMM unmasked",
    ),
    {"observed error / unmasked": "higher", "ARI": "lower", "CPU / ADMM unmasked": "higher"},
)  # fmt: skip


def observed(n: int) -> np.ndarray:
    """(n, n) truth values, symmetric: which entries are observed. The diagonal always is."""
    drawn = np.triu(numpy_stream(SEED, "hidden", n).random((n, n)) < HIDDEN, 1)
    return ~(drawn | drawn.T)


def square_error(S: torch.Tensor, H: torch.Tensor, entries: torch.Tensor) -> float:
    """Sum of the squares that H Hᵀ leaves of some entries."""
    return float(torch.square(S.double() - H.double() @ H.double().T)[entries].sum())


def one_matrix(kind: str, n: int) -> MeasuredRow:
    """Fits of one matrix: by ADMM, by default, and with hidden entries."""
    made = benchmark_matrix(kind, n, seed=SEED)
    S, mask = made.operator.to_dense(), torch.from_numpy(observed(n))
    began = process_time()
    factorize(S, made.k, solver="admm")
    middle = process_time()
    found = factorize(S, made.k, mask=mask)
    spent = (process_time() - middle) / (middle - began)
    plain = factorize(S, made.k)
    ratios = (
        square_error(S, found.H, entries) / square_error(S, plain.H, entries)
        for entries in (mask, ~mask)
    )
    aris = (adjusted_rand_score(made.labels, fit.labels().numpy()) for fit in (found, plain))
    assert plain.certificate.excess is not None
    return TABLE.row(kind, n, made.k, plain.certificate.excess, *ratios, *aris, spent)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each kind of matrix and each size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("corr", "tpdm"):
            for n in choices.sizes or SIZES:
                yield one_matrix(kind, n)


MEASUREMENT = Measurement(
    "masked",
    "Fits with hidden entries",
    (TABLE,),
    ("sizes",),
    measure,
)
