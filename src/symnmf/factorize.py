"""The front door: a matrix in, a certified factorization out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.contract import Problem, Result, Status, whole
from symnmf.engine import Callback, Checkpoint, Monitor, Progress, judge, solve
from symnmf.engine.driver import MAX_ITER, check_budget
from symnmf.errors import (
    AmbiguousWarning,
    CollapsedWarning,
    DegenerateWarning,
    NotConvergedWarning,
    SingleEventsWarning,
)
from symnmf.exact import EVENTS
from symnmf.memory import free_memory, require
from symnmf.operators import as_operator
from symnmf.plan import beside
from symnmf.probe import AUTO, fill_in, starts_agree
from symnmf.recommend import Recommendation, advise
from symnmf.solvers.registry import find, make_solver

#: What to try when a run ended without meeting the criterion.
ADVICE = {
    Status.COLLAPSED: "every column of H is nearly the same and carries no groups; start from "
    "another seed, start='nndsvd', or use another solver",
    Status.STAGNATED: "the error no longer changes but the gradient is above its gate; use another "
    "solver or dtype=torch.float64",
    Status.MAX_ITER: "raise max_iter, or use another solver",
    Status.TIME_OUT: "raise max_seconds, or use another solver",
    Status.DIVERGED: "use a smaller step, or the default options of the solver",
}


def factorize(
    S: Any,
    k: int,
    solver: str = "auto",
    *,
    seed: int = 0,
    start: str | Tensor | np.ndarray | None = None,
    n_init: int = 1,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    kkt_gate: float | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | Checkpoint | None = None,
    resume: bool = False,
    **options: Any,
) -> Result:
    """Factorize a dependence matrix, S ≈ H Hᵀ with H ≥ 0, and certify the answer.

    Arguments:
        S: (n, n) symmetric non-negative matrix: array, tensor, memory map, sparse matrix, data
            frame with equal index and columns, or an operator.
        k: number of columns of H, that is, of groups.
        solver: a name of ``symnmf solvers``; ``"auto"`` follows :func:`symnmf.recommend` and says
            in ``notes`` what it chose and why.
        seed: of the start and of every draw; the same seed gives the same answer.
        start: ``"random"`` (the paper's), ``"nndsvd"``, or an (n, k) factor H0; by default what
            the solver asks for, which is ``"random"`` for nearly all.
        n_init: number of starts on the surrogate, which cost no products of S unless products
            with S are as cheap as with a sketch. The default solver refines the best; more than
            one also measures ``certificate.agreement``.
        max_iter: most iterations; 10 000 by default, and 1 000 more for each further start.
        max_seconds: most wall time.
        kkt_gate: threshold of the scaled projected gradient; the paper's by default.
        dtype: torch.float32 or torch.float64; what S has by default.
        device: where to compute; where S is by default.
        progress: show a line of progress on a terminal.
        callbacks: called with (check, H) after every look; True stops the run.
        checkpoint: folder to save the run in.
        resume: go on with the run saved there.
        options: hyper-parameters of the solver; ``"auto"`` for a step size or penalty (``eta``,
            ``rho``, ``step_size``, ``penalty``) lets short trials on a surrogate find it.

    Returns:
        the factor with its status, certificate and history. A run that does not meet the
        criterion warns and returns the best factor it saw.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> factorize(S, k=2, seed=1).status.name
        'EXACT'
    """
    since = perf_counter()
    operator = as_operator(S, dtype=dtype, device=device)
    n_init = whole("n_init", n_init, 1, 10_000, "from 1 to 10000")
    limit = MAX_ITER + 1000 * (n_init - 1) if max_iter is None else max_iter
    check_budget(limit, checkpoint, resume)
    if start is not None and not isinstance(start, str | Tensor):
        start = torch.from_numpy(np.array(start, dtype=np.float64))
    given = {option: value for option, value in options.items() if value != AUTO}
    make_solver("sketched" if solver == AUTO else solver, **given)  # refuses before there is work
    own = "random" if solver == AUTO else find(solver).start
    problem = Problem(operator, k, seed, own if start is None else start)
    return run(
        problem,
        solver,
        known=start is None,
        n_init=n_init,
        monitor=Monitor(kkt_gate=kkt_gate),
        progress=progress,
        callbacks=callbacks,
        resume=resume,
        since=since,
        options=options,
        max_iter=limit,
        max_seconds=max_seconds,
        checkpoint=checkpoint,
    )


def run(
    problem: Problem,
    solver: str = "auto",
    *,
    options: dict[str, Any] | None = None,
    n_init: int = 1,
    known: bool = True,
    monitor: Monitor | None = None,
    max_iter: int = MAX_ITER,
    max_seconds: float | None = None,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | Checkpoint | None = None,
    resume: bool = False,
    since: float | None = None,
    stoppable: bool = True,
) -> Result:
    """:func:`factorize` for a problem, whose spectrum the caller may use before and after.

    Arguments:
        problem: S, k, seed and start.
        solver, options, n_init, max_iter, max_seconds, progress, callbacks, checkpoint, resume: as
            for :func:`factorize`.
        known: whether to look for cases whose answer is known.
        monitor: thresholds of the criterion.
        since: ``perf_counter()`` when the work began.
        stoppable: False for a fit that is part of something larger, which Ctrl-C has to end.
    """
    operator, options = problem.S, dict(options or {})
    since = perf_counter() if since is None else since
    monitor = monitor or Monitor()
    _warn_of_single_events(operator.about, problem.k)
    advice = Recommendation(solver)
    if solver == AUTO:
        advice = advise(problem, known=known)
    if advice.exact is not None:
        H = advice.exact.H
        result = judge(problem, H, name="exact", monitor=monitor, callbacks=callbacks, since=since)
        _warn(result)
        return replace(result, notes=(*advice.reasons, *result.notes))
    name = advice.solver
    _require_memory(problem, name)
    if name == "sketched":
        options = {"n_init": n_init, **options}
    options, found = fill_in(problem, name, {**advice.options, **options})
    algorithm = make_solver(name, **options)
    notes = (*advice.reasons, found) if found else advice.reasons
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(Path(checkpoint))
    with ExitStack() as stack:
        shown: list[Callback] = []
        if progress and operator.rank == 0:
            line = Progress(
                excess=lambda error: problem.yardstick.excess(error),
                max_iter=max_iter,
                max_seconds=max_seconds,
            )
            shown = [stack.enter_context(line)]
        result = solve(
            problem,
            algorithm,
            name=name,
            monitor=monitor,
            max_iter=max_iter,
            max_seconds=max_seconds,
            callbacks=[*shown, *callbacks],
            checkpoint=checkpoint,
            resume=resume,
            since=since,
            stoppable=stoppable,
        )
    if n_init > 1 and name != "sketched" and result.status.good:
        left = inf if max_seconds is None else max_seconds - result.seconds
        agreed = starts_agree(problem, n_init, left)
        result = replace(result, certificate=replace(result.certificate, agreement=agreed))
    _warn(result)
    return replace(result, notes=(*notes, *result.notes))


def _require_memory(problem: Problem, name: str) -> None:
    """Refuse, in all processes or in none, what their machine cannot hold."""
    S = problem.S
    if S.device.type != "cpu":
        return
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if S.processes > 1 else 1
    need = local * beside(name, S.n, problem.k, S.dtype.itemsize)
    (have,) = S.agree(free_memory() or inf)
    require(
        need,
        f"{name} with k = {problem.k} beside S",
        "Take a smaller k, or another solver (symnmf plan lists what they need)",
        have,
    )


def _warn_of_single_events(about: Any, k: int) -> None:
    """A TPDM estimated from few exceedances holds few groups."""
    events = len(getattr(about, "exceedances", ()))
    if 0 < events < EVENTS * k:
        warnings.warn(
            f"k = {k} groups from {events} exceedances: above a fifth of them the factors tend to "
            f"single events; take k up to {max(1, events // EVENTS)}, or more exceedances.",
            SingleEventsWarning,
            stacklevel=4,
        )


def _warn(result: Result) -> None:
    """Say once that a result is not what was asked for; a stop on request is."""
    if result.status is Status.STOPPED:
        return
    if result.status.good:
        _warn_of_groups(result)
        return
    kind = CollapsedWarning if result.status is Status.COLLAPSED else NotConvergedWarning
    warnings.warn(
        f"{result.solver} ended {result.status.name} after {result.iterations} iterations "
        f"(error {result.certificate.error:.3g}, gradient "
        f"{result.certificate.kkt / result.certificate.kkt_gate:.3g} × its gate): "
        f"{ADVICE[result.status]}.",
        kind,
        stacklevel=4,
    )


def _warn_of_groups(result: Result) -> None:
    """A good fit whose groups are not unique, or fewer than were asked for."""
    certificate, k = result.certificate, result.H.shape[1]
    used = int(result.H.any(dim=0).sum())
    if certificate.ambiguous:
        warnings.warn(
            f"the fit is good, but starts that fit as well find other groups (agreement "
            f"{certificate.agreement:.2f} of 1): take another k (symnmf.suggest_rank), more data, "
            "or use the loadings and not the labels.",
            AmbiguousWarning,
            stacklevel=5,
        )
    elif used < k:
        warnings.warn(
            f"{k - used} of k = {k} columns of H are zero: the others say all about S; take k up "
            f"to {used}.",
            DegenerateWarning,
            stacklevel=5,
        )
