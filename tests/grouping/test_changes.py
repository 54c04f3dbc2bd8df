"""Whether a change is real: false alarms, planted breaks, chance, periods, and weights."""

import itertools

import numpy as np
import pytest

import symnmf as sn
from symnmf.bench.measurements.changes import simulated_history
from symnmf.dependence.resampling import shuffled_blocks
from symnmf.dependence.weighted_rows import (
    effective_rows,
    exponential_weights,
    weighted_dependence,
    weighted_ranks,
)
from symnmf.errors import InvalidInput
from symnmf.grouping.block_profiles import BlockProfiles, stationary_scores
from symnmf.grouping.break_search import named_movers, usable_windows
from symnmf.grouping.break_test import block_length, change_test
from symnmf.grouping.two_periods import compare_periods, joined, rows_between
from symnmf.grouping.window_changes import changes_of_windows, moves_when_shuffled


def test_profiles_are_correlations_with_the_other_members():
    """Against numpy's correlation with the mean of the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 7)) + rng.normal(size=(90, 1))
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    made = BlockProfiles(X, labels, 2, block=15)
    chosen = np.array([[0, 1, 1, 0, 0, 1], [2, 0, 0, 1, 0, 0]])
    found = made.over(chosen)
    for at, counts in enumerate(chosen):
        rows = np.concatenate(
            [np.arange(15 * b, 15 * b + 15).repeat(c) for b, c in enumerate(counts)]
        )
        for i in range(7):
            for g in range(2):
                others = [j for j in range(7) if labels[j] == g and j != i]
                truth = np.corrcoef(X[rows, i], X[rows][:, others].mean(axis=1))[0, 1]
                assert found.values[at, i, g] == pytest.approx(truth, abs=1e-4)
    hedged = X * np.where(np.arange(7) == 1, -1, 1)
    signed = BlockProfiles(hedged, labels, 2, block=15, signed=True).over(chosen)
    np.testing.assert_allclose(signed.values, np.abs(found.values), atol=1e-4)


def test_scores_do_not_change_with_the_volatility():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[1000:] *= 10
    scores = stationary_scores(X, "correlation", {})
    assert scores[1050:].std() == pytest.approx(scores[:1000].std(), rel=0.1)
    X[5, 1] = np.nan
    again = stationary_scores(X, "tail", {})
    assert again[5, 1] == 0
    assert np.abs(again.mean(axis=0)).max() < 1e-3
    worst = stationary_scores(X, "tail", {})[:, 0].argmax()
    assert X[worst, 0] < 0  # the lower tail by default


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_a_planted_break_is_found_and_its_movers_are_named(dependence):
    panel = sn.read_panel(simulated_history("GARCH", 1.5, 4, 1), kind="returns")
    begins = np.arange(0, 901, 30)
    tested = changes_of_windows(panel, begins, 300, 4, dependence, {}, seed=1)
    (found,) = tested.breaks
    assert abs(begins[found.window] - 600) <= 60
    named = {panel.names[tested.columns[i]] for i in named_movers(found.test, 0)}
    assert len(named & {"0", "1", "2", "3"}) >= 3
    assert len(named) <= 5
    assert tested.p_value.min() == found.p_value <= 0.02


@pytest.mark.parametrize("number", [0, 4])
def test_a_break_of_many_instruments_is_found_in_a_short_history(number):
    """Four windows of history: pairs of a window's length alone gave p-values of 4 to 6 %."""
    panel = sn.read_panel(simulated_history("GARCH", 2.0, 8, number), kind="returns")
    begins = np.arange(0, 901, 30)
    tested = changes_of_windows(panel, begins, 300, 4, "correlation", {}, seed=number)
    assert [int(begins[found.window]) for found in tested.breaks] == [600]
    assert len(named_movers(tested.breaks[0].test, 0)) >= 7


def test_two_breaks_are_found_one_after_the_other():
    first, second = (simulated_history("normal", 1.5, 8, 3, rows) for rows in (1200, 1200))
    values = np.vstack((first, second[::-1]))  # the movers go and come back
    panel = sn.read_panel(values, kind="returns")
    begins = np.arange(0, 2101, 60)
    tested = changes_of_windows(panel, begins, 300, 4, "correlation", {}, seed=0)
    assert [int(begins[found.window]) for found in tested.breaks] == [600, 1800]
    for found in tested.breaks:
        assert {int(i) for i in named_movers(found.test, 0)} >= set(range(7))


