"""The formulas against the explicit residual, and the gradient by Taylor slopes."""

from itertools import pairwise

import pytest
import torch

from symnmf.core import objective


@pytest.fixture(params=[(9, 3), (30, 30), (2000, 5)], ids=str)
def case(request, rng):
    n, k = request.param
    A = torch.rand(n, n, generator=rng, dtype=torch.float64)
    H = torch.rand(n, k, generator=rng, dtype=torch.float64) * (torch.rand(n, k) > 0.3)
    return A + A.T, H


def test_error_equals_explicit_residual(case):
    S, H = case
    explicit = (S - H @ H.T).square().sum()
    frob_sq = float(S.square().sum())
    assert objective.error(H, S @ H, frob_sq) == pytest.approx(float(explicit) / frob_sq, rel=1e-10)
    assert objective.objective(H, S @ H) == pytest.approx(float(explicit) - frob_sq, rel=1e-10)


def test_nothing_is_overwritten(case):
    S, H = case
    SH = S @ H
    copies = H.clone(), SH.clone()
    objective.error(H, SH, 1.0)
    objective.projected_norm(H, objective.gradient(H, SH))
    objective.gradient_resolution(H, SH)
    assert torch.equal(H, copies[0])
    assert torch.equal(SH, copies[1])


def test_error_is_never_negative(rng):
    H = torch.rand(50, 3, generator=rng)
    S = H @ H.T
    assert 0.0 <= objective.error(H, S @ H, float(S.double().square().sum())) < 1e-6


def test_error_of_a_broken_factor_is_no_number():
    H = torch.full((3, 1), float("nan"))
    assert objective.error(H, H, 1.0) != objective.error(H, H, 1.0)


def test_gradient_by_taylor_slopes(case):
    """The remainder after the linear term must shrink as the square of the step."""
    S, H = case
    D = torch.randn(H.shape, generator=torch.Generator().manual_seed(5), dtype=H.dtype)
    slope = float((objective.gradient(H, S @ H) * D).sum())
    base = objective.objective(H, S @ H)
    steps = [2.0**-m for m in range(4, 9)]
    remainders = []
    for t in steps:
        moved = H + t * D
        remainders.append(abs(objective.objective(moved, S @ moved) - base - t * slope))
    rates = [a / b for a, b in pairwise(remainders)]
    assert all(3.5 < r < 4.6 for r in rates[1:])


def test_projected_norm_keeps_only_what_points_inside():
    H = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    g = torch.tensor([[3.0, -4.0], [0.0, 12.0]])
    assert objective.projected_norm(H, g) == pytest.approx((4**2 + 12**2) ** 0.5)


def test_float64_reductions_of_float32(rng):
    """A float32 factor far from the answer of naive float32 sums."""
    H = torch.rand(20_000, 4, generator=rng)
    wide = H.double()
    torch.testing.assert_close(objective.gram64(H), wide.T @ wide, rtol=1e-14, atol=0)
    assert objective.inner64(H, H) == pytest.approx(float((wide * wide).sum()), rel=1e-14)
