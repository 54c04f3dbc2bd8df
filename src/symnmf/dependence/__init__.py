"""Estimators of dependence matrices from tables, one per file."""

from __future__ import annotations

from typing import Any

from symnmf.defaults import DEPENDENCES
from symnmf.operators import SymmetricOperator
from symnmf.options import choice


def estimate(dependence: str, returns: Any, **options: Any) -> SymmetricOperator:
    """Estimate a dependence matrix by the name of the estimator.

    Arguments:
        dependence: ``"tail"`` or ``"correlation"``.
        returns: panel or table of returns.
        options: arguments of the estimator.
    """
    from symnmf.dependence.correlation import abs_correlation
    from symnmf.dependence.tail import tail_dependence

    if choice("dependence", dependence, DEPENDENCES) == "tail":
        return tail_dependence(returns, **options)
    return abs_correlation(returns, **options)
