"""Solvers of the symmetric problem in closed form, against a few lines from their formulas."""

import numpy as np
import pytest
import torch

from helpers import market
from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.operators import as_operator
from symnmf.solvers.column_descent import positive_root
from symnmf.solvers.leverage import leverage_sample, leverage_shares
from symnmf.solvers.quartic import along, entry_minimum, line_minimum
from symnmf.solvers.registry import make_solver

N, K = 12, 3


@pytest.fixture
def S(rng):
    A = torch.rand(N, N, generator=rng, dtype=torch.float64)
    return A + A.T


def f(S, H):
    return float((S - H @ H.T).square().sum())


def after(S, name, count=1, **options):
    """The state before and after some steps."""
    problem, solver = Problem(as_operator(S), K, 5), make_solver(name, **options)
    state = solver.init_state(problem)
    first = state.H.clone()
    for _ in range(count):
        state = solver.step(problem, state, torch.Generator().manual_seed(1))
    return first, state


def best_of_a_grid(value, most, steps=200_001):
    places = np.linspace(0, most, steps)
    return places[value(places).argmin()]


def test_the_quartic_along_a_line_is_the_objective(S, rng):
    H, D = (torch.rand(N, K, generator=rng, dtype=torch.float64) - shift for shift in (0, 0.5))
    c = along(H, D, S @ H, S @ D)
    for share in (0.3, 1.0, -2.0):
        expected = f(S, H + share * D) - f(S, H)
        assert np.polyval(c[::-1], share) == pytest.approx(expected, rel=1e-10)
    found = line_minimum(c, 3.0)
    assert found == pytest.approx(best_of_a_grid(lambda x: np.polyval(c[::-1], x), 3.0), abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_entry_minimum_is_the_best_of_a_grid(dtype, rng):
    a, b = (8 * torch.rand(200, generator=rng, dtype=torch.float64) - 4 for _ in range(2))
    found = entry_minimum(a.to(dtype), b.to(dtype)).to(torch.float64)
    x = torch.linspace(0, 4, 40_001, dtype=torch.float64)[:, None]

    def value(x):
        return x**4 / 4 + a * x**2 / 2 + b * x

    best = value(x).min(dim=0).values
    assert bool((value(found) <= best + 1e-6).all())


def test_entry_minimum_of_extreme_entries():
    a = torch.tensor([0.0, 0.0, 1e8, -1e8, 5.0])
    b = torch.tensor([0.0, -8.0, -1e8, 1.0, 0.0])
    found = entry_minimum(a, b)
    expected = torch.tensor([0.0, 2.0, 1.0, 1e4, 0.0])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)


def test_positive_root():
    for a, b in ((0.0, 8.0), (3.0, 1e-9), (1e-9, 5.0), (2.0, 7.0)):
        t = positive_root(a, b)
        assert t**3 + a * t == pytest.approx(b, rel=1e-9)


def test_ccd(S):
    """Each entry of a column by a search on a grid, then the share of the way by another."""
    H, state = after(S, "ccd")
    for j in range(K):
        x = torch.zeros(N, dtype=torch.float64)
        for i in range(N):
            rest = S - H @ H.T + torch.outer(H[:, j], H[:, j])
            others = torch.arange(N) != i

            def value(v, i=i, j=j, rest=rest, others=others, H=H):
                left = (rest[i, others, None] - H[others, j][:, None] * v).square().sum(dim=0)
                return (2 * left + (rest[i, i] - v**2) ** 2).numpy()

            x[i] = best_of_a_grid(lambda v, g=value: g(torch.from_numpy(v)), 4.0, 20_001)

        def along_column(share, j=j, x=x, H=H):
            column = H.clone()
            column[:, j] += share * (x - H[:, j])
            return f(S, column)

        shares = np.linspace(0, 1, 1001)
        best = shares[np.argmin([along_column(s) for s in shares])]
        H = H.clone()
        H[:, j] += best * (x - H[:, j])
    torch.testing.assert_close(state.H, H, rtol=0, atol=5e-3)


