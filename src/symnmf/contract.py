"""Problem, State, Check, Status, Solver, Result: the types that the parts speak in."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from operator import index
from typing import Any, ClassVar

import torch
from torch import Tensor

from symnmf.certificate import Certificate, Yardstick
from symnmf.errors import InvalidInput
from symnmf.labels import hard_labels
from symnmf.operators import CountingOperator, LowRankOperator, SymmetricOperator
from symnmf.operators.convert import check_operator
from symnmf.operators.wrap import bare, rescaled
from symnmf.spectrum import Spectrum, leading
from symnmf.start import check_start, given_start, nndsvd_start, random_start

#: Sizes of S from 2^−SIZES to 2^SIZES are worked with as they are: cubes of them, which squares
#: of gradients are, stay far inside float32.
SIZES = 20


@dataclass(frozen=True)
class Earlier:
    """What is known from a similar problem, such as the window before.

    Attributes:
        H: (n, k) its factor, which joins the starts.
        vectors: (n, p) its leading eigenvectors, from which those of S are found sooner.
    """

    H: Tensor
    vectors: Tensor


@dataclass(frozen=True, init=False)
class Problem:
    """Factorize S ≈ H Hᵀ with k columns.

    S is wrapped so that every product is counted. The spectrum is computed once, on first use,
    and shared by start, certificate and solver.

    A matrix far from entries of size one is divided by a power of four here, at the door, so that
    nothing on the way overflows or loses digits; :meth:`outward` takes the factor back. Powers of
    two change no digit, and every number of the certificate is free of the scale.

    Attributes:
        S: the operator, divided by the square of ``unit``.
        k: number of columns of H.
        seed: of the start and of every draw.
        start: ``"random"``, ``"nndsvd"`` or an (n, k) factor.
        earlier: what a similar problem left, or None.
        unit: what the factor of ``S`` has to be multiplied with to be that of the caller's matrix.
    """

    S: CountingOperator
    k: int
    seed: int = 0
    start: str | Tensor = "random"
    earlier: Earlier | None = None
    unit: float = 1.0

    def __init__(
        self,
        S: SymmetricOperator,
        k: Any,
        seed: Any = 0,
        start: str | Tensor = "random",
        earlier: Earlier | None = None,
    ) -> None:
        check_operator(S)
        k = whole("k", k, 1, S.n, f"from 1 to n = {S.n}")
        seed = whole("seed", seed, 0, math.inf, "that is not negative")
        check_start(start, S, k)
        half = _half_exponent(S)
        if half:
            S, unit = rescaled(bare(S), -2 * half), 2.0**half
            start = start / unit if isinstance(start, Tensor) else start
            earlier = None if earlier is None else replace(earlier, H=earlier.H / unit)
        object.__setattr__(self, "unit", 2.0**half)
        object.__setattr__(self, "S", S if isinstance(S, CountingOperator) else CountingOperator(S))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "earlier", earlier)

    def on(self, S: SymmetricOperator) -> Problem:
        """The same question about another operator, such as the surrogate, without its checks."""
        twin = object.__new__(Problem)
        wrapped = S if isinstance(S, CountingOperator) else CountingOperator(S)
        twin.__dict__.update(S=wrapped, k=self.k, seed=self.seed, start=self.start)
        twin.__dict__.update(earlier=self.earlier, unit=1.0, empty=self.empty)
        twin.__dict__.update(entry_scale=self.entry_scale, spectrum=self.spectrum)
        return twin

    @property
    def H0(self) -> Tensor:  # (n, k)
        """The start factor, made anew each time: it is needed once."""
        if isinstance(self.start, Tensor):
            H = given_start(self.start, self.S, self.k)
        elif self.start == "nndsvd":
            H = nndsvd_start(self.S, self.k, self.spectrum)
        else:
            H = random_start(self.S, self.k, self.seed)
        return H if self.empty is None else H.masked_fill_(self.empty[:, None], 0)

    @cached_property
    def empty(self) -> Tensor | None:  # (n,)
        """Rows of S without any entry, or None: their loadings are zero from the start."""
        S = self.S.inner
        if bool((S.diag() > 0).all()):
            return None
        sums = S.matmul(torch.ones(S.n, 1, dtype=S.dtype, device=S.device))
        none = (sums[:, 0] == 0) & (S.diag() == 0)
        return none if bool(none.any()) else None

    def judged(self, H: Tensor) -> Tensor:  # (n, k)
        """H with loadings of zero where S has nothing, which no fit is worse for."""
        if self.empty is None or not bool(H[self.empty].any()):
            return H
        return H.masked_fill(self.empty[:, None], 0)

    def outward(self, H: Tensor) -> Tensor:  # (n, k)
        """A factor of ``S`` as one of the caller's matrix, without denormal numbers."""
        H = self.judged(H)
        H = H if self.unit == 1.0 else H * self.unit
        least = torch.finfo(H.dtype).tiny
        denormal = (least > H) & (H != 0)
        return H.masked_fill(denormal, 0) if bool(denormal.any()) else H

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was done to S at the door."""
        if self.unit == 1.0:
            return ()
        power = round(math.log2(self.unit))
        size = self.unit**2 * self.S.scale()
        return (
            f"entries of S are of the size {size:.2g}: it was divided by 2^{2 * power} before the "
            f"work and H multiplied by 2^{power} after it, which changes no digit",
        )

    @cached_property
    def spectrum(self) -> Spectrum:
        """Leading eigenpairs of S."""
        before = self.S.work
        basis = None if self.earlier is None else self.earlier.vectors
        spectrum = leading(self.S, self.k, seed=self.seed, basis=basis)
        self.__dict__["spectrum_work"] = self.S.work - before
        return spectrum

    @cached_property
    def surrogate(self) -> SymmetricOperator:
        """A low-rank-plus-diagonal T from the leading eigenpairs, or S where that costs no more.

        Its products are not counted, unless it is S. On a Gram operator that is not wider than a
        few times k it is S: exact, and never formed.
        """
        U = self.spectrum.vectors
        if self.S.cost() <= 4 * U.numel():  # twice that of the sketch
            return self.S
        return LowRankOperator.sketch(U, self.spectrum.values[: U.shape[1]], self.S.diag())

    @cached_property
    def yardstick(self) -> Yardstick:
        """What the spectrum says about any error."""
        return Yardstick(self.spectrum, self.k, self.S.dtype)

    @property
    def eigenvalues(self) -> Tensor:  # (p,)
        """The largest eigenvalues of the caller's matrix, some more than k, for people to see."""
        return self.spectrum.values[: 2 * self.k + 8].to("cpu", torch.float64) * self.unit**2

    @property
    def spent(self) -> int:
        """Work done with S so far, the spectrum aside."""
        return self.S.work - int(self.__dict__.get("spectrum_work", 0))

    def products(self, since: int = 0) -> float:
        """Products S @ X with k columns, the spectrum included, and of the rest what is new."""
        work = self.spent - since + int(self.__dict__.get("spectrum_work", 0))
        return work / (self.S.n**2 * self.k)

    @cached_property
    def entry_scale(self) -> float:
        """Size of the entries of a good H: sqrt(s / k), with s the scale of S.

        H Hᵀ must reach a diagonal of about s with k columns. Step sizes are multiples of it.
        """
        return math.sqrt(self.S.scale() / self.k)


