"""Do groups hold in resampled time?"""

import numpy as np
import pytest

import symnmf as sn
from symnmf.dependence.resampling import Resamples
from symnmf.errors import InvalidInput
from symnmf.grouping.stability import bootstrap


def returns(T=800, seed=0):
    """Three clear groups, and five instruments that belong nowhere."""
    rng = np.random.default_rng(seed)
    own = rng.standard_t(4, size=(T, 3))
    groups = np.repeat(np.arange(3), 6)
    clear = own[:, groups] + 0.4 * rng.normal(size=(T, 18))
    return sn.read_panel(np.hstack([clear, rng.standard_t(4, size=(T, 5))]), kind="returns")


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_clear_groups_hold(dependence):
    panel = returns()
    S = sn.tail_dependence(panel) if dependence == "tail" else sn.abs_correlation(panel)
    result = sn.factorize(S, 4, n_init=5)
    found = bootstrap(panel, result, dependence, draws=8)
    together = found.together.numpy()
    np.testing.assert_allclose(together, together.T)
    for begin in (0, 6, 12):
        assert together[begin : begin + 6, begin : begin + 6].min() > 0.8
    assert together[0, 6] < 0.3
    assert np.nanmin(found.members[:18]) > 0.8
    assert np.nanmax(found.groups) > 0.9
    assert found.draws == 8


def test_the_same_seed_gives_the_same_draws():
    panel = returns()
    result = sn.factorize(sn.abs_correlation(panel), 4)
    one, two = (bootstrap(panel, result, "correlation", draws=3, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one.together, two.together)
    with pytest.raises(InvalidInput, match="block: got 0"):
        bootstrap(panel, result, "correlation", block=0)


def test_consensus_leaves_out_what_belongs_nowhere():
    panel = returns(400)
    result = sn.factorize(sn.abs_correlation(panel), 4, n_init=2)
    held = bootstrap(panel, result, "correlation", draws=8)
    found = held.consensus()
    assert held.agreement > 0.7
    assert held.advice == ""
    for begin in (0, 6, 12):
        assert len(set(found[begin : begin + 6].tolist())) == 1
        assert found[begin] >= 0
    assert len(set(found[[0, 6, 12]].tolist())) == 3
    assert (
        (held.consensus(1.0) >= 0).sum() <= (found >= 0).sum() <= (held.consensus(0.0) >= 0).sum()
    )
    with pytest.raises(InvalidInput, match="sure: got 2"):
        held.consensus(2)


def test_too_many_groups_are_advised_to_merge():
    rng = np.random.default_rng(0)
    own = np.repeat(rng.normal(size=(300, 2)), 10, axis=1)
    panel = sn.read_panel(own + 0.8 * rng.normal(size=(300, 20)), kind="returns")
    result = sn.factorize(sn.abs_correlation(panel), 6, n_init=1)
    held = bootstrap(panel, result, "correlation", draws=6)
    assert held.agreement < 0.7
    assert "merge them, or try k = 5" in held.advice


def test_intervals_of_entries_are_those_of_all_samples_at_once():
    panel = returns(240)
    result = sn.factorize(sn.abs_correlation(panel), 4)
    found = bootstrap(panel, result, "correlation", draws=6, block=20, seed=3)
    rows = Resamples.of(240, 6, 20, 3)
    drawn = [sn.abs_correlation(panel.at(np.sort(one))).to_dense().numpy() for one in rows]
    most = 1 - 1e-6
    spread = np.arctanh(np.clip(np.array(drawn, np.float64), -most, most)).std(axis=0, ddof=1)
    middle = np.arctanh(np.clip(sn.abs_correlation(panel).to_dense().numpy(), -most, most))
    for end, sign in zip(found.entries, (-1, 1), strict=True):
        expected = np.maximum(np.tanh(middle + sign * rows.quantile(0.9) * spread), 0)
        np.testing.assert_allclose(end, expected, atol=2e-5)
