"""Diagnostics of tail dependence."""

import numpy as np
import pytest
import torch
from scipy.stats import rankdata

import symnmf as sn
from helpers import dense
from symnmf.data.samples import sp500_prices
from symnmf.dependence.diagnostics import (
    StabilityCurve,
    debiased,
    hill_curve,
    independence_baseline,
    threshold_stability,
)
from symnmf.errors import InvalidInput
from symnmf.numerics import numpy_stream


@pytest.fixture(scope="module")
def stocks():
    return sn.read_panel(sp500_prices().iloc[-2500:], kind="prices")


def test_the_suggested_threshold():
    """5 %, unless the means of smaller thresholds differ from it beyond their bands."""
    q = np.array([0.01, 0.02, 0.03, 0.05, 0.1])
    count = (5000 * q).astype(int)
    flat = StabilityCurve(q, count, np.full(5, 0.4), np.full(5, 0.3), np.full(5, 0.5))
    assert flat.suggested == 0.05
    mean = np.array([0.2, 0.2, 0.21, 0.4, 0.4])
    assert StabilityCurve(q, count, mean, mean - 0.02, mean + 0.02).suggested == 0.03
    assert StabilityCurve(q, count // 10, mean, mean - 0.02, mean + 0.02).suggested == 0.1
    assert StabilityCurve(q, count // 100, mean, mean, mean).suggested is None


def test_stability_curve(stocks):
    curve = threshold_stability(stocks, np.array([0.02, 0.05, 0.1]), draws=40)
    assert curve.count.tolist() == [49, 124, 249]
    S = dense(sn.tail_dependence(stocks, q=0.05, dtype=torch.float64, estimator="global"))
    off = float((S.sum() - 20) / 380)
    assert curve.mean[1] == pytest.approx(off)
    assert (curve.low <= curve.mean + 0.02).all()
    assert (curve.high >= curve.mean - 0.02).all()
    width = curve.high - curve.low
    assert width[0] > width[2]  # fewer exceedances, a wider band
    with pytest.raises(InvalidInput, match="q: 0.0001 leaves 0 exceedances"):
        threshold_stability(stocks, np.array([1e-4]))


def test_the_band_of_weights_is_that_of_panels_drawn_anew(stocks):
    q, T = 0.5, len(stocks.values)
    options = {"estimator": "semicorrelation", "weight": "ramp", "seed": 2}
    curve = threshold_stability(stocks, np.array([q]), draws=3, level=1.0, **options)
    u = np.stack([rankdata(-x) for x in stocks.values.T]) / (T + 1)
    W = np.maximum(0, (u - (1 - q)) / q)
    rng = numpy_stream(2, "stability")
    means = []
    for _ in range(3):
        R = np.corrcoef(W[:, rng.integers(T, size=T)])
        means.append((R.sum() - 20) / 380)
    assert curve.low[0] == pytest.approx(min(means))
    assert curve.high[0] == pytest.approx(max(means))


def test_baseline_lies_below_what_is_found(stocks):
    S = sn.tail_dependence(stocks, dtype=torch.float64, estimator="global")
    baseline = independence_baseline(stocks, S, draws=10)
    mean = (S.mean() * 400 - 20) / 380
    assert 0.05 < baseline.mean() < 0.4
    assert baseline.std() < 0.02
    assert mean > baseline.max() + 0.2
    independent = sn.read_panel(np.random.default_rng(0).standard_t(4, (2000, 20)), kind="returns")
    T = sn.tail_dependence(independent, estimator="global")
    own = independence_baseline(independent, T, draws=10)
    assert (T.mean() * 400 - 20) / 380 == pytest.approx(own.mean(), abs=4 * own.std() + 0.01)
    clean = debiased(S, float(baseline.mean()))
    assert clean.names == S.names
    assert float(clean.S.min()) >= 0
    assert clean.mean() < S.mean()
    with pytest.raises(InvalidInput, match="baseline: got 1.5"):
        debiased(S, 1.5)
    with pytest.raises(InvalidInput, match="is not a TPDM"):
        independence_baseline(stocks, sn.abs_correlation(stocks))


def test_hill_curves_of_known_tails():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(5000) ** -0.5, rng.random(5000) ** -0.25])
    counts, curves = hill_curve(sn.read_panel(X, kind="returns"), np.array([200]), tail="upper")
    assert counts.tolist() == [200]
    assert curves[0, 0] == pytest.approx(2, rel=0.2)
    assert curves[0, 1] == pytest.approx(4, rel=0.2)
