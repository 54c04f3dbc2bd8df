"""Whether a change is real: false alarms, planted breaks, chance, periods, and weights."""

import numpy as np
import pytest

import symnmf as sn
from symnmf.bench.measurements.changes import simulated_history
from symnmf.dependence.weighted_rows import (
    effective_rows,
    exponential_weights,
    weighted_dependence,
    weighted_ranks,
)
from symnmf.errors import InvalidInput
from symnmf.grouping.block_profiles import BlockProfiles, stationary_scores
from symnmf.grouping.break_test import adjacent_stretches, block_length, change_test
from symnmf.grouping.two_periods import compare_periods, joined, rows_between
from symnmf.grouping.window_changes import (
    break_places,
    changes_of_windows,
    named_movers,
    shuffled_blocks,
)


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
    usable, found, columns, _ = changes_of_windows(panel, begins, 300, 4, dependence, {}, seed=1)
    (place,) = break_places(found, begins[usable], 300)
    assert abs(begins[usable[place]] - 600) <= 60
    named = {panel.names[columns[i]] for i in named_movers(found, place)}
    assert len(named & {"0", "1", "2", "3"}) >= 3
    assert len(named) <= 5
    assert found.p_value.min() <= 0.02


@pytest.mark.parametrize("kind", ["slow volatility"])
def test_few_histories_without_a_change_alarm(kind):
    begins = np.arange(0, 901, 60)
    hits = 0
    for number in range(8):
        panel = sn.read_panel(simulated_history(kind, 3.0, 0, 50 + number), kind="returns")
        tested = changes_of_windows(panel, begins, 300, 4, "correlation", {}, draws=99)
        hits += tested[1].p_value.min() <= 0.02
    assert hits <= 2  # at most 5 % are expected; three or more of 8 have a chance below 1 %


def test_the_limit_is_that_of_the_largest_change():
    """p-values against the definition, with the same shuffles."""
    rng = np.random.default_rng(3)
    made = BlockProfiles(rng.normal(size=(240, 8)), np.arange(8) % 2, 2, block=10)
    _, first, second = adjacent_stretches(np.arange(0, 180, 20), 60, 10, made.count)
    assert not (first & second).any()
    assert (first.sum(axis=1) == 6).all()
    assert (second.sum(axis=1) == 6).all()
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
    assert sorted(shuffled_blocks(100, np.random.default_rng(0))) == list(range(100))
    usable, first, second = adjacent_stretches(np.array([0, 40, 60, 95]), 40, 10, 10)
    assert usable.tolist() == [1, 2]
    assert np.flatnonzero(first[1]).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(second[1]).tolist() == [6, 7, 8, 9]


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
