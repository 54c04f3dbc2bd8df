"""Tasks that run a solver: with our options, as published, or stopped by another rule."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from symnmf.bench.problems import study_problem
from symnmf.bench.study import Run
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.solver import Check, Solver
from symnmf.engine import Monitor, solve
from symnmf.solvers.registry import find
from symnmf.storage.checkpoint import RESUMABLE, Checkpoint

#: Runs with a larger budget than this many seconds are saved, so that a study can be stopped
#: inside a run, and continued with a larger budget.
LONG = 100.0


def factorize(run: Run, scratch: Path) -> dict[str, Any]:
    """A solver from the start of its seed, with the paper's gates and the certificate."""
    row = find(run.solver)
    return _fit(run, scratch, row.make(**run.options), row.start, Monitor())


def published(run: Run, scratch: Path) -> dict[str, Any]:
    """A solver as the founding paper publishes it, stopped where the paper's gates are met.

    ``start`` is ``"random"``, as in the paper's text, or ``"uniform"``, as in its public code;
    further options replace single published ones.
    """
    row, options = find(run.solver), dict(run.options)
    start = options.pop("start", "random")
    stated = row.published(run.n, tail=run.kind == "tpdm", start=start)
    start = row.start if start == "random" else start
    return _fit(run, scratch, row.make(**{**stated, **options}), start, Monitor(paper=True))


def _fit(
    run: Run, scratch: Path, solver: Solver[Any], start: str, monitor: Monitor
) -> dict[str, Any]:
    """The figures of a run."""
    b = study_problem(run.kind, run.n, run.seed, scratch)
    problem = Problem(b.operator, run.k, run.seed, start)
    problem.spectrum  # noqa: B018  shared by all; not part of the solver's time
    folder = scratch / run.work
    saved = Checkpoint(folder, every_seconds=LONG) if run.seconds > LONG else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(
            problem,
            solver,
            name=run.solver,
            monitor=monitor,
            max_iter=run.iterations,
            max_seconds=run.seconds,
            checkpoint=saved,
            resume=saved is not None,
            handle_interrupt=False,
        )
    if result.status.name not in RESUMABLE:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        **figures(result),
        "ari": float(adjusted_rand_score(b.labels, result.labels())),
        "checks": [
            [
                h.iteration,
                round(h.seconds, 3),
                round(h.products, 1),
                _digits(h.error),
                _digits(h.kkt_ratio),
            ]
            for h in _thinned(result.history)
        ],
    }


def figures(result: Result) -> dict[str, Any]:
    """What a table can show about a result."""
    c, last = result.certificate, result.history[-1]
    wall = result.seconds - result.check_seconds
    return {
        "status": result.status.name,
        "paper_converged": c.paper_converged,
        "paper_iteration": c.paper_iteration,
        "converged": c.converged,
        "error": c.error,
        "excess": c.excess,
        "factors_explained": c.factors_explained,
        "kkt_ratio": last.kkt_ratio,
        "iterations": result.iterations,
        "products": result.products,
        "seconds": wall,
        "ms_per_iteration": 1e3 * wall / max(1, result.iterations),
        **result.reactions,
    }


#: Other stopping rules, from a check and a tolerance (the paper's section 4.1).
RULES: dict[str, Callable[[Check, float], bool]] = {
    "error decreases by less than": lambda c, tol: c.relative_decrease < tol,
    "factor changes by less than": lambda c, tol: c.iterate_change < tol,
    "gradient against its start below": lambda c, tol: c.kkt_relative < tol,
    "the paper's gates": lambda c, tol: c.paper_gates,
}


def stopping(run: Run, scratch: Path) -> dict[str, Any]:
    """What a solver has found when another rule stops it; without a rule, when our criterion does.

    ``start="uniform"`` starts from entries in [0, 1] instead of the start of the paper's text.
    """
    b, row = study_problem(run.kind, run.n, run.seed, scratch), find(run.solver)
    options = dict(run.options)
    name, tolerance = options.pop("rule", None), options.pop("tolerance", 0.0)
    problem = Problem(b.operator, run.k, run.seed, options.pop("start", row.start))

    def stop(check: Check, H: Tensor) -> bool:
        return name is not None and check.iteration > 0 and RULES[name](check, tolerance)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(
            problem,
            row.make(**options),
            max_iter=run.iterations,
            max_seconds=run.seconds,
            callbacks=[stop],
            handle_interrupt=False,
        )
    return {
        "fired": stop(result.history[-1], result.H),
        **figures(result),
        "ari": float(adjusted_rand_score(b.labels, result.labels())),
    }


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def _thinned(history: tuple[Any, ...], most: int = 30) -> list[Any]:
    """At most so many checks of a run, the first and the last among them."""
    if len(history) <= most:
        return list(history)
    step = (len(history) - 1) / (most - 1)
    return [history[round(m * step)] for m in range(most)]
