"""Groups through time: windows, planted changes, and what carrying over saves."""

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from helpers import SHARED, US_STOCKS
from symnmf.data.samples import sp500_prices
from symnmf.dependence import tiles
from symnmf.errors import AmbiguousWarning, InvalidInput, UnknownName
from symnmf.grouping.moving_sums import MovingSums
from symnmf.grouping.rolling import CARRIED, rolling
from symnmf.solvers.sketch_schedule import Schedule


def market_with_groups(rng, T, groups, loading=0.9):
    """Gaussian returns with a common factor and one factor for each group."""
    common, own = rng.normal(size=(T, 1)), rng.normal(size=(T, groups.max() + 1))
    return 0.4 * common + loading * own[:, groups] + 0.5 * rng.normal(size=(T, len(groups)))


def test_moving_sums_equal_fresh_estimates(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_IN_MEMORY", 13)  # some tiles are not square
    X = np.random.default_rng(0).normal(size=(400, 30)) * 0.01 + 0.2
    sums = MovingSums(X)
    for begin in range(0, 300, 7):
        sums.move(begin, begin + 100)
        fresh = np.corrcoef(X[begin : begin + 100].T)
        for rows, columns, tile in sums.correlation():
            np.testing.assert_allclose(tile.numpy(), fresh[rows, columns], atol=1e-10)
    panel = sn.read_panel(X, kind="values")
    fresh = sn.abs_correlation(panel.rows(294, 394))
    moved = sums.operator(panel)
    torch.testing.assert_close(moved.S, fresh.S, atol=1e-6, rtol=1e-6)
    assert moved.provenance.intensity == pytest.approx(fresh.provenance.intensity, rel=1e-9)


def test_windows_cover_the_table():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    seen = []
    with pytest.warns(AmbiguousWarning, match=r"in \d+ of 15 windows, .* larger window") as said:
        found = rolling(panel, 1000, 500, 4, "correlation", on_window=seen.append, draws=0)
    assert len(said) == 1  # for all windows together
    assert len(found.windows) == len(seen) == (len(panel.values) - 1000) // 500 + 1
    first, last = found.windows[0], found.windows[-1]
    assert (first.begin, first.stop, first.ari_before) == (0, 1000, None)
    assert last.first == panel.date_words(np.array([last.begin]))[0]
    assert found.labels().shape == (len(found.windows), 20)
    for before, after in zip(found.windows[:-1], found.windows[1:], strict=True):
        same = before.result.labels() == after.result.labels()
        assert len(after.moved) == int((~same).sum())
    assert found.windows[1].ari_width is None
    assert found.windows[2].ari_width is not None


@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
@pytest.mark.parametrize("warm", [False, True])
def test_only_windows_with_a_warm_start_are_fitted_from_fewer_seeds(warm):
    found = rolling(sp500_prices().pct_change().dropna(), 2000, 2000, 4, warm=warm, draws=0)
    seeds = [w.result.options["schedule"]["pool_size"] for w in found.windows]
    starts = [w.result.options["n_init"] for w in found.windows]
    few, many = CARRIED.pool_size, Schedule().pool_size
    assert few < many
    assert seeds == [many] + [few if warm else many] * (len(seeds) - 1)
    assert starts == [5] + [2 if warm else 5] * (len(seeds) - 1)


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_a_planted_reclassification_is_found(dependence):
    rng = np.random.default_rng(1)
    before = np.repeat(np.arange(4), 10)
    after = before.copy()
    after[[0, 1, 2, 3, 4]] = 3
    X = np.concatenate([market_with_groups(rng, 3000, g) for g in (before, after)])
    found = rolling(X, 1000, 500, 4, dependence)
    labels = found.labels()
    early = [w for w in found.windows if w.stop <= 3000]
    late = [w for w in found.windows if w.begin >= 3000]
    for w in early + late:
        truth = before if w in early else after
        same = labels[w.number][:, None] == labels[w.number]
        agreed = (same == (truth[:, None] == truth)).mean()
        assert agreed > (0.99 if dependence == "correlation" else 0.9), w.number
    crossing = [w for w in found.windows if w.begin < 3000 < w.stop or w.begin == 3000]
    moved = set().union(*(w.moved for w in crossing))
    assert {"0", "1", "2", "3", "4"} <= moved
    assert any(w.broke for w in crossing)
    if dependence == "correlation":
        assert all(w in crossing for w in found.breaks)


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_a_planted_stress_in_the_tail_shows_in_the_tail_alone(dependence):
    """Halves of two groups crash together, on days too few to move the correlation."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(3), 12)
    X = market_with_groups(rng, 8000, groups, loading=0.7)
    stressed = [*range(6), *range(12, 18)]
    days = rng.choice(np.arange(4000, 8000), 60, replace=False)
    X[days[:, None], stressed] = -2.7 - 0.3 * rng.random((60, 1))
    extremes = {"estimator": "global", "q": 0.05} if dependence == "tail" else {}
    found = rolling(X, 2000, 2000, 4, dependence, n_init=5, draws=0, **extremes).labels()
    together = [len(set(row[stressed])) == 1 and row[6] != row[0] for row in found]
    late = dependence == "tail"
    assert together == [False, False, late, late]


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
def test_carrying_over_saves_products_and_keeps_the_verdict():
    table = pd.read_parquet(SHARED / US_STOCKS).dropna(axis=1).iloc[: 500 + 7 * 21, :400]
    panel = sn.read_panel(table, kind="returns")
    cold = rolling(panel, 500, 21, 10, "correlation", warm=False, draws=0)
    warm = rolling(panel, 500, 21, 10, "correlation", draws=0)
    for a, b in zip(cold.windows, warm.windows, strict=True):
        assert a.result.status == b.result.status
        assert b.result.certificate.excess < a.result.certificate.excess + 2e-3
    assert warm.products < 0.8 * cold.products  # both pay alike for the steps after the criterion


def test_what_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(InvalidInput, match="window: got 80"):
        rolling(X, 80, 1, 2)
    with pytest.raises(InvalidInput, match="step: got 0"):
        rolling(X, 20, 0, 2)
    with pytest.raises(UnknownName, match="dependence: got 'copula'"):
        rolling(X, 20, 5, 2, "copula")
    X[20:40, 1] = 0.1
    for options in ({}, {"shrinkage": "none"}):
        with pytest.raises(InvalidInput, match="window: '1' is constant from 20 to 39"):
            rolling(X, 20, 20, 2, "correlation", **options)