def _half_exponent(S: SymmetricOperator) -> int:
    """Half of the even power of two that S is divided by; 0 where its size is about one."""
    power = math.log2(S.scale())
    return 0 if abs(power) <= SIZES else round(power / 2)


def whole(name: str, value: Any, low: int, high: float, words: str) -> int:
    """A whole number in a range, or the error that says so."""
    try:
        if low <= index(value) <= high:
            return index(value)
    except TypeError:
        pass
    raise InvalidInput(name, f"got {value!r}", f"Pass a whole number {words}")


@dataclass
class Memory:
    """What a run remembers: tensors, numbers, strings, None, tuples and other Memories.

    Every subclass is known by its name, so that one generic flattening serves all checkpoints.
    """

    kinds: ClassVar[dict[str, type[Memory]]] = {}

    def __init_subclass__(cls) -> None:
        Memory.kinds[cls.__qualname__] = cls


Memory.kinds["Memory"] = Memory


@dataclass
class State(Memory):
    """All that changes in a run.

    Attributes:
        H: (n, k), never negative: what is judged and reported.
        SH: S @ H where the solver knows it; the driver fills it before a check.
    """

    H: Tensor
    SH: Tensor | None


@dataclass(frozen=True)
class Check:
    """One look of the monitor at a run. The last three are rival criteria, for study."""

    iteration: int
    seconds: float
    products: float
    error: float
    decrease: float  # (E_{t−δ} − E_t) / E_0
    kkt: float
    kkt_gate: float
    stagnant: bool
    relative_decrease: float  # |E_t − E_{t−δ}| / E_{t−δ}
    iterate_change: float  # ‖H_t − H_{t−δ}‖ / ‖H_{t−δ}‖
    kkt_relative: float  # kkt / kkt at the start

    @property
    def kkt_ratio(self) -> float:
        """The scaled projected gradient against its gate."""
        return self.kkt / self.kkt_gate

    @property
    def gates_met(self) -> bool:
        """Gradient and stagnation gates; collapse is judged apart."""
        return self.stagnant and self.kkt_ratio < 1.0


