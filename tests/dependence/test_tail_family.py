"""The family of tail estimators against plain loops, other programs and closed forms."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import rankdata

import symnmf as sn
from helpers import dense, golden
from symnmf.data.samples import sp500_prices
from symnmf.dependence.blend import blend, blend_weight
from symnmf.dependence.independence import independence_baseline, independence_level, rearranged
from symnmf.dependence.margins import to_margins
from symnmf.dependence.pairwise_tail import pairwise_tpdm
from symnmf.dependence.tail_shrinkage import thresholded
from symnmf.dependence.tail_weights import tail_weights
from symnmf.dependence.threshold import Threshold, keep_largest
from symnmf.dependence.volatility import ewma_filtered
from symnmf.errors import InvalidInput
from symnmf.numerics import average_ranks, numpy_stream
from symnmf.operators import DenseOperator, GramOperator

FAMILY = ("ramp", "chi", "pairwise", "global")


def double_loop(X, rule, gap=0):
    """The pairwise TPDM by its definition."""
    n = X.shape[1]
    out = np.eye(n)
    for i in range(n):
        for j in range(i):
            radii = np.hypot(X[:, i], X[:, j])
            at = keep_largest(rule.exceedances(radii)[0], radii, gap)
            sizes = np.where(radii[at] > 0, radii[at] ** 2, 1)  # no direction, no weight
            out[i, j] = out[j, i] = 2 * (X[at, i] * X[at, j] / sizes).mean()
    return out


def correlated(T, n, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, (T, n)) + rng.standard_t(3, (T, 1)) * rng.uniform(0, 2, n)
    return np.round(X) if ties else X


RULES = [
    Threshold("q", 0.05),
    Threshold("q", 0.3),
    Threshold("q", 0.9),
    Threshold("quantile", 0.95),
    Threshold("count", 7),
    Threshold("radius", 4.0),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("margins", ["frechet", "pareto", "gpd", "none"])
@pytest.mark.parametrize("rows", ["distinct", "rounded", "repeated", "rounded and repeated"])
@pytest.mark.filterwarnings("ignore:margins='none'")
def test_pairwise_equals_the_double_loop(rule, margins, rows):
    X = correlated(401, 9, ties="rounded" in rows)
    if "repeated" in rows:  # as in the resampled histories of a bootstrap
        X = X[np.random.default_rng(3).integers(401, size=401)]
    X = to_margins(X, margins)
    expected = double_loop(X, rule)
    np.testing.assert_allclose(pairwise_tpdm(X, rule), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gap", [1, 5, 40])
@pytest.mark.parametrize("rule", RULES[:5], ids=str)
def test_pairwise_declusters_each_pair(rule, gap):
    X = to_margins(correlated(300, 6))
    expected = double_loop(X, rule, gap)
    np.testing.assert_allclose(pairwise_tpdm(X, rule, gap), expected, rtol=0, atol=1e-12)


def test_pairs_whose_largest_observations_lie_far_apart_are_done_anew():
    """Margins of different heaviness: the first lists do not hold all exceedances."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((500, 3)) ** -0.2, rng.random((500, 3)) ** -2.0])
    rule = Threshold("q", 0.1)
    np.testing.assert_allclose(pairwise_tpdm(X, rule), double_loop(X, rule), rtol=0, atol=1e-12)


def test_threads_give_the_same_bits():
    X = to_margins(correlated(500, 40))
    rule = Threshold("q", 0.1)
    one = pairwise_tpdm(X, rule)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        np.testing.assert_array_equal(pairwise_tpdm(X, rule), one)
    finally:
        torch.set_num_threads(before)