def test_bsum(S):
    """The closed form minimizes the bound, and the bound is above f where the step ends."""
    H, state = after(S, "bsum")
    for j in range(K):
        h, sigma = H[:, j], float(state.curvature[j])
        R = S - H @ H.T + torch.outer(h, h)
        v = (R @ h + sigma * h).clamp(min=0)
        x = state.H[:, j]
        t = float(x.norm())
        assert t**3 + sigma * t == pytest.approx(float(v.norm()), rel=1e-9)
        torch.testing.assert_close(x / t, v / v.norm(), rtol=1e-9, atol=1e-12)
        d = x - h
        assert -float(d @ R @ d) <= sigma * float(d @ d) + 1e-9
        H = torch.cat([H[:, :j], x[:, None], H[:, j + 1 :]], dim=1)


def test_spg(S):
    """Two steps: the first at a known length, the second at that of Barzilai and Borwein."""
    problem, solver = Problem(as_operator(S), K, 5), make_solver("spg")
    state = solver.init_state(problem)
    H, eta, values = state.H.clone(), state.eta, [f(S, state.H)]
    for _ in range(6):
        grad = 4 * (H @ H.T - S) @ H
        D = (H - eta * grad).clamp(min=0) - H
        share = 1.0
        if f(S, H + D) > max(values[-10:]) + 1e-4 * float((grad * D).sum()):
            shares = np.linspace(0, 1, 10_001)
            share = shares[np.argmin([f(S, H + s * D) for s in shares])]
        there = H + share * D
        y = 4 * (there @ there.T - S) @ there - grad
        eta = share * float((D * D).sum() / (D * y).sum())
        H = there
        values.append(f(S, H))
        state = solver.step(problem, state, torch.Generator())
        torch.testing.assert_close(state.H, H, rtol=1e-3, atol=1e-3)
        if float((D * y).sum()) <= 0:
            break
        H, eta = state.H.clone(), state.eta


@pytest.mark.parametrize(("name", "options"), [("ccd", {}), ("bsum", {}), ("spg", {"memory": 1})])
@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_the_error_never_rises(name, options, kind):
    b = market(kind, 100)
    problem, solver = Problem(b.operator, b.k, 1), make_solver(name, **options)
    state, F = solver.init_state(problem), b.operator.frob_sq()
    last = error(state.H, b.operator.matmul(state.H), F)
    for _ in range(40):
        state = solver.step(problem, state, torch.Generator())
        now = error(state.H, b.operator.matmul(state.H), F)
        assert now <= last + 1e-6
        last = now


def test_every_expected_weight_of_a_leverage_sample_is_one(monkeypatch, rng):
    """All draws of one row are enumerated: the rows that are certain have weight one anyway."""
    W = torch.rand(9, 2, generator=rng, dtype=torch.float64) ** 3
    share = leverage_shares(W)
    count = 1 + int((share >= 1 / 3).sum())  # one row is left to the draw
    certain = share >= 1 / count
    left = count - int(certain.sum())
    total = torch.zeros(9, dtype=torch.float64)
    rest = torch.where(certain, 0, share) / share[~certain].sum()
    for i in range(9):
        with monkeypatch.context() as patch:
            patch.setattr(torch, "searchsorted", lambda *a, i=i, **b: torch.full((left,), i))
            rows, weights = leverage_sample(W, count, torch.Generator())
        total[rows] += rest[i] * weights
    torch.testing.assert_close(total, torch.ones(9, dtype=torch.float64))


def test_leverage_is_that_of_the_hat_matrix(rng):
    W = torch.rand(9, 2, generator=rng, dtype=torch.float64)
    hat = W @ torch.linalg.inv(W.T @ W) @ W.T
    torch.testing.assert_close(leverage_shares(W), hat.diagonal() / 2)


def test_lvs_with_all_rows_is_hals(S):
    torch.testing.assert_close(after(S, "lvs", 3, phi=1.0)[1].H, after(S, "hals", 3)[1].H)


def test_lvs_sees_more_rows_where_it_stagnates():
    b = market("corr", 100)
    problem, solver = Problem(b.operator, b.k, 1), make_solver("lvs", phi=0.3)
    state = solver.init_state(problem)
    seen = []
    for _ in range(3):
        state = solver.react(problem, state, None)
        seen.append(state.phi)
        if state.phi == 1:
            break
    assert seen == [0.6, 1.0]
    fixed = make_solver("lvs", phi=0.3, grow=False)
    stagnant = type("Stagnant", (), {"kkt_ratio": 2.0})
    before = fixed.init_state(problem)
    assert fixed.react(problem, before, stagnant).phi == 0.3
