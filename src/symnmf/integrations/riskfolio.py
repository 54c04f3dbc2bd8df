"""Groups for Riskfolio-Lib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symnmf.core.result import Result
from symnmf.grouping.naming import group_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_riskfolio"]


def as_riskfolio(result: Result) -> pd.DataFrame:
    """Table of assets and their classes, in the form that constraints of Riskfolio-Lib take.

    Arguments:
        result: a factorization.

    Returns:
        A table with the columns ``Assets`` and ``Class`` and a row for each instrument.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> names = ["XOM", "CVX", "JPM", "C"]
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((2, 2))), names=names)
        >>> found = as_riskfolio(sn.factorize(S, k=2))
        >>> list(found.columns), found.groupby("Class").size().tolist()
        (['Assets', 'Class'], [2, 2])
    """
    import pandas as pd

    found = group_of(result)
    return pd.DataFrame({"Assets": list(found), "Class": list(found.values())})
