"""Joint crashes: closed forms of max-linear models, simulations, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, genpareto

import symnmf as sn
from symnmf.bench.max_linear_panels import GROUPS, MaxLinearPanel
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput, InvalidTable
from symnmf.grouping.fitted_tails import FittedTails
from symnmf.grouping.joint_probability import (
    at_least,
    at_least_each,
    days_of_event,
    scaled_to_data,
)
from symnmf.grouping.simulated_crashes import draw_scores
from symnmf.grouping.tail_factors import (
    continued_loadings,
    joint_tail,
    max_linear_loadings,
    max_linear_tail,
)


@pytest.fixture(scope="module")
def stocks():
    panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 2000)
    return panel, sn.factorize(sn.tail_dependence(panel), 4, n_init=1)


@pytest.fixture(scope="module")
def model(stocks):
    panel, result = stocks
    return sn.crash_model(result, panel, draws=4)


# ---- probabilities ----


@pytest.mark.parametrize("p", [0.1, 0.01, 0.001])
def test_all_of_a_set_by_inclusion_and_exclusion(p):
    """P(all exceed), from P(none of a set exceeds) = exp(−e Σ_j max_i a_ij²)."""
    truth = MaxLinearPanel.usual()
    for members in (*GROUPS, (0, 3, 6), (1, 2, 4, 7)):
        exact = truth.all_exceed(members, p)
        found = at_least(truth.loadings[list(members)], np.full(len(members), p), len(members))
        assert found == pytest.approx(exact, rel=0.03)


def test_levels_that_differ_between_instruments():
    A, p = MaxLinearPanel.usual().loadings[:3], np.array([0.05, 0.02, 0.08])
    full = np.hstack((A**2, np.diag(1 - (A**2).sum(axis=1)))) * -np.log1p(-p)[:, None]
    exact = 1.0
    for size in (1, 2, 3):
        for some in combinations(range(3), size):
            exact += (-1) ** size * np.exp(-full[list(some)].max(axis=0).sum())
    assert at_least(A, p, 3) == pytest.approx(exact, rel=0.02)


def test_independent_instruments_are_binomial():
    for m in (0, 1, 3, 8, 9):
        exact = binom.sf(m - 1, 8, 0.05)
        assert at_least(np.zeros((8, 2)), np.full(8, 0.05), m) == pytest.approx(exact, rel=1e-9)


def test_at_least_agrees_with_simulated_days():
    A = MaxLinearPanel.usual().loadings
    scores = draw_scores(A, 400_000, np.random.default_rng(0))
    count = (scores > 0.95).sum(axis=1)
    for m in (1, 2, 4, 7):
        share = float((count >= m).mean())
        error = 4 * np.sqrt(share / 400_000)
        assert abs(at_least(A, np.full(8, 0.05), m) - share) < error + 0.02 * share


def test_the_scale_agrees_with_the_data_at_the_threshold():
    truth = MaxLinearPanel.usual()
    losses = truth.draw(4000, False, np.random.default_rng(1))
    wrong = np.full((8, 1), 0.7)  # every instrument on one factor
    limit = np.quantile(losses, 0.9, axis=0)
    for m in (2, 4):
        seen = float(((losses > limit).sum(axis=1) >= m).mean())
        found = scaled_to_data(wrong[None], np.full((1, 8), 0.1), m, [losses], 0.1)[0]
        assert found == pytest.approx(seen, rel=0.03)
        exact = at_least(truth.loadings, np.full(8, 0.05), m, 50_000)
        near = scaled_to_data(wrong[None], np.full((1, 8), 0.05), m, [losses], 0.1)[0]
        assert abs(near - exact) < abs(at_least(wrong, np.full(8, 0.05), m) - exact)


def test_many_days_at_the_level_itself_correct_the_model():
    """A model of one factor falls too slowly from the threshold to the level."""
    truth = MaxLinearPanel.usual()
    losses = truth.draw(8000, False, np.random.default_rng(2))
    wrong = np.full((1, 8, 1), 0.7)
    for m in (3, 4, 6):
        exact = at_least(truth.loadings, np.full(8, 0.02), m, 50_000)
        found = scaled_to_data(wrong, np.full((1, 8), 0.02), m, [losses], 0.1)[0]
        assert found == pytest.approx(exact, rel=0.2)


def test_repeated_days_keep_the_number_of_worst_days():
    """A resampled history has each day several times; strict exceedance lost a part of them."""
    losses = MaxLinearPanel.usual().draw(400, False, np.random.default_rng(3))
    tripled = np.repeat(losses, 3, axis=0)
    for m, p in ((1, 0.05), (2, 0.05), (8, 0.2)):
        share = np.full(8, p)
        assert days_of_event(tripled, share, m) == 3 * days_of_event(losses, share, m)
    one = losses[:, :1]
    for repeats in (1, 2, 7):
        again = np.repeat(one, repeats, axis=0)
        assert days_of_event(again, np.full(1, 0.0325), 1) == round(0.0325 * len(again))


def test_models_side_by_side_are_those_alone():
    truth, rng = MaxLinearPanel.usual(), np.random.default_rng(5)
    chi = np.stack([joint_tail(truth.draw(500, True, rng), 0.1) for _ in range(4)])
    both = max_linear_loadings(chi, truth.loadings, 4)
    alone = [max_linear_loadings(c, truth.loadings, 4) for c in chi]
    np.testing.assert_allclose(both, alone, rtol=1e-12)
    p = rng.uniform(0.02, 0.1, (4, 8))
    for m in (2, 8):
        found = at_least_each(both, p, m, 500)
        np.testing.assert_allclose(
            found, [at_least(a, x, m, 500) for a, x in zip(both, p, strict=True)], rtol=1e-12
        )


# ---- loadings ----


def test_loadings_are_found_from_the_dependence_of_pairs():
    A = MaxLinearPanel.usual().loadings
    off = ~np.eye(8, dtype=bool)
    chi = max_linear_tail(A)
    np.testing.assert_allclose(chi[0, 1], np.minimum(A[0] ** 2, A[1] ** 2).sum())
    rough = np.clip(A + np.random.default_rng(0).normal(0, 0.1, A.shape), 0.05, 0.9)
    found = max_linear_loadings(chi, rough, sweeps=200)
    wrong = (max_linear_tail(found) - chi)[off]
    assert np.linalg.norm(wrong) < 0.05 * np.linalg.norm(chi[off])
    assert (np.square(found).sum(axis=1) <= 1 + 1e-12).all()
    again = continued_loadings(A @ A.T, rough)
    assert np.abs(again @ again.T - A @ A.T)[off].max() < 0.01


def test_every_entry_is_at_its_minimum():
    rng = np.random.default_rng(2)
    chi = joint_tail(MaxLinearPanel.usual().draw(500, True, rng), 0.1)
    A = max_linear_loadings(chi, rng.uniform(0.1, 0.6, (8, 3)), sweeps=300)
    off = ~np.eye(8, dtype=bool)

    def cost(b):
        return float(np.square((max_linear_tail(np.sqrt(b)) - chi)[off]).sum())

    b = A**2
    best = cost(b)
    for i in range(8):
        for j in range(3):
            room = 1 - b[i].sum() + b[i, j]
            for x in np.linspace(0, room, 12):
                other = b.copy()
                other[i, j] = x
                assert cost(other) >= best - 1e-4


def test_the_coefficient_of_pairs_has_a_closed_form():
    truth = MaxLinearPanel.usual()
    chi = joint_tail(truth.draw(200_000, False, np.random.default_rng(3)), 0.05)
    off = ~np.eye(8, dtype=bool)
    assert np.abs(chi - max_linear_tail(truth.loadings))[off].max() < 0.03


# ---- tails ----


def test_tails_agree_with_a_known_distribution():
    rng = np.random.default_rng(4)
    X = genpareto.rvs(0.3, size=(20_000, 2), random_state=rng)
    tails = FittedTails.of(X)
    np.testing.assert_allclose(tails.shape, 0.3, atol=0.1)
    for p in (0.3, 0.01, 0.0005):
        x = genpareto.isf(p, 0.3)
        np.testing.assert_allclose(tails.exceeded(np.full(2, x)), p, rtol=0.35)
        np.testing.assert_allclose(tails.quantiles(np.full((1, 2), 1 - p))[0], x, rtol=0.2)
    u = rng.random((1000, 2))
    again = 1 - np.array([tails.exceeded(x) for x in tails.quantiles(u)])
    np.testing.assert_allclose(again, u, atol=2e-4)


# ---- the model of a panel ----


def test_probabilities_are_near_the_counts(model):
    for names, m in ((["XOM", "CVX"], None), (["KO", "PEP", "PG"], 2), (None, 5)):
        found = model.probability(names, m)
        assert found.low <= found.high
        assert found.value == pytest.approx(found.observed / found.days, rel=0.35)
        assert found.independent < found.value
        assert found.resolved
    assert "if independent" in str(model.probability(["XOM", "CVX"]))


def test_a_loss_in_the_unit_of_the_returns(model):
    found = model.probability(["XOM", "CVX"], loss=0.025)
    places = [model.names.index(name) for name in ("XOM", "CVX")]
    assert found.observed == int((model.losses[:, places] > 0.025).all(axis=1).sum())
    assert found.value == pytest.approx(found.observed / found.days, rel=0.5)


def test_what_the_data_cannot_say_is_refused(model, stocks):
    panel, result = stocks
    with pytest.raises(InvalidInput, match="level: is beyond the data.*less than once"):
        model.probability(["XOM"], level=1e-4)
    with pytest.raises(InvalidInput, match="loss: is beyond the data"):
        model.probability(["KO"], loss=3.0)
    with pytest.raises(InvalidInput, match="level: is no extreme"):
        model.probability(["XOM"], level=0.3)
    with pytest.raises(InvalidInput, match="period: .*2000 days of the data, which reach no"):
        model.return_level(np.full(20, 0.05), 5000)
    with pytest.raises(InvalidInput, match="the position in 'AAPL' is short"):
        model.return_level({"AAPL": -1.0}, 100)
    with pytest.raises(InvalidInput, match="of: 'XYZ' was not in the fit"):
        model.probability(["XYZ"])
    with pytest.raises(InvalidInput, match="q: 0.001 leaves 2 of 2000 days"):
        sn.crash_model(result, panel, q=0.001)
    rare = model.probability(level=0.001)
    assert not rare.resolved
    assert "the data cannot say more" in str(rare)
    holes = panel.values.copy()
    holes[3, 3] = np.nan
    with pytest.raises(InvalidTable, match="missing"):
        sn.crash_model(result, panel.with_values(holes), draws=0)


def test_simulated_days_have_the_tails_of_the_data(model, stocks):
    panel, _ = stocks
    made = sn.simulate(model, 20_000, seed=1)
    assert list(made.columns) == list(panel.names)
    for q in (0.01, 0.05):
        np.testing.assert_allclose(
            made.quantile(q).to_numpy(), np.quantile(panel.values, q, axis=0), rtol=0.2
        )
    places = [panel.names.index(name) for name in ("XOM", "CVX")]
    limit = np.quantile(panel.values[:, places], 0.05, axis=0)
    both = (made[["XOM", "CVX"]] < limit).all(axis=1)
    assert both.mean() > 5 * 0.05**2
    assert made.equals(sn.simulate(model, 20_000, seed=1))


def test_return_levels_are_near_the_sample(model):
    found = model.return_level(np.full(20, 0.05), 50)
    assert found.low <= found.high
    assert found.value == pytest.approx(found.observed, rel=0.3)
    more = model.return_level({"XOM": 1.0}, 250)  # one instrument: its own tail
    tail = model.tails.quantiles(np.full((1, 20), 1 - 1 / 250))[0]
    place = model.names.index("XOM")
    assert more.value == pytest.approx(tail[place], rel=0.1)


def test_a_return_level_is_as_uncertain_as_its_less_certain_part(model):
    """The mean of two answers hardly varies where one of them is steady, and errs all the same."""
    w = np.full(20, 0.05)
    found = model.return_level(w, 250)
    own = model.losses @ w
    drawn = [np.quantile(own[s.rows], 1 - 1 / 250) for s in model.samples]
    low, high = model.histories.by_ratio(np.array(found.value), np.array(drawn), model.level)
    assert found.low <= low * (1 + 1e-9)
    assert found.high >= high * (1 - 1e-9)
