"""Every registry row is tested by being listed."""

import dataclasses

import pytest

from helpers import market
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.errors import InvalidInput
from symnmf.options import constraints
from symnmf.solvers.registry import available, make_solver
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.testing import check_solver

NAMES = list(available())
#: The rows in log space differ from the others in one part, the space.
SLOW_IN_LOG = [
    pytest.param(name, marks=pytest.mark.slow) if name.endswith("-log") else name for name in NAMES
]


@pytest.mark.parametrize("name", SLOW_IN_LOG)
def test_solver_meets_the_contract(name):
    check_solver(make_solver(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_option_refuses_what_its_constraint_forbids(name):
    row = available()[name]
    assert list(row.constraints) == list(row.parameters)
    for option, constraint in row.constraints.items():
        assert constraint.allows(row.parameters[option])
        for wrong in constraint.wrong_values():
            with pytest.raises(InvalidInput, match=rf"\.{option}: got"):
                make_solver(name, **{option: wrong})
    with pytest.raises(InvalidInput, match="nonsense: is not an option of"):
        make_solver(name, nonsense=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_plain_value_of_a_solver_is_a_declared_option(name):
    parts = [make_solver(name)]
    for part in parts:
        for f in dataclasses.fields(part):
            value = getattr(part, f.name)
            if isinstance(value, Schedule):
                continue  # constants of the method, not options
            nested = value if isinstance(value, tuple) else (value,)
            if nested and all(dataclasses.is_dataclass(v) for v in nested):
                parts.extend(nested)
            elif value != ():
                assert f.name in constraints(part), (type(part), f.name)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("lbfgs", "pairs"),
        ("lai", "rank"),
        ("symnmf-net", "blocks"),
        ("adaptgrow", "grow_after"),
        ("adam", "anneal_after"),
        ("row-svrg", "period"),
        ("entry-dual-averaging", "warm_up"),
        ("pgncg", "cg_iters"),
        ("sketched", "cg_iters"),
        ("sketched", "n_init"),
    ],
)
def test_a_fraction_is_not_a_whole_number(name, option):
    with pytest.raises(InvalidInput, match=rf"\.{option}: got 2.5. Pass a whole number"):
        make_solver(name, **{option: 2.5})


@pytest.mark.parametrize(("name", "option"), [("lai", "refine"), ("adam", "nesterov")])
def test_a_number_is_not_a_flag(name, option):
    with pytest.raises(InvalidInput, match=rf"\.{option}: got 1. Pass True or False"):
        make_solver(name, **{option: 1})


def test_ends_of_a_range_are_allowed_where_they_are_closed():
    make_solver("adam", anneal=1.0, beta1=0.0)
    make_solver("row-adagrad", phi=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_rows_say_what_they_cost(name):
    """The stated products an iteration are the counted ones."""
    row = available()[name]
    problem = Problem(market("tpdm", 100).operator, 10, 3)
    result = solve(problem, make_solver(name), max_iter=50)
    if row.products.isdigit():
        assert result.products == pytest.approx(1 + 50 * int(row.products))
    assert row.reference
    assert row.family[0] == "F"
