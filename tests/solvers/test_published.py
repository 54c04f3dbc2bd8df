"""The methods as the founding paper publishes them, against tables and formulas typed from it."""

from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import softplus

import symnmf as sn
from helpers import dense, market
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.engine import Monitor, solve
from symnmf.errors import CollapsedWarning, InvalidInput
from symnmf.operators import as_operator
from symnmf.solvers.registry import available, find, make_solver
from symnmf.testing.observed import ObservedSolver

#: Typed from appendix C ("Benchmark: …") and section 5.1: row → what the text states.
STATED = {
    "mu": {"eps": 1.2e-7},
    "adagrad": {"eta": 2.0},
    "piecewise-adagrad": {"eta": 1.0, "memory_iters": 10},
    "rmsprop": {"eta": 0.05, "alpha": 0.99, "momentum": 0.5},
    "adam": {"eta": 0.01, "beta1": 0.9, "beta2": 0.999},
    "nadam": {"eta": 0.01, "beta1": 0.9, "beta2": 0.999},
    "row-adagrad": {"eta": 2.0, "phi": 0.5},
    "row-svrg": {"eta": 2.0, "phi": 0.5},
    "adaptgrow": {"eta": 1.0, "phi": 0.25},
    "adaptgrow-svrg": {"eta": 1.0, "phi": 0.25},
    "adaptgrow-reset": {"eta": 1.0, "phi": 0.25},
    "block-svrg-adaptgrow": {"phi": 0.5},
    "hals": {"alpha": 100},
    "anls": {"alpha": 100},
    "newton": {"eta": 0.1, "reg": 0.5},
    "lbfgs": {"pairs": 100},
    "admm": {"rho": 500},
    "lai": {"alpha": 100, "refine": False},
    "symnmf-net": {"blocks": 5, "rate": 0.1},
}
#: Typed from the table of Phase 2: row → (corr 10⁵, corr 10⁶, tpdm 10⁵, tpdm 10⁶).
LARGE = {
    "adagrad": [{"eta": 96}, {"eta": 384}, {"eta": 32}, {"eta": 32}],
    "piecewise-adagrad": [
        {"eta": 128, "memory_iters": 10},
        {"eta": 0.75, "memory_iters": 200},
        {"eta": 32, "memory_iters": 10},
        {"eta": 0.5, "memory_iters": 20},
    ],
    "row-svrg": [
        {"eta": 128, "phi": 0.75, "period": 10},
        {"eta": 256, "phi": 0.75, "period": 5},
        {"eta": 64, "phi": 0.75, "period": 10},
        {"eta": 16, "phi": 0.75, "period": 5},
    ],
    "block-svrg-adaptgrow": [
        {"eta": 64, "phi": 0.75, "period": 10},
        {"eta": 256, "phi": 0.5, "period": 10},
        {"eta": 24, "phi": 0.75, "period": 10},
        {"eta": 20, "phi": 0.75, "period": 5},
    ],
    "rmsprop": [
        {"eta": 0.4, "momentum": 0.5, "alpha": 0.999},
        {"eta": 32, "momentum": 0.25, "alpha": 0.99},
        {"eta": 0.4, "momentum": 0.25, "alpha": 0.999},
        {"eta": 1.6, "momentum": 0.75, "alpha": 0.999},
    ],
    "admm": [{"rho": 500}, {"rho": 500}, {"rho": 500}, {"rho": 500}],
}
#: What the paper does not have: row → options that switch ours off.
WITHOUT = {
    **{key: {"anneal": 1.0} for key in ("rmsprop", "adam", "nadam", "rmsprop-log")},
    **{key: {"rescale_start": False} for key in ("hals", "anls")},
    **{key: {"armijo": "literal"} for key in ("pgd", "fista")},
    **{key: {"rescale": False} for key in ("row-svrg", "block-svrg-adaptgrow")},
    **{
        key: {"whole_snapshot": False}
        for key in ("entry-svrg", "adaptgrow-svrg", "block-svrg-adaptgrow")
    },
    **{key: {"free_only": False} for key in ("lbfgs", "lbfgs-log")},
    "lai": {
        "sketch": "randomized",
        "rescale_start": False,
        "oversampling": 10,
        "power_steps": 2,
    },
    "symnmf-net": {"one_lambda": True},
    "row-reset": {"full_batch_only": False},
    "adan": {"beta1": 0.02, "beta2": 0.08, "beta3": 0.01, "anneal": 1.0},
}


