"""The loop: every way a run can end, and what it returns then."""

import os
import signal
import threading
from dataclasses import dataclass, replace

import pytest
import torch

from helpers import dense, market
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.core.solver import Solver, State
from symnmf.engine import Monitor, solve
from symnmf.errors import InvalidInput
from symnmf.operators import as_operator
from symnmf.solvers.multiplicative import MultiplicativeUpdate
from symnmf.solvers.registry import make_solver
from symnmf.storage.checkpoint import Checkpoint


def problem(kind="tpdm", n=100, start="random", seed=7):
    b = market(kind, n, seed)
    return Problem(b.operator, b.k, seed, start)


@dataclass(frozen=True)
class Script(Solver):
    """A solver that does what a test says: ``act(H, iteration)``."""

    act: object
    answer: object = None

    def init_state(self, problem):
        return Counted(problem.H0.clone(), None, 0)

    def step(self, problem, state, rng):
        return Counted(self.act(state.H, state.count), None, state.count + 1)

    def react(self, problem, state, check):
        return state if self.answer is None else self.answer(state, check)


@dataclass
class Counted(State):
    count: int


def test_converged():
    result = solve(problem(), make_solver("admm"))
    assert result.status is Status.CONVERGED
    assert result.status.good
    last = result.history[-1]
    assert last.gates_met
    assert last.kkt_ratio < 1
    assert last.decrease < 1e-5
    assert last.iteration == result.iterations >= 50
    assert [c.iteration for c in result.history] == list(range(0, result.iterations + 1, 10))
    certificate = result.certificate
    assert certificate.converged
    assert certificate.paper_converged
    assert not certificate.collapsed
    assert certificate.excess <= 0.05


def test_the_papers_gates_are_those_of_the_check_that_ended_the_run():
    """The least error is at iteration 50, just reached; the gates are met at 60, with more."""
    best = solve(problem(), make_solver("admm")).H

    def act(H, i):
        return H.clone() if i < 49 else best * (1 + (1e-4 if i >= 50 else 0))

    result = solve(problem(), Script(act))
    assert result.status is Status.CONVERGED
    least = min(result.history, key=lambda check: check.error)
    assert (least.iteration, result.iterations) == (50, 60)
    assert not least.paper_gates
    assert result.certificate.error == least.error
    assert result.certificate.paper_converged
    assert result.certificate.paper_iteration == 60


def test_a_cut_interval_does_not_meet_the_papers_gates():
    """Five iterations without progress are not an interval without progress."""
    best = solve(problem(), make_solver("admm")).H
    still = Script(lambda H, i: H.clone() if i < 49 else best.clone())
    result = solve(problem(), still, max_iter=55)
    assert result.status is Status.MAX_ITER
    last = result.history[-1]
    assert (last.iteration, last.whole, last.decrease) == (55, False, 0.0)
    assert not last.paper_gates
    assert not result.certificate.paper_converged
    assert result.certificate.paper_iteration is None
    assert solve(problem(), still, max_iter=65).certificate.paper_iteration == 60


def test_no_stagnation_in_the_warm_up():
    still = Script(lambda H, i: H.clone())
    result = solve(problem(), still, monitor=Monitor(patience=3), max_iter=40)
    assert all(not c.stagnant for c in result.history)
    result = solve(problem(), still, max_iter=70)
    assert [c.iteration for c in result.history if c.stagnant] == [50, 60, 70]


@pytest.mark.parametrize("most", range(51, 60))
def test_a_budget_between_two_looks_is_no_convergence(most, tmp_path):
    """Less than an interval of progress is not stagnation; resumed, the run is the whole one."""
    whole = solve(problem(), make_solver("admm"))
    place = Checkpoint(tmp_path)
    cut = solve(problem(), make_solver("admm"), max_iter=most, checkpoint=place)
    assert cut.status is Status.MAX_ITER
    assert cut.history[-1].iteration == most
    assert not cut.certificate.converged
    resumed = solve(problem(), make_solver("admm"), checkpoint=place, resume=True)
    assert torch.equal(resumed.H, whole.H)
    assert [c.iteration for c in resumed.history] == [c.iteration for c in whole.history]
    assert resumed.products == whole.products


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", ["mu", "adagrad", "admm"])
def test_equal_columns_end_collapsed_in_float64(name, k):
    S = as_operator(dense(market("tpdm", 100).operator))
    column = torch.rand(100, 1, generator=torch.Generator().manual_seed(k), dtype=torch.float64)
    start = column.expand(100, k).contiguous()
    result = solve(Problem(S, k, 7, start), make_solver(name), max_iter=3000)
    assert result.certificate.collapsed == (result.certificate.excess > 0.5)
    if name == "mu":  # the others leave the plateau by rounding now and then
        assert result.certificate.collapsed
    assert result.status is (Status.COLLAPSED if result.certificate.collapsed else Status.CONVERGED)


@pytest.mark.parametrize("name", ["mu", "adagrad"])
def test_equal_columns_end_collapsed(name):
    """The plateau meets the paper's gates; the certificate is not fooled."""
    b = market("tpdm", 1000)
    start = torch.rand(1000, 1, generator=torch.Generator().manual_seed(0)).expand(1000, b.k) / 5
    result = solve(Problem(b.operator, b.k, 7, start.contiguous()), make_solver(name))
    assert result.status is Status.COLLAPSED
    certificate = result.certificate
    assert certificate.paper_converged
    assert certificate.collapsed
    assert not certificate.converged
    assert certificate.factors_explained <= 1
    assert certificate.excess == pytest.approx(1.0, abs=0.01)
    assert "no groups" in certificate.verdict