def test_chi_is_the_tail_dependence_coefficient_of_another_program():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    S = sn.tail_dependence(panel, estimator="chi", q=0.05, dtype=torch.float64)
    assert isinstance(S, GramOperator)
    expected = golden("ge_chi_sp20_losses_p0.95.csv")
    np.testing.assert_allclose(dense(S).numpy(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", ["indicator", "ramp", "exponential"])
@pytest.mark.parametrize("q", [0.1, 0.5])
def test_weights_with_a_plain_loop(weight, q):
    R = correlated(200, 4, ties=True)
    S = sn.tail_dependence(R, estimator="ramp", weight=weight, q=q, dtype=torch.float64,
                           allow_few=True)  # fmt: skip
    B = np.zeros((4, 200))
    for i in range(4):
        u = rankdata(-R[:, i]) / 201
        for t in range(200):
            over = u[t] - (1 - q)
            if over > 1e-12:
                B[i, t] = {"indicator": 1, "ramp": over, "exponential": -np.log((1 - u[t]) / q)}[
                    weight
                ]
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    np.testing.assert_allclose(dense(S).numpy(), B @ B.T, atol=1e-10)
    assert isinstance(S, GramOperator)
    assert len(S.provenance.exceedances) == S.m == S.provenance.events
    np.testing.assert_allclose(S.provenance.radii, torch.linalg.vector_norm(S.B, dim=0))


@pytest.mark.parametrize("estimator", FAMILY)
def test_the_independence_level_is_what_independent_instruments_show(estimator):
    panel = sn.read_panel(np.random.default_rng(1).standard_t(4, (1500, 30)), kind="returns")
    S = sn.tail_dependence(panel, estimator=estimator, q=0.2, dtype=torch.float64)
    mean = (S.mean() * 900 - 30) / 870
    assert independence_level(panel, S.provenance) == pytest.approx(mean, abs=0.004)
    assert independence_baseline(panel, S, draws=3).mean() == pytest.approx(mean, abs=0.006)


def test_rearrangement_keeps_the_values_and_the_recent_past_of_every_series():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2000, 30))
    X = noise.copy()
    for t in range(1, 2000):
        X[t] += 0.8 * X[t - 1]
    X[:, 1:15] = X[:, :1] + 1e-9 * noise[:, 1:15]  # one series fifteen times
    Y = rearranged(X, rng)
    np.testing.assert_array_equal(np.sort(Y, axis=0), np.sort(X, axis=0))
    for j in range(30):
        assert np.corrcoef(Y[1:, j], Y[:-1, j])[0, 1] == pytest.approx(0.8, abs=0.06)
    off = np.corrcoef(Y.T)[~np.eye(30, dtype=bool)]
    assert np.abs(off).max() < 0.35  # no two of the copies are left together


@pytest.mark.parametrize("estimator", ["semicorrelation", "ramp"])
def test_the_baseline_of_ranks_is_that_of_the_estimate_anew(estimator):
    values = correlated(300, 8, ties=True)
    panel = sn.read_panel(values, kind="returns")
    S = sn.tail_dependence(panel, estimator=estimator, q=0.4)
    found = independence_baseline(panel, S, draws=2, seed=3)
    for draw, mean in enumerate(found):
        again = rearranged(panel.values, numpy_stream(3, "independence", draw))
        T = sn.tail_dependence(panel.with_values(again), estimator=estimator, q=0.4)
        assert mean == pytest.approx((T.mean() * 64 - 8) / 56, abs=1e-6)


def test_ranks_are_those_of_scipy_with_ties_signs_of_zero_and_holes():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (40, 6)) * 1.0
    X[:, 1] = rng.normal(size=40)
    X[:, 2] = 0.0
    X[::2, 3] *= -0.0
    X[:5, 4] = np.inf
    X[::3, 5] = np.nan
    np.testing.assert_array_equal(average_ranks(X), rankdata(X, axis=0, nan_policy="omit"))
    assert average_ranks(np.empty((0, 3))).shape == (0, 3)


# ---- missing numbers ----


def brute(R, i, j, estimator, q):
    """The entry of a pair from the rows that both have, as if nothing else existed."""
    both = ~np.isnan(R[:, i]) & ~np.isnan(R[:, j])
    S = sn.tail_dependence(
        R[both][:, [i, j]], estimator=estimator, q=q, dtype=torch.float64, allow_few=True
    )
    return float(dense(S)[0, 1])


@pytest.mark.parametrize("estimator", ["ramp", "chi", "pairwise"])
@pytest.mark.parametrize("ties", [False, True])
def test_missing_numbers_are_left_out_pair_by_pair(estimator, ties):
    R = correlated(300, 6, ties=ties)
    R[:150, 2] = np.nan  # a short history
    R[np.random.default_rng(0).random(R.shape) < 0.03] = np.nan
    R[:, [0, 5]] = correlated(300, 2, seed=5, ties=ties)
    panel = sn.read_panel(R, kind="returns", missing="pairwise")
    S = dense(sn.tail_dependence(panel, estimator=estimator, q=0.2, dtype=torch.float64)).numpy()
    for i in range(6):
        for j in range(i):
            assert S[i, j] == pytest.approx(brute(R, i, j, estimator, 0.2), abs=1e-12)
    assert (np.diag(S) == 1).all()