@pytest.mark.parametrize("table", [STATED, WITHOUT], ids=["stated", "without"])
def test_options_are_those_of_the_text(table):
    for name, stated in table.items():
        assert stated.items() <= find(name).published().items(), name


def test_options_are_those_of_the_table_of_phase_2():
    for name, stated in LARGE.items():
        for (n, tail), options in zip(
            ((10**5, False), (10**6, False), (10**5, True), (10**6, True)), stated, strict=True
        ):
            assert options.items() <= find(name).published(n, tail=tail).items(), (name, n, tail)


def test_every_method_of_the_paper_has_its_published_form():
    for name, row in available().items():
        if name == "sketched":
            assert row.published() == {}
            continue
        solver = make_solver(name, **row.published(start="uniform"))
        if name.endswith("-log"):
            assert row.published()["unit"] == 1.0
            base = find(name.removesuffix("-log")).published()
            assert {**base, "unit": 1.0} == row.published()
        assert row.published(start="uniform").get("floor") == (
            1e-16 if "floor" in row.parameters else None
        )
        assert solver == make_solver(name, **row.published(start="uniform"))


@pytest.fixture
def problem(rng):
    """A matrix with a unit diagonal, on which the paper's numbers need no scale."""
    A = torch.rand(12, 12, generator=rng, dtype=torch.float64)
    return Problem(as_operator((A + A.T).mul_(0.4).fill_diagonal_(1.0)), 3, 5)


def steps(problem, name, count=3, **options):
    solver = make_solver(name, **{**find(name).published(), **options})
    state = solver.init_state(problem)
    for _ in range(count):
        state = solver.step(problem, state, torch.Generator())
    return state.H


def grad(S, H):
    return 4 * (H @ H.T - S) @ H


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def test_hals_from_the_start_as_it_is_with_constant_alpha(problem):
    S, H = problem.S.inner.S, problem.H0
    for _ in range(3):
        W = H.clone()
        for j in range(3):
            R = S - sum(torch.outer(W[:, m], H[:, m]) for m in range(3) if m != j)
            w = W[:, j]
            H[:, j] = ((R.T @ w + 100 * w) / (w @ w + 100)).clamp(min=0)
    close(steps(problem, "hals"), H)


def test_newton_searches_from_its_eta_with_its_regularization(problem):
    S, H = problem.S.inner.S, problem.H0

    def f(H):
        return (S - H @ H.T).square().sum()

    g = grad(S, H)
    hessian = torch.autograd.functional.hessian(f, H).reshape(36, 36)
    step = g / (hessian.diagonal().reshape(12, 3).abs() + 0.5)
    step[(H == 0) & (g > 0)] = 0
    eta = 0.1
    while True:
        new = (H - eta * step).clamp(min=0)
        if f(new) <= f(H) + 1e-4 * (g * (new - H)).sum():
            break
        eta /= 2
    close(steps(problem, "newton", 1), new)


def test_pgd_asks_for_the_decrease_of_the_paper(rng):
    """Accepted steps decrease f by c·η·‖∇f‖², clamped entries included; ours are held to less.

    A random graph: the gradient of clamped entries stays, so that the paper's rule ends the run.
    """
    A = torch.rand(12, 12, generator=rng, dtype=torch.float64) < 0.2
    S = (A | A.T).double().fill_diagonal_(1.0)
    problem = Problem(as_operator(S), 4, 5)

    def f(H):
        return float((S - H @ H.T).square().sum())

    held = {}
    for name in ("literal", "projected"):
        solver = make_solver("pgd", armijo=name)
        state, kept = solver.init_state(problem), []
        for _ in range(200):
            before, g = state.H, grad(S, state.H)
            state = solver.step(problem, state, torch.Generator())
            if not torch.equal(before, state.H):
                wanted = 1e-4 * state.eta * float(g.square().sum())
                kept.append(f(before) - f(state.H) >= wanted - 1e-12)
        held[name] = kept
    assert all(held["literal"])
    assert 10 < len(held["literal"]) < len(held["projected"])
    assert not all(held["projected"])


