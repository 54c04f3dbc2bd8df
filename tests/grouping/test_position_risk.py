"""Risk of positions: shares, intervals, short positions, fits of every estimate."""

import numpy as np
import pytest

import symnmf as sn
from symnmf.bench.max_linear_panels import GROUPS, MaxLinearPanel
from symnmf.data.samples import sp500_prices
from symnmf.dependence.resampling import Resamples
from symnmf.errors import InvalidInput, InvalidTable


@pytest.fixture(scope="module")
def stocks():
    panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 1500)
    return panel, sn.factorize(sn.tail_dependence(panel), 4, n_init=1)


def test_shares_of_a_known_model():
    """Far out the shares are those of vᵀ Σ v with the TPDM of the loadings."""
    truth = MaxLinearPanel.usual()
    losses = truth.draw(40_000, False, np.random.default_rng(0))
    panel = sn.read_panel(-losses, kind="returns")
    result = sn.factorize(sn.as_operator(truth.tpdm), 3)
    result.__dict__["names"] = panel.names
    found = sn.portfolio_risk(result, panel, truth.weights, q=0.01, draws=0)
    total, shares = truth.shares
    np.testing.assert_allclose(found.instruments.value, shares, atol=0.02)
    assert float(found.total.value) == pytest.approx(total, rel=0.1)
    labels = result.labels().numpy()
    for members in GROUPS:
        (g,) = set(labels[list(members)])
        assert found.groups.value[g] == pytest.approx(shares[list(members)].sum(), abs=0.02)
    assert float(found.left_out.value) < 0.1
    assert found.own == pytest.approx(total, rel=0.15)


def test_the_parts_add_up(stocks):
    panel, result = stocks
    w = np.linspace(0, 1, 20)
    found = sn.portfolio_risk(result, panel, w, draws=4)
    assert found.instruments.value.sum() == pytest.approx(1)
    assert found.groups.value.sum() == pytest.approx(1)
    assert found.worst.value.sum() == pytest.approx(1)
    assert w @ found.marginal.value == pytest.approx(float(found.total.value))  # Euler
    np.testing.assert_allclose(found.series.sum(axis=1), panel.values @ w)
    losses = -panel.values @ w
    assert found.worst_days[0].date == panel.date_words([int(losses.argmax())])[0]
    assert found.worst_days[0].loss == pytest.approx(losses.max())
    assert found.worst_days[0].groups.sum() == pytest.approx(losses.max())
    m = found.worst_count
    worst = np.argsort(-losses)[:m]
    part = -(panel.values[worst] * w).sum(axis=0)
    labels = result.labels().numpy()
    expected = [part[labels == g].sum() / part.sum() for g in range(4)]
    np.testing.assert_allclose(found.worst.value, expected)
    assert found.instruments.value[0] == 0  # nothing is held
    assert len(found.instruments_table()) == 19
    assert (found.groups.low <= found.groups.high).all()


def test_intervals_are_from_the_shared_samples(stocks):
    panel, result = stocks
    found = sn.portfolio_risk(result, panel, draws=6, block=30, seed=3)
    histories = Resamples(len(panel.values), 6, 30, 3)
    drawn = [
        sn.portfolio_risk(result, panel.at(np.sort(rows)), draws=0).groups.value
        for rows in histories
    ]
    low, high = histories.percentiles(found.groups.value, np.array(drawn), 0.9)
    np.testing.assert_allclose(found.groups.low, low)
    np.testing.assert_allclose(found.groups.high, high)
    assert (low <= np.min(drawn, axis=0) * (1 + 1e-9)).all()  # few blocks make them wider
    assert np.isnan(sn.portfolio_risk(result, panel, draws=0).groups.low).all()


