"""Groups for skfolio."""

from __future__ import annotations

from symnmf.core.result import Result
from symnmf.grouping.naming import group_of

__all__ = ["as_skfolio"]


def as_skfolio(result: Result) -> dict[str, list[str]]:
    """Instrument → list of its groups, in the form of the ``groups`` of skfolio's optimizers.

    Arguments:
        result: a factorization.

    Returns:
        A dictionary with an entry for each instrument.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> names = ["XOM", "CVX", "JPM", "C"]
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((2, 2))), names=names)
        >>> found = as_skfolio(sn.factorize(S, k=2))
        >>> list(found), found["XOM"] == found["CVX"], found["XOM"] == found["JPM"]
        (['XOM', 'CVX', 'JPM', 'C'], True, False)
    """
    return {name: [group] for name, group in group_of(result).items()}
