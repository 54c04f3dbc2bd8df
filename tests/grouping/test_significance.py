"""Are groups tighter than those that chance makes?"""

import numpy as np
import pytest
from test_stability import returns

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.grouping.significance import significance


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_clear_groups_against_independence(dependence):
    panel = returns()
    S = sn.tail_dependence(panel) if dependence == "tail" else sn.abs_correlation(panel)
    result = sn.factorize(S, 4, n_init=1)
    found = significance(panel, S, result, draws=9)
    clear = [g for g in range(4) if (result.labels()[:18] == g).sum() == 6]
    assert len(clear) >= 2
    assert (found.p_value[clear] == 1 / 10).all()
    assert (found.statistic[clear] > found.largest.max()).all()


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_significant(seed):
    noise = sn.read_panel(np.random.default_rng(seed).normal(size=(800, 20)), kind="returns")
    S = sn.tail_dependence(noise)
    chance = significance(noise, S, sn.factorize(S, 4, n_init=1), draws=9)
    assert np.nanmin(chance.p_value) > 0.1


def test_one_factor_is_no_group_beyond_itself():
    rng = np.random.default_rng(0)
    panel = sn.read_panel(rng.normal(size=(400, 24)) + rng.normal(size=(400, 1)), kind="returns")
    S = sn.abs_correlation(panel)
    result = sn.factorize(S, 3, n_init=1)
    independent = significance(panel, S, result, draws=9)
    common = significance(panel, S, result, draws=9, against="common factor")
    assert (independent.p_value == 0.1).all()
    assert common.p_value.min() > 0.1


def test_the_estimator_is_recorded_or_given():
    panel = returns(300)
    S = sn.abs_correlation(panel)
    result = sn.factorize(S, 4, n_init=1)
    one = significance(panel, S, result, draws=2)
    two = significance(panel, S, result, draws=2, dependence="correlation")
    np.testing.assert_array_equal(one.largest, two.largest)
    with pytest.raises(InvalidInput, match="does not record how it was estimated"):
        significance(panel, sn.as_operator(S.to_dense()), result)
    with pytest.raises(InvalidInput, match="against: got 'chance'"):
        significance(panel, S, result, against="chance")
