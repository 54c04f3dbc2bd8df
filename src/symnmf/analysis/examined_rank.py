"""The number of groups that the data suggest, where the user chose another."""

from __future__ import annotations

import warnings

from symnmf.data import Panel
from symnmf.defaults import EXAMINED_NUMBERS
from symnmf.errors import InvalidInput
from symnmf.grouping.panel_versions import Estimator
from symnmf.grouping.rank_selection import RankSuggestion, suggest_for_panel
from symnmf.grouping.significance import recorded_estimator
from symnmf.operators import SymmetricOperator


def examined_rank(
    panel: Panel, S: SymmetricOperator, seed: int = 0, k: int = 1
) -> RankSuggestion | None:
    """The suggestion of :func:`symnmf.suggest_rank` as evidence about a chosen number of groups.

    Arguments:
        panel: the returns that S was estimated from.
        S: the dependence matrix.
        seed: seed of the splits, the sketches and the starts.
        k: the number that was chosen. Where it is larger than those that are considered for a
            table of this size, all up to the next one are considered.

    Returns:
        The suggestion; None for a large table, where processes share the rows of S, and where the
        data do not allow it.
    """
    if panel.values.size > EXAMINED_NUMBERS or S.process_count > 1 or S.n < 3:
        return None
    try:
        dependence, options = recorded_estimator(S, {})
        estimator = Estimator.of(S, panel, dependence, options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # halves of few days are no concern of the user
            found = suggest_for_panel(panel, S, estimator, None, seed, compare_starts=False)
            if found.considered < k:
                most = min(k + 1, S.n)
                found = suggest_for_panel(panel, S, estimator, most, seed, compare_starts=False)
            return found
    except InvalidInput:
        return None
