"""Name → solver: every variant is a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from symnmf.contract import Solver
from symnmf.errors import InvalidInput, UnknownName
from symnmf.solvers.first_order import AdaGrad, FirstOrder
from symnmf.solvers.multiplicative import MultiplicativeUpdate
from symnmf.solvers.splitting import ADMM


@dataclass(frozen=True)
class Row:
    """One solver of the registry.

    Attributes:
        name: what the caller says.
        family: the paper's family.
        make: hyper-parameters → solver; its signature holds our defaults.
        products: of S with k columns in an iteration.
        memory: n×k arrays alive in a fit, S and spectrum (two) aside.
        paper: the paper's hyper-parameters, where it states them.
        reference: where the method comes from.
        tier: ``"default"``, or ``"study"`` for rows kept for comparison.
    """

    name: str
    family: str
    make: Callable[..., Solver]
    products: str
    memory: int
    paper: str
    reference: str
    tier: str = "default"

    @property
    def parameters(self) -> dict[str, Any]:
        """Hyper-parameters and our defaults."""
        return {
            name: p.default
            for name, p in signature(self.make).parameters.items()
            if p.kind is not Parameter.VAR_KEYWORD
        }


def _adagrad(step_size: float = 0.3, eta: float | None = None) -> Solver:
    return FirstOrder(AdaGrad(step_size, eta))


ROWS: tuple[Row, ...] = (
    Row("mu", "F1 multiplicative", MultiplicativeUpdate, "1", 8, "none", "He et al. 2011"),
    Row("adagrad", "F3 adaptive", _adagrad, "1", 8, "eta=2", "Duchi et al. 2011"),
    Row("admm", "F6 splitting", ADMM, "1", 10, "rho=50 or 500", "Boyd et al. 2011"),
)


def solvers() -> dict[str, Row]:
    """The registry by name."""
    return {row.name: row for row in ROWS}


def make_solver(name: str, **options: Any) -> Solver:
    """A solver by name, with hyper-parameters.

    Example:
        >>> make_solver("admm", rho=50.0)
        ADMM(penalty=1.0, rho=50.0)
    """
    known = solvers()
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0.0)
        raise UnknownName(
            "solver",
            f"unknown solver {name!r}",
            f"Did you mean {near[0]!r}? All of them: {', '.join(known)}",
        )
    row = known[name]
    for option in options:
        if option not in row.parameters:
            has = ", ".join(row.parameters) or "no options"
            raise InvalidInput(option, f"is no option of {name!r}", f"It has {has}")
    return row.make(**options)
