"""Newton steps in a batch: the Hessian, the batch against single factors, the optimum."""

import numpy as np
import pytest
import scipy.optimize
import torch

import symnmf as sn
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.operators import as_operator
from symnmf.solvers import sketch_newton
from symnmf.solvers.sketch_newton import STEPS_BEHIND, Pool, newton_step, objectives, products
from symnmf.solvers.sketched import Sketched


def noisy(n=40, k=3, seed=0):
    """A matrix whose best factor leaves a large residual."""
    rng = np.random.default_rng(seed)
    W = rng.exponential(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.4)
    noise = rng.normal(size=(n, n))
    return torch.from_numpy(np.maximum(W @ W.T + 0.4 * (noise + noise.T), 0))


def draw(b, n, k, seed=1):
    return torch.rand(b, n, k, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_step_solves_newtons_equation():
    """Where all entries are free the direction is that of the dense Hessian, by autograd."""
    S = noisy(12, 2)
    # The minimum of the problem with a shifted S lies inside: the Hessian there is definite.
    start = draw(1, 12, 2) + 1.0
    S = start[0] @ start[0].T + 0.05 * S
    f = lambda h: ((S - h.view(12, 2) @ h.view(12, 2).T) ** 2).sum()  # noqa: E731
    h = start[0].reshape(-1)
    hessian = torch.autograd.functional.hessian(f, h)
    gradient = torch.autograd.functional.jacobian(f, h)
    operator = as_operator(S)
    gram = start.mT @ start
    grad = (start @ gram - S @ start) * 4
    assert torch.allclose(grad.view(-1), gradient)
    rows, slope = start.mT.contiguous(), grad.mT.contiguous()
    found = sketch_newton._directions(rows, 4 * gram, slope, torch.ones_like(rows), operator, 1)
    # One step of conjugate gradients minimizes the quadratic model along its direction.
    d = found.mT.reshape(-1)
    assert float(gradient @ d + d @ hessian @ d) == pytest.approx(0, abs=1e-8 * float(d @ d))


def test_a_batch_is_its_factors_one_by_one():
    S = as_operator(noisy())
    H = draw(4, 40, 3).mT.contiguous()
    SH = products(S, H)
    for h, sh in zip(H, SH, strict=True):
        assert torch.allclose(S.matmul(h.T), sh.T)
    value = objectives(H, SH)
    together = newton_step(S, S, H, SH, value, 10)
    for m in range(4):
        alone = newton_step(S, S, H[m : m + 1], SH[m : m + 1], value[m : m + 1], 10)
        for one, many in zip(alone, together, strict=True):
            assert torch.allclose(one[0], many[m], rtol=1e-6, atol=1e-8)


def test_steps_never_increase_the_error_and_end_where_scipy_ends():
    """L-BFGS-B of scipy from the same factor finds no smaller error."""
    S = noisy()
    operator = as_operator(S)
    pool = Pool.at(operator, draw(3, 40, 3))
    everything = torch.arange(3)
    for _ in range(80):
        after = pool.stepped(operator, operator, 20, everything, torch.zeros(3))
        assert (after.value <= pool.value + 1e-9).all()
        pool = after
    assert (pool.H >= 0).all()

    def f(h):
        H = h.reshape(40, 3)
        R = H @ H.T - S.numpy()
        return (R**2).sum(), (4 * R @ H).ravel()

    for m in range(3):
        h = pool.factor(m).numpy().ravel()
        better = scipy.optimize.minimize(
            f, h, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(h), options={"maxiter": 500}
        )
        assert better.fun >= f(h)[0] * (1 - 1e-5)


def test_factors_that_cannot_win_are_left():
    pool = Pool(
        torch.zeros(3, 1, 2),
        torch.zeros(3, 1, 2),
        value=torch.tensor([-10.0, -9.0, -9.0]),
        gain=torch.tensor([0.5, 0.5, 2.0]) / STEPS_BEHIND,
        slow=torch.tensor([0.0, 0.0, 0.0]),
    )
    assert pool.active(2).tolist() == [0, 2]
    pool.slow[0] = 2
    assert pool.active(2).tolist() == [2]
    assert pool.best == 0
    assert pool.only(torch.tensor([2])).value.tolist() == [-9.0]


@pytest.mark.parametrize("seed", range(3))
def test_precision_orders_the_errors(seed):
    S = as_operator(noisy(120, 6, seed).float())
    error = {
        precision: solve(Problem(S, 6, 1), Sketched(precision=precision)).certificate.error
        for precision in ("fast", "balanced", "best")
    }
    assert error["best"] <= error["balanced"] * (1 + 1e-6)
    assert error["balanced"] <= error["fast"] * (1 + 1e-6)


def test_precision_is_an_option_of_factorize():
    S = noisy(60, 4).float()
    assert sn.factorize(S, 4, precision="best").options["precision"] == "best"
    with pytest.raises(sn.errors.SymnmfError, match="precision"):
        sn.factorize(S, 4, precision="exact")
