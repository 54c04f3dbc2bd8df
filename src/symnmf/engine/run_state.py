"""State of a run in a checkpoint, and the identity of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from symnmf.core.packing import CHECK_FIELDS
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.core.solver import Solver, State
from symnmf.numerics import torch_stream
from symnmf.storage.checkpointable import Checkpointable


@dataclass
class RunState(Checkpointable):
    """The content of a checkpoint.

    Attributes:
        state: state of the solver after ``iteration`` steps.
        iteration: iterations done.
        seconds, work: time and work with S spent so far.
        best_H, best_check: factor with the least error, and the index of its check.
        history: (checks, fields) table of the checks.
        last_H: factor at the last check.
        quiet: number of checks since the last progress.
        ended: name of the status of a run that has ended; otherwise None.
    """

    state: State
    iteration: int
    seconds: float
    work: int
    best_H: Tensor
    best_check: int
    history: Tensor
    last_H: Tensor | None
    quiet: int
    ended: str | None

    def fits(self, problem: Problem) -> bool:
        """Whether this can be a run of the problem; the file is untrusted."""
        S, k, checks = problem.S, problem.k, self.history
        factors = [self.best_H, getattr(self.state, "H", None)]
        numbers = (self.iteration, self.work, self.best_check, self.quiet)
        return (
            isinstance(self.state, State)
            and all(isinstance(H, Tensor) and H.shape == (S.n, k) for H in factors)
            and all(H is None or H.dtype == S.dtype for H in factors)
            and isinstance(checks, Tensor)
            and checks.ndim == 2
            and checks.shape[1] == len(CHECK_FIELDS)
            and all(type(number) is int and number >= 0 for number in numbers)
            and self.best_check < len(checks)
            and isinstance(self.seconds, int | float)
            and (self.last_H is None or isinstance(self.last_H, Tensor))
            and (self.ended is None or self.ended in Status.__members__)
        )


def identity(problem: Problem, solver: Solver[Any], criterion: Any) -> dict[str, Any]:
    """Values that identify a run; numbers are compared up to rounding.

    The products that the fingerprint needs are not counted: they are not part of the run.
    """
    S = problem.S
    H0 = problem.H0.to(torch.float64)
    mark = torch.rand(S.n, 2, generator=torch_stream(0, "fingerprint"), dtype=S.dtype)
    mark = mark.to(S.device)
    image = S.inner.matmul(mark)
    return {
        "n": S.n,
        "k": problem.k,
        "dtype": str(S.dtype),
        "seed": problem.seed,
        "start": float((H0 * mark[:, :1]).sum()),
        "matrix": float((image[:, 0] * mark[:, 1]).sum(dtype=torch.float64)),
        "solver": repr(solver),
        "criterion": repr(criterion),
    }
