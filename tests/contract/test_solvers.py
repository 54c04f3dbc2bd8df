"""Every registry row is tested by being listed."""

import dataclasses
from unittest import mock

import pytest
import torch

from conftest import dense, market
from symnmf.contract import Problem
from symnmf.engine import Checkpoint, solve
from symnmf.errors import InvalidInput
from symnmf.operators import as_operator
from symnmf.solvers.registry import make_solver, solvers

NAMES = list(solvers())
#: Iterations that a short run makes.
SHORT = 60


def operator(form: str, dtype=torch.float32):
    b = market("tpdm", 100)
    if form == "gram":
        return dataclasses.replace(b).operator if dtype == torch.float32 else as_gram(b, dtype)
    return as_operator(dense(b.operator).to(dtype))


def as_gram(b, dtype):
    from symnmf.operators import GramOperator

    return GramOperator(b.operator.B.to(dtype))


def run(name, S, *, max_iter=SHORT, seed=3, start="random", **rest):
    return solve(Problem(S, 10, seed, start), make_solver(name), max_iter=max_iter, **rest)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("form", ["dense", "gram"])
@pytest.mark.parametrize("name", NAMES)
def test_feasible_and_decreasing(name, form, dtype):
    S = operator(form, dtype)
    result = run(name, S)
    assert result.H.dtype == dtype
    assert torch.isfinite(result.H).all()
    assert (result.H >= 0).all()
    assert result.history[-1].error <= 0.9 * result.history[0].error
    explicit = (dense(S) - result.H.double() @ result.H.double().T).square().sum()
    assert result.certificate.error == pytest.approx(float(explicit) / S.frob_sq(), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_result(name):
    S = operator("gram")
    a, b, c = run(name, S), run(name, S), run(name, S, seed=4)
    assert torch.equal(a.H, b.H)
    assert not torch.equal(a.H, c.H)


@pytest.mark.parametrize("name", NAMES)
def test_start_is_not_changed(name):
    problem = Problem(operator("gram"), 10, 3)
    before = problem.H0.clone()
    solve(problem, make_solver(name), max_iter=20)
    assert torch.equal(problem.H0, before)


@pytest.mark.parametrize("name", NAMES)
def test_resume_is_bit_identical(name, tmp_path):
    S = operator("gram")
    whole = run(name, S, max_iter=80)
    place = Checkpoint(tmp_path, every_seconds=0)
    part = min(40, whole.iterations // 2)
    run(name, S, max_iter=part, checkpoint=place)
    kind = type(make_solver(name))
    with mock.patch.object(kind, "step", autospec=True, side_effect=kind.step) as step:
        resumed = run(name, S, max_iter=80, checkpoint=place, resume=True)
    assert step.call_count == resumed.iterations - part  # it went on, it did not begin again
    assert torch.equal(whole.H, resumed.H)
    assert whole.iterations == resumed.iterations
    assert whole.products == resumed.products

    def plain(result):
        return [dataclasses.replace(check, seconds=0) for check in result.history]

    assert plain(whole) == plain(resumed)


@pytest.mark.parametrize("name", [n for n in NAMES if solvers()[n].deterministic])
def test_permuting_the_rows_permutes_the_factor(name):
    S = dense(operator("dense")).double()
    order = torch.randperm(100, generator=torch.Generator().manual_seed(0))
    H0 = torch.rand(100, 10, dtype=torch.float64)
    plain = run(name, as_operator(S), max_iter=20, start=H0)
    moved = run(name, as_operator(S[order][:, order]), max_iter=20, start=H0[order])
    torch.testing.assert_close(moved.H, plain.H[order], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_scale_of_s_is_the_scale_of_h(name):
    S = dense(operator("dense"))
    plain = run(name, as_operator(S))
    large = run(name, as_operator(S * 2.0**20))
    torch.testing.assert_close(large.H, plain.H * 2.0**10, rtol=1e-9, atol=1e-9)
    assert large.certificate.kkt == pytest.approx(plain.certificate.kkt, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_hyper_parameters_are_checked(name):
    for option, default in solvers()[name].parameters.items():
        if default is None or isinstance(default, float):
            for wrong in (-1.0, float("nan"), "x"):
                with pytest.raises(InvalidInput, match=rf"{option}: got"):
                    make_solver(name, **{option: wrong})
    with pytest.raises(InvalidInput, match="nonsense: is no option of"):
        make_solver(name, nonsense=1)


@pytest.mark.parametrize("name", NAMES)
def test_rows_say_what_they_cost(name):
    """The stated products an iteration are the counted ones."""
    row = solvers()[name]
    problem = Problem(operator("gram"), 10, 3)
    result = solve(problem, make_solver(name), max_iter=50)
    if row.products.isdigit():
        assert result.products == pytest.approx(1 + 50 * int(row.products))
    assert row.reference
    assert row.family[0] == "F"
