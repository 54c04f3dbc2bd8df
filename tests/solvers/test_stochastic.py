"""Sampling: bias by enumeration, what is read, identities, growth, resets, refusals."""

from dataclasses import replace
from itertools import combinations

import pytest
import torch

from helpers import dense, market
from symnmf.core.objective import block_gradient, entry_gradient, gradient, row_gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Check
from symnmf.engine import solve
from symnmf.errors import InvalidInput
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.solvers.first_order import (
    AdaGrad,
    Adam,
    BlockSampling,
    EntrySampling,
    FirstOrder,
    Grow,
    Reset,
    RMSprop,
    RowSampling,
    SnapshotHybrid,
)
from symnmf.solvers.registry import available, make_solver

N, K = 6, 2


@pytest.fixture
def small(rng):
    A = torch.rand(N, N, generator=rng, dtype=torch.float64)
    S = A + A.T
    H = torch.rand(N, K, generator=rng, dtype=torch.float64)
    return S, H, 4 * (H @ H.T - S) @ H


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_all_entries_sum_to_the_gradient(small):
    S, H, g = small
    i, j = torch.cartesian_prod(torch.arange(N), torch.arange(N)).T
    close(entry_gradient(H, i, j, S[i, j], torch.zeros_like(H)), g)


def test_blocks_average_to_phi_times_the_gradient(small):
    """Over all pairs of index sets of size 3: (3/6)² ∇f, as the paper states up to the factor."""
    S, H, g = small
    total, count = torch.zeros_like(H), 0
    sets = [torch.tensor(c) for c in combinations(range(N), 3)]
    for i in sets:
        for j in sets:
            args = (S[i][:, j] @ H[j], S[j][:, i] @ H[i])
            block_gradient(H, i, j, *args, out=total)
            count += 1
    close(total / count, 0.25 * g)


def test_rows_are_exact(small):
    S, H, g = small
    i = torch.tensor([1, 4])
    close(row_gradient(H, i, S[i] @ H), g[i])


def test_entry_samples_are_unbiased_in_the_mean(small):
    S, H, g = small
    problem = Problem(as_operator(S), K, 0, H)
    rng = torch.Generator().manual_seed(0)
    mean = sum(EntrySampling(0.5).partial(problem, H, 0.5, rng)[0] for _ in range(4000)) / 4000
    assert float((mean - 0.5 * g).abs().max()) < 0.06 * float(g.abs().max())


def test_hybrid_is_on_the_scale_of_the_gradient():
    """Fresh block rows average to ∇f given that they were seen, up to a bias of order 1/n."""
    b = market("corr", 100)
    problem = Problem(b.operator, 10, 3)
    H = problem.H0
    g = gradient(H, b.operator.matmul(H))
    rng = torch.Generator().manual_seed(0)
    total, seen = torch.zeros_like(H), torch.zeros(100, 1)
    for _ in range(1500):
        estimate, factor = BlockSampling(0.25).partial(problem, H, 0.25, rng)
        total += estimate * factor[:, None]
        seen += (factor > 0).float()[:, None]
    assert float((total / seen - g).norm()) < 0.03 * float(g.norm())


class Recording(SymmetricOperator):
    """Remembers what was read of S."""

    def __init__(self, S):
        self.S, self.n, self.dtype, self.device = S, len(S), S.dtype, S.device
        self.read = torch.zeros_like(S, dtype=torch.bool)

    def matmul(self, X):
        self.read[:] = True
        return self.S @ X

    def block(self, i, j):
        self.read[i[:, None], j] = True
        return self.S[i][:, j]

    def entries(self, i, j):
        self.read[i, j] = True
        return self.S[i, j]

    def frob_sq(self):
        return float(self.S.square().sum())

    def mean(self):
        return float(self.S.mean())


