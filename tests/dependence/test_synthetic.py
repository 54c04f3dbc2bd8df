"""Benchmark matrices: the recipe, the shared truth, and draws that never change."""

import hashlib

import numpy as np
import pytest
import torch

from helpers import SEEDS, dense, market
from symnmf.dependence.synthetic.in_memory import benchmark_matrix, gaussian_scores, unit_rows
from symnmf.dependence.synthetic.model import ROWS, FactorModel, pareto
from symnmf.errors import InvalidInput, UnknownName
from symnmf.numerics import numpy_stream
from symnmf.operators import GramOperator


def test_both_kinds_share_the_truth():
    a, b = market("tpdm", 1000), market("corr", 1000)
    for name in ("labels", "mixing", "permutation"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.k == b.k == 31
    other = benchmark_matrix("tpdm", 100, seed=8, samples=1000)
    assert not np.array_equal(other.labels, market("tpdm", 100).labels)


@pytest.mark.parametrize("seed", SEEDS)
def test_recipe_of_the_mixing_matrix(seed):
    b = market("tpdm", 1000, seed)
    A, labels = b.mixing, b.labels
    assert A.shape == (1000, 32)
    assert A.min() >= 0
    assert A[:, 0].mean() == pytest.approx(0.8, abs=0.02)
    assert A[:, 0].std() == pytest.approx(0.15, abs=0.02)
    own = A[np.arange(1000), labels + 1]
    assert own.min() >= 0.6
    assert own.max() <= 1.8
    rest = A[:, 1:].copy()
    rest[np.arange(1000), labels] = np.nan
    assert np.nanmean(rest > 0) == pytest.approx(0.5, abs=0.02)
    assert np.nanmean(rest**2) == pytest.approx(0.05**2 / 2, rel=0.05)
    weights = numpy_stream(seed, "groups").uniform(
        0.6, 1.4, 31
    )  # ±40 %, before they are normalized
    sizes = np.bincount(labels, minlength=31)
    assert np.abs(sizes - 1000 * weights / weights.sum()).max() < 1
    assert np.linalg.matrix_rank(A) == 32
    assert not np.array_equal(labels, np.sort(labels))
    np.testing.assert_array_equal(labels[np.argsort(b.permutation)], np.sort(labels))


def test_matrices_are_dependence_matrices():
    for kind in ("tpdm", "corr"):
        S = dense(market(kind, 100).operator)
        torch.testing.assert_close(S.diagonal(), torch.ones(100).double(), rtol=1e-6, atol=0)
        assert float(S.min()) >= 0
        assert float(S.max()) <= 1 + 1e-6
    assert isinstance(market("tpdm", 100).operator, GramOperator)
    assert market("tpdm", 100).operator.m == 400


def test_tpdm_against_a_plain_construction():
    """The two-pass draw equals drawing everything, sorting radii, and forming the matrix."""
    model, samples = FactorModel.draw(300, 5), 2000
    from symnmf.numerics import numpy_stream

    Z = pareto(numpy_stream(5, "pareto factors"), model.k + 1, samples)
    X = []
    for block, rows in model.blocks():
        noise = pareto(numpy_stream(5, "pareto noise", block), samples, ROWS).T
        X.append(model.mixing(block) @ Z + 0.3 * noise[: rows.stop - rows.start])
    X = np.concatenate(X)
    radii = np.linalg.norm(X, axis=0)
    top = np.sort(np.argsort(-radii)[:20])
    expected = X[:, top] / radii[top]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(unit_rows(model, samples, torch.float64), expected, rtol=1e-12)


def test_correlation_against_numpy():
    model = FactorModel.draw(300, 5)
    scores, _ = gaussian_scores(model, 2000)
    b = benchmark_matrix("corr", 300, seed=5, samples=20_000)
    population = b.mixing @ b.mixing.T + np.eye(300)
    scale = 1 / np.sqrt(population.diagonal())
    np.testing.assert_allclose(b.operator.S, scale[:, None] * population * scale, atol=0.03)
    torch.testing.assert_close(scores.mean(dim=1), torch.zeros(300), rtol=0, atol=1e-5)


def test_shrinkage_only_where_the_paper_has_it():
    b = benchmark_matrix("corr", 150, seed=1, samples=1000)
    scores, _ = gaussian_scores(FactorModel.draw(150, 1), 1000)
    plain = np.abs(np.corrcoef(scores.double()))
    off = ~np.eye(150, dtype=bool)
    ratio = b.operator.S.numpy()[off] / plain[off]
    assert ratio.std() < 1e-4
    assert 0.9 < ratio.mean() < 0.9999
    unshrunk = benchmark_matrix("corr", 50, seed=1, samples=1000).operator.S
    scores, _ = gaussian_scores(FactorModel.draw(50, 1), 1000)
    np.testing.assert_allclose(unshrunk, np.abs(np.corrcoef(scores.double())), atol=1e-6)


def digest(array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def test_draws_are_bit_identical_forever():
    """Frozen digests: a change here changes every published figure."""
    model = FactorModel.draw(300, 7)
    from symnmf.numerics import numpy_stream

    assert digest(model.labels) == "0cf8f156e99e5974"
    assert digest(model.mixing(0)) == "5f8e24c05be1fd05"
    assert digest(pareto(numpy_stream(7, "pareto noise", 1), 10, ROWS)) == "3e7fd188355f943e"
    normals = numpy_stream(7, "normal noise", 1).standard_normal((ROWS, 100))
    assert digest(normals) == "6b68fd80a6d938c9"


def test_matrix_does_not_depend_on_threads():
    before = torch.get_num_threads()
    made = {}
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for kind in ("tpdm", "corr"):
                made[kind, threads] = dense(
                    benchmark_matrix(kind, 300, seed=3, samples=4000).operator
                )
    finally:
        torch.set_num_threads(before)
    for kind in ("tpdm", "corr"):
        torch.testing.assert_close(made[kind, 1], made[kind, 2], rtol=0, atol=1e-6)


def test_bad_arguments():
    with pytest.raises(UnknownName, match="'cor'.*tpdm or corr"):
        benchmark_matrix("cor", 100)
    with pytest.raises(InvalidInput, match="n: got 3"):
        benchmark_matrix("corr", 3)
    with pytest.raises(InvalidInput, match="samples: got 50"):
        benchmark_matrix("tpdm", 100, samples=50)
