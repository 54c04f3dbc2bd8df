"""The other kind of dependence of the same table: crashes compared with ordinary days."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.data import Panel
from symnmf.dependence import estimate
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.display import Brief
from symnmf.errors import SymnmfError
from symnmf.factorization import run
from symnmf.grouping.comparison import Comparison, compare
from symnmf.grouping.naming import group_of
from symnmf.grouping.side_by_side import SideBySide, side_by_side
from symnmf.operators import SymmetricOperator

#: Maximum number of instruments whose pairs are compared.
MAX_INSTRUMENTS = 4000


@dataclass(frozen=True, repr=False)
class OtherDependence(Brief):
    """The other kind of dependence of the same table.

    Attributes:
        kind: the other kind: ``"tail"`` or ``"correlation"``.
        pairs: comparison of the two dependences of each pair.
        groups: comparison of the groups of both kinds, with the same number of groups.
    """

    kind: str
    pairs: SideBySide
    groups: Comparison


def other_dependence(
    panel: Panel, S: SymmetricOperator, result: Result, seed: int = 0
) -> tuple[OtherDependence | None, str]:
    """Compare with the other kind of dependence; None and the reason where that is not possible.

    Arguments:
        panel: the returns that S was estimated from.
        S: the dependence matrix.
        result: a factorization of S.
        seed: seed of the sample of pairs and of the fit.
    """
    mine = S.provenance
    tail = mine.tail if isinstance(mine, TailEstimate) else None
    kind = "tail" if tail is None else "correlation"
    if S.process_count > 1:
        return None, "several processes share the rows."
    if S.n > MAX_INSTRUMENTS:
        return None, f"more than {MAX_INSTRUMENTS:,} instruments have too many pairs."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T = estimate(kind, panel)
            pairs = side_by_side(*((T, S) if tail is None else (S, T)), seed=seed)
            fit = run(Problem(T, result.H.shape[1], seed), handle_interrupt=False)
    except SymnmfError as wrong:
        return None, str(wrong)
    return OtherDependence(kind, pairs, compare(result, group_of(fit))), ""
