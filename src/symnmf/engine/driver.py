"""THE loop: it steps a solver, looks at the criterion, keeps the best, and says how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, is_dataclass
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from symnmf import files
from symnmf.contract import Check, Memory, Problem, Result, Solver, State, Status
from symnmf.engine.checkpoint import Checkpoint, pack_history, unpack_history
from symnmf.engine.monitor import Monitor, Watch
from symnmf.errors import InvalidInput
from symnmf.seeds import torch_seed

#: Called after every look with the look and the factor (not to be changed); True stops the run.
Callback = Callable[[Check, Tensor], bool | None]

MAX_ITER = 10_000
#: A run that ended so can go on with a larger budget.
RESUMABLE = (Status.MAX_ITER, Status.TIME_OUT, Status.STOPPED)


@dataclass
class Run(Memory):
    """Everything a checkpoint holds."""

    state: State
    iteration: int
    seconds: float
    columns: float
    best_H: Tensor
    best_look: int  # its place in the history
    history: Tensor
    last_H: Tensor | None
    quiet: int


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
) -> Result:
    """Run a solver on a problem until the criterion holds or the budget is spent.

    Gates met while the factor is collapsed do not end the run: the solver is asked to react,
    and goes on. Ctrl-C returns the best factor so far with status STOPPED.

    Arguments:
        problem: S, k, seed and start.
        solver: the algorithm with its hyper-parameters.
        name: what to call the solver in the result.
        monitor: thresholds of the criterion.
        max_iter: most iterations.
        max_seconds: most wall time.
        callbacks: called after every look; one that returns True stops the run.
        checkpoint: where to save the run.
        resume: go on with the saved run, if there is one.
    """
    if max_iter < 0:
        raise InvalidInput("max_iter", f"got {max_iter}", "Pass 0 or more")
    if resume and checkpoint is None:
        raise InvalidInput("resume", "got True without a checkpoint", "Pass checkpoint= as well")
    with ExitStack() as stack:
        if checkpoint is not None:
            stack.enter_context(files.lock(checkpoint.folder))
            if checkpoint.exists() and not resume:
                raise InvalidInput(
                    "checkpoint",
                    f"{checkpoint.folder} holds an unfinished run",
                    "Pass resume=True to go on with it, or choose another folder",
                )
        driver = _Driver(problem, solver, monitor or Monitor(), checkpoint)
        driver.begin(resume)
        status = driver.loop(max_iter, max_seconds, callbacks)
        if checkpoint is not None and status not in RESUMABLE:
            checkpoint.clear()
        return driver.result(status, name or type(solver).__name__)


class _Driver:
    """The state of one call of :func:`solve`."""

    def __init__(
        self, problem: Problem, solver: Solver, monitor: Monitor, checkpoint: Checkpoint | None
    ):
        self.problem, self.solver, self.checkpoint = problem, solver, checkpoint
        self.began = self.saved = perf_counter()
        self.before = 0.0  # seconds spent by the runs that this one resumes
        self.watch: Watch = monitor.watch(problem)
        self.iteration = 0
        self.state: State
        self.best: tuple[int, Tensor]  # place in the history, factor

    @property
    def seconds(self) -> float:
        return self.before + perf_counter() - self.began

    def begin(self, resume: bool) -> None:
        """At the start factor, or where the checkpoint left off."""
        problem = self.problem
        if resume and self.checkpoint is not None and self.checkpoint.exists():
            run = self.checkpoint.load(self._identity(), problem.S.device)
            assert isinstance(run, Run)
            self.state, self.iteration = run.state, run.iteration
            self.best = (run.best_look, run.best_H)
            self.before, problem.S.columns = run.seconds, run.columns
            self.watch.history = unpack_history(run.history)
            self.watch.last_H, self.watch.quiet = run.last_H, run.quiet
            return
        self.state = self.solver.init_state(problem)
        self._look()

    def loop(
        self, max_iter: int, max_seconds: float | None, callbacks: Sequence[Callback]
    ) -> Status:
        """Step and look until something ends the run."""
        problem, solver = self.problem, self.solver
        rng = torch.Generator(device=problem.S.device)
        status = self._ended(callbacks, fresh=False)
        try:
            while status is None:
                if self.iteration >= max_iter:
                    status = Status.MAX_ITER
                    break
                rng.manual_seed(torch_seed(problem.seed, "step", self.iteration))
                self.state = solver.step(problem, self.state, rng)
                self.iteration += 1
                late = max_seconds is not None and self.seconds > max_seconds
                (late,) = problem.S.agree(late)
                if late or self.iteration % solver.check_every == 0 or self.iteration == max_iter:
                    self._look()
                    status = self._ended(callbacks)
                    if status is None and late:
                        status = Status.TIME_OUT
                    self._save(final=status in RESUMABLE or self.iteration == max_iter)
        except KeyboardInterrupt:
            return Status.STOPPED
        if status in (Status.STAGNATED, Status.MAX_ITER, Status.TIME_OUT):
            look = self.watch.history[-1]
            if self.watch.yardstick.collapsed(look.error) and (
                look.gates_met or status is Status.STAGNATED
            ):
                return Status.COLLAPSED
        return status

    def result(self, status: Status, name: str) -> Result:
        """The converged factor, or the best one seen, with its certificate."""
        history = self.watch.history
        if status is Status.CONVERGED:
            place, H = len(history) - 1, self.state.H
        else:
            place, H = self.best
        return Result(
            H=H,
            status=status,
            certificate=self.watch.certify(history[place]),
            history=tuple(history),
            solver=name,
            seed=self.problem.seed,
            iterations=self.iteration,
            seconds=self.seconds,
            products=self.problem.products,
            options=options_of(self.solver),
            names=None if self.problem.S.names is None else tuple(self.problem.S.names),
        )

    def _look(self) -> None:
        """Fill S H, measure, and keep the factor if it is the best so far."""
        state = self.state
        if state.SH is None:
            state.SH = self.problem.S.matmul(state.H)
        warm = self.iteration >= self.solver.warm_up
        check = self.watch.look(self.iteration, self.seconds, state.H, state.SH, warm=warm)
        history = self.watch.history
        if len(history) == 1 or check.error < history[self.best[0]].error:
            self.best = (len(history) - 1, state.H.clone())

    def _ended(self, callbacks: Sequence[Callback], *, fresh: bool = True) -> Status | None:
        """What the newest look means: an end, a reaction of the solver, or nothing."""
        check = self.watch.history[-1]
        stop = [callback(check, self.state.H) for callback in callbacks]
        (stopped,) = self.problem.S.agree(any(stop))
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

    def _save(self, *, final: bool) -> None:
        due = self.checkpoint and perf_counter() - self.saved >= self.checkpoint.every_seconds
        (due,) = self.problem.S.agree(bool(due) or final)
        if self.checkpoint is None or not due:
            return
        run = Run(
            state=self.state,
            iteration=self.iteration,
            seconds=self.seconds,
            columns=self.problem.S.columns,
            best_H=self.best[1],
            best_look=self.best[0],
            history=pack_history(self.watch.history),
            last_H=self.watch.last_H,
            quiet=self.watch.quiet,
        )
        self.checkpoint.save(self.iteration, run, self._identity())
        self.saved = perf_counter()

    def _identity(self) -> dict[str, Any]:
        problem, S = self.problem, self.problem.S
        start = problem.start if isinstance(problem.start, str) else "given"
        return {
            "n": S.n,
            "k": problem.k,
            "dtype": str(S.dtype),
            "seed": problem.seed,
            "start": start,
            "norm of S": S.frob_sq(),
            "solver": repr(self.solver),
        }


def options_of(solver: Solver) -> dict[str, Any]:
    """Hyper-parameters of a solver as plain values."""
    return asdict(solver) if is_dataclass(solver) else {}
