"""Trials on the surrogate of S: tuning of step sizes and penalties, agreement of starts."""

from __future__ import annotations

from math import inf, isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from symnmf.core.labels import hard_labels
from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.errors import InvalidInput
from symnmf.numerics import one_thread_if_small, torch_seed, torch_stream
from symnmf.solvers.registry import find, make_solver
from symnmf.solvers.sketch_phases import SeedRace, SurrogateFit
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketched import Sketched

#: Value of an option that asks for tuning.
AUTO = "auto"


#: Options that can be tuned → their scale-free form.
SCALE_FREE = {"eta": "step_size", "step_size": "step_size", "rho": "penalty", "penalty": "penalty"}


#: Values tried, relative to the default, and number of steps of each trial.
TRIAL_FACTORS, TRIAL_STEPS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0), 80


def tune(problem: Problem, name: str, option: str, steps: int = TRIAL_STEPS) -> float:
    """The value of a step size or penalty with the least error after some steps.

    The trials run on the surrogate (at no products of S, unless the surrogate is S) from the
    start of the problem.

    Arguments:
        problem: S, k, seed and start.
        name: name of the solver.
        option: ``step_size`` (η relative to the size of the entries of H) or ``penalty`` (ρ
            relative to the size of HᵀH).
        steps: number of steps of each trial.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("tpdm", n=100)
        >>> tune(Problem(b.operator, b.k), "admm", "penalty") in [g / 1 for g in TRIAL_FACTORS]
        True
    """
    return min(trials(problem, name, option, steps).items(), key=lambda item: item[1])[0]


def trials(
    problem: Problem,
    name: str,
    option: str,
    steps: int = TRIAL_STEPS,
    grid: tuple[float, ...] = TRIAL_FACTORS,
) -> dict[float, float]:
    """Error on the surrogate after some steps, for each value of an option."""
    default = find(name).parameters[option]
    T, twin = problem.surrogate, problem.on(problem.surrogate)
    found = {}
    for factor in grid:
        solver = make_solver(name, **{option: factor * default})
        state = solver.init_state(twin)
        for step in range(steps):
            state = solver.step(twin, state, torch_stream(problem.seed, "probe", step))
        value = error(state.H, T.matmul(state.H), problem.S.frob_sq())
        found[factor * default] = value if isfinite(value) else float("inf")
    return found


def tuned_options(
    problem: Problem, name: str, options: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Options with every ``"auto"`` replaced by its tuned value, and a sentence about them.

    Raises:
        InvalidInput: an option that cannot be tuned is ``"auto"``, or one is given twice.
    """
    wanted = [option for option, value in options.items() if value == AUTO]
    if not wanted:
        return options, ""
    found = dict(options)
    for option in wanted:
        target = SCALE_FREE.get(option)
        if target is None or target not in find(name).parameters:
            has = [o for o in find(name).parameters if o in SCALE_FREE]
            remedy = f"Pass 'auto' only for {', '.join(has)}" if has else "Pass a number"
            raise InvalidInput(option, f"got 'auto' for {name!r}", remedy)
        del found[option]
        if target in found:
            raise InvalidInput(
                target,
                f"got {found[target]!r} together with {option}='auto'",
                "Pass one of the two",
            )
        found[target] = tune(problem, name, target)
    values = ", ".join(f"{SCALE_FREE[o]}={found[SCALE_FREE[o]]:g}" for o in wanted)
    return (
        found,
        f"{values}: best of {len(TRIAL_FACTORS)} values in {TRIAL_STEPS} steps on the surrogate",
    )


def starts_agree(problem: Problem, n_init: int, max_seconds: float = inf) -> float | None:
    """How far ``n_init`` fits of the surrogate agree on the groups: a property of S and k.

    Arguments:
        problem: S, k and seed.
        n_init: number of starts.
        max_seconds: maximum wall time; the starts that have finished by then are compared.

    Returns:
        The agreement, or None where fewer than two starts have finished.
    """
    solver, began = Sketched(n_init=n_init), perf_counter()
    state = solver.init_state(problem)
    rng = torch.Generator(device=problem.S.device)
    step = 0
    while not solver.may_stop(state):
        (over,) = problem.S.agree(perf_counter() - began >= max_seconds)
        if over:
            break
        rng.manual_seed(torch_seed(problem.seed, "agreement", step))
        state = solver.step(problem, state, rng)
        step += 1
    return solver.agreement(state)


def surrogate_labels(problem: Problem) -> Tensor:  # (n,)
    """Groups of a fit of the surrogate alone: the best of some seeds, then ADMM until it settles.

    For groups that are compared and not reported: a quarter of the cost of a fit, no check on S.

    Arguments:
        problem: S, k and seed.

    Example:
        >>> from symnmf.operators import as_operator
        >>> S = torch.kron(torch.eye(2), torch.ones(3, 3))
        >>> len(surrogate_labels(Problem(as_operator(S), 2)).unique())
        2
    """
    solver = Sketched(schedule=Schedule(kmeans_draws=1))
    rng = torch.Generator(device=problem.S.device)
    with one_thread_if_small(problem.S.cost() * problem.k):
        state = solver.init_state(problem)
        while isinstance(state.phase, SeedRace | SurrogateFit):
            state = solver.step(problem, state, rng)
    return hard_labels(state.H)[0]
