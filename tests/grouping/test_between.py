"""Dependence within and between groups, events, and crashes beside ordinary days."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import symnmf as sn
from helpers import dense, market
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput
from symnmf.grouping.between_groups import cohesion, dependence_between, event_shares
from symnmf.grouping.side_by_side import side_by_side


@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_means_of_all_pairs(kind, rng):
    S = market(kind, 100).operator
    labels = torch.randint(-1, 4, (100,), generator=rng)
    labels[labels == 3] = 2
    labels[7] = 3  # alone in its group
    found, full = dependence_between(S, labels, 5), dense(S).numpy()
    for g in range(5):
        for h in range(5):
            pairs = [
                full[i, j]
                for i in np.flatnonzero(labels == g)
                for j in np.flatnonzero(labels == h)
                if i != j
            ]
            expected = np.mean(pairs) if pairs else np.nan
            np.testing.assert_allclose(found[g, h], expected, rtol=1e-5)
    np.testing.assert_array_equal(cohesion(S, labels, 5), found.diagonal())


def test_shares_of_events():
    S = sn.tail_dependence(sn.read_panel(sp500_prices(), kind="prices"), estimator="global")
    labels = sn.factorize(S, 4).labels()
    shares = event_shares(S, labels, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.shape == (len(S.provenance.exceedances), 4)
    event = 11
    mass = S.B[:, event].double() ** 2
    assert shares[event, 2] == pytest.approx(float(mass[labels == 2].sum() / mass.sum()))
    with pytest.raises(InvalidInput, match="Pass a Gram matrix"):
        event_shares(sn.as_operator(np.eye(20)), labels, 4)


def test_crashes_beside_ordinary_days():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    T, R = sn.tail_dependence(panel, estimator="global"), sn.abs_correlation(panel)
    found = side_by_side(T, R, most=5)
    at = np.triu_indices(20, 1)
    x, y = dense(T).numpy()[at], dense(R).numpy()[at]
    assert found.rank_correlation == pytest.approx(spearmanr(x, y).statistic)
    assert found.sample.shape == (190, 2)
    ahead = [p.tail_rank - p.ordinary_rank for p in found.only_in_crashes]
    assert ahead == sorted(ahead, reverse=True)
    assert min(ahead) > 0
    assert max(p.tail_rank - p.ordinary_rank for p in found.only_in_calm) < 0
    first = found.only_in_crashes[0]
    assert first.tail == pytest.approx(float(dense(T)[first.first, first.second]))
    same = side_by_side(T, T)
    assert same.only_in_crashes == same.only_in_calm == ()
    with pytest.raises(InvalidInput, match="3 rows"):
        side_by_side(T, sn.as_operator(np.eye(3)))
