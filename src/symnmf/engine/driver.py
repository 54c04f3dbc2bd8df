"""Driver loop: advance the solver, check the criterion, track the best iterate, return a status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from symnmf.core.packing import pack_history, unpack_history
from symnmf.core.problem import Problem
from symnmf.core.result import Result, Status
from symnmf.core.solver import Check, Solver, State
from symnmf.distributed.batch_signals import SIGNALS, Stopped
from symnmf.distributed.environment import local_number
from symnmf.distributed.process_group import first_decides
from symnmf.engine.criterion import Monitor, RunMonitor
from symnmf.engine.interrupts import Interrupts
from symnmf.engine.run_state import RunState, identity
from symnmf.errors import InvalidFile, InvalidInput, PeerLost
from symnmf.numerics import torch_seed
from symnmf.options import whole_number
from symnmf.storage.checkpoint import RESUMABLE, Checkpoint

#: Function called after every check with the check and the factor, which it must not modify;
#: True stops the run.
Callback = Callable[[Check, Tensor], bool | None]

#: Default of the maximum iterations.
MAX_ITER = 10_000
#: Relative difference of fingerprints that another number of threads may cause.
FINGERPRINT_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Budget:
    """Limits of a run.

    Attributes:
        max_iter: maximum iterations.
        max_seconds: maximum wall time; None for no limit.
    """

    max_iter: int = MAX_ITER
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        whole_number("max_iter", self.max_iter, 0)


def solve(
    problem: Problem,
    solver: Solver[Any],
    *,
    name: str | None = None,
    monitor: Monitor | None = None,
    max_iter: int = MAX_ITER,
    max_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    since: float | None = None,
    handle_interrupt: bool = True,
) -> Result:
    """Run a solver on a problem until the criterion holds or the budget is spent.

    Gates that are met while the factor is collapsed do not end the run: the solver is asked to
    react, and the run continues.

    Arguments:
        problem: operator, rank, seed and start.
        solver: algorithm with its hyper-parameters.
        name: name of the solver in the result.
        monitor: thresholds of the criterion.
        max_iter: maximum iterations.
        max_seconds: maximum wall time; by default no limit.
        callbacks: functions called after every check; one that returns True stops the run.
        checkpoint: checkpoint to which the run is saved.
        resume: whether to resume the saved run, if there is one; a run that has ended is returned.
        since: ``perf_counter()`` at which the work on a new problem began; time and products are
            then counted from there. By default they are counted from this call.
        handle_interrupt: whether Ctrl-C returns the best factor so far with status STOPPED. False
            for a fit that is part of a larger task, which Ctrl-C must end.

    Raises:
        InvalidInput: an argument is invalid, or the checkpoint holds another unfinished run.
        InvalidFile: the checkpoint is damaged or belongs to another run.
        PeerLost: another process does not respond or holds another factor.
        KeyboardInterrupt: a batch system stopped the command line; the run is saved.
    """
    budget = Budget(max_iter, max_seconds)
    require_checkpoint(resume, checkpoint)
    with ExitStack() as stack:
        if checkpoint is not None:
            first_decides(problem.S, lambda: checkpoint.take(resume, stack))
        driver = _Driver(problem, solver, monitor or Monitor(), checkpoint, since)
        status = driver.begin(resume)
        if status is None:
            status = driver.run(budget, callbacks, handle_interrupt)
        driver.save(status, always=True)
        if driver.signal in SIGNALS:  # there may be seconds left before the process is killed
            raise Stopped(driver.signal)
        return driver.result(status, name or type(solver).__name__)


def require_checkpoint(resume: bool, checkpoint: object) -> None:
    """Raise InvalidInput if a run is to be resumed and there is no place to resume it from."""
    if resume and checkpoint is None:
        raise InvalidInput("resume", "got True without a checkpoint", "Pass checkpoint= as well")


class _Driver:
    """The state of one call of :func:`solve`."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver[Any],
        monitor: Monitor,
        checkpoint: Checkpoint | None,
        since: float | None,
    ):
        self.problem, self.solver, self.checkpoint = problem, solver, checkpoint
        self.signal = 0  # that ended the run
        self.saved = perf_counter()
        self.began = self.saved if since is None else since
        self.seconds_before = 0.0  # spent by the runs that this one resumes
        self.monitor: RunMonitor = monitor.begin(problem, solver.least_entry)
        if since is not None:
            self.monitor.work_before = 0
        self.rng = torch.Generator(device=problem.S.device)
        self.iteration = 0
        self.saved_at: int | None = None  # the iteration at which the end was saved
        self.check_seconds = 0.0
        self.resumed: int | None = None  # the iteration at which this run was resumed
        self.torn = False  # a step was interrupted: the state must not be saved
        self.state: State
        self.best: tuple[int, Tensor]  # index in the history, factor

    @property
    def seconds(self) -> float:
        return self.seconds_before + perf_counter() - self.began

    @property
    def last(self) -> Check:
        return self.monitor.history[-1]

    # ---- the loop ----

    def run(self, budget: Budget, callbacks: Sequence[Callback], handle_interrupt: bool) -> Status:
        """Advance and check until something ends the run."""
        try:
            with Interrupts(handle_interrupt) as interrupts:
                status = self._status(self.last, self._notify(callbacks))
                while status is None:
                    if (status := self._budget_spent(budget, interrupts)) is not None:
                        self._close(status, callbacks)
                        break
                    self._advance()
                    if self.solver.should_check(self.state, self.iteration - self.last.iteration):
                        check = self._measure(complete=self.solver.may_stop(self.state))
                        status = self._status(check, self._notify(callbacks))
                        if status is Status.CONVERGED and self._improve(check):
                            status = None
                        elif status is None:
                            status = self._react(check)
                        if status is None:
                            self.save(None)
        except KeyboardInterrupt:  # from a callback, or pressed twice
            if self.problem.S.process_count > 1 or not handle_interrupt:  # every process must end
                raise
            self.torn = True
            return Status.STOPPED
        return self._unless_collapsed(status)

    def _budget_spent(self, budget: Budget, interrupts: Interrupts) -> Status | None:
        """The status if the run must end here; all processes decide alike."""
        late = budget.max_seconds is not None and self.seconds > budget.max_seconds
        spent, self.signal = self.problem.S.largest(
            int(late and self.iteration > 0), interrupts.seen
        )
        if self.signal:
            return Status.STOPPED
        if spent:
            return Status.TIME_OUT
        return Status.MAX_ITER if self.iteration >= budget.max_iter else None

    def _close(self, status: Status, callbacks: Sequence[Callback]) -> None:
        """Measure the factor to report if the run ends between two checks."""
        if self.last.iteration != self.iteration:
            # Saved before the check, so that a resumed run checks at its regular iterations.
            self.save(status, always=True)
            self.state = self.solver.interrupted(self.state)
            self._measure(complete=False)
            self._notify(callbacks)

    def _advance(self) -> None:
        """One step of the solver."""
        self.rng.manual_seed(torch_seed(self.problem.seed, "step", self.iteration))
        self.state = self.solver.step(self.problem, self.state, self.rng)
        self.iteration += 1

    def _measure(self, *, complete: bool = True) -> Check:
        """Evaluate the criterion, and store the factor if it is the best so far.

        Arguments:
            complete: whether a whole interval has passed and the solver may stop; otherwise the
                check cannot be stagnant.
        """
        began, problem = perf_counter(), self.problem
        self.state.SH = self.state.product(problem.S)
        if not problem.S.same(self.state.H):
            raise PeerLost(
                "the processes hold different factors: they must run the same program with the "
                "same number of threads on the same kind of machine. Run again with --resume.",
                spoken=local_number() == 0,
            )
        H = problem.zero_empty_rows(self.state.H)
        check = self.monitor.measure(
            self.iteration,
            self.seconds,
            H,
            self.state.SH,
            warm=self.iteration >= self.solver.warm_up,
            whole=complete,
            reactions=sum(self.solver.reaction_counts(self.state).values()),
        )
        history = self.monitor.history
        if len(history) == 1 or check.error < history[self.best[0]].error:
            self.best = (len(history) - 1, H.clone())
        self.check_seconds += perf_counter() - began
        return check

    def _notify(self, callbacks: Sequence[Callback]) -> bool:
        """Call the callbacks with the newest check; return whether one of them stops the run."""
        H = self.problem.to_input_scale(self.state.H) if callbacks else self.state.H
        requests = [callback(self.last, H) for callback in callbacks]
        (stop,) = self.problem.S.agree(any(requests))
        return bool(stop)

    def _status(self, check: Check, stop: bool) -> Status | None:
        """The status if the run ends at this check."""
        if not (isfinite(check.error) and isfinite(check.kkt)):
            return Status.DIVERGED
        if self.monitor.stops(check):
            return Status.CONVERGED
        return Status.STOPPED if stop else None

    def _improve(self, check: Check) -> bool:
        """Whether the solver goes on although the criterion is met."""
        better = self.solver.improve(self.problem, self.state, check)
        goes_on = better is not self.state
        self.state = better
        return goes_on

    def _react(self, check: Check) -> Status | None:
        """Let the solver react to stagnation; end the run if there was no progress for too long."""
        if check.stagnant:
            reaction = self.solver.react(self.problem, self.state, check)
            if reaction is not self.state:
                self.state, self.monitor.quiet = reaction, 0
        return Status.STAGNATED if self.monitor.given_up() else None

    def _unless_collapsed(self, status: Status) -> Status:
        """COLLAPSED for a run that ended on a factor without groups; otherwise the status."""
        ended = status in (Status.CONVERGED, Status.STAGNATED) or self.last.gates_met
        if ended and status is not Status.STOPPED:
            return Status.COLLAPSED if self.monitor.collapsed(self.last) else status
        return status

    # ---- begin, save, result ----

    def begin(self, resume: bool) -> Status | None:
        """Begin at the start factor or at the checkpoint; return the status of a run that ended."""
        problem, checkpoint = self.problem, self.checkpoint
        (found,) = problem.S.agree(resume and checkpoint is not None and checkpoint.exists())
        if not found or checkpoint is None:
            self.state = self.solver.init_state(problem)
            self._measure()
            return None
        run = checkpoint.load(self._identity, problem.S.device, FINGERPRINT_TOLERANCE)
        if not (isinstance(run, RunState) and run.fits(problem)):
            raise InvalidFile(
                str(checkpoint.folder), "does not hold this run", "Delete it and start again"
            )
        self.state, self.iteration, self.resumed = run.state, run.iteration, run.iteration
        self.best, self.seconds_before = (run.best_check, run.best_H), run.seconds
        self.monitor.work_before = problem.spent - run.work
        self.monitor.history = unpack_history(run.history)
        self.monitor.last_H, self.monitor.quiet = run.last_H, run.quiet
        return None if run.ended in (None, *RESUMABLE) else Status[run.ended]

    def save(self, status: Status | None, *, always: bool = False) -> None:
        """Save the run if a save is due, or with ``always``; at most once per iteration."""
        if self.checkpoint is None or self.saved_at == self.iteration or self.torn:
            return
        overdue = perf_counter() - self.saved >= self.checkpoint.every_seconds
        (needed,) = self.problem.S.agree(always or overdue)
        if not needed:
            return
        run = RunState(
            state=self.state,
            iteration=self.iteration,
            seconds=self.seconds,
            work=self.problem.spent - self.monitor.work_before,
            best_H=self.best[1],
            best_check=self.best[0],
            history=pack_history(self.monitor.history),
            last_H=self.monitor.last_H,
            quiet=self.monitor.quiet,
            ended=status.name if status else None,
        )
        described = self._identity  # collective
        if self.problem.S.process_index == 0:
            self.checkpoint.save(self.iteration, run, described)
        self.saved, self.saved_at = perf_counter(), None if status is None else self.iteration

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return identity(self.problem, self.solver, self.monitor.monitor)

    def result(self, status: Status, name: str) -> Result:
        """The result: the converged factor, or the best one so far, with its certificate."""
        history, problem = self.monitor.history, self.problem
        place, H = self.best
        last = len(history) - 1
        if self.monitor.monitor.paper and history[last].paper_gates:
            place, H = last, self.state.H
        if status is Status.CONVERGED and history[place].kkt_ratio >= 1:
            place, H = last, self.state.H
        certificate = self.monitor.certify(history[place], H)
        if status is Status.CONVERGED:  # according to the last check
            certificate = replace(certificate, converged=True)
        resumed = () if self.resumed is None else (f"resumed at iteration {self.resumed}",)
        return Result(
            H=problem.to_input_scale(H).to(problem.home),
            status=status,
            certificate=replace(
                certificate,
                agreement=self.solver.agreement(self.state),
                starts=self.solver.start_count(self.state),
            ),
            history=tuple(history),
            solver=name,
            seed=problem.seed,
            iterations=self.iteration,
            seconds=self.seconds,
            products=problem.products(self.monitor.work_before),
            options=asdict(self.solver) if is_dataclass(self.solver) else {},
            names=None if problem.S.names is None else tuple(problem.S.names),
            notes=(*problem.remarks, *resumed),
            reactions=self.solver.reaction_counts(self.state),
            check_seconds=self.check_seconds,
            eigenvalues=problem.eigenvalues,
        )