def test_softplus_with_unit_one(problem):
    S, theta = problem.S.inner.S, torch.log(torch.expm1(problem.H0.clamp(min=1e-3)))
    G = torch.zeros_like(theta)
    for _ in range(3):
        g = grad(S, softplus(theta)) * torch.sigmoid(theta)
        G += g**2
        theta = theta - 2.0 * g / G.sqrt()
    close(steps(problem, "adagrad-log"), softplus(theta))


def test_the_clamp_of_the_public_code(problem):
    S = problem.S.inner.S
    high = Problem(as_operator(S), 3, 5, "uniform")
    H = high.H0
    G = torch.zeros_like(H)
    for _ in range(2):
        g = grad(S, H)
        G += g**2
        H = (H - 2.0 * g / G.sqrt()).clamp(min=1e-16)
    found = steps(high, "adagrad", 2, floor=1e-16)
    close(found, H)
    assert float(found.min()) == 1e-16


def test_the_start_of_the_public_code_is_uniform():
    S = market("tpdm", 100).operator
    H = Problem(S, 10, 7, "uniform").H0
    assert 0 <= float(H.min()) < 0.01
    assert 0.99 < float(H.max()) <= 1
    assert float(H.mean()) == pytest.approx(0.5, abs=0.05)
    text = Problem(S, 10, 7).H0
    torch.testing.assert_close(text, H * (S.mean() / 10) ** 0.5)  # the same draws


def test_lai_on_a_randomized_range_is_exact_where_the_range_is(rng):
    """On a matrix of rank k a range finder with k columns finds S itself."""
    B = torch.rand(30, 3, generator=rng, dtype=torch.float64)
    problem = Problem(as_operator(B @ B.T), 3, 5)
    solver = make_solver("lai", **find("lai").published())
    state = solver.init_state(problem)
    rebuilt = (state.vectors * state.values) @ state.vectors.T
    torch.testing.assert_close(rebuilt, B @ B.T, rtol=1e-8, atol=1e-8)
    spent = problem.S.work
    solver.step(problem, state, torch.Generator())
    assert problem.S.work == spent  # no product with S


def test_the_range_finder_of_lai_is_nearly_the_best_of_its_rank():
    """With k columns and no power step its error is more than twice the least one."""
    b = market("corr", 100)
    S, problem = dense(b.operator).double(), Problem(b.operator, b.k, 5)
    state = make_solver("lai", **find("lai").published()).init_state(problem)
    found = (state.vectors * state.values).double() @ state.vectors.double().T
    least = torch.linalg.eigvalsh(S).abs().sort().values[: -b.k].norm()
    assert float((S - found).norm()) < 1.01 * float(least)


def test_blocks_are_combined_as_they_are_seen(problem):
    """A fresh row has the block's own estimate, not one on the scale of the gradient."""
    kinds = {}
    for rescale in (True, False):
        sampling = make_solver("block-svrg-adaptgrow", phi=0.5, rescale=rescale).sampling
        sample = sampling.init(problem.H0)
        state = make_solver("mu").init_state(problem)
        sampling.gradient(problem, state, sample, torch.Generator().manual_seed(1))
        state.SH = None
        g = sampling.gradient(problem, state, sample, torch.Generator().manual_seed(2))
        raw, factor = sampling.inner.partial(
            problem, state.H, 0.5, torch.Generator().manual_seed(2)
        )
        seen = factor > 0
        expected = raw * factor[:, None] if rescale else raw
        close(g[seen], expected[seen])
        kinds[rescale] = g
    assert not torch.equal(kinds[True], kinds[False])


