"""How many groups."""

import numpy as np
import pytest

import symnmf as sn
from helpers import SEEDS, market
from symnmf.data.samples import sp500_prices
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.plot import rank_evidence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["corr", "tpdm"])
@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_true_number_is_found(kind, n, seed):
    b = market(kind, n, seed)
    found = suggest_rank(b.operator, seed=1)
    assert abs(found.k - b.k) <= 1
    assert found.gap in (found.k, found.k + 1)
    assert f"gap after {found.gap}" in found.reasons[0]
    assert found.products <= 30
    assert found.agreement[found.k] > 0.9
    assert found.subsamples > 0.9


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_the_true_number_at_one_thousand(kind):
    b = market(kind, 1000)
    assert abs(suggest_rank(b.operator).k - b.k) <= 1


@pytest.mark.slow
def test_the_true_number_at_ten_thousand():
    b = market("corr", 10_000)
    found = suggest_rank(b.operator)
    assert abs(found.k - b.k) <= 10
    assert found.products <= 30


def test_a_spectrum_without_a_gap_is_said():
    place = np.linspace(0, 1, 60)
    found = suggest_rank(np.exp(-8 * np.abs(place[:, None] - place)))
    assert found.gap is None
    assert "no gap" in found.reasons[0]
    assert 1 <= found.k <= 10


@pytest.mark.slow
def test_the_edge_of_noise_for_correlations():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    found = suggest_rank(sn.abs_correlation(panel), 10)
    R = np.corrcoef(panel.values.T)
    edge = (1 + np.sqrt(20 / len(panel.values))) ** 2
    assert found.edge == int((np.linalg.eigvalsh(R) > edge).sum())
    noise = sn.abs_correlation(np.random.default_rng(1).normal(size=(2000, 50)))
    assert suggest_rank(noise, 10).gap is None
    assert suggest_rank(noise, 10).edge == 0
    wide = sn.abs_correlation(np.random.default_rng(1).normal(size=(2000, 300)))
    assert suggest_rank(wide, 10).share is None  # beyond what was looked at


def test_the_plot_marks_the_number():
    found = suggest_rank(market("corr", 100).operator)
    figure = rank_evidence(found)
    np.testing.assert_allclose(figure.data[0].y, found.values)
    assert f"{found.k} groups" in str(figure.layout.annotations)