@pytest.mark.parametrize("estimator", ["ramp", "chi", "pairwise"])
def test_instruments_without_common_rows_are_named(estimator):
    R = correlated(200, 3)
    R[:100, 1] = np.nan
    R[95:, 2] = np.nan
    panel = sn.read_panel(R, kind="returns", missing="pairwise")
    with pytest.raises(InvalidInput, match="'1' and '2' share 0 rows"):
        sn.tail_dependence(panel, estimator=estimator, q=0.3)


# ---- what is done before and after ----


def test_blocks_of_rows_count_once_for_weights():
    R = correlated(400, 5)
    S = sn.tail_dependence(R, estimator="ramp", q=0.5, decluster=4, dtype=torch.float64)
    worst = -(-R).reshape(100, 4, 5).max(axis=1)
    T = sn.tail_dependence(worst, estimator="ramp", q=0.5, dtype=torch.float64)
    np.testing.assert_allclose(dense(S), dense(T))
    assert (S.provenance.exceedances % 4 == 0).all()
    assert any("blocks of 4 rows" in step for step in S.provenance.steps)


def test_ewma_against_pandas():
    X = np.random.default_rng(0).standard_normal((300, 2))
    first = np.square(X[:50]).mean(axis=0)
    squares = pd.DataFrame(np.vstack([first, np.square(X)]))
    sigma = np.sqrt(squares.ewm(alpha=0.06, adjust=False).mean().to_numpy()[:-1])
    np.testing.assert_allclose(ewma_filtered(X), X / sigma)
    quiet = np.concatenate([X, np.zeros((500, 2)), X])
    assert np.isfinite(ewma_filtered(quiet)).all()
    S = sn.tail_dependence(X, volatility="ewma", estimator="ramp")
    assert "volatility" in S.provenance.steps[0]
    with pytest.raises(InvalidInput, match="decay"):
        ewma_filtered(X, 1.0)


def test_ewma_removes_common_volatility():
    """Independent shocks with one volatility crash together; after the filter hardly more."""
    rng = np.random.default_rng(2)
    log_sigma = np.zeros(4000)
    for t in range(1, 4000):
        log_sigma[t] = 0.99 * log_sigma[t - 1] + 0.12 * rng.standard_normal()
    R = np.exp(log_sigma)[:, None] * rng.standard_normal((4000, 6))

    def above(volatility):
        S = sn.tail_dependence(R, estimator="chi", q=0.05, volatility=volatility)
        return (S.mean() * 36 - 6) / 30 - 0.05

    assert above("none") > 0.05
    assert above("ewma") < 0.4 * above("none")


def test_thresholds():
    S = torch.tensor([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]], dtype=torch.float64)
    soft = thresholded(S, 0.2)
    assert soft[0, 1] == pytest.approx(0.3)
    assert soft[0, 2] == soft[1, 2] == 0
    adaptive = thresholded(S, 0.2, "adaptive")
    assert adaptive[0, 1] == pytest.approx(0.5 - 0.2 * (0.2 / 0.5) ** 2)
    assert (soft.diagonal() == 1).all()
    R = correlated(500, 4)
    given = sn.tail_dependence(R, estimator="ramp", shrinkage=0.1, dtype=torch.float64)
    plain = sn.tail_dependence(R, estimator="ramp", dtype=torch.float64)
    np.testing.assert_allclose(dense(given), thresholded(dense(plain), 0.1))
    with pytest.raises(InvalidInput, match="shrinkage"):
        sn.tail_dependence(R, shrinkage=1.5, q=0.2)
    with pytest.raises(InvalidInput, match="shrinkage"):
        sn.tail_dependence(R, shrinkage="hard", q=0.2)


@pytest.mark.parametrize("kind", ["soft", "adaptive"])
def test_cross_validation_removes_chance_and_keeps_dependence(kind):
    rng = np.random.default_rng(0)
    R = rng.standard_t(4, (1500, 20))
    R[:, :5] += 2 * rng.standard_t(4, (1500, 1))  # one group of five, fifteen independent
    S = dense(sn.tail_dependence(R, estimator="pairwise", q=0.05, dtype=torch.float64))
    T = dense(
        sn.tail_dependence(R, estimator="pairwise", q=0.05, shrinkage=kind, dtype=torch.float64)
    )
    truth = torch.zeros(20, 20, dtype=torch.float64)
    truth[:5, :5] = 1
    off = ~torch.eye(20, dtype=torch.bool)
    assert float(T[off & (truth > 0)].mean()) > 3 * float(T[off & (truth == 0)].mean())
    assert float(S[off & (truth == 0)].mean()) >= float(T[off & (truth == 0)].mean())