def test_fresh_rows_replace_those_of_the_snapshot_in_every_step(problem):
    """The step that takes a snapshot too, and a check of the criterion does not take one."""
    options = find("block-svrg-adaptgrow").published() | {"phi": 0.1, "period": 2}
    sampling = make_solver("block-svrg-adaptgrow", **options).sampling
    sample, state = sampling.init(problem.H0), make_solver("mu").init_state(problem)
    whole = grad(problem.S.inner.S, state.H)
    for seed in (1, 2, 3):  # snapshots at the first and the third
        if seed == 2:
            state.H, first = state.H * 1.1, whole
            state.SH = problem.S.matmul(state.H)  # as after a check
        if seed == 3:
            first = grad(problem.S.inner.S, state.H)
        g = sampling.gradient(problem, state, sample, torch.Generator().manual_seed(seed))
        raw, factor = sampling.inner.partial(
            problem, state.H, 0.1, torch.Generator().manual_seed(seed)
        )
        seen = factor > 0
        assert 0 < int(seen.sum()) < len(seen)
        close(g[seen], raw[seen])
        close(g[~seen], (whole if seed == 1 else first)[~seen])


def test_lbfgs_uses_the_direction_of_its_recursion_as_it_is(rng):
    """Nocedal and Wright, algorithm 7.4, by the inverse Hessian that it stands for."""
    A = torch.rand(12, 12, generator=rng, dtype=torch.float64) < 0.2
    S = (A | A.T).double().fill_diagonal_(1.0)
    problem = Problem(as_operator(S), 3, 5)
    solver = make_solver("lbfgs", **find("lbfgs").published())
    state, seen = solver.init_state(problem), []
    for _ in range(6):
        before = state.H.clone()
        state = solver.step(problem, state, torch.Generator())
        seen.append(before)
    H = state.H
    points = [x.flatten() for x in (*seen, H)]
    slopes = [grad(S, x).flatten() for x in (*seen, H)]
    pairs = [(b - a, v - u) for a, b, u, v in
             zip(points, points[1:], slopes, slopes[1:], strict=False)]  # fmt: skip
    pairs = [(s, y) for s, y in pairs if s @ y > 1e-8 * y.norm() * s.norm()]
    eye = torch.eye(36, dtype=torch.float64)
    inverse = eye * (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1])
    for s, y in pairs:
        left = eye - torch.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + torch.outer(s, s) / (s @ y)
    g = grad(S, H)
    free = solver.space.free(H, g)
    assert not bool(free.all())  # entries are held at zero
    p = solver.direction(problem, state, g, g, free)
    close(p.flatten(), -inverse @ g.flatten())
    assert float(p[~free].abs().max()) > 0


def test_one_lambda_is_shared_by_the_blocks(problem):
    net = make_solver("symnmf-net", **find("symnmf-net").published())
    state = net.init_state(problem)
    assert state.log_lam.shape == (1,)
    assert net.step(problem, state, torch.Generator()).log_lam.shape == (1,)


def test_the_published_run_stops_at_the_papers_gates_on_the_plateau():
    """TPDM, n = 300, public start: the gates are met with all columns alike."""
    b = sn.benchmark_matrix("tpdm", 300, seed=7)
    with pytest.warns(CollapsedWarning):
        result = sn.factorize(
            b.operator, b.k, "adagrad", published=True, start="uniform", seed=7, max_iter=2000
        )
    assert result.status is Status.COLLAPSED
    assert result.certificate.paper_converged
    assert result.certificate.excess > 0.99
    assert result.iterations == result.certificate.paper_iteration == result.history[-1].iteration
    ours = solve(
        Problem(b.operator, b.k, 7, "uniform"),
        make_solver("adagrad", eta=2.0, floor=1e-16),
        max_iter=result.iterations + 50,
    )
    assert ours.iterations > result.iterations  # ours does not stop there


