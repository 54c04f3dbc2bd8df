"""Thresholds that select extreme observations, and declustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.errors import InvalidInput


@dataclass(frozen=True)
class Threshold:
    """A rule that selects extreme radii.

    Attributes:
        name: ``"q"``, ``"quantile"``, ``"count"`` or ``"radius"``.
        value: parameter of the rule.
    """

    name: str
    value: float

    @classmethod
    def of(cls, fraction: float, **rules: float | None) -> Threshold:
        """The single rule that is not None; q = ``fraction`` if all are.

        Raises:
            InvalidInput: more than one rule is given, or its value is invalid.
        """
        given = {name: value for name, value in rules.items() if value is not None}
        if len(given) > 1:
            raise InvalidInput(
                " and ".join(given), "were passed together", "Pass exactly one threshold"
            )
        name, value = next(iter(given.items()), ("q", fraction))
        number = isinstance(value, int | float | np.number)
        good = number and (
            (value >= 1 and value == int(value))
            if name == "count"
            else value > 0
            if name == "radius"
            else 0 < value < 1
        )
        if not good:
            words = {"count": "a whole number of at least 1", "radius": "a positive number"}
            remedy = words.get(name, "a number between 0 and 1")
            raise InvalidInput(name, f"got {value!r}", f"Pass {remedy}")
        return cls(name, float(value))

    def count(self, T: int) -> int | None:
        """Number of exceedances of T observations with distinct radii; None for a radius.

        Example:
            >>> Threshold("q", 0.05).count(1000), Threshold("quantile", 0.95).count(1000)
            (50, 50)
        """
        if self.name == "radius":
            return None
        if self.name == "quantile":
            return T - 1 - int(self.value * (T - 1)) if T else 0
        return min(T, int(self.value * T + 1e-9) if self.name == "q" else int(self.value))

    def exceedances(self, radii: np.ndarray) -> tuple[np.ndarray, float]:
        """Indices of the extreme radii in order of time, and the threshold that they exceed."""
        if self.name in ("q", "count"):
            count = self.count(len(radii)) or 0
            order = np.argsort(-radii, kind="stable")
            below = radii[order[count]] if count < len(radii) else 0.0
            return np.sort(order[:count]), float(below)
        cut = self.value if self.name == "radius" else float(np.quantile(radii, self.value))
        return np.flatnonzero(radii > cut), cut


def keep_largest(chosen: np.ndarray, radii: np.ndarray, gap: int) -> np.ndarray:
    """Runs declustering: the largest of exceedances with fewer than ``gap`` rows between them.

    Arguments:
        chosen: indices of the exceedances, ascending.
        radii: (T,) radii of all observations.
        gap: number of rows; 0 keeps every exceedance.

    Example:
        >>> keep_largest(np.array([0, 1, 5]), np.array([3.0, 4, 0, 0, 0, 2]), gap=2)
        array([1, 5])
    """
    if gap <= 0 or len(chosen) == 0:
        return chosen
    cluster = np.cumsum(np.diff(chosen, prepend=chosen[0]) > gap)
    order = np.lexsort((-radii[chosen], cluster))
    first = np.unique(cluster[order], return_index=True)[1]
    return np.sort(chosen[order[first]])
