"""Bounds on the error of any factor of rank k, from the spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.columns import distinct_columns
from symnmf.core.objective import error_resolution
from symnmf.core.spectrum import Spectrum

#: Above this excess, and with at most half of the available factors, a factor may have no groups.
COLLAPSE_EXCESS = 0.05


#: Above this excess a factor is on the plateau of one column, for any number of factors.
PLATEAU = 0.99


#: A fit that leaves more than this share of the distance from one column to the floor, of which
#: noise explains less than this share, leaves groups out.
MOST_LEFT = 0.5


#: Two columns coincide if 1 − cosine is at most this fraction of the error of one column, which is
#: the spread of the rows of S around one direction, and at most the second number.
COINCIDE, MOST_COINCIDE = 0.1, 0.01


#: Eigenvalues of noise end at the edge of the semicircle for large n; unequal degrees and a finite
#: n spread them to about this multiple of it.
EDGE = 1.2


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

    def may_be_collapsed(self, error: float) -> bool:
        """Whether the error is one that a factor without groups can have."""
        if error >= 1.0:  # no better than H = 0
            return True
        excess = self.excess(error)
        if excess is None or excess <= COLLAPSE_EXCESS:
            return False
        return excess > PLATEAU or self.factors_explained(error) <= self.factors_available() / 2

    def collapsed(self, error: float, H: Tensor) -> bool:
        """Whether H has no groups: its error may be that of one column, and its columns coincide.

        A large distance from the floor is not enough: where S is noise, or has negative
        eigenvalues, no non-negative factor comes near the floor.
        """
        if error >= 1.0:
            return True
        return self.may_be_collapsed(error) and self.distinct_columns(H) <= self.k / 2

    def leaves_groups(self, error: float) -> bool:
        """Whether a fit leaves out what its columns could explain, so that it has not converged.

        A single column fits better, or most of what k columns can explain beyond one is left and
        noise explains less than half of that: a slow run near the plateau meets any gate there.
        """
        excess, noise = self.excess(error), self.noise_share(error)
        if excess is None or noise is None:
            return False
        return excess > 2 - PLATEAU or (excess > MOST_LEFT and noise < MOST_LEFT)

    def distinct_columns(self, H: Tensor) -> int:
        """Number of columns of H that are used and do not coincide."""
        return distinct_columns(H, min(MOST_COINCIDE, COINCIDE * self.rank_one))

    def noise_share(self, error: float) -> float | None:
        """Share of the distance between error and floor that eigenvalues of noise explain.

        The floor counts all k leading eigenvalues. Those that are not a fifth above the edge of
        noise, 2·sqrt(‖R‖² / n) with R the rest of S, belong to no group: a matrix of independent
        entries with the norm of R has such eigenvalues (Wigner's semicircle).

        Returns:
            a number from 0 to 1; None where the error is at the floor or has no excess.
        """
        gap = error - self.floor[0]
        if self.excess(error) is None or gap <= 10 * self.resolution:
            return None
        spectrum = self.spectrum
        known = spectrum.values[: self.k].clamp(min=0).square()
        rest = (spectrum.frob_sq - known.cumsum(0)).clamp(min=0)
        noise = (known <= EDGE**2 * 4 * rest / spectrum.n).nonzero()[:, 0]
        if not len(noise):
            return 0.0
        counted = spectrum.upper(self.k).clamp(min=0).square()  # as the floor counts them
        return min(1.0, float(counted[noise[0] :].sum()) / spectrum.frob_sq / gap)

    def at_floor(self, error: float) -> bool:
        """Whether the error is within the resolution of the floor."""
        return error - self.floor[0] < self.resolution