@pytest.mark.filterwarnings("ignore::symnmf.errors.MarginWarning")
def test_tail_risk_takes_a_fit_with_defaults(stocks):
    """A fit with weights by rank: the TPDM of the same tail takes the place of S."""
    panel, result = stocks
    S = sn.tail_dependence(panel)
    with pytest.raises(InvalidInput, match="S: is the estimate 'semicorrelation'.*panel="):
        sn.tail_risk(result, np.ones(20), np.ones(20), S=S)
    w = np.full(20, 0.05)
    risk = sn.tail_risk(result, w, S=S, panel=panel)
    pairwise = sn.tail_dependence(panel, estimator="pairwise")
    same = sn.tail_risk(sn.factorize(pairwise, 4, n_init=1), w, S=pairwise, panel=panel)
    assert risk.total == pytest.approx(same.total, rel=1e-5)
    np.testing.assert_allclose(risk.instruments, same.instruments, rtol=1e-4)
    assert risk.groups.sum() == pytest.approx(1)
    assert risk.factors.sum() + risk.left_out == pytest.approx(1)
    assert 0 <= risk.left_out < 0.1
    found = sn.portfolio_risk(result, panel, w, draws=0)
    assert float(found.total.value) == pytest.approx(risk.total, rel=1e-5)
    np.testing.assert_allclose(found.groups.value, risk.groups, rtol=1e-4)
    assert float(found.left_out.value) == pytest.approx(risk.left_out, abs=1e-4)


def test_short_positions(stocks):
    panel, result = stocks
    found = sn.portfolio_risk(result, panel, {"XOM": 1.0, "JPM": -0.5}, draws=0)
    assert "upper bound" in found.notes[0]
    assert "not given" in found.notes[0]
    assert np.isnan(found.left_out.value)
    assert float(found.total.value) >= found.own  # gains offset losses in the series
    turned = panel.with_values(panel.values * np.where(np.array(panel.names) == "JPM", -1, 1))
    other = sn.portfolio_risk(result, turned, {"XOM": 1.0, "JPM": 0.5}, draws=0)
    assert float(found.total.value) == pytest.approx(float(other.total.value))
    np.testing.assert_allclose(found.instruments.value, other.instruments.value)


def test_the_usual_loss_is_exceeded_on_one_day_in_twenty(stocks):
    panel, result = stocks
    found = sn.portfolio_risk(result, panel, draws=3)
    value, low, high, own = found.usual_loss
    losses = -panel.values.mean(axis=1)
    assert (losses > own).mean() == pytest.approx(0.05, abs=2 / len(losses))
    assert low <= value <= high
    assert value == pytest.approx(float(found.total.value) / 0.05**0.5)
    assert sn.portfolio_risk(result, panel, dependence="correlation", draws=0).usual_loss is None


def test_variance_with_signs(stocks):
    panel, result = stocks
    w = np.random.default_rng(0).normal(size=20)
    found = sn.portfolio_risk(result, panel, w, dependence="correlation", draws=0)
    assert found.measure == "standard deviation"
    covariance = np.cov(panel.values.T, bias=True)
    variance = w @ covariance @ w
    assert float(found.total.value) == pytest.approx(variance**0.5)
    np.testing.assert_allclose(found.instruments.value, w * (covariance @ w) / variance)
    assert found.own == pytest.approx(variance**0.5)


def test_missing_numbers_and_what_is_refused(stocks):
    panel, result = stocks
    holes = panel.values.copy()
    holes[:50, 3] = np.nan
    gaps = panel.with_values(holes)
    found = sn.portfolio_risk(result, gaps, draws=0)
    assert "50 of 1500 days" in found.notes[0]
    assert len(found.series) == 1450
    name = panel.names[4]
    assert not sn.portfolio_risk(result, gaps, {name: 1.0}, draws=0).notes
    holes[:1450, 3] = np.nan
    with pytest.raises(InvalidTable, match="only 50 rows"):
        sn.portfolio_risk(result, panel.with_values(holes), draws=0)
    with pytest.raises(InvalidInput, match="weights: are all zero"):
        sn.portfolio_risk(result, panel, np.zeros(20))
    with pytest.raises(InvalidInput, match="weights: 'XYZ' was not in the fit"):
        sn.portfolio_risk(result, panel, {"XYZ": 1.0})
    rising = panel.with_values(np.abs(panel.values))
    with pytest.raises(InvalidInput, match="loses on fewer than 75 of 1500 days"):
        sn.portfolio_risk(result, rising, draws=0)


def test_one_position_is_the_whole_risk(stocks):
    panel, result = stocks
    found = sn.portfolio_risk(result, panel, {"KO": 2.0}, draws=2)
    assert found.instruments.value.max() == pytest.approx(1)
    assert float(found.total.value) == pytest.approx(found.own)
