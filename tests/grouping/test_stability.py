"""Do groups hold in resampled time, and against independence?"""

import numpy as np
import pytest

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.grouping.stability import bootstrap, significance


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


def test_tail_groups_against_independence():
    panel = returns()
    S = sn.tail_dependence(panel, estimator="global")
    result = sn.factorize(S, 4, n_init=5)
    found = significance(panel, S, result, draws=19)
    clear = [g for g in range(4) if (result.labels()[:18] == g).sum() == 6]
    assert len(clear) >= 2
    assert (found.p_value[clear] == 1 / 20).all()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise = sn.read_panel(rng.normal(size=(800, 20)), kind="returns")
        T = sn.tail_dependence(noise, estimator="global")
        chance = significance(noise, T, sn.factorize(T, 4, n_init=1), draws=9)
        assert np.nanmin(chance.p_value) > 0.1
    with pytest.raises(InvalidInput, match="S: is not a tail dependence matrix"):
        significance(panel, sn.abs_correlation(panel), result)
