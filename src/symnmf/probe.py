"""Trials on the surrogate of S: steps found, not tuned, and whether starts agree."""

from __future__ import annotations

from math import inf, isfinite
from time import perf_counter
from typing import Any

import torch

from symnmf.contract import Problem, State
from symnmf.errors import InvalidInput
from symnmf.objective import error
from symnmf.seeds import torch_seed, torch_stream
from symnmf.solvers.registry import find, make_solver
from symnmf.solvers.sketched import Sketched

#: The word that asks for a probe, and the options that may hold it: with it, their scale-free form.
AUTO = "auto"
SCALE_FREE = {"eta": "step_size", "step_size": "step_size", "rho": "penalty", "penalty": "penalty"}
#: Values tried, against the default, and steps that each gets.
GRID, STEPS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0), 80


def probe(problem: Problem, name: str, option: str, steps: int = STEPS) -> float:
    """The value of a step size or penalty with the least error after some steps.

    The trials are made on the surrogate (which costs no product of S, unless it is S) from the
    problem's own start.

    Arguments:
        problem: S, k, seed and start.
        name: of the solver.
        option: ``step_size`` (η against the size of the entries of H) or ``penalty`` (ρ against
            the size of HᵀH).
        steps: of each trial.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("tpdm", n=100)
        >>> probe(Problem(b.operator, b.k), "admm", "penalty") in [g / 1 for g in GRID]
        True
    """
    return min(trials(problem, name, option, steps).items(), key=lambda item: item[1])[0]


def trials(
    problem: Problem, name: str, option: str, steps: int = STEPS, grid: tuple[float, ...] = GRID
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


def fill_in(problem: Problem, name: str, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Options with every ``"auto"`` replaced by what the probe finds, and a sentence about it."""
    wanted = [option for option, value in options.items() if value == AUTO]
    if not wanted:
        return options, ""
    found = dict(options)
    for option in wanted:
        target = SCALE_FREE.get(option)
        if target is None or target not in find(name).parameters:
            has = [o for o in find(name).parameters if o in SCALE_FREE]
            remedy = f"'auto' goes with {', '.join(has)}" if has else "Pass a number"
            raise InvalidInput(option, f"got 'auto' for {name!r}", remedy)
        del found[option]
        if target in found:
            raise InvalidInput(
                target, f"got {found[target]!r} beside {option}='auto'", "Pass one of the two"
            )
        found[target] = probe(problem, name, target)
    values = ", ".join(f"{SCALE_FREE[o]}={found[SCALE_FREE[o]]:g}" for o in wanted)
    return found, f"{values}: best of {len(GRID)} values in {STEPS} steps on the surrogate"


def starts_agree(problem: Problem, n_init: int, max_seconds: float = inf) -> float | None:
    """How far ``n_init`` fits of the surrogate agree on the groups: a property of S and k.

    Those that are done when the time is over are compared; None when these are fewer than two.
    """
    solver, began = Sketched(n_init=n_init), perf_counter()
    state: State = solver.init_state(problem)
    rng = torch.Generator(device=problem.S.device)
    step = 0
    while not solver.ripe(state):
        (over,) = problem.S.agree(perf_counter() - began >= max_seconds)
        if over:
            break
        rng.manual_seed(torch_seed(problem.seed, "agreement", step))
        state = solver.step(problem, state, rng)
        step += 1
    return solver.agreement(state)
