"""Many problems at once: the results of single fits, in order, on any number of threads."""

import threading
import time
import warnings
from concurrent.futures import CancelledError
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from symnmf.core.labels import adjusted_rand
from symnmf.errors import InvalidInput, NotConvergedWarning
from symnmf.worker_threads import AHEAD, Meanwhile, in_order, one_ahead


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def matrices(count, n=40):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        W = rng.exponential(size=(n, 3)) * (rng.uniform(size=(n, 3)) < 0.5)
        yield (W @ W.T + 0.1 * np.eye(n)).astype(np.float32)


@pytest.mark.parametrize("k", [3, [2, 3, 4, 3]])
def test_each_result_is_that_of_a_single_fit(two_threads, k):
    ks = [k] * 4 if isinstance(k, int) else k
    found = sn.factorize_many(matrices(4), k, seed=5)
    for S, one, result in zip(matrices(4), ks, found, strict=True):
        alone = sn.factorize(S, one, seed=5)
        assert torch.equal(result.H, alone.H)
        assert result.certificate == alone.certificate
        assert [check.error for check in result.history] == [c.error for c in alone.history]


def test_a_solver_with_options():
    found = sn.factorize_many(matrices(2), 3, "admm", penalty=1.0, max_iter=500)
    assert [result.solver for result in found] == ["admm", "admm"]
    assert sn.factorize_many([], 3) == []


@pytest.mark.parametrize("k", [[2], [2, 3, 4]])
def test_numbers_that_do_not_match_the_matrices(two_threads, k):
    with pytest.raises(InvalidInput, match=f"k: has {len(k)} numbers for (at least )?2 matrices"):
        sn.factorize_many(matrices(2), k)


def test_warnings_of_one_kind_are_issued_once(two_threads):
    with pytest.warns(NotConvergedWarning, match="3 of 3 factorizations; the first: ") as caught:
        sn.factorize_many(matrices(3), 3, max_iter=1)
    assert len(caught) == 1
    assert warnings.filters  # those of the test run are still there
    with pytest.warns(NotConvergedWarning):
        sn.factorize(next(matrices(1)), 3, max_iter=1)


# ---- threads ----


def test_jobs_are_made_as_they_are_needed(two_threads):
    made, begun = [], []

    def jobs():
        for number in range(20):
            made.append(number)
            yield lambda number=number: begun.append(threading.current_thread().name) or number

    results = in_order(jobs(), 2)
    assert next(results) == 0
    assert len(made) <= AHEAD * 2
    assert list(results) == list(range(1, 20))
    assert all(name.startswith("symnmf") for name in begun)


def test_the_caller_has_one_thread_of_torch_until_the_last_result(two_threads):
    """Two would wait for each other on the cores of the jobs."""
    threads = [torch.get_num_threads() for _ in in_order((lambda: 0 for _ in range(6)), 2)]
    assert threads == [1] * 6
    assert torch.get_num_threads() == 2
    left = in_order((lambda: 0 for _ in range(6)), 2)
    next(left)
    left.close()
    assert torch.get_num_threads() == 2


def test_an_error_ends_the_rest(two_threads):
    begun = []

    def job(number):
        begun.append(number)
        if number == 1:
            raise ValueError("one")
        return number

    with pytest.raises(ValueError, match="one"):
        list(in_order((lambda number=number: job(number) for number in range(50)), 2))
    assert len(begun) < 10


def test_bootstrap_does_not_depend_on_the_number_of_threads(two_threads):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(300, 3))
    values = factors[:, np.arange(24) % 3] + 0.8 * rng.normal(size=(300, 24))
    table = pd.DataFrame(0.01 * values, columns=[f"s{m}" for m in range(24)])
    panel = sn.read_panel(table, kind="returns")
    result = sn.factorize(sn.abs_correlation(panel), 3)
    many = sn.bootstrap(panel, result, "correlation", draws=5)
    torch.set_num_threads(1)
    one = sn.bootstrap(panel, result, "correlation", draws=5)
    torch.set_num_threads(2)
    assert np.array_equal(many.loadings, one.loadings)
    assert torch.equal(many.together, one.together)
    assert many.agreement == one.agreement > 0.95
    assert adjusted_rand(one.labels, np.arange(24) % 3) == 1


def test_the_next_item_is_made_while_one_is_used(monkeypatch):
    made, threads = [], []

    def items(last):
        for number in range(last):
            made.append((number, threading.current_thread().name))
            yield number
        raise ValueError("the end")

    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    ahead = one_ahead(items(3))
    assert next(ahead) == 0
    for _ in range(200):
        if len(made) == 2:
            break
        time.sleep(0.01)
    assert [number for number, _ in made] == [0, 1]  # one ahead, and no more
    assert all(name != threading.current_thread().name for _, name in made)
    assert [next(ahead), next(ahead)] == [1, 2]
    with pytest.raises(ValueError, match="the end"):
        next(ahead)
    assert sorted(threads[:2]) == [1, 2]  # one there, two here
    assert threads[2:] == [3]  # as before
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    made.clear()
    ahead = one_ahead(items(3))
    assert next(ahead) == 0
    assert made == [(0, threading.current_thread().name)]


def test_jobs_run_meanwhile_or_when_they_are_asked_for(monkeypatch):
    ran = []

    def job(number):
        ran.append((number, threading.current_thread().name))
        return number

    here = threading.current_thread().name
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    with Meanwhile() as meanwhile:
        results = [meanwhile.begin(partial(job, number)) for number in range(2)]
        assert ran == []
        assert [result() for result in results] == [0, 1]
        assert results[0]() == 0
    assert ran == [(0, here), (1, here)]
    ran.clear()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with Meanwhile() as meanwhile:
        results = [meanwhile.begin(partial(job, number)) for number in range(2)]
    assert [number for number, _ in ran] == [0, 1]
    assert all(name != here for _, name in ran)
    gate, meanwhile = threading.Event(), Meanwhile()
    meanwhile.begin(gate.wait)
    late = meanwhile.begin(partial(job, 2))
    meanwhile.__exit__(ValueError, ValueError("stop"), None)
    gate.set()
    with pytest.raises(CancelledError):
        late()


def test_windows_do_not_depend_on_what_is_made_ahead(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))[:, [0, 0, 0, 1, 1, 1, 2, 2]] + rng.normal(size=(300, 8))
    for dependence in ("tail", "correlation"):
        alone, ahead = (roll_with(monkeypatch, threads, X, dependence) for threads in (1, 2))
        assert all(torch.equal(a, b) for a, b in zip(alone, ahead, strict=True))


def roll_with(monkeypatch, threads, X, dependence):
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(torch, "get_num_threads", lambda: threads)
        patch.setattr(torch, "set_num_threads", lambda number: None)
        found = sn.rolling(X, 100, 40, 3, dependence, draws=0, n_init=1)
    return [w.result.H for w in found.windows]
