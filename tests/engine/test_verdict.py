"""The verdict where noise or non-negativity keeps every factor far from the floor."""

import warnings

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.bench.corpus import CORPUS, block_model
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


def edges(n, pairs):
    """The adjacency matrix of pairs of nodes, without loops."""
    A = np.zeros((n, n), dtype=np.float32)
    i, j = pairs
    A[i, j] = A[j, i] = 1
    np.fill_diagonal(A, 0)
    return A


def few_neighbours(rng, n):
    return edges(n, rng.integers(n, size=(2, 2 * n)))


def equal_degrees(rng, n):
    cycles = [np.stack([np.arange(n), rng.permutation(n)]) for _ in range(3)]
    return edges(n, np.concatenate(cycles, axis=1))


def few_hubs(rng, n):
    """A node joins nodes in proportion to their neighbours."""
    ends, pairs = [0, 1], []
    for node in range(2, n):
        for other in set(rng.choice(ends, size=3).tolist()):
            pairs.append((node, other))
            ends += [node, other]
    return edges(n, np.array(pairs).T)


def two_sides(rng, n):
    return edges(n, rng.integers(n // 2, size=(2, 4 * n)) + np.array([[0], [n // 2]]))


def small_world(rng, n):
    i = np.repeat(np.arange(n), 4)
    near = (i + np.tile(np.arange(1, 5), n)) % n
    j = np.where(rng.random(4 * n) < 0.1, rng.integers(n, size=4 * n), near)
    return edges(n, np.stack([i, j]))


def points_of_a_square(rng, n):
    x = rng.random((n, 2))
    distance = ((x[:, None] - x) ** 2).sum(axis=2)
    return edges(n, (distance < np.quantile(distance, 8 / n)).nonzero())


def weights_of_heavy_tail(rng, n):
    weights = rng.pareto(2.5, size=(n, n)).astype(np.float32)
    return few_neighbours(rng, n) * (weights + weights.T)


def a_tree(rng, n):
    above = [int(rng.integers(node)) for node in range(1, n)]
    return edges(n, np.stack([np.arange(1, n), above]))


def half_of_all_edges(rng, n):
    return edges(n, (rng.random((n, n)) < 0.3).nonzero())


def paths_of_two_edges(rng, n):
    A = few_neighbours(rng, n)
    return A @ A


def neighbours_in_other_blocks(rng, n):
    """Fewer edges inside of blocks than between them: groups have negative eigenvalues."""
    return block_model(rng, n, 4, 1, 12)[0]


KINDS = (
    few_neighbours, equal_degrees, few_hubs, two_sides, small_world, points_of_a_square,
    weights_of_heavy_tail, a_tree, half_of_all_edges, paths_of_two_edges,
    neighbours_in_other_blocks,
)  # fmt: skip


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("make", KINDS)
def test_no_kind_of_graph_collapses(make, k):
    """Degrees that are equal, unequal or heavy-tailed, weights, sides, space: nothing coincides."""
    result = fit(make(np.random.default_rng(k), 240), k, n_init=1)
    assert result.status is Status.CONVERGED
    assert result.certificate.distinct_columns == k


def test_counts_and_a_block_model_near_the_threshold_do_not_collapse():
    words = CORPUS["PPMI of words, n = 600"].matrix()[:200, :200]
    blocks = block_model(np.random.default_rng(2), 600, 5, 7, 8)[0]
    for S, k in ((words, 15), (blocks, 5)):
        result = fit(S, k, n_init=1)
        assert result.status is Status.CONVERGED
        assert result.certificate.distinct_columns == k


def test_shares_of_noise_are_written_as_percentages():
    result = fit(few_neighbours(np.random.default_rng(0), 600), 5, n_init=1)
    assert result.certificate.noise_share == 1
    assert "noise explains 100 % of the distance" in result.certificate.verdict


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
