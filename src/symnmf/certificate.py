"""The verdict on a factorization: how far from the best possible, and whether it has groups."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch

from symnmf.objective import error_resolution
from symnmf.spectrum import Spectrum

#: Above this excess, and with at most half of the possible worth, a factor has no groups.
COLLAPSE_EXCESS = 0.05
#: Above this excess it is on the plateau of one factor, whatever its worth.
PLATEAU = 0.99
#: Below this agreement of good starts the groups are not unique.
AGREED = 0.7
#: A fit with at most this excess is called good.
GOOD_FIT = 0.02


@dataclass(frozen=True)
class Certificate:
    """How good H is, in numbers that a plateau cannot fool.

    Attributes:
        error: ‖S − H Hᵀ‖² / ‖S‖².
        floor_low, floor_high: interval of the least error that any k columns can have.
        floor_exact: whether the floor is exact; otherwise it is numerical, not proven.
        rank_one: error of the best single column.
        excess: (error − floor_low) / (rank_one − floor_low): 0 is globally optimal, 1 the
            plateau where all columns are the same. None when k = 1 or the range is too small.
        worth: how many factors' worth of structure the error shows, of ``possible``.
        possible: the smaller of k and the number of positive eigenvalues.
        kkt: projected gradient an entry, free of the scale of S.
        kkt_gate: what it has to be below; ``kkt_bound`` says if the paper's threshold or the
            rounding of the gradient set it.
        resolution: smallest difference of errors that the arithmetic can tell.
        collapsed: the columns carry no groups.
        converged: gradient and stagnation gates met, and not collapsed.
        paper_converged: the paper's three gates, literally.
        exact: the factor is known to be the best, in closed form.
        agreement: mean pairwise ARI of the labels of several good starts, when asked for.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> c = sn.factorize(S, k=2).certificate
        >>> c.converged, c.collapsed, f"{c.worth} of {c.possible} factors"
        (True, False, '2 of 2 factors')
    """

    error: float
    floor_low: float
    floor_high: float
    floor_exact: bool
    rank_one: float
    excess: float | None
    worth: int
    possible: int
    kkt: float
    kkt_gate: float
    kkt_bound: str
    resolution: float
    collapsed: bool
    converged: bool
    paper_converged: bool
    exact: bool = False
    agreement: float | None = None

    @property
    def ambiguous(self) -> bool:
        """Whether equally good fits have other groups."""
        return self.agreement is not None and self.agreement < AGREED

    @property
    def verdict(self) -> str:
        """The certificate in a sentence."""
        if self.exact:
            return f"Exact: no factor of this size has a smaller error than {self.error:.3g}."
        if self.error >= 1.0:
            return "No fit: H explains nothing of S."
        if self.collapsed:
            return "Collapsed: the columns of H are nearly the same and carry no groups."
        near = "" if self.excess is None else f" {100 * self.excess:.2g} % above the global floor"
        if abs(self.error - self.floor_low) < self.resolution:
            near = " at the global floor"
        fit = f"fit{near}, {self.worth} of {self.possible} factors' worth of structure"
        if not self.converged:
            return f"Not converged: {fit}."
        if self.ambiguous:
            good = "fit good, " if self.excess is None or self.excess <= GOOD_FIT else ""
            return f"Converged, {good}groups ambiguous: {fit}; other starts find other groups."
        return f"Converged: {fit}."

    def summary(self) -> list[tuple[str, str]]:
        """Name and value of each line, for people; differences below resolution are not shown."""
        how = "exact" if self.floor_exact else "numerical, not proven"
        low, high = (f"{v:.4g}" for v in (self.floor_low, self.floor_high))
        excess = "–" if self.excess is None else f"{self.excess:.4f} (0 best, 1 no groups)"
        if abs(self.error - self.floor_low) < self.resolution:
            excess = "0, to the resolution of the arithmetic"
        lines = [
            ("verdict", self.verdict),
            ("error", f"{self.error:.4g}"),
            ("least possible error", f"{low if low == high else f'{low} to {high}'} ({how})"),
            ("error of one factor", f"{self.rank_one:.4g}"),
            ("excess", excess),
            ("worth", f"{self.worth} of {self.possible} factors"),
            ("gradient", f"{self.kkt:.3g}, gate {self.kkt_gate:.3g} ({self.kkt_bound})"),
            ("the paper's three gates", "met" if self.paper_converged else "not met"),
            ("resolution", f"{self.resolution:.2g}"),
        ]
        if self.agreement is not None:
            words = f"{self.agreement:.2f} (1 the same groups, 0 chance)"
            lines.insert(6, ("agreement of starts", words))
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and words, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Yardstick:
    """What the spectrum says about any error of rank k: built once a run."""

    spectrum: Spectrum
    k: int
    dtype: torch.dtype

    @property
    def resolution(self) -> float:
        """Smallest difference of errors that the arithmetic can tell."""
        return error_resolution(self.dtype)

    @property
    def floor(self) -> tuple[float, float]:
        """Interval of the least error of rank k."""
        return self.spectrum.floor(self.k)

    def excess(self, error: float) -> float | None:
        """0 at the floor, 1 at the best single column; None where that means nothing."""
        low = self.floor[0]
        span = self.spectrum.floor(1)[0] - low
        if self.k == 1 or span < 10 * self.resolution:
            return None
        return (error - low) / span

    def possible(self) -> int:
        """The most that ``worth`` can be."""
        return self.spectrum.positive(self.k)

    def worth(self, error: float) -> int:
        """Factors' worth of structure that the error shows."""
        return min(self.spectrum.worth(error + self.resolution, self.k), self.possible())

    def collapsed(self, error: float) -> bool:
        """Whether the error is that of a factor without groups."""
        if error >= 1.0:  # no better than H = 0
            return True
        excess = self.excess(error)
        if excess is None or excess <= COLLAPSE_EXCESS:
            return False
        return excess > PLATEAU or self.worth(error) <= self.possible() / 2

    def at_floor(self, error: float) -> bool:
        """Whether the error cannot be told from the floor."""
        return error - self.floor[0] < self.resolution
