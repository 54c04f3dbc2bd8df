"""The certificate of a factorization: its distance from the optimum, and whether it has groups."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from symnmf.display import Brief

#: Below this agreement of good starts the groups count as ambiguous.
AGREED = 0.7

#: A fit with at most this excess counts as good.
GOOD_FIT = 0.02


#: A smaller share of noise in the distance to the floor is not mentioned.
LEAST_NOISE_SHARE = 0.05


@dataclass(frozen=True, repr=False)
class Certificate(Brief):
    """Quality of H, in numbers that distinguish an optimum from a plateau.

    Attributes:
        error: ‖S − H Hᵀ‖² / ‖S‖².
        floor_low, floor_high: interval that contains the floor, a lower bound of the error of
            any k columns.
        floor_exact: whether the floor is exact; otherwise it is numerical, not proven.
        rank_one: error of the best single column.
        excess: (error − floor_low) / (rank_one − floor_low): 0 is globally optimal, 1 the
            plateau where all columns are the same. None if k = 1 or the range is too small.
        factors_explained: number of leading factors whose floor the error reaches, out of
            ``factors_available``.
        factors_available: the smaller of k and the number of positive eigenvalues.
        kkt: projected gradient per entry, independent of the scale of S.
        kkt_gate: threshold for ``kkt``.
        kkt_bound: origin of the threshold: ``"criterion"``, or ``"rounding"`` of the gradient.
        resolution: smallest difference of errors that the arithmetic can distinguish.
        collapsed: whether the columns carry no groups: the error is far from the floor, and at
            most half of the columns are used and differ from each other.
        converged: whether the gradient and stagnation gates are met, H is not collapsed, and
            not most of what its columns could explain is left out.
        paper_converged: whether the paper's three gates are met, literally, at the check that
            ended the run (the last one after a whole interval).
        paper_iteration: first iteration at which the paper's three gates were met; None if they
            never were.
        exact: whether the factor is known to be optimal, in closed form.
        agreement: mean pairwise adjusted Rand index of the labels of several good starts; None
            with a single start.
        observed: share of the entries of S that is observed, over which the error is; there is no
            floor then, no excess, and no number of explained factors. None for all entries.
        distinct_columns: number of columns of H that are used and do not coincide; None in results
            of earlier versions.
        noise_share: share of the distance between error and floor that eigenvalues of the size of
            noise explain, which no group can reach; None without an excess.
        starts: number of starts of which the factor is the best.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> c = sn.factorize(S, k=2).certificate
        >>> c.converged, c.collapsed, f"{c.factors_explained} of {c.factors_available} factors"
        (True, False, '2 of 2 factors')
    """

    error: float
    floor_low: float
    floor_high: float
    floor_exact: bool
    rank_one: float
    excess: float | None
    factors_explained: int
    factors_available: int
    kkt: float
    kkt_gate: float
    kkt_bound: str
    resolution: float
    collapsed: bool
    converged: bool
    paper_converged: bool
    paper_iteration: int | None = None
    exact: bool = False
    agreement: float | None = None
    observed: float | None = None
    distinct_columns: int | None = None
    noise_share: float | None = None
    starts: int = 1

    @property
    def ambiguous(self) -> bool:
        """Whether equally good fits have different groups."""
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
        if self.observed is not None:
            done = "Converged" if self.converged else "Not converged"
            return (
                f"{done}: error {self.error:.3g} over the observed {100 * self.observed:.3g} % of "
                "the entries; no floor is known where entries are missing or weighted."
            )
        fit = f"fit{near}, {self.factors_explained} of {self.factors_available} factors explained"
        fit += self._out_of_reach()
        if not self.converged:
            return f"Not converged: {fit}."
        if self.ambiguous:
            good = "fit good, " if self.excess is None or self.excess <= GOOD_FIT else ""
            return f"Converged, {good}groups ambiguous: {fit}; other starts find other groups."
        return f"Converged: {fit}."

    def _out_of_reach(self) -> str:
        """What a fit that is far from the floor can be compared with instead."""
        if self.excess is None or self.excess <= GOOD_FIT:
            return ""
        best = f", the best of {self.starts} starts" if self.starts > 1 else ""
        if self.noise_share is None or self.noise_share < LEAST_NOISE_SHARE:
            return best
        return f"{best}; noise explains {100 * self.noise_share:.0f} % of the distance"

    def summary(self) -> list[tuple[str, str]]:
        """Name and value of each line, for people.

        An excess below the resolution of the arithmetic is shown as 0.
        """
        how = "exact" if self.floor_exact else "numerical, not proven"
        low, high = (f"{v:.4g}" for v in (self.floor_low, self.floor_high))
        excess = "–" if self.excess is None else f"{self.excess:.4f} (0 best, 1 no groups)"
        if abs(self.error - self.floor_low) < self.resolution:
            excess = "0, to the resolution of the arithmetic"
        floor = f"{low if low == high else f'{low} to {high}'} ({how})"
        factors = f"{self.factors_explained} of {self.factors_available}"
        if self.observed is not None:
            floor, factors = "unknown: entries are missing or weighted", "unknown"
        lines = [
            ("verdict", self.verdict),
            ("error", f"{self.error:.4g}"),
            ("least possible error", floor),
            ("error of one factor", f"{self.rank_one:.4g}"),
            ("excess", excess),
            ("factors explained", factors),
            ("gradient", f"{self.kkt:.3g}, gate {self.kkt_gate:.3g} ({self.kkt_bound})"),
            ("the paper's three gates", self._paper_gates()),
            ("resolution", f"{self.resolution:.2g}"),
        ]
        if self.agreement is not None:
            text = f"{self.agreement:.2f} (1 the same groups, 0 chance)"
            lines.insert(6, ("agreement of starts", text))
        elif self.starts is not None and self.starts > 1:
            lines.insert(6, ("agreement of starts", "unknown: no other start fits as well"))
        if self.noise_share is not None and self.excess is not None and self.excess > GOOD_FIT:
            text = f"{100 * self.noise_share:.0f} % of the distance to the least possible error"
            lines.insert(5, ("explained by noise", text))
        return lines

    def _paper_gates(self) -> str:
        now = "met" if self.paper_converged else "not met"
        if self.paper_iteration is None:
            return now
        return f"{now}; first met at iteration {self.paper_iteration}"

    def as_dict(self) -> dict[str, Any]:
        """The attributes as numbers and strings, for JSON."""
        return asdict(self)