def test_published_needs_a_method_of_the_paper():
    for solver in ("auto", "sketched", make_solver("mu")):
        with pytest.raises(InvalidInput, match="published: got True with solver"):
            sn.factorize(torch.eye(4), 2, solver, published=True)


def test_published_stops_by_the_gates_of_the_paper_alone():
    with pytest.raises(InvalidInput, match=r"kkt_gate: got 0\.01 for a published run"):
        sn.factorize(torch.eye(4), 2, "mu", published=True, kkt_gate=0.01)


@pytest.mark.parametrize("name", ["adagrad", "pgd", "fista", "newton", "lbfgs"])
@pytest.mark.filterwarnings("ignore::symnmf.errors.NotConvergedWarning")
def test_entries_at_the_clamp_are_at_the_boundary(name):
    """The gradient counts there as at zero, whether the clamp is 0 or that of the public code."""
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, name, published=True, start="uniform", max_iter=200)
    H = result.H
    assert int((H.min() == H).sum()) >= 10
    assert 0 < float(H.min()) < 2e-16
    g = grad(dense(b.operator).double(), H.double())
    inside = torch.where(H > 1e-16, g, g.clamp(max=0)).norm()
    unit = 100 * b.k * b.operator.scale() ** 1.5
    assert result.certificate.kkt == pytest.approx(float(inside) / unit, rel=1e-3)
    assert float(g.norm()) > 1.01 * float(inside)


def test_every_solver_with_a_clamp_tells_the_criterion():
    names = [name for name, row in available().items() if "floor" in row.parameters]
    assert "entry-averaged" in names
    for name in names:
        solver = make_solver(name, **find(name).published(start="uniform"))
        assert solver.least_entry == 1e-16, name
        assert ObservedSolver(solver, lambda problem, state: None).least_entry == 1e-16
        assert make_solver(name).least_entry == 0.0


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_lbfgs_begins_anew_where_no_step_is_accepted(kind):
    """In float64, where rounding allows no step uphill: it froze on two of three matrices."""
    S = dense(market(kind, 100).operator).double()
    result = sn.factorize(S, 10, "lbfgs", published=True, seed=7, max_iter=400)
    assert result.certificate.paper_converged
    assert result.products < 10 * result.iterations


def test_reactions_of_a_published_run_see_the_gate_of_the_paper(monkeypatch):
    import symnmf.engine.criterion as criterion

    b = market("tpdm", 100)
    problem = Problem(b.operator, b.k, 7)
    monkeypatch.setattr(criterion, "TPDM_ROWS", 100)
    gates = {}
    for paper in (False, True):
        run = Monitor(paper=paper).begin(problem)
        gates[paper] = run.measure(0, 0.0, problem.H0, b.operator.matmul(problem.H0)).kkt_gate
    assert gates == {False: 0.01, True: 1e-3}


def test_a_stored_tpdm_is_known_as_one(tmp_path):
    """Its published steps and its gate are those of a TPDM, as in memory."""
    for kind in ("tpdm", "corr"):
        S = sn.open_matrix(sn.generate(kind, 64, tmp_path / kind, seed=7, samples=4000))
        assert S.provenance.is_tail == (kind == "tpdm")
    described = sn.write_matrix(
        tmp_path / "own", torch.eye(3), form="dense", description={"kind": "tpdm"}
    )
    assert sn.open_matrix(described).provenance.is_tail


def test_the_papers_exception_for_large_tpdms():
    from symnmf.engine.criterion import paper_kkt_gate
    from symnmf.provenance import Provenance

    class Tail(Provenance):
        is_tail = True

    def gate(n, provenance):
        return paper_kkt_gate(SimpleNamespace(S=SimpleNamespace(n=n, provenance=provenance)))

    assert gate(10**6, Tail()) == 1e-3
    assert gate(10**6 - 1, Tail()) == 1e-4
    assert gate(10**6, None) == 1e-4
    assert Monitor().gate(10**6) == 1e-4
    assert market("tpdm", 100).operator.provenance.is_tail
    assert not market("corr", 100).operator.provenance.is_tail
