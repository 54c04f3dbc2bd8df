"""The verdict where noise or non-negativity keeps every factor far from the floor."""

import warnings

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.bench.corpus import block_model
from symnmf.core.bounds import ErrorBounds
from symnmf.core.columns import distinct_columns
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.engine import solve
from symnmf.operators import as_operator
from symnmf.solvers.registry import make_solver


def fit(S, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sn.factorize(S, k, **options)


@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_do_not_collapse(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(60, 250)), int(rng.integers(3, 9))
    upper = np.triu(rng.uniform(size=(n, n)) < rng.uniform(4, 12) / n, 1)
    result = fit((upper | upper.T).astype(np.float32), k, n_init=1, seed=seed)
    assert result.status is Status.CONVERGED
    assert result.certificate.distinct_columns == k
    assert not result.certificate.collapsed
    assert result.products < 3000


def test_a_block_model_below_the_threshold_converges_and_says_what_noise_explains():
    A, _ = block_model(np.random.default_rng(3), 600, 5, 2, 8)
    result = fit(A, 5)
    assert result.status is Status.CONVERGED
    certificate = result.certificate
    assert certificate.excess > 0.3  # the old rule called this collapsed
    assert certificate.starts == 5
    assert certificate.noise_share > 0.9
    assert "the best of 5 starts; noise explains" in certificate.verdict
    assert dict(certificate.summary())["explained by noise"].endswith("least possible error")


def test_negative_eigenvalues_do_not_collapse():
    """A two-sided graph: every eigenvalue has a negative twin."""
    rng = np.random.default_rng(5)
    half = (rng.uniform(size=(60, 60)) < 0.15).astype(np.float32)
    zero = np.zeros((60, 60), dtype=np.float32)
    result = fit(np.block([[zero, half], [half.T, zero]]), 6, n_init=1)
    assert result.status is Status.CONVERGED
    assert not result.certificate.collapsed


def test_columns_that_coincide_are_a_collapse():
    """The plateau of the paper's matrices, where the published gates are met."""
    b = sn.benchmark_matrix("tpdm", n=1000, seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sn.factorize(b.operator, b.k, "adagrad", published=True, start="uniform")
    assert result.certificate.distinct_columns <= b.k / 2
    assert result.status is Status.COLLAPSED
    assert result.certificate.collapsed


def test_a_fit_that_leaves_the_groups_out_has_not_converged():
    """Nearly one factor: the gradient's gate is met far above the error of a single column."""
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(10), 20)
    days = (
        0.95**0.5 * rng.standard_normal((2000, 1))
        + 0.03**0.5 * rng.standard_normal((2000, 10))[:, group]
        + 0.02**0.5 * rng.standard_normal((2000, 200))
    )
    S = sn.abs_correlation(days)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sn.factorize(S, 10, "adagrad")
        early = sn.factorize(S, 10, "adagrad", max_iter=result.iterations // 2)
    assert result.certificate.excess <= 0.5
    met = [c for c in early.history if c.gates_met and c.error > 1.01 * early.certificate.rank_one]
    assert met, "the matrix does not show the fault: its gate is not met above one column"
    assert not early.certificate.converged
    assert early.status is not Status.CONVERGED


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([[1, 0], [0, 1]], 2),
        ([[1, 0], [0, 0]], 1),  # unused
        ([[1, 1], [1, 1]], 1),  # equal
        ([[1, 1], [0, 0.05]], 1),  # nearly parallel
        ([[1, 1], [0, 0.5]], 2),
    ],
)
def test_distinct_columns(columns, expected):
    assert distinct_columns(torch.tensor(columns, dtype=torch.float32), 0.01) == expected


def test_a_good_fit_of_columns_with_a_common_part_is_not_a_collapse():
    """All columns carry the common factor, so that their cosines are high."""
    b = sn.benchmark_matrix("tpdm", n=100, seed=7)
    result = fit(b.operator, b.k, n_init=1)
    assert result.status is Status.CONVERGED
    assert result.certificate.distinct_columns == b.k


def test_noise_share_of_a_semicircle():
    """Independent entries: the edge is 2σ√n, and every eigenvalue but the first is noise."""
    rng = np.random.default_rng(0)
    noise = rng.uniform(size=(200, 200))
    problem = Problem(as_operator((noise + noise.T) / 2), 6)
    bounds = ErrorBounds(problem.spectrum, 6, torch.float64)
    values = problem.spectrum.values
    gap = float(values[1:6].square().sum()) / problem.S.frob_sq()
    assert bounds.noise_share(bounds.floor[0] + gap) == pytest.approx(1.0)
    assert bounds.noise_share(bounds.floor[0] + 2 * gap) == pytest.approx(0.5)
    assert bounds.noise_share(bounds.floor[0]) is None


def test_signal_is_not_noise():
    S = np.kron(np.eye(4), np.ones((30, 30))) + 0.01
    problem = Problem(as_operator(S), 4)
    bounds = ErrorBounds(problem.spectrum, 4, torch.float64)
    assert bounds.noise_share(0.3) == 0.0


def test_a_solver_without_an_end_game_ends_at_the_criterion():
    S = np.kron(np.eye(3), np.ones((10, 10))) + 0.1
    result = solve(Problem(as_operator(S), 3, 0), make_solver("admm"))
    first = next(c.iteration for c in result.history if c.gates_met)
    assert result.iterations == first
