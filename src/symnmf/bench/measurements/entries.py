"""Whether the number of groups that a matrix alone suggests is right: hidden entries or spectrum.

``--sizes`` is the number of matrices of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.simulated_matrices import OF_PANELS, OTHERS, simulated_matrices
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.grouping.rank_spectrum import matrix_suggestion, spectral_evidence
from symnmf.operators import as_operator

#: Matrices of each kind.
MATRICES = 15
TABLE = MeasuredTable(
    "entries",
    "The number of groups suggested by a matrix alone: by hidden entries, and by its spectrum",
    ("matrices",),
    ("count", "exact", "within 20 %", "bias", "spectrum exact", "spectrum within 20 %"),
    {"exact": "lower", "within 20 %": "lower"},
)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each kind of matrix."""
    for kind in (*OF_PANELS, *OTHERS):
        found = []
        for made in simulated_matrices(kind, choices.size(MATRICES)):
            S = as_operator(made.S)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                suggested = suggest_rank(S)
                evidence = spectral_evidence(S, len(suggested.values) - 1, None, 0)
                ks = suggested.k, matrix_suggestion(evidence, None, 0)[0]
            off, old = (k - made.k for k in ks)
            within = 0.2 * made.k
            found.append((off == 0, abs(off) <= within, old == 0, abs(old) <= within, off))
            choices.note(f"{kind}: {ks[0]} and {ks[1]} for {made.k}")
        exact, near, old_exact, old_near, bias = np.array(found, dtype=float).mean(axis=0)
        yield TABLE.row(kind, len(found), exact, near, bias, old_exact, old_near)


MEASUREMENT = Measurement(
    "entries",
    "Whether the number of groups that a matrix alone suggests is right",
    (TABLE,),
    ("sizes",),
    measure,
)
