"""Splits, wrong figures and stale stretches: found where they are, and not where they are not."""

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from helpers import SHARED
from symnmf.data.samples import sp500_prices
from symnmf.data.suspects import find_jumps, find_stale
from symnmf.errors import DataWarning, InvalidTable


@pytest.fixture(scope="module")
def returns():
    return sn.read_panel(sp500_prices(), kind="prices").values


def inject(returns, change, seed=0):
    """Returns with one change in every column, and where it is."""
    rng = np.random.default_rng(seed)
    out, places = returns.copy(), set()
    for j in range(out.shape[1]):
        t = int(rng.integers(2000, len(out) - 10))
        change(out, t, j)
        places.add((t, j))
    return out, places


def split(ratio):
    def change(r, t, j):
        r[t, j] -= np.log(ratio)

    return change


def finger(factor):
    def change(r, t, j):
        r[t, j] += np.log(factor)
        r[t + 1, j] -= np.log(factor)

    return change


def test_adjusted_prices_have_no_jumps(returns):
    assert find_jumps(returns, logs=True) == []


@pytest.mark.parametrize("change", [split(2), split(3), split(1.5), split(0.1), finger(10)])
def test_most_injected_errors_are_found(returns, change):
    changed, places = inject(returns, change)
    found = {(t, j) for t, j, *_ in find_jumps(changed, logs=True)}
    assert len(found & places) >= 0.75 * len(places)
    assert len(found - places) <= 1


def test_crashes_of_all_are_no_jumps(returns):
    changed = returns.copy()
    changed[5000] -= np.log(2)
    assert find_jumps(changed, logs=True) == []


@pytest.mark.shared_data
def test_recall_on_stocks_and_no_alarm_on_portfolios():
    table = pd.read_parquet(SHARED / "us_rsr_logret_2013_2017.parquet").dropna(axis=1)
    columns = np.random.default_rng(1).choice(table.shape[1], 452, replace=False)
    r = table.to_numpy()[:, columns]
    before = {(t, j) for t, j, *_ in find_jumps(r, logs=True)}
    rng = np.random.default_rng(2)
    for change, least in ((split(2), 0.85), (split(1.5), 0.85), (finger(10), 0.97)):
        changed, places = r.copy(), set()
        for j in range(0, 452, 2):
            t = int(rng.integers(70, 1170))
            change(changed, t, j)
            places.add((t, j))
        found = {(t, j) for t, j, *_ in find_jumps(changed, logs=True)}
        assert len(found & places) >= least * len(places)
    assert len(before) <= 10
    portfolios = sn.read_panel(SHARED / "ff30_daily_returns_pct.parquet", kind="returns")
    assert portfolios.summary.suspects == ()


def test_what_is_done_with_a_split():
    prices = sp500_prices().iloc[-1000:].copy()
    prices.loc[prices.index[500] :, "AAPL"] /= 4
    with pytest.warns(DataWarning, match=r"1 jump .* AAPL 2021-01-05 \(split 4:1\)"):
        kept = sn.read_panel(prices, kind="prices")
    assert [s.name for s in kept.summary.suspects] == ["AAPL"]
    masked = sn.read_panel(prices, kind="prices", jumps="mask")
    column = masked.values[:, 0]
    assert column[499] == np.median(kept.values[:, 0])
    clean = sn.read_panel(sp500_prices().iloc[-1000:], kind="prices").values[:, 0]
    np.testing.assert_allclose(np.delete(column, 499), np.delete(clean, 499), atol=1e-12)
    gap = sn.read_panel(prices, kind="prices", jumps="mask", missing="pairwise")
    assert np.isnan(gap.values).sum() == 1
    with pytest.raises(InvalidTable, match="jumps='mask'"):
        sn.read_panel(prices, kind="prices", jumps="error")
    with pytest.warns(DataWarning):
        found = sn.analyse(prices, k=3, kind="prices", dependence="correlation", evidence=False)
    assert found.suspects.loc["AAPL", "description"] == "4:1"


def test_stale_stretches_and_filled_holidays():
    r = np.random.default_rng(0).normal(size=(200, 4))
    r[50:70, 2] = 0
    r[100] = 0
    assert find_stale(r) == [(50, 2, 20)]
    steps = sn.read_panel(r, kind="returns").summary.steps
    assert "1 stretch of 1 instrument without any change, the longest 20 rows of 2 from 50" in steps
    assert "1 row in which nearly nothing moves: holidays that were filled?" in steps


def test_drop_columns_loses_little():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1000, 200))
    values[rng.random(values.shape) < 0.0006] = np.nan  # as many as in the table of US stocks
    values[400] = np.where(rng.random(200) < 0.5, np.nan, values[400])  # a holiday of half of them
    rows = np.isnan(values).any(axis=1).mean()
    with pytest.warns(DataWarning, match="13 % of the numbers were left out"):
        panel = sn.read_panel(values, kind="returns", missing="drop-columns", max_missing=0.05)
    assert panel.summary.columns >= 195
    assert panel.summary.lost < rows < 0.13  # less than by the rows alone


def test_returns_are_not_taken_across_a_gap():
    prices = sp500_prices().iloc[-300:].copy()
    prices.iloc[100:103, 0] = np.nan
    panel = sn.read_panel(prices, kind="prices", missing="pairwise")
    assert np.flatnonzero(np.isnan(panel.values[:, 0])).tolist() == [99, 100, 101, 102]
    assert "4 returns are missing next to 3 missing prices" in panel.summary.steps
    rows = sn.read_panel(prices, kind="prices", missing="drop-rows")
    full = sn.read_panel(sp500_prices().iloc[-300:], kind="prices")
    np.testing.assert_array_equal(rows.values, np.delete(full.values, [99, 100, 101, 102], axis=0))