@pytest.mark.parametrize(
    ("sampling", "most"),
    [(RowSampling(0.25), 0.25), (EntrySampling(0.1), 0.1), (BlockSampling(0.25), 2 * 0.25)],
    ids=["rows", "entries", "blocks"],
)
def test_a_step_reads_nothing_else(sampling, most):
    S = Recording(dense(market("tpdm", 100).operator))
    problem = Problem(S, 10, 3)
    H, scale = problem.H0, S.scale()
    assert scale > 0
    for seed in range(3):
        S.read[:] = False
        before = problem.S.work
        sampling.partial(problem, H, sampling.phi, torch.Generator().manual_seed(seed))
        assert float(S.read.double().mean()) <= most + 1e-9
        spent = (problem.S.work - before) / 100**2 / 10
        assert spent == pytest.approx(
            most / (10 if isinstance(sampling, EntrySampling) else 1), rel=0.01
        )
        if isinstance(sampling, RowSampling):
            assert int(S.read.any(dim=1).sum()) == 25
        if isinstance(sampling, BlockSampling):  # one block and its mirror image
            assert int(S.read.any(dim=1).sum()) <= 100
            assert torch.equal(S.read, S.read.T)


@pytest.mark.parametrize("name", ["row-svrg", "entry-svrg", "block-svrg-adaptgrow"])
def test_between_snapshots_a_hybrid_reads_its_sample_only(name):
    S = Recording(dense(market("tpdm", 100).operator))
    problem = Problem(S, 10, 3)
    solver = make_solver(name, period=5, phi=0.2)
    state = solver.init_state(problem)
    whole = []
    for step in range(11):
        S.read[:] = False
        state.SH = None
        state = solver.step(problem, state, torch.Generator().manual_seed(step))
        whole.append(bool(S.read.all()))
    assert [t for t, w in enumerate(whole) if w] == [0, 5, 10]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("row-adagrad", {"phi": 1.0}),
        ("row-svrg", {"phi": 1.0}),
        ("entry-adagrad", {"phi": 1.0}),
        ("adaptgrow", {"phi": 1.0}),
        ("block-adaptgrow", {"phi": 1.0}),
        ("block-svrg-adaptgrow", {"phi": 1.0}),
        ("piecewise-adagrad", {"margin": 1e9}),
    ],
)
def test_identities_with_adagrad(name, options):
    b = market("tpdm", 100)
    plain = solve(Problem(b.operator, 10, 3), make_solver("adagrad"), max_iter=100)
    same = solve(Problem(b.operator, 10, 3), make_solver(name, **options), max_iter=100)
    assert torch.equal(plain.H, same.H)
    assert [c.error for c in plain.history] == [c.error for c in same.history]


def check_at(iteration, *, error=0.1, ratio=10.0):
    return Check(iteration, 0.0, 0.0, error, 0.0, ratio, 1.0, True, True, False, 0, 0.0, 0.0, 0.0)


def test_growth_needs_three_checks_in_a_row():
    problem = Problem(market("tpdm", 100).operator, 10, 3)
    solver = FirstOrder(AdaGrad(), BlockSampling(0.3), (Grow(),))
    state = solver.init_state(problem)
    state.rule_state.G += 1.0
    for iteration, phi in ((60, 0.3), (70, 0.3), (90, 0.3), (100, 0.3), (110, 0.6), (120, 0.6),
                           (130, 0.6), (140, 1.0), (150, 1.0)):  # fmt: skip
        state = solver.react(problem, state, check_at(iteration))
        assert state.sample.phi == pytest.approx(phi), iteration
    assert (state.rule_state.G == 1.0).all()  # the accumulator is kept
    calm = solver.init_state(problem)
    for iteration in (60, 70, 80, 90):
        assert solver.react(problem, calm, check_at(iteration, ratio=0.5)) is calm
    assert calm.sample.phi == 0.3


def reset_state(solver, problem):
    state = solver.init_state(problem)
    state.SH = problem.S.matmul(state.H)
    state.rule_state.G += 100.0
    return state


def test_reset_recalibrates_to_the_gradient_of_now():
    problem = Problem(as_operator(dense(market("corr", 100).operator)), 10, 3)
    solver = FirstOrder(AdaGrad(), reactions=(Reset(memory_iters=7.0),))
    state = reset_state(solver, problem)
    squares = gradient(state.H, state.SH).square()
    after = solver.react(problem, state, check_at(60))
    assert after is not state
    close(after.rule_state.G, 7.0 * squares.clamp(min=float(squares.median())))


