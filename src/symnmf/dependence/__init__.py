"""Estimators of dependence matrices from tables, one per file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symnmf.defaults import DEPENDENCES
from symnmf.operators import SymmetricOperator
from symnmf.options import choice


def estimators() -> dict[str, Callable[..., SymmetricOperator]]:
    """The estimators by the name of their dependence.

    Example:
        >>> sorted(estimators())
        ['correlation', 'tail']
    """
    from symnmf.dependence.correlation import abs_correlation
    from symnmf.dependence.tail import tail_dependence

    return {"tail": tail_dependence, "correlation": abs_correlation}


def estimate(dependence: str, returns: Any, **options: Any) -> SymmetricOperator:
    """Estimate a dependence matrix by the name of the estimator.

    Arguments:
        dependence: ``"tail"`` or ``"correlation"``.
        returns: panel or table of returns.
        options: arguments of the estimator.
    """
    return estimators()[choice("dependence", dependence, DEPENDENCES)](returns, **options)
