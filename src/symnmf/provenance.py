"""Provenance of a matrix: the base class of what estimators and stored matrices record about S."""

from __future__ import annotations

from collections.abc import Sequence


class Provenance:
    """Origin of S, stored as ``operator.provenance``.

    Tail estimates, correlation estimates and matrices on disk are subclasses. Each lists its
    ``steps``.
    """

    steps: Sequence[str] = ()

    @property
    def is_tail(self) -> bool:
        """Whether S measures dependence in the tails."""
        return False

    @property
    def events(self) -> int:
        """Number of extreme events that S is estimated from; 0 for other matrices."""
        return 0