def test_reset_conditions():
    problem = Problem(as_operator(dense(market("corr", 100).operator)), 10, 3)

    def fires(solver, *checks, between=lambda state: None):
        state = reset_state(solver, problem)
        fired = []
        for check in checks:
            after = solver.react(problem, state, check)
            fired.append(after is not state)
            state = after
            between(state)
        return fired

    def solver(**options):
        return FirstOrder(AdaGrad(), reactions=(Reset(**options),))

    def double(state):
        state.rule_state.G.mul_(3.0)

    assert fires(solver(margin=3.0), check_at(60, ratio=2.0)) == [False]
    assert fires(solver(gate="cap"), check_at(60, error=0.6)) == [False]
    assert fires(solver(gate="cap"), check_at(60, error=0.4, ratio=0.1)) == [True]
    assert fires(solver(gate="none"), check_at(60, error=0.9, ratio=0.1)) == [True]
    # Cool-down until the sum has doubled; then again if the error fell, and never after it did not.
    assert fires(solver(), check_at(60), check_at(70, error=0.05)) == [True, False]
    falling = [check_at(60 + 10 * t, error=0.1 / 2**t) for t in range(3)]
    assert fires(solver(), *falling, between=double) == [True, True, True]
    stuck = [check_at(60, error=0.1), check_at(70, error=0.1), check_at(80, error=0.01)]
    assert fires(solver(), *stuck, between=double) == [True, False, False]
    with pytest.raises(InvalidInput, match="Reset.gate: got 'x'"):
        Reset(gate="x")


def test_reset_waits_for_the_full_batch():
    problem = Problem(as_operator(dense(market("corr", 100).operator)), 10, 3)
    solver = FirstOrder(AdaGrad(), BlockSampling(0.5), (Grow(), Reset()))
    state = reset_state(solver, problem)
    before = state.rule_state.G.clone()
    for iteration in (60, 70):
        state = solver.react(problem, state, check_at(iteration))
    assert torch.equal(state.rule_state.G, before)
    state = solver.react(problem, state, check_at(80))  # grows to 1
    assert state.sample.phi == 1.0
    state = solver.react(problem, replace(state, SH=problem.S.matmul(state.H)), check_at(90))
    assert not torch.equal(state.rule_state.G, before)


@pytest.mark.parametrize("rule", [RMSprop(), Adam()], ids=["rmsprop", "adam"])
@pytest.mark.parametrize(
    "sampling", [RowSampling(), EntrySampling(), BlockSampling(), SnapshotHybrid(RowSampling())]
)
def test_sampling_with_a_forgetting_rule_is_refused(rule, sampling):
    with pytest.raises(InvalidInput, match=r"mean of squares decays.*α\^\(−Δ/2\).*Use AdaGrad"):
        FirstOrder(rule, sampling)


@pytest.mark.parametrize("rule", [RMSprop(), Adam()], ids=["rmsprop", "adam"])
def test_a_reset_of_a_rule_without_a_sum_is_refused(rule):
    with pytest.raises(InvalidInput, match="reactions: Reset does not go with .*Use AdaGrad"):
        FirstOrder(rule, reactions=(Reset(),))


def test_why_forgetting_rules_are_refused():
    """After Δ misses written as zeros the next step is α^(−Δ/2) too large; AdaGrad's is not."""
    for misses in (10, 100):
        sizes = {}
        for rule in (RMSprop(alpha=0.99, momentum=0.0), AdaGrad()):
            theta = torch.zeros(1, dtype=torch.float64)
            state = rule.init(theta)
            for _ in range(2000):
                rule.update(theta, state, torch.ones_like(theta), 1.0)

            def next_step(rule=rule, theta=theta, state=state):
                before = float(theta)
                rule.update(theta, state, torch.ones_like(theta), 1.0)
                return before - float(theta)

            usual = next_step()
            for _ in range(misses):
                rule.update(theta, state, torch.zeros_like(theta), 1.0)
            sizes[type(rule).__name__] = next_step() / usual
        assert sizes["AdaGrad"] == pytest.approx(1.0, abs=1e-3)
        expected = (0.99 ** (misses + 1) + 0.01) ** -0.5  # the new square counts as well
        assert sizes["RMSprop"] == pytest.approx(expected, rel=1e-6)
        assert sizes["RMSprop"] == pytest.approx(0.99 ** (-misses / 2), rel=0.02)