def test_families_of_pairs_share_one_rate_of_false_alarms():
    """Against the definition, with the same shuffles: the smallest p-value against its own law."""
    rng = np.random.default_rng(4)
    made = BlockProfiles(rng.normal(size=(200, 8)), np.arange(8) % 2, 2, block=10)
    at, edges = np.arange(20), np.array([[8], [10], [12]])
    near = (at >= edges - 5) & (at < edges), (at >= edges) & (at < edges + 5)
    whole = at < edges, at >= edges
    first, second = np.vstack((near[0], whole[0])), np.vstack((near[1], whole[1]))
    family = np.repeat([0, 1], 3)
    found = change_test(made, first, second, families=family, draws=39, seed=2)
    alone = [change_test(made, *pair, draws=39, seed=2) for pair in (near, whole)]
    single = np.concatenate([test.p_value for test in alone])
    assert (found.p_value >= single - 1e-12).all()
    assert (found.p_value <= np.minimum(1, 2 * single) + 1e-12).all()  # not above Bonferroni's
    np.testing.assert_allclose(
        found.statistic, np.concatenate([test.statistic for test in alone]), rtol=1e-6
    )


def test_shuffled_stretches_overlap_as_the_windows_do():
    """Every stretch is fitted once; each differs from the one before as the windows differ."""
    panel = sn.read_panel(np.random.default_rng(1).normal(size=(300, 2)), kind="returns")
    result = sn.factorize(np.ones((2, 2)), 1)
    seen = []

    def fit(rows, before):
        assert (before is None) == (not seen)
        seen.append(set(rows.values[:, 0].tolist()))
        return result

    rows = np.arange(100), np.arange(20, 120)
    rng = np.random.default_rng(0)
    assert moves_when_shuffled(panel, *rows, fit, rng, 3) == (0, 0, 0)
    assert [len(one) for one in seen] == [100] * 4
    assert all(len(one & two) == 80 for one, two in itertools.pairwise(seen))
    assert len({frozenset(one) for one in seen}) == 4
    assert set().union(*seen) == set(panel.values[:120, 0].tolist())
    seen.clear()
    apart = np.arange(100), np.arange(150, 250)  # two stretches without a common day
    assert moves_when_shuffled(panel, *apart, fit, rng, 3) == (0,)
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("kind", ["slow volatility"])
def test_few_histories_without_a_change_alarm(kind):
    begins = np.arange(0, 901, 60)
    hits = 0
    for number in range(8):
        panel = sn.read_panel(simulated_history(kind, 3.0, 0, 50 + number), kind="returns")
        tested = changes_of_windows(panel, begins, 300, 4, "correlation", {}, draws=99)
        hits += len(tested.breaks) > 0
    assert hits <= 2  # at most 5 % are expected; three or more of 8 have a chance below 1 %


def test_the_limit_is_that_of_the_largest_change():
    """p-values against the definition, with the same shuffles."""
    rng = np.random.default_rng(3)
    made = BlockProfiles(rng.normal(size=(240, 8)), np.arange(8) % 2, 2, block=10)
    at, edges = np.arange(made.count), np.arange(6, 19, 2)[:, None]
    first, second = (at >= edges - 6) & (at < edges), (at >= edges) & (at < edges + 6)
    found = change_test(made, first, second, draws=19, seed=5)
    one, two = made.over(first), made.over(second)
    for pair in range(len(first)):
        for i in range(8):
            a, b = one.groups[pair, i], two.groups[pair, i]
            gain = two.values[pair, i, b] - two.values[pair, i, a]
            loss = one.values[pair, i, a] - one.values[pair, i, b]
            assert found.scores[pair, i] == pytest.approx(gain + loss, abs=1e-6)
    assert found.p_value.min() >= 1 / 20
    order = np.argsort(-found.statistic)
    assert (np.diff(found.p_value[order]) >= 0).all()
    with pytest.raises(InvalidInput, match="draws"):
        change_test(made, first, second, draws=0)


