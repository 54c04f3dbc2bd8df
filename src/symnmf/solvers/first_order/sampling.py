"""Sampling: which part of the gradient a step sees, and what it costs.

Costs in products of S with k columns; on a Gram operator with m columns in B a block of |I|×|J|
costs 2(|I| + |J|)·m·k operations instead of 2·|I|·|J|·k, an entry 2m instead of 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import torch
from torch import Tensor

from symnmf.contract import Memory, Problem
from symnmf.objective import block_gradient, entry_gradient, gradient, row_gradient
from symnmf.operators.base import row_chunks
from symnmf.solvers.checks import fraction, positive

#: Numbers gathered at a time by entry sampling: pairs × k.
GATHERED = 1 << 18


@dataclass
class Sample(Memory):
    """What a sampling remembers: ``phi``, the fraction of S seen by a step."""

    phi: float


@dataclass
class Snapshot(Sample):
    """``mu``: the last full gradient; ``age``: steps since."""

    mu: Tensor
    age: int


class Sampling(ABC):
    """An estimator of ∇f from a part of S.

    At ``phi`` = 1 it is the gradient. ``phi`` lies in the memory, so that a reaction can grow it.
    """

    phi: float

    def init(self, H: Tensor) -> Sample:
        """Memory before the first step."""
        return Sample(self.phi)

    def gradient(
        self, problem: Problem, H: Tensor, SH: Tensor | None, memory: Sample, rng: torch.Generator
    ) -> Tensor:  # (n, k)
        """The estimate; rows that were not seen are zero."""
        if memory.phi >= 1.0:
            return gradient(H, problem.S.matmul(H) if SH is None else SH)
        return self.partial(problem, H, memory.phi, rng)[0]

    @abstractmethod
    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:  # (n, k), (n,)
        """The estimate at phi < 1, and what to multiply each row with to put it on the scale of ∇f.

        The factor of a row that was not seen is zero.
        """


@dataclass(frozen=True)
class Full(Sampling):
    """The whole gradient: one product."""

    phi: ClassVar[float] = 1.0  # type: ignore[misc]

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Not reached: phi is always 1."""
        raise AssertionError("the full gradient has no parts")


def draw(n: int, size: int, rng: torch.Generator) -> Tensor:
    """``size`` of n indices without repetition, ascending."""
    return torch.randperm(n, generator=rng, device=rng.device)[:size].sort().values


@dataclass(frozen=True)
class Rows(Sampling):
    """The exact gradient on φ·n rows, drawn anew each step: φ products.

    Arguments:
        phi: fraction of the rows.
    """

    phi: float = 0.5

    def __post_init__(self) -> None:
        fraction(self, "phi")

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Zero outside the rows."""
        n = problem.S.n
        I = draw(n, ceil(phi * n), rng)
        everything = torch.arange(n, device=H.device)
        g, factor = torch.zeros_like(H), H.new_zeros(n)
        g[I] = row_gradient(H, I, problem.S.block_matmul(I, everything, H))
        factor[I] = 1.0
        return g, factor


@dataclass(frozen=True)
class Entries(Sampling):
    """φ·n² pairs (i, j), drawn with repetition: φ / k products, and φ·n²·k scattered additions.

    The expectation is φ·∇f.

    Arguments:
        phi: pairs against n².
    """

    phi: float = 0.1

    def __post_init__(self) -> None:
        fraction(self, "phi")

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """In chunks of pairs."""
        n, k = H.shape
        g, seen = torch.zeros_like(H), torch.zeros(n, dtype=torch.bool, device=H.device)
        for part in row_chunks(ceil(phi * n * n), k, GATHERED):
            pairs = (2, part.stop - part.start)
            i, j = torch.randint(n, pairs, generator=rng, device=rng.device)
            entry_gradient(H, i, j, problem.S.entries(i, j), out=g)
            seen[i] = True
            seen[j] = True
        return g, seen.to(H.dtype).div_(phi)


@dataclass(frozen=True)
class Blocks(Sampling):
    """A dense block of ⌈√φ·n⌉ rows and as many columns, drawn anew each step: 2φ products.

    The expectation is φ·∇f (I and J are drawn apart). A row in I or J sees √φ·n pairs at once.

    Arguments:
        phi: pairs against n².
    """

    phi: float = 0.5

    def __post_init__(self) -> None:
        fraction(self, "phi")

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """S[I, J] H_J and S[J, I] H_I; the residual tile is not formed."""
        S, n = problem.S, problem.S.n
        size = ceil(phi**0.5 * n)
        I, J = draw(n, size, rng), draw(n, size, rng)
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
class Hybrid(Sampling):
    """The paper's SVRG hybrid: fresh on the rows that were sampled, a snapshot of ∇f elsewhere.

    Differences from the paper (its section 5.1):

    1. Fresh rows are put on the scale of ∇f before they stand beside the snapshot; the paper
       leaves the factor to AdaGrad, which cannot undo one that differs between rows.
    2. The step at which a snapshot is taken uses it whole, and a look of the driver, which knows
       S H anyway, is a free snapshot.

    Arguments:
        inner: what is sampled between snapshots.
        period: steps between snapshots; about 1/φ by default, at least 2.

    Reference: Johnson and Zhang (2013), for the control variate that this is not.
    """

    inner: Sampling
    period: int | None = None

    def __post_init__(self) -> None:
        positive(self, "period")

    @property
    def phi(self) -> float:  # type: ignore[override]
        """Of the inner sampling."""
        return self.inner.phi

    def init(self, H: Tensor) -> Snapshot:
        """No snapshot yet."""
        return Snapshot(self.phi, torch.zeros_like(H), -1)

    def gradient(
        self, problem: Problem, H: Tensor, SH: Tensor | None, memory: Sample, rng: torch.Generator
    ) -> Tensor:
        """The hybrid, or the gradient when it is time for a snapshot or phi is 1."""
        assert isinstance(memory, Snapshot)
        period = self.period or max(2, round(1 / memory.phi))
        fresh = memory.age < 0 or memory.age + 1 >= period or SH is not None
        if fresh or memory.phi >= 1.0:
            g = gradient(H, problem.S.matmul(H) if SH is None else SH)
            if memory.phi < 1.0:
                memory.mu, memory.age = g.clone(), 0
            return g
        memory.age += 1
        g, factor = self.inner.partial(problem, H, memory.phi, rng)
        return torch.where((factor > 0)[:, None], g.mul_(factor[:, None]), memory.mu)

    def partial(
        self, problem: Problem, H: Tensor, phi: float, rng: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Of the inner sampling."""
        return self.inner.partial(problem, H, phi, rng)
