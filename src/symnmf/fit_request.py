"""What a caller asks of a fit: which solver, how many starts, which options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symnmf.core.solver import Solver
from symnmf.defaults import N_INIT, SOLVER, default_starts
from symnmf.errors import InvalidInput
from symnmf.options import whole_number
from symnmf.planning.tuning import AUTO
from symnmf.solvers.registry import DEFAULT, find, make_solver
from symnmf.solvers.sketch_schedule import Schedule


@dataclass(frozen=True)
class Request:
    """Which solver to run: chosen by rule, by name, or given as an object.

    Attributes:
        name: name in the registry, ``"auto"``, or the name of the class of ``instance``.
        n_init: number of starts.
        options: hyper-parameters by name.
        instance: solver object of the caller, if any.
        schedule: constants of the sketched solver, where it is the one; by default its own.
    """

    name: str = SOLVER
    n_init: int = N_INIT
    options: dict[str, Any] = field(default_factory=dict)
    instance: Solver[Any] | None = None
    schedule: Schedule | None = None

    @classmethod
    def of(
        cls,
        solver: str | Solver[Any] = SOLVER,
        n_init: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> Request:
        """Validate the arguments of the caller and build the request.

        Raises:
            InvalidInput: the solver or one of its options cannot be used.
        """
        options = dict(options or {})
        starts = default_starts(solver)
        if n_init is not None:
            starts = whole_number("n_init", n_init, 1, 10_000)
        if isinstance(solver, Solver):
            if options:
                raise InvalidInput(
                    next(iter(options)),
                    "was given together with a solver object",
                    "Set the options of the solver when you construct it",
                )
            return cls(type(solver).__name__, starts, {}, solver)
        given = {option: value for option, value in options.items() if value != AUTO}
        make_solver(DEFAULT if solver == AUTO else solver, **given)
        return cls(solver, starts, options)

    @property
    def start(self) -> str:
        """The start factor that the solver asks for."""
        named = self.instance is None and self.name != AUTO
        return find(self.name).start if named else "random"
