"""THE loop: it steps a solver, looks at the criterion, keeps the best, and says how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from math import inf, isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from symnmf.contract import Check, Memory, Problem, Result, Solver, State, Status, whole
from symnmf.engine.checkpoint import (
    CHECK_FIELDS,
    RESUMABLE,
    Checkpoint,
    pack_history,
    unpack_history,
)
from symnmf.engine.interrupts import Interrupts
from symnmf.engine.monitor import Monitor, Watch
from symnmf.errors import InvalidFile, InvalidInput, PeerLost
from symnmf.operators.group import first_decides
from symnmf.seeds import torch_seed, torch_stream

#: Called after every look with the look and the factor (not to be changed); True stops the run.
Callback = Callable[[Check, Tensor], bool | None]

MAX_ITER = 10_000
#: Relative difference of fingerprints that another number of threads may make.
SAME = 1e-5


@dataclass
class Run(Memory):
    """Everything a checkpoint holds."""

    state: State
    iteration: int
    seconds: float
    work: int
    best_H: Tensor
    best_look: int  # its place in the history
    history: Tensor
    last_H: Tensor | None
    quiet: int
    ended: str | None  # how, if it is over


def solve(
    problem: Problem,
    solver: Solver,
    *,
    name: str | None = None,
    monitor: Monitor | None = None,
    max_iter: int = MAX_ITER,
    max_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    since: float | None = None,
    stoppable: bool = True,
) -> Result:
    """Run a solver on a problem until the criterion holds or the budget is spent.

    Gates met while the factor is collapsed do not end the run: the solver is asked to react,
    and goes on.

    Arguments:
        problem: S, k, seed and start.
        solver: the algorithm with its hyper-parameters.
        name: what to call the solver in the result.
        monitor: thresholds of the criterion.
        max_iter: most iterations.
        max_seconds: most wall time.
        callbacks: called after every look; one that returns True stops the run.
        checkpoint: where to save the run.
        resume: go on with the saved run, if there is one; one that is over is returned.
        since: ``perf_counter()`` when the work on a fresh problem began; time and products are then
            counted from there. By default, from this call.
        stoppable: Ctrl-C returns the best factor so far with status STOPPED. False for a fit that
            is part of something larger, which Ctrl-C has to end.
    """
    check_budget(max_iter, checkpoint, resume)
    with ExitStack() as stack:
        if checkpoint is not None:
            first_decides(problem.S, lambda: checkpoint.take(resume, stack))
        driver = _Driver(problem, solver, monitor or Monitor(), checkpoint, since)
        status = driver.begin(resume) or driver.loop(max_iter, max_seconds, callbacks, stoppable)
        driver.save(status, always=True)
        return driver.result(status, name or type(solver).__name__)


def check_budget(max_iter: int, checkpoint: object, resume: bool) -> None:
    """Refuse what no run can begin with."""
    whole("max_iter", max_iter, 0, inf, "that is not negative")
    if resume and checkpoint is None:
        raise InvalidInput("resume", "got True without a checkpoint", "Pass checkpoint= as well")


def judge(
    problem: Problem,
    H: Tensor,
    *,
    name: str,
    monitor: Monitor | None = None,
    callbacks: Sequence[Callback] = (),
    since: float | None = None,
) -> Result:
    """The result of a factor that is known to be the best: one look, no steps.

    Arguments:
        problem: S and k; all work done with it counts.
        H: the factor.
        name: what to call the solver in the result.
        monitor: thresholds of the criterion.
        callbacks: called after the look.
        since: ``perf_counter()`` when the work began.
    """
    began = perf_counter() if since is None else since
    watch = (monitor or Monitor()).watch(problem)
    watch.since = 0
    check = watch.look(0, perf_counter() - began, H, problem.S.matmul(H))
    H = problem.outward(H)
    for callback in callbacks:
        callback(check, H)
    certificate = watch.certify(check)
    known: dict[str, Any] = {"floor_low": check.error, "floor_high": check.error}
    known |= {"excess": None if certificate.excess is None else 0.0, "worth": certificate.possible}
    return Result(
        H=H,
        status=Status.EXACT,
        certificate=replace(
            certificate, exact=True, floor_exact=True, converged=True, collapsed=False, **known
        ),
        history=(check,),
        solver=name,
        seed=problem.seed,
        iterations=0,
        seconds=perf_counter() - began,
        products=problem.products(watch.since),
        names=None if problem.S.names is None else tuple(problem.S.names),
        eigenvalues=problem.eigenvalues,
        notes=problem.remarks,
    )


class _Driver:
    """The state of one call of :func:`solve`."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        monitor: Monitor,
        checkpoint: Checkpoint | None,
        since: float | None,
    ):
        self.problem, self.solver, self.checkpoint = problem, solver, checkpoint
        self.saved = perf_counter()
        self.began = self.saved if since is None else since
        self.before = 0.0  # seconds spent by the runs that this one resumes
        self.watch: Watch = monitor.watch(problem)
        if since is not None:
            self.watch.since = 0
        self.iteration = 0
        self.saved_at: int | None = None  # the iteration at which the end was saved
        self.looking = 0.0  # seconds spent in looks
        self.resumed: int | None = None  # the iteration at which this run went on
        self.torn = False  # a step was cut off: the state is not to be saved
        self.state: State
        self.best: tuple[int, Tensor]  # place in the history, factor

    @property
    def seconds(self) -> float:
        return self.before + perf_counter() - self.began

    def begin(self, resume: bool) -> Status | None:
        """At the start factor, or where the checkpoint left off; how that run ended, if it did."""
        problem = self.problem
        found = resume and self.checkpoint is not None and self.checkpoint.exists()
        (found,) = problem.S.agree(found)
        if not found:
            self.state = self.solver.init_state(problem)
            self._look()
            return None
        assert self.checkpoint is not None
        run = self.checkpoint.load(self._identity, problem.S.device, SAME)
        if not (isinstance(run, Run) and _fits(run, problem)):
            raise InvalidFile(
                str(self.checkpoint.folder), "does not hold this run", "Delete it and start again"
            )
        self.state, self.iteration = run.state, run.iteration
        self.resumed = run.iteration
        self.best = (run.best_look, run.best_H)
        self.before = run.seconds
        self.watch.since = problem.spent - run.work
        self.watch.history = unpack_history(run.history)
        self.watch.last_H, self.watch.quiet = run.last_H, run.quiet
        status = None if run.ended is None else Status[run.ended]
        return None if run.ended in RESUMABLE else status

    def loop(
        self,
        max_iter: int,
        max_seconds: float | None,
        callbacks: Sequence[Callback],
        stoppable: bool,
    ) -> Status:
        """Step and look until something ends the run."""
        problem, solver = self.problem, self.solver
        rng = torch.Generator(device=problem.S.device)
        status: Status | None = None
        try:
            with Interrupts(stoppable) as interrupts:
                status = self._ended(callbacks, fresh=False)
                while status is None:
                    spent = max_seconds is not None and self.seconds > max_seconds
                    late, stop = problem.S.agree(spent and self.iteration > 0, interrupts.seen)
                    if late or stop or self.iteration >= max_iter:
                        status = Status.STOPPED if stop else Status.TIME_OUT
                        status = status if late or stop else Status.MAX_ITER
                        if self.watch.history[-1].iteration != self.iteration:
                            # Saved before it is looked at: resumed, the run looks on its own grid.
                            self.save(status, always=True)
                            self.state = solver.interrupted(self.state)
                            self._look(whole=False)
                            self._tell(callbacks)
                        break
                    rng.manual_seed(torch_seed(problem.seed, "step", self.iteration))
                    self.state = solver.step(problem, self.state, rng)
                    self.iteration += 1
                    since = self.iteration - self.watch.history[-1].iteration
                    if solver.due(self.state, since):
                        self._look(whole=solver.ripe(self.state))
                        status = self._ended(callbacks)
                        if status is None:
                            self.save(None)
        except KeyboardInterrupt:  # from a callback, or pressed twice
            if problem.S.processes > 1 or not stoppable:  # others wait: all have to end
                raise
            self.torn = True
            return Status.STOPPED
        look = self.watch.history[-1]
        given_up = status is Status.STAGNATED or look.gates_met
        if given_up and status is not Status.STOPPED:
            return Status.COLLAPSED if self.watch.yardstick.collapsed(look.error) else status
        return status

    def result(self, status: Status, name: str) -> Result:
        """The converged factor, or the best one seen, with its certificate."""
        history = self.watch.history
        place, H = self.best
        if status is Status.CONVERGED and history[place].kkt_ratio >= 1:
            place, H = len(history) - 1, self.state.H
        certificate = self.watch.certify(history[place])
        if status is Status.CONVERGED:  # by its last look
            certificate = replace(certificate, converged=True)
        went_on = () if self.resumed is None else (f"went on at iteration {self.resumed}",)
        return Result(
            H=self.problem.outward(H),
            status=status,
            certificate=replace(certificate, agreement=self.solver.agreement(self.state)),
            history=tuple(history),
            solver=name,
            seed=self.problem.seed,
            iterations=self.iteration,
            seconds=self.seconds,
            products=self.problem.products(self.watch.since),
            options=options_of(self.solver),
            names=None if self.problem.S.names is None else tuple(self.problem.S.names),
            notes=(*self.problem.remarks, *went_on),
            looking=self.looking,
            eigenvalues=self.problem.eigenvalues,
        )

    def _look(self, *, whole: bool = True) -> None:
        """Fill S H, measure, and keep the factor if it is the best so far.

        ``whole`` says that a whole interval lies behind, and that the solver is ready to be judged:
        only then can a look be stagnant.
        """
        began, state = perf_counter(), self.state
        if state.SH is None:
            state.SH = self.problem.S.matmul(state.H)
        if not self.problem.S.same(state.H):
            raise PeerLost(
                "the processes hold different factors: they must run the same program with the "
                "same number of threads on the same kind of machine. Start again with --resume."
            )
        warm = whole and self.iteration >= self.solver.warm_up
        H = self.problem.judged(state.H)
        check = self.watch.look(self.iteration, self.seconds, H, state.SH, warm=warm)
        history = self.watch.history
        if len(history) == 1 or check.error < history[self.best[0]].error:
            self.best = (len(history) - 1, H.clone())
        self.looking += perf_counter() - began

    def _ended(self, callbacks: Sequence[Callback], *, fresh: bool = True) -> Status | None:
        """What the newest look means: an end, a reaction of the solver, or nothing."""
        check = self.watch.history[-1]
        stopped = self._tell(callbacks)
        if not (isfinite(check.error) and isfinite(check.kkt)):
            return Status.DIVERGED
        if check.gates_met and not self.watch.yardstick.collapsed(check.error):
            return Status.CONVERGED
        if stopped:
            return Status.STOPPED
        if fresh and check.stagnant:
            answer = self.solver.react(self.problem, self.state, check)
            if answer is not self.state:
                self.state, self.watch.quiet = answer, 0
        return Status.STAGNATED if self.watch.given_up() else None

    def _tell(self, callbacks: Sequence[Callback]) -> bool:
        """Show the newest look; whether one of them wants to stop."""
        check = self.watch.history[-1]
        H = self.problem.outward(self.state.H) if callbacks else self.state.H
        wishes = [callback(check, H) for callback in callbacks]
        (stop,) = self.problem.S.agree(any(wishes))
        return bool(stop)

    def save(self, status: Status | None, *, always: bool = False) -> None:
        """Save the run if it is time, or at its end, once for each iteration."""
        if self.checkpoint is None or self.saved_at == self.iteration or self.torn:
            return
        due = perf_counter() - self.saved >= self.checkpoint.every_seconds
        (due,) = self.problem.S.agree(always or due)
        if not due:
            return
        run = Run(
            state=self.state,
            iteration=self.iteration,
            seconds=self.seconds,
            work=self.problem.spent - self.watch.since,
            best_H=self.best[1],
            best_look=self.best[0],
            history=pack_history(self.watch.history),
            last_H=self.watch.last_H,
            quiet=self.watch.quiet,
            ended=status.name if status else None,
        )
        identity = self._identity  # made by all processes together
        if self.problem.S.rank == 0:
            self.checkpoint.save(self.iteration, run, identity)
        self.saved, self.saved_at = perf_counter(), None if status is None else self.iteration

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """What makes a run this run; numbers are compared up to rounding."""
        problem, S = self.problem, self.problem.S
        H0 = problem.H0.to(torch.float64)
        mark = torch.rand(S.n, 2, generator=torch_stream(0, "fingerprint"), dtype=S.dtype)
        mark = mark.to(S.device)
        image = S.inner.matmul(mark)  # not counted: it is no part of the run
        return {
            "n": S.n,
            "k": problem.k,
            "dtype": str(S.dtype),
            "seed": problem.seed,
            "start": float((H0 * mark[:, :1]).sum()),
            "matrix": float((image[:, 0] * mark[:, 1]).sum(dtype=torch.float64)),
            "solver": repr(self.solver),
            "criterion": repr(self.watch.monitor),
        }


def _fits(run: Run, problem: Problem) -> bool:
    """Whether a run that was read can be one of this problem; its file may come from anyone."""
    S, k, looks = problem.S, problem.k, run.history
    factors = [run.best_H, getattr(run.state, "H", None)]
    numbers = (run.iteration, run.work, run.best_look, run.quiet)
    return (
        isinstance(run.state, State)
        and all(isinstance(H, Tensor) and H.shape == (S.n, k) for H in factors)
        and all(H is None or H.dtype == S.dtype for H in factors)
        and isinstance(looks, Tensor)
        and looks.ndim == 2
        and looks.shape[1] == len(CHECK_FIELDS)
        and all(type(number) is int and number >= 0 for number in numbers)
        and run.best_look < len(looks)
        and isinstance(run.seconds, int | float)
        and (run.last_H is None or isinstance(run.last_H, Tensor))
        and (run.ended is None or run.ended in Status.__members__)
    )


def options_of(solver: Solver) -> dict[str, Any]:
    """Hyper-parameters of a solver as plain values."""
    return asdict(solver) if is_dataclass(solver) else {}
