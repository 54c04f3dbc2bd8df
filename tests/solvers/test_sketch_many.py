"""Many problems in one batch: what each of them would find alone."""

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import market
from symnmf import many_problems
from symnmf.core.labels import in_group_order
from symnmf.core.problem import Problem, WarmStart
from symnmf.engine.criterion import Monitor
from symnmf.many_problems import similar_factors
from symnmf.solvers.sketch_many import fitted_starts
from symnmf.solvers.sketch_newton import STEPS_BEHIND, Pool, newton_step, objectives, products
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketches import Matrices, Sketches, SmallMatrices, surrogates


def similar(count, n=200, k=6, warm=False):
    """Problems whose matrices differ by noise."""
    S = market("corr", n).operator.to_dense()
    made = []
    for seed in range(count):
        noise = 0.05 * torch.rand(n, n, generator=torch.Generator().manual_seed(seed))
        made.append(Problem(sn.as_operator(S + (noise + noise.T) / 2), k, seed))
    if not warm:
        return made
    found = sn.factorize(S, k, seed=0)
    start = WarmStart(found.H, made[0].spectrum.vectors)
    return [Problem(problem.S.inner, k, problem.seed, warm_start=start) for problem in made]


@pytest.mark.parametrize("n", [30, 200])
def test_a_batch_of_surrogates_multiplies_like_each_of_them(n):
    problems = similar(3, n)
    T = surrogates(problems)
    assert isinstance(T, SmallMatrices if n == 30 else Sketches)
    X = torch.rand(6, 4, n)
    both = T.repeated(2)
    single = torch.stack([problems[m // 2].surrogate.left_matmul(X[m]) for m in range(6)])
    torch.testing.assert_close(both.products(X), single)
    some = torch.tensor([4, 1])
    torch.testing.assert_close(both.only(some).products(X[some]), single[some])
    S = Matrices(tuple(problem.S for problem in problems)).only(torch.tensor([2]))
    torch.testing.assert_close(S.products(X[:1])[0], problems[2].S.left_matmul(X[0]))


def test_surrogates_of_different_kinds_are_no_batch():
    assert surrogates([*similar(1, 30), *similar(1, 200)]) is None


def test_newton_steps_of_a_batch_are_those_of_single_problems():
    problems = similar(3)
    T = surrogates(problems)
    H = torch.rand(3, 6, 200, generator=torch.Generator().manual_seed(0))
    pool = Pool.of_rows(T, H)
    after = newton_step(T, T, pool.H, pool.SH, pool.value, 5)
    for m, problem in enumerate(problems):
        one = problem.surrogate
        SH = products(one, H[m : m + 1])
        value = objectives(H[m : m + 1], SH)
        alone = newton_step(one, one, H[m : m + 1], SH, value, 5)
        for x, y in zip(after, alone, strict=True):
            torch.testing.assert_close(x[m : m + 1], y, rtol=1e-3, atol=1e-4)


def test_a_factor_is_given_up_against_the_best_of_its_own_problem():
    value = torch.tensor([1.0, 9.0, 20.0, 21.0], dtype=torch.float64)
    gain = torch.full_like(value, 5 / STEPS_BEHIND)
    pool = Pool(torch.rand(4, 1, 2), torch.rand(4, 1, 2), value, gain, 0 * gain)
    assert pool.active(2, problems=2).tolist() == [0, 2, 3]  # 9 − 5 > 1, 21 − 5 < 20
    assert pool.active(2).tolist() == [0]


def error_of(problem, H):
    """Relative squared error of a factor."""
    return problem.error(H, problem.S.matmul(H))


@pytest.mark.parametrize("warm", [False, True])
def test_fits_of_a_batch_are_as_good_as_single_ones(warm):
    problems = similar(4, warm=warm)
    for problem, H in zip(problems, similar_factors(problems), strict=True):
        alone = sn.factorize(problem.S.inner.to_dense(), 6, seed=problem.seed)
        assert error_of(problem, H) <= 1.005 * alone.certificate.error
        assert torch.equal(H, in_group_order(H))


def test_the_products_of_fitted_starts_are_those_of_their_factors():
    problems = similar(3)
    for problem, (H, SH) in zip(problems, fitted_starts(problems), strict=True):
        torch.testing.assert_close(SH, problem.S.matmul(H))


def test_a_factor_of_a_batch_that_misses_the_gate_is_run_until_it_meets_it(monkeypatch):
    """A batch without Newton steps is no fit: what the criterion asks for is still done."""
    problems = similar(2)
    rough = fitted_starts(problems, schedule=Schedule(polish_max_steps=0))
    for problem, (H, SH) in zip(problems, rough, strict=True):
        assert not Monitor().begin(problem).holds_at(H, SH)
    monkeypatch.setattr(many_problems, "fitted_starts", lambda problems: rough)
    for problem, H, (before, SH) in zip(problems, similar_factors(problems), rough, strict=True):
        assert Monitor().begin(problem).holds_at(H, problem.S.matmul(H))
        assert error_of(problem, H) < problem.error(before, SH)


def test_a_factor_in_the_scale_of_a_matrix_with_tiny_entries():
    (problem,) = similar(1)
    tiny = problem.S.inner.to_dense() * 2.0**-60
    (H,) = similar_factors([Problem(sn.as_operator(tiny), 6, 0)])
    torch.testing.assert_close(H * 2.0**30, similar_factors([problem])[0], rtol=1e-3, atol=1e-4)


def test_a_fit_does_not_depend_on_the_others_of_its_batch():
    together, alone = fitted_starts(similar(4)), fitted_starts(similar(1))
    torch.testing.assert_close(together[0][0] @ together[0][0].T, alone[0][0] @ alone[0][0].T,
                               rtol=1e-2, atol=1e-2)  # fmt: skip


def test_a_problem_that_is_begun_at_a_factor_knows_its_spectrum():
    (problem,) = similar(1)
    assert problem.spectrum.exact
    work, H = problem.S.work, torch.rand(200, 6)
    twin = problem.begun_at(H)
    assert twin.spectrum is problem.spectrum
    assert problem.S.work == work
    torch.testing.assert_close(twin.H0, H)


def test_problems_that_cannot_be_batched_are_fitted_alone():
    S = torch.block_diag(torch.ones(6, 6), torch.ones(4, 4), torch.zeros(2, 2))
    for k in (1, 2):
        problems = [Problem(sn.as_operator(S), k, seed) for seed in (0, 1)]
        assert fitted_starts(problems) is None
        found = zip(problems, similar_factors(problems), strict=True)
        errors = [error_of(problem, H) for problem, H in found]
        alone = sn.factorize(S, k, seed=0).certificate.error
        np.testing.assert_allclose(errors, alone, atol=1e-5)