def test_collapse_is_answered_before_it_ends_a_run():
    """Gates met on the plateau call react, and the run goes on to converge."""
    b = market("tpdm", 100)
    start = torch.full((100, 10), 0.2)
    noise = torch.rand(100, 10, generator=torch.Generator().manual_seed(1)) * 0.1
    asked = []

    class Escaping(MultiplicativeUpdate):
        def react(self, problem, state, check):
            asked.append(check)
            if len(asked) == 1:
                return replace(state, H=state.H + noise, SH=None)
            return state

    result = solve(Problem(b.operator, 10, 0, start), Escaping())
    assert asked[0].kkt_ratio < 1
    assert result.status is Status.CONVERGED


def test_zero_is_no_answer():
    for k in (1, 5):
        gone = Script(lambda H, i: torch.zeros_like(H))
        result = solve(Problem(market("corr", 100).operator, k, 0), gone, max_iter=400)
        assert result.status is Status.COLLAPSED
        assert result.certificate.error < 1  # the start was better than zero and is returned


def test_stagnated():
    """A factor that rests away from a stationary point is given up after the patience."""
    still = Script(lambda H, i: H.clone())
    b = market("corr", 100)
    near = solve(Problem(b.operator, 10, 7), make_solver("mu"), max_iter=40)
    assert near.history[-1].kkt_ratio > 1
    result = solve(Problem(b.operator, 10, 7, near.H), still, monitor=Monitor(patience=8))
    assert result.status is Status.STAGNATED
    assert result.iterations == 80


def test_max_iter_and_zero_iterations():
    result = solve(problem(), make_solver("adagrad"), max_iter=25)
    assert result.status is Status.MAX_ITER
    assert [c.iteration for c in result.history] == [0, 10, 20, 25]
    assert solve(problem(), make_solver("mu"), max_iter=0).iterations == 0
    with pytest.raises(InvalidInput, match="max_iter: got -1"):
        solve(problem(), make_solver("mu"), max_iter=-1)


def test_time_out():
    result = solve(problem(), make_solver("adagrad"), max_seconds=0)
    assert result.status is Status.TIME_OUT
    assert result.iterations == 1


def test_diverged_returns_the_best():
    def explode(H, i):
        return H * (1.0 if i < 20 else float("nan"))

    result = solve(problem(), Script(explode))
    assert result.status is Status.DIVERGED
    assert torch.isfinite(result.H).all()
    assert result.iterations == 30


def test_best_iterate_is_returned():
    """A run that gets worse returns the look with the least error."""
    b = market("corr", 100)
    good = solve(Problem(b.operator, 10, 7), make_solver("admm")).H

    def worse(H, i):
        return good.clone() if i < 10 else good * (1 + i / 100)

    result = solve(Problem(b.operator, 10, 7), Script(worse), max_iter=40)
    assert torch.equal(result.H, good)
    assert result.certificate.error == min(c.error for c in result.history)
    assert result.history[-1].error > result.certificate.error


def test_callback_sees_every_look_and_can_stop():
    seen = []

    def callback(check, H):
        seen.append(check.iteration)
        assert (H >= 0).all()
        return check.iteration >= 30

    result = solve(problem(), make_solver("adagrad"), callbacks=[callback])
    assert result.status is Status.STOPPED
    assert seen == [0, 10, 20, 30]


def test_interrupt_returns_the_best_so_far():
    def interrupt(check, H):
        if check.iteration == 30:
            raise KeyboardInterrupt

    result = solve(problem(), make_solver("adagrad"), callbacks=[interrupt])
    assert result.status is Status.STOPPED
    assert result.certificate.error == min(c.error for c in result.history)


def test_real_interrupt(tmp_path):
    """Ctrl-C ends the step that is being made, saves the run, and returns the best factor."""
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    still = Script(lambda H, i: H * (1 + 1e-4 * (-1) ** i))
    place = Checkpoint(tmp_path, every_seconds=1e9)
    timer.start()
    monitor = Monitor(patience=10**9)
    result = solve(problem(), still, monitor=monitor, max_iter=10**9, checkpoint=place)
    assert result.status is Status.STOPPED
    assert torch.isfinite(result.H).all()
    assert signal.getsignal(signal.SIGINT) is before
    seen = []
    solve(
        problem(),
        still,
        monitor=monitor,
        checkpoint=place,
        resume=True,
        callbacks=[lambda check, H: seen.append(check.iteration) or True],
    )
    assert seen[0] == result.iterations // 10 * 10 > 0


def test_products_of_two_runs_on_one_problem():
    p = problem()
    a, b = (solve(p, make_solver("mu"), max_iter=20) for _ in range(2))
    assert a.products == b.products == 21.0


def test_products_count_checks_and_spectrum():
    b = market("corr", 1000)
    p = Problem(b.operator, b.k, 7)
    result = solve(p, make_solver("adagrad"), max_iter=20)
    spectrum = p.products() - 21
    assert 4 <= spectrum <= 12
    assert result.history[0].products == pytest.approx(spectrum + 1)
    assert result.products == pytest.approx(spectrum + 21)


def test_stagnation_is_relative_to_the_start_and_to_resolution():
    """A start at the floor has nothing to gain: stagnation holds at once after the warm-up."""
    B = torch.rand(60, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    S = as_operator(B @ B.T)
    result = solve(Problem(S, 4, 0, B), make_solver("admm"))
    assert result.status is Status.CONVERGED
    assert result.iterations == 50


def test_rival_criteria_are_recorded():
    history = solve(problem(), make_solver("mu")).history
    assert history[0].kkt_relative == 1.0
    assert history[-1].kkt_relative < 0.1
    assert history[-1].relative_decrease < 0.05
    assert 0 < history[-1].iterate_change < history[1].iterate_change
