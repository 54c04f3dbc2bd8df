"""Sampling: which part of the gradient a step sees, and what it costs.

Costs in products of S with k columns; on a Gram operator with m columns in B a block of |I|×|J|
costs 2(|I| + |J|)·m·k operations instead of 2·|I|·|J|·k, an entry 2m instead of 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import Generic, TypeVar

import torch
from torch import Tensor

from symnmf.core.objective import block_gradient, entry_gradient, gradient, row_gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Checkpointable, State
from symnmf.numerics import row_chunks
from symnmf.options import check_options, option

#: Numbers gathered at a time by entry sampling: pairs × k.
GATHERED = 1 << 18


@dataclass
class Sample(Checkpointable):
    """The state of a sampling: ``phi`` is the fraction of S that a step sees."""

    phi: float


@dataclass
class Snapshot(Sample):
    """``mu``: the last full gradient; ``age``: steps since then, −1 before the first."""

    mu: Tensor
    age: int


SampleT = TypeVar("SampleT", bound=Sample)


class Sampling(ABC, Generic[SampleT]):
    """An estimator of ∇f from a part of S."""

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def init(self, H: Tensor) -> SampleT:
        """The state of the sampling before the first step."""

    @abstractmethod
    def gradient(
        self, problem: Problem, state: State, sample: SampleT, rng: torch.Generator
    ) -> Tensor:  # (n, k)
        """The estimate at ``state.H``; rows that were not seen are zero."""


def full_gradient(problem: Problem, state: State) -> Tensor:  # (n, k)
    """∇f at the factor of a state: one product, unless it is known."""
    return gradient(state.H, state.product(problem.S))


@dataclass(frozen=True)
class FullBatch(Sampling[Sample]):
    """The whole gradient: one product."""

    def init(self, H: Tensor) -> Sample:
        """All of S."""
        return Sample(1.0)

    def gradient(
        self, problem: Problem, state: State, sample: Sample, rng: torch.Generator
    ) -> Tensor:
        """The gradient itself."""
        return full_gradient(problem, state)


class PartialSampling(Sampling[Sample]):
    """A part of S drawn anew at each step; at ``phi`` = 1 the gradient itself.

    ``phi`` of the state begins at the option of the same name, and a reaction can grow it.
    """

    phi: float

    def init(self, H: Tensor) -> Sample:
        """At the fraction of the options."""
        return Sample(self.phi)

    def gradient(
        self, problem: Problem, state: State, sample: Sample, rng: torch.Generator
    ) -> Tensor:
        """The estimate of :meth:`partial`, on the scale that it has."""
        if sample.phi >= 1.0:
            return full_gradient(problem, state)
        return self.partial(problem, state.H, sample.phi, rng)[0]

    @abstractmethod
    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:  # (n, k), (n,)
        """The estimate at phi < 1, and what to multiply each row with to put it on the scale of ∇f.

        The factor of a row that was not seen is zero.
        """


def draw(n: int, size: int, rng: torch.Generator, device: torch.device) -> Tensor:
    """``size`` of n indices without repetition, ascending."""
    drawn = torch.randperm(n, generator=rng, device=rng.device)[:size].sort().values
    return drawn.to(device)


@dataclass(frozen=True)
class RowSampling(PartialSampling):
    """The exact gradient on φ·n rows, drawn anew each step: φ products.

    Arguments:
        phi: fraction of the rows.
    """

    phi: float = option(0.5, above=0, at_most=1)

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Zero outside the rows."""
        n = problem.S.n
        I = draw(n, ceil(phi * n), rng, H.device)
        everything = torch.arange(n, device=H.device)
        g, factor = torch.zeros_like(H), H.new_zeros(n)
        g[I] = row_gradient(H, I, problem.S.block_matmul(I, everything, H))
        factor[I] = 1.0
        return g, factor


