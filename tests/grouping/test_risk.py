"""Risk of portfolios: shares, formulas, simulated tails."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import nnls

import symnmf as sn
from helpers import dense, market
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput, MarginWarning
from symnmf.grouping.group_series import group_returns
from symnmf.grouping.new_instruments import labels_for, loadings_for
from symnmf.grouping.portfolio_risk import tail_risk, tail_scales, variance_risk


def test_shares_sum_to_the_total():
    b = market("tpdm", 100)
    result, rng = sn.factorize(b.operator, b.k, seed=7), np.random.default_rng(0)
    w, s = rng.random(100), 1 + rng.random(100)
    risk = tail_risk(result, w, s, S=b.operator)
    S = dense(b.operator).numpy()
    assert risk.total == pytest.approx(np.sqrt((w * s) @ S @ (w * s)), rel=1e-5)
    assert risk.instruments.sum() == pytest.approx(1, abs=1e-10)
    assert risk.factors.sum() + risk.left_out == pytest.approx(1, abs=1e-10)
    assert abs(risk.left_out) < 0.01
    assert (risk.factors >= 0).all()
    assert w @ risk.marginal == pytest.approx(risk.total, rel=1e-10)  # Euler
    more = w.copy()
    more[3] += 1e-3
    change = tail_risk(result, more, s, S=b.operator).total - risk.total
    assert change / 1e-3 == pytest.approx(risk.marginal[3], rel=1e-2)
    assert risk.bound == risk.total


def test_the_tail_of_a_simulated_portfolio():
    """P(wᵀX > x) · x² approaches total² for X = A Z with Pareto(2) factors."""
    rng = np.random.default_rng(1)
    A = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 1.5, (12, 1))
    scales = np.linalg.norm(A, axis=1)  # P(X_i > x) ≈ (s_i / x)²
    S = sn.as_operator(A @ A.T / np.outer(scales, scales))
    w = rng.random(12)
    total = tail_risk(sn.factorize(S, 3), w, scales, S=S).total
    assert total == pytest.approx(np.sqrt(w @ A @ A.T @ w), rel=1e-6)
    losses = np.concatenate([rng.random((10**6, 3)) ** -0.5 @ A.T @ w for _ in range(4)])
    x = np.quantile(losses, 0.9999)
    hits = int((losses > x).sum())
    assert hits / len(losses) * x**2 == pytest.approx(total**2, rel=0.25)
    assert hits == pytest.approx(400, abs=1)


def test_scales_from_a_panel():
    rng = np.random.default_rng(2)
    scales = np.array([1.0, 2.0, 5.0])
    X = -scales * rng.random((200_000, 3)) ** -0.5  # losses with index 2
    panel = sn.read_panel(X, kind="returns")
    np.testing.assert_allclose(tail_scales(panel), scales, rtol=0.05)
    S = sn.tail_dependence(panel, estimator="global")
    result = sn.factorize(S, 2, n_init=1)
    given = tail_risk(result, [1, 1, 1], scales, S=S).total
    assert tail_risk(result, [1, 1, 1], S=S, panel=panel).total == pytest.approx(given, rel=0.05)
    light = sn.read_panel(rng.normal(size=(5000, 3)), kind="returns")
    with pytest.warns(MarginWarning, match="far from 2 for 3 of 3"):
        tail_scales(light)


def test_what_is_refused():
    b = market("tpdm", 100)
    result = sn.factorize(b.operator, b.k, seed=7)
    with pytest.raises(InvalidInput, match="scales: were not given"):
        tail_risk(result, np.ones(100), S=b.operator)
    with pytest.raises(InvalidInput, match="weights: the weight of '2' is -1.*short"):
        tail_risk(result, -np.eye(100)[2], np.ones(100), S=b.operator)
    with pytest.raises(InvalidInput, match="weights: has shape"):
        tail_risk(result, np.ones(5), np.ones(100), S=b.operator)
    with pytest.raises(InvalidInput, match="weights: 'XYZ' was not in the fit"):
        tail_risk(result, {"XYZ": 1.0}, np.ones(100), S=b.operator)
    with pytest.raises(InvalidInput, match="S: has no signs"):
        variance_risk(result, np.ones(100), np.ones(100), S=b.operator)
    by_name = tail_risk(result, {"3": 2.0}, np.ones(100), S=b.operator)
    assert by_name.total == pytest.approx(2.0, rel=1e-5)


def test_variance_by_signed_correlation_and_its_bound():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    S = sn.abs_correlation(panel)
    result = sn.factorize(S, 4)
    rng = np.random.default_rng(3)
    w, v = rng.normal(size=20), panel.values.std(axis=0)
    risk = variance_risk(result, w, v, S=S)
    assert risk.total == pytest.approx((panel.values @ w).std(), rel=1e-6)
    assert risk.bound >= risk.total
    assert risk.instruments.sum() == pytest.approx(1, abs=1e-10)


def test_returns_of_groups():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    result = sn.factorize(sn.abs_correlation(panel), 4, n_init=5)
    found = group_returns(result, panel)
    assert found.series.shape == (len(panel.values), 4)
    assert ((found.r_squared > 0) & (found.r_squared <= 1)).all()
    H = result.H.double().numpy()
    np.testing.assert_allclose(found.series, panel.values @ H / H.sum(axis=0))
    assert found.r_squared.mean() > 0.4


def test_loadings_of_new_instruments():
    b = market("corr", 100)
    S = dense(b.operator).numpy()
    kept = np.arange(100) % 10 > 0
    result = sn.factorize(S[np.ix_(kept, kept)], b.k, seed=7)
    new = loadings_for(result, S[~kept][:, kept])
    assert new.shape == (10, 10)
    H = result.H.double().numpy()
    expected = np.stack([nnls(H, row)[0] for row in S[~kept][:, kept]])
    np.testing.assert_allclose(new, expected, atol=1e-6)
    scaled = new / torch.linalg.vector_norm(result.H, dim=0).numpy()
    labels = labels_for(result, S[~kept][:, kept])
    assert labels.tolist() == scaled.argmax(axis=1).tolist()
    theirs = [b.labels[kept][result.labels().numpy() == label] for label in labels]
    for members, truth in zip(theirs, b.labels[~kept], strict=True):
        assert truth in members
    assert loadings_for(result, S[~kept][0, kept]).shape == (10,)
    with pytest.raises(InvalidInput, match="dependence: has shape"):
        loadings_for(result, np.ones(3))


def test_a_new_instrument_is_grouped_as_if_it_had_been_in_the_fit():
    """Instruments of the fit get their own groups again, however long the columns are."""
    b = market("corr", 100)
    S = dense(b.operator).numpy()
    result = sn.factorize(S, b.k, seed=7)
    long = replace(result, H=result.H * torch.linspace(0.2, 5, b.k))
    assert (labels_for(long, long.H.double().numpy() @ long.H.double().numpy().T)
            == long.labels().numpy()).all()  # fmt: skip
    assert sn.group_for(result, S[3]) == sn.group_of(result)["3"]
    assert sn.group_for(result, [S[3], 0 * S[3]]) == [sn.group_of(result)["3"], "unassigned"]
    dead = replace(result, H=torch.cat([result.H, 1e-17 * result.H.flip(0)[:, :1]], dim=1))
    assert (labels_for(dead, S) == dead.labels().numpy()).mean() > 0.95
    assert labels_for(dead, S).max() < b.k


def test_named_dependences_may_be_in_any_order():
    b = market("corr", 100)
    names = [f"i{m}" for m in range(100)]
    S = pd.DataFrame(dense(b.operator).numpy(), names, names)
    result = sn.factorize(S, b.k, seed=7)
    row = S.loc["i3"]
    group = sn.group_of(result)["i3"]
    assert sn.group_for(result, row) == group
    assert sn.group_for(result, row.sort_values()) == group
    assert sn.group_for(result, S.iloc[[3, 4], ::-1])[0] == group
    assert sn.group_for(result, row.to_numpy()) == group
    with pytest.raises(InvalidInput, match="dependence: has no number for 'i3'"):
        sn.group_for(result, row.drop("i3"))
    with pytest.raises(InvalidInput, match="has a name twice"):
        sn.group_for(result, pd.concat([row, row[:1]]))
    with pytest.raises(InvalidInput, match="dependence: has shape"):
        sn.group_for(result, np.ones((2, 2, 100)))


def hedged(T=2000):
    """Five instruments and five that move against them."""
    rng = np.random.default_rng(4)
    common = rng.normal(size=(T, 1)) * np.repeat([1.0, -1.0], 5)
    return sn.read_panel(common + 0.4 * rng.normal(size=(T, 10)), kind="returns")


def test_a_hedge_is_seen():
    panel = hedged()
    S = sn.abs_correlation(panel)
    result = sn.factorize(S, 2)
    v = panel.values.std(axis=0)
    risk = variance_risk(result, np.ones(10), v, S=S)
    assert risk.total == pytest.approx(panel.values.sum(axis=1).std(), rel=1e-6)
    assert risk.total < 0.5 * risk.bound
    assert risk.factors.sum() + risk.left_out == pytest.approx(1)
    assert (risk.factors <= 1.01).all()
    assert group_returns(result, panel, S).r_squared.min() > 0.7
    assert group_returns(result, panel).r_squared.min() < 0.7


@pytest.mark.parametrize("options", [{}, {"remove": "noise"}, {"missing": True}])
def test_the_bound_is_above_the_risk(options):
    panel = sn.read_panel(sp500_prices().iloc[:900], kind="prices")
    if options.pop("missing", False):
        values = panel.values.copy()
        values[:200, 3] = np.nan
        panel = panel.with_values(values)
    S = sn.abs_correlation(panel, **options)
    result, rng = sn.factorize(S, 3), np.random.default_rng(0)
    for w in (rng.random(20), rng.normal(size=20), np.eye(20)[3]):
        risk = variance_risk(result, w, np.ones(20), S=S)
        assert risk.bound >= risk.total
    assert risk.total == pytest.approx(1.0, rel=1e-5)  # one instrument of volatility one


def test_names_decide_not_places():
    S = sn.as_operator(np.kron(np.eye(2), np.ones((3, 3))), names=list("abcdef"))
    result = sn.factorize(S, 2)
    weights = pd.Series({"f": 0.0, "a": 3.0})
    assert tail_risk(result, weights, np.arange(1.0, 7), S=S).total == pytest.approx(3.0)
    with pytest.raises(InvalidInput, match="scales: there is no number for 'b'"):
        tail_risk(result, weights, {"a": 1.0}, S=S)
    classes = pd.Series({"f": "x", "e": "x", "d": "x", "c": "y", "b": "y", "a": "y"})
    assert sn.compare(result, classes).ari == 1


def test_the_formula_is_not_used_where_it_does_not_hold():
    panel = sn.read_panel(sp500_prices().iloc[:1500], kind="prices")
    plain, steep = (
        sn.abs_correlation(panel),
        sn.tail_dependence(panel, alpha=4.0, estimator="global"),
    )
    for S, words in ((plain, "is not a tail dependence matrix"), (steep, "has tail index 4")):
        with pytest.raises(InvalidInput, match=words):
            tail_risk(sn.factorize(S, 3), np.ones(20), np.ones(20), S=S)
    S = sn.tail_dependence(panel, estimator="global")
    result = sn.factorize(S, 3)
    turned = sn.read_panel(sp500_prices().iloc[:1500, ::-1], kind="prices")
    for call in (
        lambda: tail_risk(result, np.ones(20), S=S, panel=turned),
        lambda: group_returns(result, turned),
        lambda: sn.bootstrap(turned, result, draws=1),
    ):
        with pytest.raises(InvalidInput, match="panel: has 20 columns that are not the 20 rows"):
            call()
    with pytest.raises(InvalidInput, match="tail: got 'Lower'"):
        tail_scales(panel, tail="Lower")
