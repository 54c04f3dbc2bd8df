"""From a table to a dependence matrix: one estimator a file."""

from __future__ import annotations

from typing import Any

from symnmf.errors import UnknownName
from symnmf.operators import SymmetricOperator

DEPENDENCE = ("tail", "correlation")


def estimate(dependence: str, returns: Any, **options: Any) -> SymmetricOperator:
    """The dependence matrix of a panel by name: ``"tail"`` or ``"correlation"``."""
    from symnmf.dependence.correlation import abs_correlation
    from symnmf.dependence.tail import tail_dependence

    if dependence not in DEPENDENCE:
        raise UnknownName(
            "dependence", f"unknown dependence {dependence!r}", f"Choose {' or '.join(DEPENDENCE)}"
        )
    if dependence == "tail":
        return tail_dependence(returns, **options)
    return abs_correlation(returns, **options)
