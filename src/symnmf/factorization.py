"""Factorization of a matrix: from a matrix to a certified factor."""

from __future__ import annotations

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

from symnmf.core.labels import in_group_order
from symnmf.core.observed_problem import ObservedProblem, check_observed, completed_fit
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.result_warnings import is_reported, warn_of_result, warn_of_single_events
from symnmf.core.solver import Solver
from symnmf.defaults import SEED, SOLVER, max_iterations
from symnmf.distributed.agreement import digest_of
from symnmf.distributed.environment import processes_on_this_machine
from symnmf.engine import Callback, JsonProgress, Monitor, Progress, certify_exact, solve
from symnmf.engine.driver import require_checkpoint
from symnmf.errors import InvalidInput, called
from symnmf.fit_request import Request
from symnmf.numerics import one_thread_if_small
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.operators.conversion import frame_names
from symnmf.operators.devices import resolve_device
from symnmf.operators.observed_entries import ObservedMatrix
from symnmf.operators.observed_sparse import observed_matrix
from symnmf.options import whole_number
from symnmf.planning.recommendation import Recommendation, advise
from symnmf.planning.requirements import require_workspace
from symnmf.planning.tuning import AUTO, starts_agree, tuned_options
from symnmf.solvers.registry import find, make_solver, published_options
from symnmf.solvers.sketched import Sketched
from symnmf.storage.checkpoint import Checkpoint


def factorize(
    S: Any,
    k: int,
    solver: str | Solver[Any] = SOLVER,
    *,
    mask: Any = None,
    weights: Any = None,
    seed: int = SEED,
    start: str | Tensor | np.ndarray | None = None,
    n_init: int | None = None,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    kkt_gate: float | None = None,
    published: bool = False,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    progress: bool | str = False,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | Checkpoint | None = None,
    resume: bool = False,
    **options: Any,
) -> Result:
    """Factorize a dependence matrix, S ≈ H Hᵀ with H ≥ 0, and certify the answer.

    The columns of H are in the order of the groups: the largest first.

    Arguments:
        S: (n, n) symmetric non-negative matrix: array, tensor, memory map, sparse matrix, data
            frame with equal index and columns, or an operator.
        k: number of columns of H, that is, of groups.
        solver: name of a solver (``symnmf solvers`` lists them) or a :class:`Solver` object;
            ``"auto"`` follows :func:`symnmf.recommend` and records its choice and the reasons in
            ``notes``.
        mask: (n, n) truth values, True where S is observed; or ``"nan"`` for the entries that are
            not NaN. The fit is then to the observed entries, by ``"admm"`` unless another solver
            that only multiplies with S is chosen (:data:`WITHOUT_ENTRIES` lists them), and the
            certificate says over which share of the entries its error is. For a sparse S a mask
            may be sparse (what it stores is observed), and ``"nan"`` counts entries that are not
            stored as zero, not as missing; no n×n array is made then.
        weights: (n, n) numbers of at least zero, instead of a mask: the weight of the squared
            error of each entry; zero where an entry is missing. Sparse weights for a sparse S.
            Where nothing is missing and all weights are equal, the problem is that without them.
        seed: seed of the start and of every draw; the same seed gives the same answer.
        start: ``"random"`` (as in the paper), ``"uniform"`` (entries in [0, 1], as in the paper's
            public code), ``"nndsvd"``, or an (n, k) factor H0; by default the start that the
            solver asks for, which is ``"random"`` for nearly all solvers.
        n_init: number of starts on the surrogate, which cost no products of S unless products
            with S are as cheap as with a sketch; by default 5 for ``"auto"`` and 1 for a solver
            that you choose. The default solver refines the best start; more than one start also
            measures ``certificate.agreement``, and three that agree are enough near the floor.
        max_iter: maximum number of iterations; by default 10 000, and 1 000 more for each
            additional start.
        max_seconds: maximum wall time in seconds; no limit by default.
        kkt_gate: threshold for the scaled projected gradient; by default that of the paper. Not
            with ``published``.
        published: whether to run the solver as the founding paper publishes it: with its options
            for this kind of matrix and this size, and stopped where its three gates are met, even
            if H has no groups. ``options`` replace single ones of them; ``start="uniform"`` also
            clamps H as the paper's public code does.
        dtype: torch.float32 or torch.float64; by default that of S.
        device: device of the computation and of H: ``"auto"`` (a GPU of CUDA if there is one),
            ``"cpu"``, ``"cuda"`` or a device of torch; by default that of S.
        progress: whether to show a progress line on a terminal; ``"json"`` for a line of JSON to
            standard error at every check.
        callbacks: functions called with (check, H) after every check; returning True stops the
            run.
        checkpoint: folder in which the run is saved.
        resume: whether to continue the run saved in ``checkpoint``.
        options: hyper-parameters of the solver; ``"auto"`` for a step size or penalty (``eta``,
            ``rho``, ``step_size``, ``penalty``) lets short trials on a surrogate find it.

    Returns:
        The factor with its status, certificate and history. A run that does not meet the
        criterion issues a warning and returns the best factor that it found.

    Raises:
        InvalidInput: S, k, the solver or one of its options cannot be used.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> factorize(S, k=2, seed=1).status.name
        'EXACT'
    """
    since = perf_counter()
    if start is not None and not isinstance(start, str | Tensor):
        start = torch.from_numpy(np.array(start, dtype=np.float64))
    if mask is not None or weights is not None:
        others = {"checkpoint": checkpoint, "device": device, "published": published}
        check_observed(mask, weights, {**others, "resume": resume})
        seen = observed_matrix(S, mask, weights, dtype, frame_names(S))
        if not seen.whole:  # otherwise nothing is missing, and the problem is the ordinary one
            problem, request = _observed_problem(seen, k, solver, seed, start, n_init, options)
            return run(
                problem,
                request,
                try_exact=False,
                monitor=_observed_monitor(kkt_gate, seen.n, warm_start=start is None),
                progress=progress,
                callbacks=callbacks,
                since=since,
                max_iter=max_iter,
                max_seconds=max_seconds,
            )
        del seen
    place = None if device is None else resolve_device(device)
    operator = as_operator(S, dtype=dtype, device=place)
    if published:
        options = {**published_options(operator, solver, start), **options}
    request = Request.of(solver, n_init, options)
    problem = Problem(operator, k, seed, request.start if start is None else start)
    return run(
        problem,
        request,
        try_exact=start is None,
        monitor=Monitor(kkt_gate=kkt_gate, paper=published),
        progress=progress,
        callbacks=callbacks,
        resume=resume,
        since=since,
        max_iter=max_iter,
        max_seconds=max_seconds,
        checkpoint=checkpoint,
    )