def test_averaging_begins_below_the_threshold():
    b = market("tpdm", 100)
    averaged = make_solver("entry-averaged")
    inner = make_solver("entry-adagrad")
    problem = Problem(b.operator, 10, 3)
    state, plain = averaged.init_state(problem), inner.init_state(problem)
    collected = []
    for step in range(60):
        if step % 10 == 0:
            state.SH, plain.SH = (b.operator.matmul(s.H) for s in (state, plain))
        state = averaged.step(problem, state, torch.Generator().manual_seed(step))
        plain = inner.step(problem, plain, torch.Generator().manual_seed(step))
        collected.append(plain.H.clone())
        if state.count == 0:
            assert torch.equal(state.H, plain.H)
    assert 0 < state.count <= 60
    suffix = collected[-state.count :]
    torch.testing.assert_close(state.H, torch.stack(suffix).mean(0), rtol=1e-4, atol=1e-5)


def proximal(Z, G, eta, delta, t):
    """argmin over H ≥ 0 of ⟨Z, H⟩ + Σ √G H² / η + δ √t ‖H‖² / 2, by bisection of its slope."""
    low, high = torch.zeros_like(Z), torch.full_like(Z, 1e3)
    for _ in range(200):
        middle = (low + high) / 2
        slope = Z + 2 * G.sqrt() * middle / eta + delta * t**0.5 * middle
        low, high = torch.where(slope < 0, middle, low), torch.where(slope < 0, high, middle)
    return low


def test_dual_averaging_minimizes_the_papers_objective(small):
    """Forty steps after the warm-up, against the argmin of the paper's equation in appendix D."""
    from symnmf.solvers.first_order import DualAveraging

    _, H, _ = small
    eta, delta, warm_up = 0.5, 0.3, 3
    rule = DualAveraging(warm_up=warm_up, delta=delta)
    theta, rng = H.clone(), torch.Generator().manual_seed(0)
    state, G, Z = rule.init(theta), torch.zeros_like(H), None
    for t in range(1, 44):
        g = torch.randn(N, K, generator=rng, dtype=torch.float64)
        before = theta.clone()
        rule.update(theta, state, g.clone(), eta)
        theta.clamp_(min=0)
        G += g**2
        if t <= warm_up:
            close(theta, (before - eta * g / G.sqrt()).clamp(min=0))
            continue
        if Z is None:  # such that the recovery gives the factor that the warm-up reached
            Z = -before * (2 * G.sqrt() / eta + delta * t**0.5)
        Z += g
        torch.testing.assert_close(theta, proximal(Z, G, eta, delta, t), rtol=1e-9, atol=1e-9)


def test_the_pull_of_dual_averaging_grows_like_the_root_of_time(small):
    from symnmf.solvers.first_order import DualAveraging

    _, H, _ = small
    rule, theta = DualAveraging(warm_up=10, regularization=0.01), H.clone()
    state, pulls = rule.init(theta), {}
    for t in range(1, 2001):
        rule.update(theta, state, torch.ones_like(theta), 0.5)
        if t in (11, 2000):
            pulls[t] = float((-state.Z / theta - 2 * state.G.sqrt() / 0.5).mean())
    assert pulls[2000] / pulls[11] == pytest.approx((2000 / 11) ** 0.5, rel=1e-6)


def test_every_stochastic_row_differs_between_seeds():
    b = market("tpdm", 100)
    for row in available().values():
        if not row.deterministic:
            start = Problem(b.operator, 10, 1).H0
            a, c = (
                solve(Problem(b.operator, 10, seed, start), row.make(), max_iter=5).H
                for seed in (1, 2)
            )
            assert not torch.equal(a, c), row.name
