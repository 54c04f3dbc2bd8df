"""The sketched solver: on the paper's matrices, on real data, and on matrices made to be hard."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import rankdata
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from helpers import SEEDS, SHARED, US_STOCKS, blocks, market
from symnmf.core.labels import hard_labels
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.dependence.correlation import abs_correlation_of_scores
from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.removal import standardize
from symnmf.engine import solve
from symnmf.errors import AmbiguousWarning, InvalidInput, NotConvergedWarning
from symnmf.planning.tuning import starts_agree
from symnmf.solvers.column_exchange import exchange_column
from symnmf.solvers.registry import make_solver
from symnmf.solvers.sketch_phases import Starts
from symnmf.solvers.sketched import Sketched


def fit(S, k, **options):
    result = solve(Problem(sn.as_operator(S), k), make_solver("sketched", **options))
    assert result.status is Status.CONVERGED
    return result


def ari(a, b):
    return adjusted_rand_score(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])]
)
@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_reaches_the_floor_and_the_groups(kind, seed):
    b = market(kind, 1000, seed)
    result = fit(b.operator, b.k)
    assert result.certificate.excess <= 0.001
    assert ari(b.labels, result.labels()) >= 0.99
    assert result.products <= 24


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_correlation_of_ten_thousand(seed):
    b = market("corr", 10_000, seed)
    result = fit(b.operator, b.k)
    assert result.certificate.excess <= 0.001
    assert ari(b.labels, result.labels()) >= 0.995
    assert result.products <= 20
    assert fit(b.operator, 25).certificate.excess <= 0.02
    market.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_tail_dependence_of_ten_thousand(seed):
    b = market("tpdm", 10_000, seed)
    result = fit(b.operator, b.k)
    truth = torch.eye(b.k)[torch.from_numpy(b.labels)] * 0.6 + 0.08
    from_truth = solve(Problem(b.operator, b.k, 0, truth), Sketched())
    found = ari(b.labels, result.labels())
    assert result.certificate.excess <= 0.005
    assert found >= 0.95
    assert found >= 0.98 * ari(b.labels, from_truth.labels())
    assert fit(b.operator, 25).certificate.excess <= 0.02


@pytest.fixture(scope="module")
def stocks():
    return pd.read_parquet(SHARED / US_STOCKS).dropna(axis=1).to_numpy()


def tail_of(returns, q=0.05):
    u = np.apply_along_axis(rankdata, 0, -returns) / (len(returns) + 1)
    frechet = (-np.log(u)) ** -0.5
    radii = np.linalg.norm(frechet, axis=1)
    kept = radii > np.quantile(radii, 1 - q)
    angles = frechet[kept] / radii[kept, None]
    return unit_diagonal_gram(torch.from_numpy(angles.T.copy()), torch.float32)


@pytest.mark.shared_data
@pytest.mark.parametrize("k", [5, *(pytest.param(k, marks=pytest.mark.slow) for k in (11, 25))])
def test_crashes_of_stocks(stocks, k):
    S = tail_of(stocks)
    result = fit(S, k, n_init=4)
    assert result.certificate.excess <= 0.02
    assert result.certificate.factors_explained == k
    if k == 11:  # a good fit, but four starts find other groups
        assert result.certificate.agreement < 0.7
        assert result.certificate.excess < 0.001
        assert "fit good, groups ambiguous" in result.certificate.verdict


@pytest.mark.slow
@pytest.mark.shared_data
def test_moves_of_stocks(stocks):
    scores = standardize(torch.from_numpy(stocks.T.copy()))
    fourth = float(scores.square().sum(dim=0).square().sum())
    S = abs_correlation_of_scores(scores, fourth, torch.float32)
    for k in (5, 11, 25, 60):
        assert fit(S, k).certificate.excess <= 0.02


def test_large_and_small_groups():
    S, labels = blocks([1000, 1000, *[10] * 8], 0.01)
    result = fit(S, 10)
    assert result.certificate.excess <= 0.001
    assert ari(labels, result.labels()) > 0.99


def test_more_and_fewer_factors_than_groups():
    S, labels = blocks([50] * 5, 0.1)
    assert fit(S, 12).certificate.excess <= 0.02
    fewer = fit(S, 3)
    assert fewer.certificate.excess <= 0.02
    assert fewer.certificate.factors_explained == 3
    assert ari(labels, fit(S, 5).labels()) == 1


def test_a_row_of_zeros_gets_zero_loadings():
    S, labels = blocks([40] * 4, 0.1)
    S[5] = S[:, 5] = 0
    result = fit(S, 4)
    assert float(result.H[5].max()) < 1e-6
    assert result.labels()[5] == -1
    assert ari(np.delete(labels, 5), np.delete(result.labels().numpy(), 5)) == 1


@pytest.mark.parametrize("k", [14, 24])
def test_fewer_rows_than_twice_the_factors(k):
    S, _ = blocks([6] * 4, 0.1)
    assert fit(S, k).certificate.excess <= 0.02


def noise(n, rng):
    return np.abs(np.corrcoef(rng.normal(size=(n, 60))))


def graph(n, rng):
    upper = np.triu(rng.random((n, n)) < 0.1, 1)
    return (upper | upper.T).astype(float)


@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
@pytest.mark.filterwarnings("ignore::symnmf.errors.CollapsedWarning")
@pytest.mark.parametrize("make", [noise, graph])
def test_indefinite_matrices_against_twenty_starts_of_admm(make):
    S = make(150, np.random.default_rng(3)).astype(np.float32)
    ours = sn.factorize(S, 8, n_init=5, max_iter=4000)
    theirs = [
        solve(Problem(sn.as_operator(S), 8, seed), make_solver("admm"), max_iter=1000)
        for seed in range(20)
    ]
    best = min(r.certificate.error for r in theirs)
    assert ours.certificate.error <= 1.01 * best


def test_raw_argmax_follows_the_largest_column():
    """A factor with hardly any excess whose raw argmax is worthless: the common column wins."""
    b = market("tpdm", 1000)
    result = sn.factorize(b.operator, b.k, "admm", start="nndsvd")
    assert result.certificate.excess < 1e-3
    assert ari(b.labels, result.H.argmax(dim=1)) < 0.3
    assert ari(b.labels, result.labels()) > 0.95


def test_agreement_tells_clear_groups_from_arbitrary_ones():
    b = market("corr", 1000)
    clear = sn.factorize(b.operator, b.k, n_init=5)
    one = sn.factorize(b.operator, b.k, n_init=1)
    assert clear.certificate.agreement > 0.95
    assert one.certificate.agreement is None
    assert clear.products <= one.products + 3  # starts cost no products of S
    S, _ = blocks([50] * 5, 0.1)
    with pytest.warns(AmbiguousWarning, match="choose another k"):
        arbitrary = sn.factorize(S, 12, n_init=5).certificate
    assert arbitrary.ambiguous
    assert "groups ambiguous" in arbitrary.verdict
    full = sn.factorize(b.operator, b.k, "admm", n_init=3)
    assert full.solver == "admm"
    assert full.certificate.agreement > 0.95


def test_an_exchange_repairs_a_merged_and_a_split_group():
    S, labels = blocks([30] * 4, 0.0)
    T = sn.as_operator(S)
    H = torch.zeros(120, 4)
    groups = torch.from_numpy(labels)
    H[(groups == 0) | (groups == 1), 0] = 0.7  # merged
    H[groups == 2, 1] = H[groups == 2, 2] = 0.6  # split
    H[groups == 3, 3] = 0.9
    moved = exchange_column(T, H, torch.Generator().manual_seed(0))

    work = Sketched().work(Problem(T, 4))
    stuck, freed = work.trial(H), work.trial(moved)
    assert freed.excess < 0.2 * stuck.excess
    assert ari(labels, hard_labels(freed.H)[0]) == 1 > ari(labels, hard_labels(stuck.H)[0])
    H[:, 1] = 0  # an empty column is the first to go
    filled = exchange_column(T, H, torch.Generator().manual_seed(0))
    assert float(filled[:, 1].norm()) > 0
    torch.testing.assert_close(filled[:, [0, 2, 3]], H[:, [0, 2, 3]])


def test_one_good_start_agrees_with_nobody():
    b = market("corr", 100)
    state = Sketched(n_init=3).init_state(Problem(b.operator, b.k))
    labels = torch.tensor([[0, 0, 1], [0, 1, 1], [1, 0, 1]], dtype=torch.int32)
    alone = dataclasses.replace(state, starts=Starts(labels, (0.0, 0.05, 0.2), None, (), ()))
    assert Sketched().agreement(alone) is None
    two = dataclasses.replace(state, starts=Starts(labels, (0.0, 0.005, 0.2), None, (), ()))
    assert Sketched().agreement(two) < 1


def test_agreement_of_another_solver_keeps_to_the_time():
    b = market("corr", 1000)
    problem = Problem(b.operator, b.k)
    assert starts_agree(problem, 3, max_seconds=0.0) is None  # no start was done
    assert starts_agree(problem, 3) > 0.9
    with pytest.warns(NotConvergedWarning):
        result = sn.factorize(b.operator, b.k, "adagrad", n_init=2, max_seconds=0.05)
    assert result.certificate.agreement is None


def test_many_rows_of_zeros_do_not_become_groups():
    S, labels = blocks([20] * 5, 0.05)
    wide = np.zeros((400, 400), dtype=np.float32)
    wide[:100, :100] = S
    result = fit(wide, 5)
    assert ari(labels, result.labels()[:100]) == 1
    assert (result.labels()[100:] == -1).all()


@pytest.mark.parametrize("steps", [1, 5, 8, 26, 40, 60])
def test_stopped_in_the_middle_it_keeps_what_it_has(steps):
    b = market("corr", 1000)
    result = solve(Problem(b.operator, b.k), Sketched(n_init=5), max_iter=steps)
    assert result.status is Status.MAX_ITER
    # The best seed or start so far, not the random start nor the seed that is being tried.
    assert result.certificate.excess < (0.1 if steps < 26 else 0.001)


def test_wrong_number_of_starts():
    with pytest.raises(InvalidInput, match=r"n_init: got 0"):
        make_solver("sketched", n_init=0)
    with pytest.raises(InvalidInput, match=r"n_init: got 1.5"):
        sn.factorize(market("corr", 100).operator, 10, n_init=1.5)
