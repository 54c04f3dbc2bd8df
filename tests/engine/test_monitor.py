"""The criterion: gates, scale, and the resolution of the arithmetic."""

import pytest
import torch

from helpers import dense, market
from symnmf.core.problem import Problem
from symnmf.engine import Monitor, solve
from symnmf.errors import InvalidInput
from symnmf.operators import as_operator
from symnmf.solvers.registry import make_solver


def test_gate_of_the_paper():
    monitor = Monitor()
    assert [monitor.gate(n) for n in (100, 1000, 10_000, 10**6)] == pytest.approx(
        [1e-2, 1e-3, 1e-4, 1e-4]
    )
    assert Monitor(kkt_gate=0.5).gate(100) == 0.5


def test_kkt_equals_the_papers_for_unit_diagonal():
    b = market("corr", 100)
    problem = Problem(b.operator, 10, 7)
    check = Monitor().begin(problem).measure(0, 0.0, problem.H0, b.operator.matmul(problem.H0))
    S, H = dense(b.operator), problem.H0.double()
    gradient = 4 * (H @ H.T - S) @ H
    assert check.kkt == pytest.approx(float(gradient.norm()) / 1000, rel=1e-5)
    assert check.error == pytest.approx(float((S - H @ H.T).norm() ** 2 / S.norm() ** 2), rel=1e-5)


def test_kkt_does_not_depend_on_the_scale():
    b = market("corr", 100)
    S = dense(b.operator)
    values = []
    for scale in (1.0, 1e6, 1e-6):
        problem = Problem(as_operator(S * scale), 10, 7)
        H = problem.H0
        values.append(Monitor().begin(problem).measure(0, 0.0, H, problem.S.matmul(H)).kkt)
    assert values == pytest.approx([values[0]] * 3, rel=1e-10)


def test_rounding_can_bind_the_gate():
    """Asked for more than float32 gives, the gate says so; float64 reaches it."""
    b = market("tpdm", 100)
    tight = Monitor(kkt_gate=1e-7)
    single = solve(Problem(b.operator, 10, 7), make_solver("admm"), monitor=tight)
    assert single.certificate.kkt_bound == "rounding"
    assert single.certificate.kkt_gate > 1e-7
    double = Problem(as_operator(dense(b.operator)), 10, 7)
    result = solve(double, make_solver("admm"), monitor=tight)
    assert result.certificate.kkt_bound == "criterion"
    assert result.certificate.kkt < 1e-7
    assert result.certificate.resolution < 1e-13


def test_thresholds_are_checked():
    for name in ("kkt_gate", "stagnation", "patience"):
        with pytest.raises(InvalidInput, match=rf"Monitor.{name}: got -1"):
            Monitor(**{name: -1})


def test_certificate_of_every_error():
    """The yardstick from zero to one: floor, plateau, nothing."""
    b = market("tpdm", 100)
    bounds = Monitor().begin(Problem(b.operator, 10, 7)).bounds
    low, high = bounds.floor
    assert low == high
    assert bounds.excess(low) == 0.0
    assert bounds.excess(bounds.spectrum.rank_one) == pytest.approx(1.0)
    assert bounds.factors_explained(low) == 10
    assert bounds.factors_explained(bounds.spectrum.rank_one) == 1
    assert bounds.factors_explained(1.0) == 0
    same, different = torch.ones(100, 10), torch.eye(100)[:, :10]
    assert bounds.collapsed(bounds.spectrum.rank_one, same)
    assert not bounds.collapsed(bounds.spectrum.rank_one, different)
    assert bounds.collapsed(1.0, different)  # no better than H = 0
    assert not bounds.collapsed(low * 1.2, same)
    assert bounds.at_floor(low + 1e-8)
    assert not bounds.at_floor(low + 1e-5)


def test_excess_means_nothing_for_one_column_or_rank_one():
    b = market("tpdm", 100)
    assert Monitor().begin(Problem(b.operator, 1, 7)).bounds.excess(0.05) is None
    u = torch.rand(50, 1, generator=torch.Generator().manual_seed(0))
    flat = Monitor().begin(Problem(as_operator(u @ u.T), 3, 7)).bounds
    assert flat.excess(0.0) is None
    assert flat.factors_available() == 1
    assert not flat.collapsed(1e-9, torch.ones(50, 3))