def test_blocks():
    assert block_length(1000) == 200
    assert sorted(shuffled_blocks(100, np.random.default_rng(0), 21)) == list(range(100))
    assert usable_windows(np.array([0, 40, 60, 95]), 40, 10, 10).tolist() == [1, 2]
    assert len(usable_windows(np.arange(0, 9000, 10), 40, 10, 1000)) == 60


def test_two_periods():
    values = simulated_history("normal", 1.5, 3, 0)
    panel = sn.read_panel(values, kind="returns")
    at = np.arange(len(values))
    changed = compare_periods(panel, at[:600], at[600:], 4, "correlation")
    assert changed.p_value <= 0.02
    assert {"0", "1", "2"} >= set(changed.movers) != set()
    same = compare_periods(panel, at[:300], at[300:600], 4, "correlation")
    assert same.p_value > 0.05
    assert same.movers == ()
    over = compare_periods(panel, at[:600], at[100:700], 4, "correlation")
    assert over.shared == pytest.approx(500 / 600)
    with pytest.raises(InvalidInput, match="rows"):
        compare_periods(panel, at[:600], at[:600], 4, "correlation")


def test_panels_are_joined_by_date():
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.normal(size=(60, 3)), pd.date_range("2020-01-01", periods=60), list("abc")
    )
    old = sn.read_panel(table.iloc[:40], kind="returns")
    new = sn.read_panel(table.iloc[20:][["c", "a"]].assign(d=rng.normal(size=40)), kind="returns")
    both = joined(old, new)
    assert both.names == ("c", "a")
    assert len(both.values) == 60
    np.testing.assert_array_equal(both.values, table[["c", "a"]].to_numpy())
    assert rows_between(both, "2020-01-02", "2020-01-04").tolist() == [1, 2, 3]


def test_weights_of_rows():
    """Equal weights give the estimates without weights; weights equal repeated rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) + 0.5 * rng.normal(size=(200, 1))
    panel = sn.read_panel(X, kind="returns")
    plain = weighted_dependence("correlation", panel, np.ones(200), {}).to_dense().numpy()
    np.testing.assert_allclose(plain, np.abs(np.corrcoef(X.T)), atol=1e-6)
    twice = np.where(np.arange(200) < 100, 1.0, 2.0)
    weighted = weighted_dependence("correlation", panel, twice, {}).to_dense().numpy()
    repeated = np.abs(np.corrcoef(np.vstack([X, X[100:]]).T))
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)
    tail = weighted_dependence("tail", panel, np.ones(200), {}).to_dense().numpy()
    fresh = sn.tail_dependence(panel, estimator="semicorrelation").to_dense().numpy()
    np.testing.assert_allclose(tail, fresh, atol=0.02)  # ranks are (r − ½)/T, not r/(T + 1)
    share = twice / twice.sum()
    ranks = weighted_ranks(X, share)
    again = weighted_ranks(np.vstack([X, X[100:]]), np.full(300, 1 / 300))
    np.testing.assert_allclose(ranks, again[:200], atol=1e-12)
    weights = exponential_weights(500, 50)
    assert weights[-1] / weights[-51] == pytest.approx(2)
    assert effective_rows(weights) == pytest.approx(2 * 50 / np.log(2), rel=0.02)
    with pytest.raises(InvalidInput, match="half_life"):
        exponential_weights(10, 0)
    with pytest.raises(InvalidInput, match="shrinkage"):
        sn.rolling(panel, 100, 100, 2, "correlation", half_life=20, shrinkage="none")


def test_recent_rows_count_more():
    """A change in the last fifth of a window shows with weights and not without."""
    rng = np.random.default_rng(2)
    f = rng.normal(size=(500, 2))
    groups = np.repeat([0, 1], 5)
    X = f[:, groups] + 0.5 * rng.normal(size=(500, 10))
    X[400:, 0] = f[400:, 1] + 0.5 * rng.normal(size=100)
    labels = [
        sn.rolling(X, 500, 500, 2, "correlation", half_life=h, draws=0).labels()[0]
        for h in (None, 40)
    ]
    assert labels[0][0] == labels[0][1]
    assert labels[1][0] == labels[1][9]
