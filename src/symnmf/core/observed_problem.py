"""The problem of a matrix with missing or weighted entries, and what is known about its error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from symnmf.core.bounds import PLATEAU, ErrorBounds
from symnmf.core.problem import Problem
from symnmf.core.spectral_completion import spectral_completion
from symnmf.core.spectrum import Spectrum
from symnmf.errors import InvalidInput
from symnmf.operators import SymmetricOperator
from symnmf.operators.observed_entries import ObservedMatrix
from symnmf.operators.wrappers import unwrap

#: Steps towards the best single column.
RANK_ONE_STEPS = 40
#: Most fits of an S that is completed by the fit before, and the least fall of the error that calls
#: for one more.
COMPLETIONS, LEAST_FALL = 10, 0.02
#: A fit of a completed S with at most this excess does not call for one that begins anew.
NEAR_FLOOR = 5e-4


@dataclass(frozen=True)
class ObservedBounds(ErrorBounds):
    """What is known about the error where entries are missing: no floor but zero.

    The best approximation of a partly observed matrix is not given by its spectrum, so there is no
    excess and no number of factors explained. The error of one column is that of a descent.

    Attributes:
        one_column: error of the best single column that was found.
    """

    one_column: float = 1.0

    @property
    def exact(self) -> bool:
        """There is no exact floor."""
        return False

    @property
    def rank_one(self) -> float:
        """Error of the best single column that was found."""
        return self.one_column

    @property
    def floor(self) -> tuple[float, float]:
        """Zero: the only bound that is known."""
        return 0.0, 0.0

    def excess(self, error: float) -> float | None:
        """None: there is no floor to measure from."""
        return None

    def factors_available(self) -> int:
        """Zero: the spectrum of S is not known."""
        return 0

    def factors_explained(self, error: float) -> int:
        """Zero: the spectrum of S is not known."""
        return 0

    def noise_share(self, error: float) -> float | None:
        """None: there is no floor to measure from."""
        return None

    def may_be_collapsed(self, error: float) -> bool:
        """Whether several columns fit no better than one."""
        return error >= 1.0 or (self.k > 1 and error > PLATEAU * self.one_column)


class ObservedProblem(Problem):
    """Factorize the observed entries of S.

    Arguments:
        S: the observed entries.
        k, seed, start: as for :class:`Problem`.
    """

    def __init__(self, S: ObservedMatrix, k: Any, seed: Any = 0, start: str | Tensor = "random"):
        super().__init__(S, k, seed, start)
        inner = unwrap(self.S)
        assert isinstance(inner, ObservedMatrix)
        self.observed = inner  # rescaled where the entries of S are far from one
        self.share: float | None = S.share

    def error(self, H: Tensor, SH: Tensor) -> float:
        """The error over the observed entries."""
        return self.observed.error(H)

    @cached_property
    def empty(self) -> Tensor | None:
        """Rows whose observed entries are all zero; None if none is."""
        S = self.observed
        none = S.weighted_sum(torch.ones(S.n, 1, dtype=S.dtype, device=S.device))[:, 0] == 0
        return none if bool(none.any()) else None

    @cached_property
    def spectrum(self) -> Spectrum:
        """No eigenvalue is known."""
        S = self.observed
        nothing = torch.zeros(1, dtype=torch.float64)
        vectors = torch.zeros(S.n, 1, dtype=S.dtype, device=S.device)
        return Spectrum(nothing, nothing, vectors, S.n, S.frob_sq(), S.trace(), 0)

    @cached_property
    def bounds(self) -> ErrorBounds:
        """What is known about the error."""
        return ObservedBounds(self.spectrum, self.k, self.S.dtype, self._rank_one())

    @property
    def eigenvalues(self) -> Tensor:
        """None is known."""
        return torch.zeros(0, dtype=torch.float64)

    def _rank_one(self) -> float:
        """Error of one column, by steps h ← Z h / ‖h‖² of expectation and maximization."""
        S = self.observed
        h = torch.full((S.n, 1), max(S.mean(), 1e-30) ** 0.5, dtype=S.dtype, device=S.device)
        for _ in range(RANK_ONE_STEPS):
            size = h.square().sum()
            rest = S.weighted_sum(h) - h * S.weight_sum(h.square())
            h = (h + (rest + h * size) / size.clamp(min=1e-30)) / 2
            h = h.clamp_(min=0)
        return min(1.0, S.error(h))


#: A fit of a completed S, from a start (None: anew) and with a precision: H, and its excess there.
CompletedFit = Callable[[SymmetricOperator, Tensor | None, str], tuple[Tensor, float | None]]


def completed_fit(S: ObservedMatrix, k: int, seed: int, fit: CompletedFit) -> Tensor:  # (n, k)
    """H of S, completed by its leading directions at first and then by the fit, while it pays.

    Each fit begins at the one before. Where the first is not near the floor, one more begins anew:
    groups complete a noisy S better than directions do, and other groups may be found then.

    Arguments:
        S: the observed entries.
        k, seed: as for :class:`ObservedProblem`.
        fit: how to fit a completed S.
    """
    H, excess = fit(S.completed(spectral_completion(S, k, seed)), None, "fast")
    error = S.error(H)
    if excess is None or excess > NEAR_FLOOR:
        again, _ = fit(S.completed(H), None, "balanced")
        after = S.error(again)
        if after < error:
            H, error = again, after
    for _ in range(COMPLETIONS):
        again, _ = fit(S.completed(H), H, "fast")
        before, after = error, S.error(again)
        if after < before:
            H, error = again, after
        if after > (1 - LEAST_FALL) * before:
            break
    return H


def check_observed(mask: Any, weights: Any, others: dict[str, Any]) -> None:
    """Raise an error for what cannot be combined with a mask or weights.

    Arguments:
        mask, weights: arguments of :func:`symnmf.factorize`.
        others: its arguments that have to be None or False, by name.
    """
    if mask is not None and weights is not None:
        raise InvalidInput(
            "mask",
            "was given together with weights",
            "Pass weights that are zero where S is missing",
        )
    for name, value in others.items():
        if value is not None and value is not False:
            raise InvalidInput(name, "cannot be combined with a mask or weights", "Leave it out")
