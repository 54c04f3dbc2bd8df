"""Asymptotic dependence, clusters of extremes and resamples, against models with known truth."""

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

import symnmf as sn
from symnmf.dependence.asymptotic import asymptotic_dependence
from symnmf.dependence.extremal_index import extremal_index, propose_run_length
from symnmf.dependence.resampling import Resamples, default_block
from symnmf.errors import InvalidInput


def gaussian(rng, T, rho):
    Z = rng.standard_normal((T, 2))
    Z[:, 1] = rho * Z[:, 0] + np.sqrt(1 - rho**2) * Z[:, 1]
    return Z


def test_eta_of_models_whose_eta_is_known():
    """(1 + ρ) / 2 for a Gaussian copula, 1/2 for independence, 1 for a common heavy factor."""
    rng = np.random.default_rng(0)
    T = 20_000
    truths = {
        0.5: rng.standard_normal((T, 2)),
        0.75: gaussian(rng, T, 0.5),
        1.0: rng.random((T, 1)) ** -1.0 + 0.1 * rng.random((T, 2)) ** -1.0,
    }
    for truth, X in truths.items():
        panel = sn.read_panel(X, kind="returns")
        found = asymptotic_dependence(panel, q=0.02, tail="upper", draws=50)
        assert found.eta[0] == pytest.approx(truth, abs=0.09)
        assert bool(found.dependent[0]) == (truth == 1.0)
        assert found.low[0] < found.eta[0] < found.high[0]
        assert found.chi_bar[0] == pytest.approx(2 * found.eta[0] - 1)
        assert found.count == 400


def test_pairs_are_sampled():
    panel = sn.read_panel(np.random.default_rng(0).standard_normal((300, 30)), kind="returns")
    found = asymptotic_dependence(panel, draws=3)
    assert found.pairs.shape == (300, 2)
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    with pytest.raises(InvalidInput, match="q: 0.01 leaves 3 extremes"):
        asymptotic_dependence(panel, q=0.01)


@pytest.mark.parametrize(("width", "truth"), [(1, 1.0), (2, 0.5), (4, 0.25)])
def test_extremal_index_of_moving_maxima(width, truth):
    """The maximum of `width` successive independent values has the extremal index 1 / width."""
    z = np.random.default_rng(1).pareto(1, 30_000 + width)
    x = np.lib.stride_tricks.sliding_window_view(z, width).max(axis=1)
    found = extremal_index(x, q=0.02)
    assert found.theta == pytest.approx(truth, abs=0.08)
    assert found.low <= truth + 0.03
    assert found.high >= truth - 0.03
    assert found.clusters == pytest.approx(truth * found.count, rel=0.15)
    if width > 1:  # the extremes of a cluster are successive rows
        assert 1 <= found.run_length <= 6 * width


def test_run_length_of_a_panel():
    rng = np.random.default_rng(0)
    z = rng.pareto(2, (6003, 5))
    X = np.lib.stride_tricks.sliding_window_view(z, 4, axis=0).max(axis=-1)
    assert propose_run_length(sn.read_panel(z, kind="values"), tail="upper") == 0
    assert 1 <= propose_run_length(sn.read_panel(X, kind="values"), tail="upper") <= 20
    with pytest.raises(InvalidInput, match="leaves 1 extremes"):
        extremal_index(np.arange(20.0))


def test_resamples_are_blocks_of_rows():
    resamples = Resamples(100, 5, 10, seed=3)
    for rows in resamples:
        assert len(rows) == 100
        steps = np.diff(rows.reshape(10, 10), axis=1) % 100
        assert (steps == 1).all()
    assert [r.tolist() for r in resamples] == [r.tolist() for r in Resamples(100, 5, 10, seed=3)]
    with pytest.raises(InvalidInput, match="block"):
        Resamples(100, 5, 101)


def test_few_blocks_make_intervals_wide():
    """Blocks of a sixth of the rows: Student's quantile, on both sides of the estimate."""
    assert default_block(600) == 100
    sample = np.linspace(-1, 1, 201)[:, None]
    few, many = (
        Resamples(600, 201, block).percentiles(np.zeros(1), sample, 0.9) for block in (100, 1)
    )
    stretch = student_t(5).ppf(0.95) / norm.ppf(0.95) * (600 / 500) ** 0.5
    place = 0.909  # of 201 draws the one at place 0.05 · 202
    np.testing.assert_allclose(few.ravel(), [-place * stretch, place * stretch])
    np.testing.assert_allclose(many.ravel(), [-place, place], rtol=0.005)
    low, high = Resamples(600, 201, 100).percentiles(np.array([5.0]), sample, 0.9).ravel()
    assert low < 5 == high  # the samples lie below the estimate


