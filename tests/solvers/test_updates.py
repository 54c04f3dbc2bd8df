"""Every deterministic rule against a few lines written from the paper's formulas, in float64."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from torch.nn.functional import softplus

from helpers import market
from symnmf.core.objective import error, gauss_newton, hessian_diagonal
from symnmf.core.problem import Problem
from symnmf.errors import UnknownName
from symnmf.operators import as_operator
from symnmf.solvers.coordinate import hals_sweep
from symnmf.solvers.nnls import nnls_rows
from symnmf.solvers.registry import available, make_solver
from symnmf.solvers.unfolded import unrolled

N, K = 12, 3


@pytest.fixture
def problem(rng):
    A = torch.rand(N, N, generator=rng, dtype=torch.float64)
    return Problem(as_operator(A + A.T), K, 5)


def steps(problem, name, count=3, **options):
    solver = make_solver(name, **options)
    state = solver.init_state(problem)
    for _ in range(count):
        state = solver.step(problem, state, torch.Generator())
    return state.H


def parts(problem):
    S, H = problem.S.inner.S, problem.H0
    return S, H, max(float(S.trace()) / N, float(S.norm()) / N)


def grad(S, H):
    return 4 * (H @ H.T - S) @ H


def f(S, H):
    return float((S - H @ H.T).square().sum())


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_mu(problem):
    S, H, s = parts(problem)
    for _ in range(3):
        H = 0.5 * H * (1 + (S @ H) / (H @ H.T @ H + 1.2e-7 * s**1.5))
    close(steps(problem, "mu"), H)


def test_mu_trace(problem):
    S, H, s = parts(problem)
    for _ in range(3):
        above = S @ H + 0.1 * S.trace() * H
        below = H @ H.T @ H + 0.1 * H.square().sum() * H + 1.2e-7 * s**1.5
        H = 0.5 * H * (1 + above / below)
    close(steps(problem, "mu-trace", lam=0.1), H)


def test_trace_penalty_is_what_the_update_descends(problem):
    """Numerator minus denominator is −¼ of the gradient of f + λ(tr S − ‖H‖²)²."""
    S, H, _ = parts(problem)
    H = H.clone().requires_grad_()
    total = (S - H @ H.T).square().sum() + 0.1 * (S.trace() - H.square().sum()) ** 2
    (gradient,) = torch.autograd.grad(total, H)
    H = H.detach()
    down = S @ H + 0.1 * S.trace() * H - H @ H.T @ H - 0.1 * H.square().sum() * H
    close(-gradient / 4, down)


def test_exponentiated_gradient(problem):
    S, H, _ = parts(problem)
    for _ in range(3):
        H = H * torch.exp(-0.01 * grad(S, H))
    close(steps(problem, "exponentiated-gradient", eta=0.01), H)


def armijo(S, H, direction, eta, g):
    while True:
        new = (H + eta * direction).clamp(min=0)
        if f(S, new) <= f(S, H) + 1e-4 * float((g * (new - H)).sum()):
            return new, eta
        eta /= 2


def first(g, s):
    return 0.1 * (s / K) ** 0.5 / float(g.square().mean()) ** 0.5


def test_pgd(problem):
    S, H, s = parts(problem)
    eta = first(grad(S, H), s) / 2
    for _ in range(5):
        g = grad(S, H)
        H, eta = armijo(S, H, -g, 2 * eta, g)
    close(steps(problem, "pgd", 5), H)


def test_heavy_ball(problem):
    S, H, s = parts(problem)
    eta, v = first(grad(S, H), s), 0
    for _ in range(4):
        v = 0.9 * v - eta * grad(S, H)
        H = (H + v).clamp(min=0)
    close(steps(problem, "pgd-momentum", 4), H)


def test_fista(problem):
    S, H, s = parts(problem)
    last, tau, eta = H, 1.0, first(grad(S, H), s) / 2
    for _ in range(6):
        after = (1 + (1 + 4 * tau**2) ** 0.5) / 2
        Y = H + (tau - 1) / after * (H - last)
        g = grad(S, Y)
        new, eta = armijo(S, Y, -g, 2 * eta, g)
        tau = 1.0 if f(S, new) > f(S, H) else after
        last, H = H, new
    close(steps(problem, "fista", 6), H)


def test_adagrad(problem):
    S, H, _ = parts(problem)
    G = 0
    for _ in range(3):
        g = grad(S, H)
        G = G + g**2
        H = (H - 2.0 * g / G.sqrt()).clamp(min=0)
    close(steps(problem, "adagrad", eta=2.0), H)


def test_adagrad_step_is_relative_to_the_entries(problem):
    _, _, s = parts(problem)
    eta = 0.3 * (s / K) ** 0.5
    close(steps(problem, "adagrad"), steps(problem, "adagrad", eta=eta))


def test_adagrad_leaves_entries_without_gradient(rng):
    """A zero row of S and H has no gradient: no 0 / 0."""
    S = torch.eye(4, dtype=torch.float64)
    S[3, 3] = 0
    H0 = torch.rand(4, 2, generator=rng, dtype=torch.float64)
    H0[3] = 0
    for name in ("adagrad", "rmsprop", "adam", "nadam", "adan"):
        H = steps(Problem(as_operator(S), 2, 0, H0), name)
        assert torch.isfinite(H).all()
        assert (H[3] == 0).all()


def test_rmsprop(problem):
    S, H, _ = parts(problem)
    v = m = torch.zeros_like(H)
    for _ in range(4):
        g = grad(S, H)
        v = 0.9 * v + 0.1 * g**2
        m = 0.3 * m + 0.05 * g / v.sqrt()
        H = (H - m).clamp(min=0)
    close(steps(problem, "rmsprop", 4, eta=0.05, alpha=0.9, momentum=0.3), H)


@pytest.mark.parametrize("name", ["adam", "nadam"])
def test_adam(problem, name):
    S, H, _ = parts(problem)
    v = m = torch.zeros_like(H)
    for t in range(1, 5):
        g = grad(S, H)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        mean = m / (1 - 0.9**t)
        if name == "nadam":
            mean = 0.9 * mean + 0.1 * g / (1 - 0.9**t)
        H = (H - 0.01 * mean / (v / (1 - 0.999**t)).sqrt()).clamp(min=0)
    close(steps(problem, name, 4, eta=0.01), H)


def test_adan(problem):
    S, H, _ = parts(problem)
    b1, b2, b3 = 0.02, 0.08, 0.01
    last = None
    for _ in range(4):
        g = grad(S, H)
        if last is None:
            m, d, n = g, torch.zeros_like(g), g**2
        else:
            m, d = (1 - b1) * m + b1 * g, (1 - b2) * d + b2 * (g - last)
            n = (1 - b3) * n + b3 * (g + (1 - b2) * (g - last)) ** 2
        last = g
        H = (H - 0.01 * (m + (1 - b2) * d) / n.sqrt()).clamp(min=0)
    close(steps(problem, "adan", 4, eta=0.01, beta1=b1, beta2=b2, beta3=b3), H)


def test_softplus_chain_rule(problem):
    """AdaGrad in θ with H = softplus(θ), unit 1, the gradient by automatic differentiation."""
    S, H, _ = parts(problem)
    theta = torch.log(torch.expm1(H))
    G = 0
    for _ in range(3):
        theta = theta.detach().requires_grad_()
        H = softplus(theta)
        (g,) = torch.autograd.grad((S - H @ H.T).square().sum(), theta)
        G = G + g**2
        theta = theta - 0.1 * g / G.sqrt()
    close(steps(problem, "adagrad-log", eta=0.1, unit=1.0), softplus(theta.detach()))


def test_hals(problem):
    S, H, _ = parts(problem)
    G = H.T @ H
    H = H * ((H * (S @ H)).sum() / G.square().sum()).sqrt()
    for _ in range(3):
        W = H.clone()
        for j in range(K):
            R = S - sum(torch.outer(W[:, m], H[:, m]) for m in range(K) if m != j)
            top = R.T @ W[:, j] + 2.0 * W[:, j]
            H = H.clone()
            H[:, j] = (top / (W[:, j] @ W[:, j] + 2.0)).clamp(min=0)
    close(steps(problem, "hals", alpha=2.0), H)


def test_anls_is_the_stacked_problem_row_by_row(problem):
    S, H, _ = parts(problem)
    G = H.T @ H
    W = (H * ((H * (S @ H)).sum() / G.square().sum()).sqrt()).numpy()
    for _ in range(2):
        A = np.vstack([W, 2.0**0.5 * np.eye(K)])
        rows = [nnls(A, np.concatenate([S[i], 2.0**0.5 * W[i]]))[0] for i in range(N)]
        W = np.array(rows)
    close(steps(problem, "anls", 2, alpha=2.0), torch.tensor(W))


@pytest.mark.parametrize("k", [1, 4, 17])
def test_nnls_against_scipy(k, rng):
    W = torch.randn(30, k, generator=rng, dtype=torch.float64)
    B = torch.randn(30, 50, generator=rng, dtype=torch.float64)
    for start in (torch.zeros(50, k), torch.ones(50, k)):
        found = nnls_rows(W.T @ W, (W.T @ B).T, start)
        expected = [nnls(W.numpy(), B[:, i].numpy())[0] for i in range(50)]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_newton(problem):
    S, H, _ = parts(problem)
    eta = 1.0
    for _ in range(3):
        g = grad(S, H)
        d = (
            4
            * (H.square().sum(0) + H.square().sum(1)[:, None] + H**2 - S.diagonal()[:, None]).abs()
        )
        p = -g / (d + 0.5 * d.mean())
        p[(H == 0) & (g >= 0)] = 0
        H, eta = armijo(S, H, p, min(1.0, 2 * eta), g)
    close(steps(problem, "newton"), H)


def test_hessian_diagonal_is_the_hessians(problem):
    S, H, _ = parts(problem)
    full = torch.autograd.functional.hessian(lambda X: (S - X @ X.T).square().sum(), H)
    diagonal = full.reshape(N * K, N * K).diagonal().reshape(N, K)
    close(hessian_diagonal(H, S.diagonal()), diagonal)


def test_gauss_newton_matvec_against_the_explicit_matrix(problem):
    _, H, _ = parts(problem)
    J = torch.autograd.functional.jacobian(lambda X: (X @ X.T).reshape(-1), H)
    J = J.reshape(N * N, N * K)
    D = torch.randn(N, K, dtype=torch.float64)
    close(gauss_newton(H, D).reshape(-1), 2 * J.T @ J @ D.reshape(-1))


def test_pgncg_with_enough_steps_solves_the_gauss_newton_system(problem):
    """All entries free, many CG steps: the least-squares direction, then Armijo."""
    S, H, _ = parts(problem)
    H = H + 0.5
    start = Problem(problem.S, K, 5, H)
    J = torch.autograd.functional.jacobian(lambda X: (X @ X.T).reshape(-1), H)
    J = J.reshape(N * N, N * K)
    p = torch.linalg.lstsq(2 * J.T @ J, -grad(S, H).reshape(-1, 1), driver="gelsd").solution
    expected, _ = armijo(S, H, p.reshape(N, K), 1.0, grad(S, H))
    found = steps(start, "pgncg", 1, cg_iters=200)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_lbfgs_against_the_dense_bfgs_formula(problem):
    """Free entries only, so that projection plays no part: y, s and the dense inverse update."""
    S, H, s = parts(problem)
    start = Problem(problem.S, K, 5, H + 0.5)
    H = H + 0.5
    g = grad(S, H)
    eye = torch.eye(N * K, dtype=torch.float64)
    H1, eta = armijo(S, H, -g * first(g, s), 1.0, g)
    g1 = grad(S, H1)
    u, y = (H1 - H).reshape(-1), (g1 - g).reshape(-1)
    rho = 1 / (u @ y)
    B = (u @ y) / (y @ y) * eye
    V = eye - rho * torch.outer(y, u)
    B = V.T @ B @ V + rho * torch.outer(u, u)
    free = ((H1 > 0) | (g1 < 0)).reshape(-1)
    p = torch.where(free, -(B @ torch.where(free, g1.reshape(-1), 0)), 0).reshape(N, K)
    H2, _ = armijo(S, H1, p, min(1.0, 2 * eta), g1)
    close(steps(start, "lbfgs", 2), H2)


def test_admm(problem):
    S, W, _ = parts(problem)
    rho = 50.0
    U = torch.zeros_like(W)
    for _ in range(3):
        V = (2 * S @ W + rho * (W - U)) @ torch.linalg.inv(
            2 * W.T @ W + rho * torch.eye(K).double()
        )
        W = (V + U).clamp(min=0)
        U = U + V - W
    close(steps(problem, "admm", rho=50.0), W)


def test_lai_is_hals_on_the_truncated_matrix(problem):
    S, H, _ = parts(problem)
    values, vectors = torch.linalg.eigh(S)
    low = vectors[:, -K:] * values[-K:] @ vectors[:, -K:].T
    G = H.T @ H
    H = H * ((H * (S @ H)).sum() / G.square().sum()).sqrt()
    for _ in range(3):
        H = hals_sweep(H, low @ H, 2.0)
    found = steps(problem, "lai", alpha=2.0, refine=False)
    torch.testing.assert_close(found, H, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["hals", "anls", "lai"])
def test_the_coupling_stays_within_the_precision_of_the_factors(name):
    problem = Problem(market("corr", 100).operator, 10, 7)  # float32
    solver, check = make_solver(name), SimpleNamespace(kkt_ratio=9.0)
    state = solver.init_state(problem)
    for _ in range(300):
        state = solver.react(problem, state, check)
    assert solver.react(problem, state, check) is state
    assert torch.isfinite(solver.step(problem, state, torch.Generator()).H).all()


def test_net_beats_the_untrained_one_and_its_weights_move():
    problem = Problem(market("corr", 100).operator, 10, 7)
    solver = make_solver("symnmf-net")
    state = solver.init_state(problem)
    P, log_lam = state.P.clone(), state.log_lam.clone()
    errors = []
    for _ in range(40):
        state = solver.step(problem, state, torch.Generator())
        errors.append(error(state.H, state.SH, problem.S.frob_sq()))
    assert errors[-1] < 0.7 * errors[0]
    assert float((state.P - P).abs().max()) > 0.05
    assert float((state.log_lam - log_lam).abs().min()) > 1e-3


def test_net_gradient_against_plain_autograd(problem):
    """The operator's product inside the network has the gradient of a matrix product."""
    S, H, _ = parts(problem)
    P = torch.eye(K, dtype=torch.float64).repeat(2, 1, 1).requires_grad_()
    lam = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (a, b) = torch.autograd.grad(unrolled(problem.S, H, P, lam).square().sum(), (P, lam))
    X = H
    for t in range(2):
        X = torch.relu(
            (S @ X + lam[t].exp() * X)
            @ torch.linalg.inv(X.T @ X + lam[t].exp() * torch.eye(K).double())
            @ P[t]
        )
    expected = torch.autograd.grad(X.square().sum(), (P, lam))
    close(a, expected[0])
    close(b, expected[1])


def test_unknown_solver_suggests_the_nearest():
    with pytest.raises(UnknownName, match="'adagard'. Did you mean 'adagrad'"):
        make_solver("adagard")
    with pytest.raises(UnknownName, match="All of them: " + ", ".join(available())):
        make_solver("x")