@dataclass(frozen=True)
class EntrySampling(PartialSampling):
    """φ·n² pairs (i, j), drawn with repetition: φ / k products, and φ·n²·k scattered additions.

    The expectation is φ·∇f.

    Arguments:
        phi: pairs against n².
    """

    phi: float = option(0.1, above=0, at_most=1)

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """In chunks of pairs."""
        n, k = H.shape
        g, seen = torch.zeros_like(H), torch.zeros(n, dtype=torch.bool, device=H.device)
        for part in row_chunks(ceil(phi * n * n), k, GATHERED):
            pairs = (2, part.stop - part.start)
            drawn = torch.randint(n, pairs, generator=rng, device=rng.device)
            i, j = drawn.to(H.device)
            entry_gradient(H, i, j, problem.S.entries(i, j), out=g)
            seen[i] = True
            seen[j] = True
        return g, seen.to(H.dtype).div_(phi)


@dataclass(frozen=True)
class BlockSampling(PartialSampling):
    """A dense block of ⌈√φ·n⌉ rows and as many columns, drawn anew each step: 2φ products.

    The expectation is φ·∇f (I and J are drawn apart). A row in I or J sees √φ·n pairs at once.

    Arguments:
        phi: pairs against n².
    """

    phi: float = option(0.5, above=0, at_most=1)

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """S[I, J] H_J and S[J, I] H_I; the residual tile is not formed."""
        S, n = problem.S, problem.S.n
        size = ceil(phi**0.5 * n)
        I, J = draw(n, size, rng, H.device), draw(n, size, rng, H.device)
        g = block_gradient(
            H,
            I,
            J,
            S.block_matmul(I, J, H[J]),
            S.block_matmul(J, I, H[I]),
            out=torch.zeros_like(H),
        )
        roles = H.new_zeros(n)
        roles[I] += 1.0
        roles[J] += 1.0
        return g, torch.where(roles > 0, 2.0 * n / size / roles.clamp(min=1.0), 0.0)


@dataclass(frozen=True)
class SnapshotHybrid(Sampling[Snapshot]):
    """The paper's SVRG hybrid: fresh on the rows that were sampled, a snapshot of ∇f elsewhere.

    Differences from the paper (its section 5.1):

    1. Fresh rows are put on the scale of ∇f before they are combined with the snapshot; the paper
       leaves the factor to AdaGrad, which cannot undo one that differs between rows.
       ``rescale=False`` combines them as they are.
    2. The step at which a snapshot is taken uses all of it, and a check of the criterion, which
       needs S H anyway, is a free snapshot. ``whole_snapshot=False`` takes snapshots by
       ``period`` alone, and lets fresh rows replace those of the snapshot in every step.

    Arguments:
        inner: the sampling between snapshots.
        period: steps between snapshots; about 1/φ by default, at least 2.
        rescale: whether to put fresh rows on the scale of ∇f.
        whole_snapshot: whether the step at a snapshot uses all of it. For sampled rows, whose fresh
            gradient is exact, it is the same where checks fall on steps with a snapshot.

    Reference: named after SVRG (Johnson and Zhang 2013), but without its control variate.
    """

    inner: PartialSampling
    period: int | None = option(None, whole=True, at_least=1)
    rescale: bool = option(True)
    whole_snapshot: bool = option(True)

    def init(self, H: Tensor) -> Snapshot:
        """No snapshot yet."""
        return Snapshot(self.inner.phi, torch.zeros_like(H), -1)

    def gradient(
        self, problem: Problem, state: State, sample: Snapshot, rng: torch.Generator
    ) -> Tensor:
        """The hybrid, or the gradient when it is time for a snapshot or phi is 1."""
        if sample.phi >= 1.0:
            return full_gradient(problem, state)
        period = self.period or max(2, round(1 / sample.phi))
        expired = sample.age < 0 or sample.age + 1 >= period
        sample.age += 1
        if expired or (self.whole_snapshot and state.SH is not None):
            sample.mu, sample.age = full_gradient(problem, state), 0
            if self.whole_snapshot:
                return sample.mu.clone()
        g, factor = self.inner.partial(problem, state.H, sample.phi, rng)
        fresh_rows = (factor > 0)[:, None]
        return torch.where(fresh_rows, g.mul_(factor[:, None]) if self.rescale else g, sample.mu)