class Status(Enum):
    """How a run ended.

    Example:
        >>> Status.CONVERGED.good, Status.COLLAPSED.good
        (True, False)
    """

    EXACT = "exact"
    CONVERGED = "converged"
    COLLAPSED = "collapsed"
    STAGNATED = "stagnated"
    MAX_ITER = "max_iter"
    TIME_OUT = "time_out"
    DIVERGED = "diverged"
    STOPPED = "stopped"

    @property
    def good(self) -> bool:
        """Whether the criterion was met."""
        return self in (Status.EXACT, Status.CONVERGED)


class Solver(ABC):
    """A frozen dataclass of hyper-parameters; it holds no run state and knows no tolerance."""

    #: The paper's interval between checks and warm-up without a stagnation test.
    check_every: ClassVar[int] = 10
    warm_up: ClassVar[int] = 50

    @abstractmethod
    def init_state(self, problem: Problem) -> State:
        """The state before the first step, at H0. ``H`` must not alias ``problem.H0``."""

    @abstractmethod
    def step(self, problem: Problem, state: State, rng: torch.Generator) -> State:
        """One iteration. ``rng`` depends on seed and iteration only; buffers may be reused."""

    def due(self, state: State, since: int) -> bool:
        """Whether to look, ``since`` iterations after the last look; a look costs a product."""
        return since >= self.check_every

    def ripe(self, state: State) -> bool:
        """Whether a look may find the run stagnant, and so end it."""
        return True

    def interrupted(self, state: State) -> State:
        """The state to report when the run is cut off here; what is saved is ``state`` itself."""
        return state

    def agreement(self, state: State) -> float | None:
        """How far several starts agree on the groups, where the solver made several."""
        return None

    def react(self, problem: Problem, state: State, check: Check) -> State:
        """Answer to a stagnant look; the same object means no answer."""
        return state


@dataclass(frozen=True)
class Result:
    """A factorization, how it came about, and how good it is.

    Attributes:
        H: (n, k) factor, non-negative.
        status: how the run ended.
        certificate: the verdict on H.
        history: every look of the monitor.
        solver: name of the solver; ``options`` its hyper-parameters.
        seed: of the start and of every draw.
        iterations, seconds, products: what was spent (products of S with k columns).
        looking: seconds of it that went into looks, not steps.
        names: names of the rows, where known.
        notes: what was chosen for the caller, and why.
        eigenvalues: (p,) the largest of S, descending, as far as they were needed; None where the
            result comes from elsewhere.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), k=2)
        >>> result.H.shape, result.status.name, result.labels().unique(return_counts=True)[1]
        (torch.Size([6, 2]), 'EXACT', tensor([3, 3]))
    """

    H: Tensor
    status: Status
    certificate: Certificate
    history: tuple[Check, ...]
    solver: str
    seed: int
    iterations: int
    seconds: float
    products: float
    options: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    looking: float = 0.0
    eigenvalues: Tensor | None = None

    def labels(self) -> Tensor:  # (n,)
        """Group of each row: argmax over unit-norm columns; −1 for a zero row."""
        return hard_labels(self.H)[0]

    def margins(self) -> Tensor:  # (n,)
        """How far the first group leads the second, from 0 to 1."""
        return hard_labels(self.H)[1]
