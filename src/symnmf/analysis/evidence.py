"""Evidence about the groups of an analysis, beside its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.analysis.examined_rank import examined_rank
from symnmf.analysis.extremes import Extremes, examine_extremes
from symnmf.analysis.other_dependence import OtherDependence, other_dependence
from symnmf.core.result import Result, Status
from symnmf.data import Panel
from symnmf.display import Brief
from symnmf.grouping.between_groups import dependence_between
from symnmf.grouping.group_series import signs_in_groups
from symnmf.grouping.hierarchy import Hierarchy, hierarchy
from symnmf.grouping.rank_selection import RankSuggestion
from symnmf.grouping.sorted_matrix import SortedMatrices, sort_by_group
from symnmf.grouping.spanning_tree import SpanningTree, spanning_tree
from symnmf.operators import SymmetricOperator

#: Instruments whose names are legible below a tree, and groups at most for which every number from
#: two on is fitted.
LEGIBLE, PATH = 60, 8


@dataclass(frozen=True, repr=False)
class Evidence(Brief):
    """Evidence about the groups in addition to the certificate.

    Attributes:
        between: (k, k) mean dependence within groups (diagonal) and between groups.
        signs: (n,) −1 for members that move against the leader of their group, else 1.
        pictures: S and H Hᵀ sorted by group, averaged to a size that can be drawn.
        extremes: events, thresholds and independence baseline of a tail dependence matrix.
        other: comparison with the other kind of dependence of the same table.
        rank: number of groups that the data suggest; None where it was not examined.
        tree: the strongest links between the instruments.
        hierarchy: which groups split into which, from two groups to k; None where the names of the
            instruments would not be legible, and where processes share the rows of S.
        why_no_other: reason why the other kind was not compared; empty where it was compared, and
            where there is no table.
    """

    between: np.ndarray
    signs: np.ndarray
    pictures: SortedMatrices
    extremes: Extremes | None = None
    other: OtherDependence | None = None
    why_no_other: str = ""
    tree: SpanningTree | None = None
    rank: RankSuggestion | None = None
    hierarchy: Hierarchy | None = None

    @classmethod
    def of(
        cls,
        result: Result,
        S: SymmetricOperator,
        panel: Panel | None,
        rank: RankSuggestion | None = None,
    ) -> Evidence:
        """Gather the evidence. Where processes share the rows of S, all of them call this method.

        Arguments:
            result: a factorization of S.
            S: the dependence matrix.
            panel: the returns that S was estimated from, for the evidence that needs them; None
                where S was given.
            rank: the suggested number of groups, if it is known.
        """
        labels = result.labels()
        between = dependence_between(S, labels, result.H.shape[1])
        signs = signs_in_groups(result.H.cpu().numpy(), labels.cpu().numpy(), S)
        pictures = sort_by_group(S, result)
        tree = spanning_tree(S, result)
        path = _path(S, result)
        if panel is None:
            return cls(between, signs, pictures, tree=tree, rank=rank, hierarchy=path)
        extremes = examine_extremes(panel, S, result, result.seed)
        other, why = other_dependence(panel, S, result, result.seed)
        rank = examined_rank(panel, S, result.seed, result.H.shape[1]) if rank is None else rank
        return cls(between, signs, pictures, extremes, other, why, tree, rank, path)


def _path(S: SymmetricOperator, result: Result) -> Hierarchy | None:
    """The path from two groups to those of the result."""
    n, k = result.H.shape
    stopped = result.status is Status.STOPPED  # somebody waits for the end
    if n > LEGIBLE or not 2 <= k <= min(PATH, n - 1) or S.process_count > 1 or stopped:
        return None
    return hierarchy(S, k, seed=result.seed, known=result)
