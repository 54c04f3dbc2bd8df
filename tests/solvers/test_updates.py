"""One step of every deterministic rule against a few lines written from the paper's formulas."""

import pytest
import torch

from symnmf.contract import Problem
from symnmf.errors import UnknownName
from symnmf.operators import as_operator
from symnmf.solvers.registry import make_solver, solvers


@pytest.fixture
def problem(rng):
    A = torch.rand(12, 12, generator=rng, dtype=torch.float64)
    return Problem(as_operator(A + A.T), 3, 5)


def steps(problem, name, count=3, **options):
    solver = make_solver(name, **options)
    state = solver.init_state(problem)
    for _ in range(count):
        state = solver.step(problem, state, torch.Generator())
    return state.H


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_mu(problem):
    S, H = problem.S.inner.S, problem.H0
    s = max(S.trace() / 12, S.norm() / 12)
    for _ in range(3):
        H = 0.5 * H * (1 + (S @ H) / (H @ H.T @ H + 1.2e-7 * s**1.5))
    close(steps(problem, "mu"), H)


def test_adagrad(problem):
    S, H, G = problem.S.inner.S, problem.H0, 0
    for _ in range(3):
        g = 4 * (H @ H.T - S) @ H
        G = G + g**2
        H = (H - 2.0 * g / G.sqrt()).clamp(min=0)
    close(steps(problem, "adagrad", eta=2.0), H)


def test_adagrad_step_is_relative_to_the_entries(problem):
    S = problem.S.inner.S
    s = float(max(S.trace() / 12, S.norm() / 12))
    eta = 0.3 * (s / 3) ** 0.5
    close(steps(problem, "adagrad"), steps(problem, "adagrad", eta=eta))


def test_adagrad_leaves_entries_without_gradient(rng):
    """A zero row of S and H has no gradient: no 0 / 0."""
    S = torch.eye(4, dtype=torch.float64)
    S[3, 3] = 0
    H0 = torch.rand(4, 2, generator=rng, dtype=torch.float64)
    H0[3] = 0
    H = steps(Problem(as_operator(S), 2, 0, H0), "adagrad")
    assert torch.isfinite(H).all()
    assert (H[3] == 0).all()


def test_admm(problem):
    S, W, rho = problem.S.inner.S, problem.H0, 50.0
    U = torch.zeros_like(W)
    for _ in range(3):
        V = (2 * S @ W + rho * (W - U)) @ torch.linalg.inv(
            2 * W.T @ W + rho * torch.eye(3).double()
        )
        W = (V + U).clamp(min=0)
        U = U + V - W
    close(steps(problem, "admm", rho=50.0), W)


def test_unknown_solver_suggests_the_nearest():
    with pytest.raises(UnknownName, match="'adagard'. Did you mean 'adagrad'"):
        make_solver("adagard")
    with pytest.raises(UnknownName, match="All of them: " + ", ".join(solvers())):
        make_solver("x")