#: Solvers that use S only in the product S H, and can therefore fit some of its entries.
WITHOUT_ENTRIES = ("admm", "hals", "anls", "mu", "adagrad", "rmsprop", "adam", "pgd-momentum")


#: Where entries are missing: gate of the gradient as a fraction of that of the paper, and the least
#: decrease relative to the error at a start of the caller and at a completed fit.
OBSERVED_GATE, STEPS_GAIN, STEPS_GAIN_ON_FIT = 0.02, 1e-7, 2e-3


def _observed_monitor(kkt_gate: float | None, n: int, warm_start: bool) -> Monitor:
    """Stricter gates: without a floor, only the gradient tells how far a fit has come."""
    gate = kkt_gate or OBSERVED_GATE * Monitor().gate(n)
    gain = STEPS_GAIN_ON_FIT if warm_start else STEPS_GAIN
    return Monitor(kkt_gate=gate, stagnation=gain, warm_start=warm_start)


def _observed_problem(
    S: ObservedMatrix,
    k: int,
    solver: str | Solver[Any],
    seed: int,
    start: str | Tensor | None,
    n_init: int | None,
    options: dict[str, Any],
) -> tuple[Problem, Request]:
    """The problem of some entries, started at a fit of S that is completed by itself."""
    name = "admm" if solver == SOLVER else solver
    if isinstance(name, str) and name not in WITHOUT_ENTRIES:
        raise InvalidInput(
            "solver",
            f"{name!r} needs every entry of S",
            f"Choose one of {', '.join(WITHOUT_ENTRIES)} with a mask or weights",
        )
    request = Request.of(name, 1, options)
    if n_init is not None:
        whole_number("n_init", n_init, 1, 10_000)
    problem = ObservedProblem(S, k, seed, "random" if start is None else start)

    def fit(
        completed: SymmetricOperator, H: Tensor | None, precision: str
    ) -> tuple[Tensor, float | None]:
        starts = 1 if H is not None or n_init is None else n_init
        whole = Problem(completed, k, seed, "random" if H is None else H)
        how = Request(n_init=starts, options={"precision": precision})
        found = run(whole, how, handle_interrupt=False)
        return found.H.to(S.dtype), found.certificate.excess

    if start is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is returned has warnings of its own
            problem = ObservedProblem(S, k, seed, completed_fit(S, problem.k, problem.seed, fit))
    return problem, request


