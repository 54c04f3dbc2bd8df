"""The result of a factor that is known to be optimal: one check, no steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.result import Result, Status
from symnmf.engine.criterion import Monitor
from symnmf.engine.driver import Callback


def certify_exact(
    problem: Problem,
    H: Tensor,
    *,
    name: str,
    monitor: Monitor | None = None,
    callbacks: Sequence[Callback] = (),
    since: float | None = None,
) -> Result:
    """Check and certify a factor that is known to be optimal.

    Arguments:
        problem: operator and rank; all work done with the operator counts.
        H: optimal factor.
        name: name of the solver in the result.
        monitor: thresholds of the criterion.
        callbacks: functions called after the check.
        since: ``perf_counter()`` at which the work began; by default this call.
    """
    began = perf_counter() if since is None else since
    run = (monitor or Monitor()).begin(problem)
    run.work_before = 0
    check = run.measure(0, perf_counter() - began, H, problem.S.matmul(H))
    H = problem.to_input_scale(H)
    for callback in callbacks:
        callback(check, H)
    certificate = run.certify(check)
    return Result(
        H=H.to(problem.home),
        status=Status.EXACT,
        certificate=replace(
            certificate,
            exact=True,
            floor_exact=True,
            floor_low=check.error,
            floor_high=check.error,
            excess=None if certificate.excess is None else 0.0,
            factors_explained=certificate.factors_available,
            converged=True,
            collapsed=False,
        ),
        history=(check,),
        solver=name,
        seed=problem.seed,
        iterations=0,
        seconds=perf_counter() - began,
        products=problem.products(run.work_before),
        names=None if problem.S.names is None else tuple(problem.S.names),
        eigenvalues=problem.eigenvalues,
        notes=problem.remarks,
    )
