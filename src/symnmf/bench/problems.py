"""The matrices of the studies."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.dependence.synthetic.on_disk import generate
from symnmf.errors import FolderBusy
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.operators.stored import open_matrix

#: Kind of a correlation that is never formed: the Gram matrix of this number of observations, on
#: disk, for sizes at which the paper's 40 000 observations are too many here.
FEW, FEW_SAMPLES = "corr4000", 4000
#: Kind of a TPDM that is formed: an entry costs a lookup, and not a row of the Gram factor.
FORMED = "tpdm-formed"
#: Seconds until a run looks again whether another one has made the matrix that both need.
WAIT = 0.5


class StudyProblem(NamedTuple):
    """A matrix and its true groups."""

    operator: SymmetricOperator
    labels: np.ndarray


@lru_cache(maxsize=2)
def study_problem(kind: str, n: int, seed: int, scratch: Path) -> StudyProblem:
    """The matrix of a run; the last two stay in memory.

    Arguments:
        kind: ``"tpdm"``, ``"corr"``, ``"corr4000"`` or ``"tpdm-formed"``.
        n: number of instruments.
        seed: seed of every draw.
        scratch: folder for matrices on disk.
    """
    if kind == FORMED:
        made = benchmark_matrix("tpdm", n, seed=seed)
        return StudyProblem(as_operator(made.operator.to_dense()), made.labels)
    if kind != FEW:
        made = benchmark_matrix(kind, n, seed=seed)
        return StudyProblem(made.operator, made.labels)
    folder = scratch / f"{kind}-{n}-{seed}"
    while True:
        try:
            generate("corr", n, folder, seed=seed, samples=FEW_SAMPLES)
            break
        except FolderBusy:  # another run of the same study makes it
            time.sleep(WAIT)
    return StudyProblem(open_matrix(folder), np.load(folder / "labels.npy", allow_pickle=False))