def test_intervals_of_positive_numbers_are_positive():
    sample = np.geomspace(0.1, 10, 199)[:, None] * [1.0, 3.0]
    low, high = Resamples(600, 199, 100).percentiles(np.array([1.0, 3.0]), sample, 0.9)
    assert (low > 0).all()
    np.testing.assert_allclose(low * high, [1.0, 9.0])  # the same ratio on both sides
    plain = Resamples(600, 199, 100).percentiles(np.zeros(1), sample[:, :1], 0.9)
    assert plain[0] == 0
    missing = Resamples(600, 199, 100).percentiles(np.full(1, np.nan), sample[:, :1] * np.nan, 0.9)
    assert np.isnan(missing).all()


def test_intervals_by_ratio_are_normal_on_the_scale_of_logs():
    logs = np.random.default_rng(0).normal(size=(99, 1))
    made = Resamples(600, 99, 100)
    low, high = made.by_ratio(np.array([2.0]), np.exp(logs), 0.9)
    width = student_t(5).ppf(0.95) * (600 / 500) ** 0.5 * logs.std(ddof=1)
    np.testing.assert_allclose([low[0], high[0]], [2 * np.exp(-width), 2 * np.exp(width)])
    plain = made.by_ratio(np.array([-1.0]), logs, 0.9).ravel()  # where a ratio has no meaning
    np.testing.assert_allclose(plain, [-1 - width, -1 + width])


def test_every_interval_of_a_panel_has_the_same_samples(monkeypatch):
    """Bootstrap, portfolio risk, joint crashes and the report draw the same rows by default."""
    X = np.random.default_rng(0).standard_t(4, (240, 6))
    panel = sn.read_panel(X + 0.5 * X[:, [1, 0, 3, 2, 5, 4]], kind="returns")
    result = sn.factorize(sn.tail_dependence(panel), k=3, n_init=1)
    drawn = {}

    def recorded(self, draw, plain=Resamples.rows):
        drawn.setdefault(about, {})[draw] = plain(self, draw).tolist()
        return plain(self, draw)

    monkeypatch.setattr(Resamples, "rows", recorded)
    about = "bootstrap"
    held = sn.bootstrap(panel, result)
    about = "risk"
    risk = sn.portfolio_risk(result, panel)
    about = "crashes"
    sn.crash_model(result, panel)
    about = "report"
    found = sn.analyse(panel, k=3, n_init=1, weights=np.full(6, 1 / 6), evidence=False)
    assert held.block == risk.block == found.portfolio.block == 40
    assert drawn["risk"] == drawn["crashes"] == drawn["report"]
    assert len(drawn["risk"]) == 50
    assert drawn["bootstrap"] == {draw: drawn["risk"][draw] for draw in range(20)}


def test_intervals_come_from_the_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_t(4, (600, 6)) + 2 * rng.standard_t(4, (600, 2)).repeat(3, axis=1)
    panel = sn.read_panel(X, kind="returns")
    options = {"estimator": "ramp", "q": 0.5}
    S = sn.tail_dependence(panel, **options)
    result = sn.factorize(S, 2)
    held = sn.bootstrap(panel, result, draws=12, seed=5, **options)
    drawn = np.stack([
        sn.tail_dependence(panel.at(np.sort(rows)), **options).to_dense().numpy()
        for rows in Resamples(600, 12, 100, seed=5)
    ])  # fmt: skip
    off = ~np.eye(6, dtype=bool)
    spread = np.arctanh(drawn[:, off]).std(axis=0, ddof=1)
    width = student_t(5).ppf(0.95) * spread * (600 / (600 - 100)) ** 0.5
    low = np.tanh(np.arctanh(S.to_dense().numpy()[off]) - width)
    np.testing.assert_allclose(held.entries[0][off], np.maximum(low, 0), atol=1e-5)
    assert (held.entries[1] > held.entries[0])[off].all()
    H = result.H.numpy()
    inside = (held.loadings[0] - 0.05 <= H) & (held.loadings[1] + 0.05 >= H)
    assert inside.mean() > 0.8
    assert held.level == 0.9
