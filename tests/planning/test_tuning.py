"""Steps found, not tuned."""

import pytest
import torch

import symnmf as sn
from helpers import market
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.errors import InvalidInput
from symnmf.planning.tuning import surrogate_labels, trials, tune
from symnmf.solvers.sketched import Sketched


@pytest.mark.parametrize(("name", "option"), [("adagrad", "step_size"), ("admm", "penalty")])
def test_the_probe_takes_the_best_trial_and_costs_no_products(name, option):
    b = market("corr", 1000)
    problem = Problem(b.operator, b.k, 7)
    problem.surrogate  # noqa: B018
    before = problem.S.work
    found = trials(problem, name, option, steps=30)
    value = tune(problem, name, option, steps=30)
    assert problem.S.work == before
    assert found[value] < 0.9 * max(found.values())  # and not by chance
    assert all(found[value] <= other for other in found.values())


def test_auto_in_the_front_door():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, "admm", rho="auto", seed=7)
    assert result.status is Status.CONVERGED
    assert "penalty=" in result.notes[-1]
    assert result.options["rho"] is None
    result = sn.factorize(b.operator, b.k, "adagrad", eta="auto", seed=7)
    assert result.status is Status.CONVERGED


def test_the_scale_of_s_does_not_matter():
    b = market("corr", 100)
    plain = Problem(b.operator, b.k, 7)
    large = Problem(sn.as_operator(b.operator.S * 2.0**12), b.k, 7)
    assert tune(plain, "adagrad", "step_size") == tune(large, "adagrad", "step_size")


def test_auto_where_there_is_nothing_to_find():
    with pytest.raises(InvalidInput, match="eta: got 'auto' for 'mu'"):
        sn.factorize(market("corr", 100).operator, 10, "mu", eta="auto")
    with pytest.raises(InvalidInput, match="step_size: got 0.1 together with eta='auto'"):
        sn.factorize(market("corr", 100).operator, 10, "adagrad", eta="auto", step_size=0.1)
    with pytest.raises(InvalidInput, match="penalty"):
        sn.factorize(market("corr", 100).operator, 10, "admm", eta="auto")


def test_labels_of_a_small_problem_are_made_on_one_thread(monkeypatch):
    seen, step, before = [], Sketched.step, torch.get_num_threads()

    def noted(solver, problem, state, rng):
        seen.append(torch.get_num_threads())
        return step(solver, problem, state, rng)

    monkeypatch.setattr(Sketched, "step", noted)
    torch.set_num_threads(2)
    try:
        surrogate_labels(Problem(market("corr", 100).operator, 4))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