def run(
    problem: Problem,
    request: Request | None = None,
    *,
    try_exact: bool = True,
    monitor: Monitor | None = None,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    progress: bool | str = False,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | Checkpoint | None = None,
    resume: bool = False,
    since: float | None = None,
    handle_interrupt: bool = True,
) -> Result:
    """:func:`factorize` for a problem, whose spectrum the caller may use before and after.

    Arguments:
        problem: S, k, seed and start.
        request: the solver and its number of starts; one start of ``"auto"`` by default.
        try_exact: whether to try the cases whose best factor is known.
        monitor: thresholds of the criterion.
        max_iter, max_seconds, progress, callbacks, checkpoint, resume: as for :func:`factorize`.
        since: ``perf_counter()`` at the beginning of the work; by default now.
        handle_interrupt: whether Ctrl-C ends the run with its best factor; False for a fit that is
            part of a larger computation, which Ctrl-C has to end.
    """
    request = request or Request(n_init=1)
    since = perf_counter() if since is None else since
    monitor = monitor or Monitor()
    limit = max_iterations(request.n_init) if max_iter is None else max_iter
    whole_number("max_iter", limit, 0)
    if max_seconds is not None and not max_seconds >= 0:
        raise InvalidInput("max_seconds", f"got {max_seconds:g}", "Pass a number of at least 0")
    require_checkpoint(resume, checkpoint)
    _require_same_request(problem, request, monitor, limit)
    warn_of_single_events(problem.S.provenance, problem.k)
    with one_thread_if_small(problem.S.cost() * problem.k):
        advice = Recommendation(request.name)
        if request.name == AUTO:
            advice = advise(problem, try_exact=try_exact)
        if advice.exact is not None:
            exact = advice.exact.H
            found = certify_exact(
                problem, exact, name="exact", monitor=monitor, callbacks=callbacks, since=since
            )
            return _finished(found, advice.reasons)
        solver, reasons = _solver(problem, request, advice)
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(Path(checkpoint))
        with ExitStack() as stack:
            shown: list[Callback] = []
            if progress and problem.S.process_index == 0:

                def excess(error: float) -> float | None:  # no spectrum before a check
                    return problem.bounds.excess(error)

                if progress == "json":
                    shown = [JsonProgress(excess=excess)]
                else:
                    line = Progress(excess=excess, max_iter=limit, max_seconds=max_seconds)
                    shown = [stack.enter_context(line)]
            found = solve(
                problem,
                solver,
                name=advice.solver,
                monitor=monitor,
                max_iter=limit,
                max_seconds=max_seconds,
                callbacks=[*shown, *callbacks],
                checkpoint=checkpoint,
                resume=resume,
                since=since,
                handle_interrupt=handle_interrupt,
            )
        certificate = found.certificate
        compared = request.n_init > 1 and is_reported()
        if compared and certificate.agreement is None and found.status.good:
            left = inf if max_seconds is None else max_seconds - found.seconds
            agreed = starts_agree(problem, request.n_init, left)
            found = replace(found, certificate=replace(certificate, agreement=agreed))
        return _finished(found, reasons)


def _require_same_request(problem: Problem, request: Request, monitor: Monitor, limit: int) -> None:
    """Raise InvalidFile if the processes that share the rows were asked for different fits."""
    if problem.S.process_count == 1:
        return
    start = problem.start
    problem.S.require_same(
        "the fit",
        {
            called("k"): str(problem.k),
            called("seed"): str(problem.seed),
            called("solver"): str(request.name),
            called("n_init"): str(request.n_init),
            called("max_iter"): str(limit),
            "the start": start if isinstance(start, str) else digest_of(start),
            "an option": digest_of(repr(request), repr(monitor)),
        },
        "Run the same command on every host",
    )


def _solver(
    problem: Problem, request: Request, advice: Recommendation
) -> tuple[Solver[Any], tuple[str, ...]]:
    """The solver to run, and the reasons for its choice and its options."""
    if request.instance is not None:
        return request.instance, ()
    name = advice.solver
    require_workspace(problem.S, problem.k, name, processes_on_this_machine())
    options = {**advice.options, **request.options}
    if "n_init" in find(name).parameters:
        options.setdefault("n_init", request.n_init)
    options, tuned = tuned_options(problem, name, options)
    made = make_solver(name, **options)
    if request.schedule is not None and isinstance(made, Sketched):
        made = replace(made, schedule=request.schedule)
    return made, (*advice.reasons, tuned) if tuned else advice.reasons


def _finished(result: Result, reasons: tuple[str, ...]) -> Result:
    """Issue the warnings about the result, and put its columns in group order."""
    warn_of_result(result)
    return replace(result, H=in_group_order(result.H), notes=(*reasons, *result.notes))
