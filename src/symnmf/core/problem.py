"""The problem: factorize S ≈ H Hᵀ with k columns."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from symnmf.core.bounds import ErrorBounds
from symnmf.core.objective import error
from symnmf.core.spectrum import Spectrum, leading
from symnmf.core.start import check_start, given_start, nndsvd_start, random_start, uniform_start
from symnmf.operators import CountingOperator, LowRankOperator, SymmetricOperator
from symnmf.operators.conversion import validate_operator
from symnmf.operators.devices import on_chosen_device
from symnmf.operators.wrappers import rescaled, unwrap
from symnmf.options import whole_number

#: S is not rescaled if its scale is between 2^−MAX_EXPONENT and 2^MAX_EXPONENT: squares of
#: gradients, which are cubes of it, are then far within the range of float32.
MAX_EXPONENT = 20


@dataclass(frozen=True)
class WarmStart:
    """Factor and eigenvectors of a similar problem, such as the previous window.

    Attributes:
        H: (n, k) factor of the similar problem, an additional start.
        vectors: (n, p) leading eigenvectors of the similar problem, which accelerate the
            iteration for those of S.
    """

    H: Tensor
    vectors: Tensor


class Problem:
    """Factorize S ≈ H Hᵀ with k columns.

    S is wrapped so that every product is counted. The spectrum is computed once, on first use,
    and shared by start, certificate and solver.

    A matrix whose entries are far from one is divided by a power of four, so that no intermediate
    result overflows or loses digits; :meth:`to_input_scale` undoes the rescaling. Powers of two
    change no digit, and every number of the certificate is independent of the scale.

    Arguments:
        S: operator to factorize.
        k: number of columns of H.
        seed: seed of the start and of every draw.
        start: ``"random"``, ``"uniform"``, ``"nndsvd"`` or an (n, k) factor.
        warm_start: factor and eigenvectors of a similar problem, or None.

    Attributes:
        S: the caller's operator divided by the square of ``unit``, with a counter.
        unit: number that multiplies a factor of ``S`` to give a factor of the caller's matrix.
        spectrum_work: work with S that the spectrum needed.

    Raises:
        InvalidInput: an argument is invalid.
    """

    def __init__(
        self,
        S: SymmetricOperator,
        k: Any,
        seed: Any = 0,
        start: str | Tensor = "random",
        warm_start: WarmStart | None = None,
    ) -> None:
        validate_operator(S)
        #: Device of the caller, to which the result returns.
        self.home = S.device
        S = on_chosen_device(S)
        if warm_start is not None:
            warm_start = WarmStart(warm_start.H.to(S.device), warm_start.vectors.to(S.device))
        self.k = whole_number("k", k, 1, S.n, f"from 1 to n = {S.n}")
        self.seed = whole_number("seed", seed, 0)
        check_start(start, S, self.k)
        half = _half_exponent(S)
        self.unit = 2.0**half
        if half:
            S = rescaled(unwrap(S), -2 * half)
            start = start / self.unit if isinstance(start, Tensor) else start
            if warm_start is not None:
                warm_start = replace(warm_start, H=warm_start.H / self.unit)
        self.S = S if isinstance(S, CountingOperator) else CountingOperator(S)
        self.start, self.warm_start = start, warm_start
        self.spectrum_work = 0

    def on(self, S: SymmetricOperator) -> Problem:
        """The same problem with another operator, such as the surrogate, without validation.

        The scale and the spectrum are those of this problem.
        """
        shared = (self.empty, self.entry_scale, self.spectrum)  # cached here for the copy
        assert shared
        twin = copy(self)
        twin.S = S if isinstance(S, CountingOperator) else CountingOperator(S)
        twin.unit, twin.spectrum_work = 1.0, 0
        twin.__dict__.pop("surrogate", None)
        return twin

    def begun_at(self, H: Tensor) -> Problem:  # (n, k)
        """The same problem with a start factor of its scale, without validation.

        What is known of its spectrum is shared.
        """
        twin = copy(self)
        twin.start, twin.warm_start = H, None
        return twin

    @property
    def H0(self) -> Tensor:  # (n, k)
        """The start factor, computed on each access because it is needed once."""
        if isinstance(self.start, Tensor):
            H = given_start(self.start, self.S, self.k)
        elif self.start == "nndsvd":
            H = nndsvd_start(self.S, self.k, self.spectrum)
        elif self.start == "uniform":
            H = uniform_start(self.S, self.k, self.seed)
        else:
            H = random_start(self.S, self.k, self.seed)
        return H if self.empty is None else H.masked_fill_(self.empty[:, None], 0)

    @cached_property
    def empty(self) -> Tensor | None:  # (n,)
        """Mask of the rows of S without any entry, whose loadings are zero; None if none is."""
        S = self.S.inner
        if bool((S.diag() > 0).all()):
            return None
        sums = S.matmul(torch.ones(S.n, 1, dtype=S.dtype, device=S.device))
        none = (sums[:, 0] == 0) & (S.diag() == 0)
        return none if bool(none.any()) else None

    def zero_empty_rows(self, H: Tensor) -> Tensor:  # (n, k)
        """H with rows that are empty in S set to zero; this never increases the error."""
        if self.empty is None or not bool(H[self.empty].any()):
            return H
        return H.masked_fill(self.empty[:, None], 0)

    def to_input_scale(self, H: Tensor) -> Tensor:  # (n, k)
        """Undo the internal rescaling of S, and flush denormal numbers to zero."""
        H = self.zero_empty_rows(H)
        H = H if self.unit == 1.0 else H * self.unit
        least = torch.finfo(H.dtype).tiny
        denormal = (least > H) & (H != 0)
        return H.masked_fill(denormal, 0) if bool(denormal.any()) else H

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes about the internal rescaling of S."""
        if self.unit == 1.0:
            return ()
        power = round(math.log2(self.unit))
        size = self.unit**2 * self.S.scale()
        return (
            f"entries of S are of the size {size:.2g}: S was divided by 2^{2 * power} before the "
            f"fit and H multiplied by 2^{power} after it, which changes no digit",
        )

    #: Share of the entries of S that is observed; None for all of them.
    share: float | None = None

    def error(self, H: Tensor, SH: Tensor) -> float:
        """Relative squared error of H, from the product S @ H."""
        return error(H, SH, self.S.frob_sq())

    @cached_property
    def spectrum(self) -> Spectrum:
        """Leading eigenpairs of S."""
        before = self.S.work
        basis = None if self.warm_start is None else self.warm_start.vectors
        spectrum = leading(self.S, self.k, seed=self.seed, basis=basis)
        self.spectrum_work = self.S.work - before
        return spectrum

    @cached_property
    def surrogate(self) -> SymmetricOperator:
        """A low-rank-plus-diagonal T from the leading eigenpairs, or S if that costs no more.

        Products with T are not counted, unless T is S. For a Gram operator whose width is at most
        a few times k, T is S.
        """
        U = self.spectrum.vectors
        if self.S.cost() <= 4 * U.numel():  # twice the cost of the sketch
            return self.S
        return LowRankOperator.sketch(U, self.spectrum.values[: U.shape[1]], self.S.diag())

    @cached_property
    def bounds(self) -> ErrorBounds:
        """Bounds on the error that follow from the spectrum."""
        return ErrorBounds(self.spectrum, self.k, self.S.dtype)

    @property
    def eigenvalues(self) -> Tensor:  # (p,)
        """The 2k + 8 largest eigenvalues of the caller's matrix, as far as they are known."""
        return self.spectrum.values[: 2 * self.k + 8].to("cpu", torch.float64) * self.unit**2

    @property
    def spent(self) -> int:
        """Work done with S so far, without that of the spectrum."""
        return self.S.work - self.spectrum_work

    def products(self, since: int = 0) -> float:
        """Equivalents of products S @ X with k columns, those of the spectrum included.

        Arguments:
            since: work to subtract, such as that before a run.
        """
        return (self.S.work - since) / (self.S.n**2 * self.k)

    @cached_property
    def entry_scale(self) -> float:
        """Size of the entries of a good H: sqrt(s / k), where s is the scale of S.

        H Hᵀ must reach a diagonal of about s with k columns. Step sizes are multiples of this size.
        """
        return math.sqrt(self.S.scale() / self.k)


def _half_exponent(S: SymmetricOperator) -> int:
    """Half of the even power of two by which S is divided; 0 if its scale is moderate."""
    power = math.log2(S.scale())
    return 0 if abs(power) <= MAX_EXPONENT else round(power / 2)
