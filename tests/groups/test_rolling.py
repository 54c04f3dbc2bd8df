"""Groups through time: windows, planted changes, and what carrying over saves."""

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from conftest import SHARED
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput, UnknownName
from symnmf.groups.rolling import MovingSums, rolling


def market_with_groups(rng, T, groups, loading=0.9):
    """Gaussian returns with a common factor and one factor for each group."""
    common, own = rng.normal(size=(T, 1)), rng.normal(size=(T, groups.max() + 1))
    return 0.4 * common + loading * own[:, groups] + 0.5 * rng.normal(size=(T, len(groups)))


def test_moving_sums_equal_fresh_estimates():
    X = np.random.default_rng(0).normal(size=(400, 30)) * 0.01 + 0.2
    sums = MovingSums(X)
    for begin in range(0, 300, 7):
        sums.move(begin, begin + 100)
        fresh = np.corrcoef(X[begin : begin + 100].T)
        np.testing.assert_allclose(sums.correlation().numpy(), fresh, atol=1e-10)
    panel = sn.read_panel(X, kind="returns")
    fresh = sn.abs_correlation(panel.rows(294, 394))
    moved = sums.operator(panel)
    torch.testing.assert_close(moved.S, fresh.S, atol=1e-6, rtol=1e-6)
    assert moved.about.intensity == pytest.approx(fresh.about.intensity, rel=1e-9)
    constant = MovingSums(np.ones((50, 2)))
    constant.move(0, 20)
    with pytest.raises(InvalidInput, match="column 0 is constant in rows 0 to 19"):
        constant.correlation()


def test_windows_cover_the_table():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    seen = []
    found = rolling(panel, 1000, 500, 4, "correlation", on_window=seen.append)
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


def test_a_planted_stress_in_the_tail_shows_in_the_tail_alone():
    """Two groups that crash together, on days too few to move the correlation."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(4), 10)
    X = market_with_groups(rng, 6000, groups)
    stress = rng.choice(np.arange(3000, 6000), 150, replace=False)
    X[stress[:, None], np.flatnonzero(groups <= 1)] -= 3.0 * (1 + rng.pareto(4, (150, 1)))
    tail = rolling(X, 1500, 1500, 3, "tail").labels()
    plain = rolling(X, 1500, 1500, 4, "correlation").labels()
    merged = [len(set(row[groups <= 1])) == 1 and row[0] not in row[groups > 1] for row in tail]
    assert merged == [False, False, True, True]
    assert all(
        (row[:, None] == row).tolist() == (groups[:, None] == groups).tolist() for row in plain
    )


def test_carrying_over_saves_products_and_keeps_the_verdict():
    path = SHARED / "us_rsr_logret_2013_2017.parquet"
    if not path.exists():
        pytest.skip("the real data are not here")
    table = pd.read_parquet(path).dropna(axis=1).iloc[: 500 + 7 * 21, :600]
    panel = sn.read_panel(table, kind="returns")
    cold = rolling(panel, 500, 21, 10, "correlation", warm=False)
    warm = rolling(panel, 500, 21, 10, "correlation")
    for a, b in zip(cold.windows, warm.windows, strict=True):
        assert a.result.status == b.result.status
        assert b.result.certificate.excess < a.result.certificate.excess + 2e-3
    assert warm.products < 0.7 * cold.products


def test_what_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(InvalidInput, match="window: got 80"):
        rolling(X, 80, 1, 2)
    with pytest.raises(InvalidInput, match="step: got 0"):
        rolling(X, 20, 0, 2)
    with pytest.raises(UnknownName, match="dependence: unknown"):
        rolling(X, 20, 5, 2, "copula")
