"""Bounds on the error of any factor of rank k, from the spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from symnmf.core.objective import error_resolution
from symnmf.core.spectrum import Spectrum

#: Above this excess, and with at most half of the available factors, a factor has no groups.
COLLAPSE_EXCESS = 0.05


#: Above this excess a factor is on the plateau of one column, for any number of factors.
PLATEAU = 0.99


@dataclass(frozen=True)
class ErrorBounds:
    """Bounds on the error of any factor of rank k, from the spectrum; created once per run.

    Attributes:
        spectrum: leading eigenvalues of S.
        k: rank.
        dtype: type of S, which determines the resolution.
    """

    spectrum: Spectrum
    k: int
    dtype: torch.dtype

    @property
    def resolution(self) -> float:
        """Smallest difference of errors that the arithmetic can distinguish."""
        return error_resolution(self.dtype)

    @property
    def exact(self) -> bool:
        """Whether the floor is exact, up to rounding."""
        return self.spectrum.exact

    @property
    def rank_one(self) -> float:
        """Error of the best single column."""
        return self.spectrum.rank_one

    @property
    def floor(self) -> tuple[float, float]:
        """Interval that contains the least error of rank k."""
        return self.spectrum.floor(self.k)

    def excess(self, error: float) -> float | None:
        """0 at the floor, 1 at the best single column; None if k = 1 or the two coincide."""
        low = self.floor[0]
        span = self.spectrum.floor(1)[0] - low
        if self.k == 1 or span < 10 * self.resolution:
            return None
        return (error - low) / span

    def factors_available(self) -> int:
        """Maximum of ``factors_explained``: the number of positive eigenvalues, at most k."""
        return self.spectrum.positive(self.k)

    def factors_explained(self, error: float) -> int:
        """Number of leading factors whose floor the error reaches."""
        return min(
            self.spectrum.factors_explained(error + self.resolution, self.k),
            self.factors_available(),
        )

    def collapsed(self, error: float) -> bool:
        """Whether the error is that of a factor without groups."""
        if error >= 1.0:  # no better than H = 0
            return True
        excess = self.excess(error)
        if excess is None or excess <= COLLAPSE_EXCESS:
            return False
        return excess > PLATEAU or self.factors_explained(error) <= self.factors_available() / 2

    def at_floor(self, error: float) -> bool:
        """Whether the error is within the resolution of the floor."""
        return error - self.floor[0] < self.resolution