def test_baseline_is_removed():
    R = np.random.default_rng(0).standard_t(4, (2000, 10))
    S = sn.tail_dependence(R, estimator="chi", q=0.3, shrinkage="baseline", dtype=torch.float64)
    assert float((dense(S).sum() - 10) / 90) < 0.03
    assert any("0.3, removed" in step for step in S.provenance.steps)


def test_blends():
    R = correlated(300, 5)
    A = sn.tail_dependence(R, estimator="ramp", dtype=torch.float64)
    B = sn.tail_dependence(R, estimator="chi", dtype=torch.float64)
    both = blend(A, B, 0.3)
    assert isinstance(both, GramOperator)
    np.testing.assert_allclose(dense(both), 0.3 * dense(A) + 0.7 * dense(B))
    C = DenseOperator(sn.abs_correlation(R, dtype=torch.float64).to_dense())
    np.testing.assert_allclose(dense(blend(A, C, 0.3)), 0.3 * dense(A) + 0.7 * dense(C))
    with pytest.raises(InvalidInput, match="weight"):
        blend(A, B, 1.2)
    with pytest.raises(InvalidInput, match="second"):
        blend(A, sn.tail_dependence(R[:, :3], estimator="ramp"), 0.5)


def test_hold_out_gives_the_better_matrix_the_weight():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 5)
    panel = sn.read_panel(
        rng.standard_normal((600, 20)) + 1.5 * rng.standard_normal((600, 4))[:, groups],
        kind="returns",
    )

    def noise(rows):
        X = np.random.default_rng(len(rows.values)).standard_normal((200, 20))
        return sn.abs_correlation(X, dtype=torch.float64)

    assert blend_weight(panel, sn.abs_correlation, noise) > 0.6
    assert blend_weight(panel, noise, sn.abs_correlation, target=sn.abs_correlation) < 0.4


def test_positive_part_of_correlation():
    X = np.random.default_rng(0).standard_normal((400, 6))
    X[:, 1] -= 2 * X[:, 0]
    S = dense(sn.abs_correlation(X, negative="zero", shrinkage="none", dtype=torch.float64))
    np.testing.assert_allclose(S, np.maximum(np.corrcoef(X.T), 0), atol=1e-12)
    X[3, 2] = np.nan
    panel = sn.read_panel(X, kind="returns", missing="pairwise")
    S = dense(sn.abs_correlation(panel, negative="zero", dtype=torch.float64)).numpy()
    np.testing.assert_allclose(S, np.maximum(pd.DataFrame(X).corr(), 0), atol=1e-12)
    with pytest.raises(InvalidInput, match="negative"):
        sn.abs_correlation(panel, negative="hedge")


def test_weights_are_a_choice():
    u = np.array([0.5, 0.9, 0.99])
    np.testing.assert_allclose(tail_weights(u, 0.2, "indicator"), [0, 1, 1])
    np.testing.assert_allclose(tail_weights(u, 0.2, "ramp"), [0, 0.5, 0.95])
    np.testing.assert_allclose(tail_weights(u, 0.2, "exponential"), [0, np.log(2), np.log(20)])


# ---- windows ----


@pytest.mark.filterwarnings("ignore:in . of . windows")
@pytest.mark.parametrize("options", [{"estimator": "ramp"}, {"estimator": "chi", "tail": "upper"}])
def test_windows_of_ranks_give_the_estimate_of_the_window(options):
    panel = sn.read_panel(correlated(400, 8, ties=True), kind="returns")
    found = sn.rolling(panel, 200, 150, 2, q=0.4, n_init=1, **options)
    for window in found.windows:
        rows = panel.rows(window.begin, window.stop)
        S = sn.tail_dependence(rows, q=0.4, **options)
        error = window.result.certificate.error
        H = window.result.H
        gap = float((dense(S) - H.double() @ H.double().T).square().sum() / S.frob_sq())
        assert error == pytest.approx(gap, abs=1e-6)
