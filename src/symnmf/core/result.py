"""The result of a factorization, and its status."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from torch import Tensor

from symnmf.core.certificate import Certificate
from symnmf.core.labels import group_numbers, hard_labels
from symnmf.core.solver import Check
from symnmf.display import html_table

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True)
class Result:
    """A factorization, with the course of the run and its quality.

    Attributes:
        H: (n, k) factor, non-negative.
        status: how the run ended.
        certificate: quality of H.
        history: checks of the criterion, in order.
        solver: name of the solver.
        seed: seed of the start and of every draw.
        iterations, seconds: iterations and wall time of the run.
        products: products of S with k columns, checks and spectrum included.
        options: hyper-parameters of the solver.
        names: names of the rows, or None.
        notes: choices made for the caller, with their reasons.
        reactions: how often the solver reacted to stagnation, by the kind of reaction, such as
            ``{"resets": 2}``; empty for solvers that do not react.
        check_seconds: seconds of the run that were spent in checks.
        eigenvalues: (p,) largest eigenvalues of S, descending, as far as they were computed; None
            if the factor was not computed by this package.

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
    reactions: dict[str, int] = field(default_factory=dict)
    check_seconds: float = 0.0
    eigenvalues: Tensor | None = None

    def __repr__(self) -> str:
        n, k = self.H.shape
        return f"Result(n={n}, k={k}, {self.status.name}, error={self.certificate.error:.4g})"

    def _repr_html_(self) -> str:
        n, k = self.H.shape
        made = f"{self.solver}, {self.iterations} iterations, {self.seconds:.1f} s"
        rows = [("status", self.status.name), *self.certificate.summary(), ("solver", made)]
        return html_table(f"{k} groups of {n} instruments", rows)

    def labels_frame(self) -> pd.DataFrame:
        """Group (numbered from 1; 0 for no group) and margin of every row, indexed by name.

        Example:
            >>> import numpy as np, symnmf as sn
            >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((2, 2))), names=list("abcd"))
            >>> sn.factorize(S, k=2).labels_frame()["group"].to_dict()
            {'a': 1, 'b': 1, 'c': 2, 'd': 2}
        """
        import pandas as pd

        labels, margins = hard_labels(self.H)
        names = [str(name) for name in self.names or range(len(self.H))]
        columns = {"group": group_numbers(labels), "margin": margins.cpu().numpy()}
        return pd.DataFrame(columns, index=pd.Index(names, name="name"))

    def labels(self) -> Tensor:  # (n,)
        """Group of each row: argmax over unit-norm columns; −1 for a zero row."""
        return hard_labels(self.H)[0]

    def margins(self) -> Tensor:  # (n,)
        """Margin of the first group over the second for each row, from 0 to 1."""
        return hard_labels(self.H)[1]
