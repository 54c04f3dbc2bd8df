"""A table in, named groups out."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidTable, SingleEventsWarning, UnknownName


@pytest.mark.parametrize("dependence", ["tail", "correlation"])
def test_prices_to_groups(dependence):
    model = sn.DependenceFactors(4, dependence=dependence, kind="prices").fit(sp500_prices())
    assert model.certificate_.converged
    assert isinstance(model.loadings_, pd.DataFrame)
    assert list(model.loadings_["name"]) == list(sp500_prices().columns)
    group = model.groups_["group"].to_dict()
    assert (model.groups_["group"].to_numpy() == model.labels_ + 1).all()
    assert group["XOM"] == group["CVX"]
    assert group["KO"] == group["PEP"]
    assert group["BAC"] == group["JPM"]
    assert group["KO"] != group["XOM"]
    assert model.panel_summary_.columns == 20
    assert model.certificate_.agreement is not None
    if dependence == "tail":
        assert len(model.exceedance_dates_) == 415
        assert "2008-10-15" in model.exceedance_dates_
    else:
        assert model.exceedance_dates_ is None


def test_the_table_that_comes_in_goes_out():
    prices = sp500_prices().iloc[:600].reset_index()
    table = pa.Table.from_pandas(prices)
    model = sn.DependenceFactors(3, dependence="correlation", kind="prices").fit(table)
    assert isinstance(model.loadings_, pa.Table)
    assert model.groups_.column_names == ["name", "group", "margin"]
    values = np.log(prices.iloc[:, 1:]).diff().dropna().to_numpy()
    same = sn.DependenceFactors(3, dependence="correlation").fit_predict(values)
    # Arrays have columns from 0, tables groups from 1.
    assert (same + 1).tolist() == model.groups_["group"].to_pylist()


def test_options_are_passed_on_and_checked():
    model = sn.DependenceFactors(
        3, kind="prices", dependence_options={"q": 0.1, "decluster": 5}, options={"penalty": 3.0}
    )
    copy = clone(model).fit(sp500_prices().iloc[:2000])
    assert copy.result_.options["penalty"] == 3.0
    assert copy.operator_.provenance.declustered > 0
    with pytest.raises(UnknownName, match="dependence: got 'copula'"):
        sn.DependenceFactors(3, dependence="copula").fit(np.arange(20.0).reshape(5, 4) ** 2)
    holes = sp500_prices().iloc[:900].copy()
    holes.iloc[4, 3] = np.nan
    with pytest.raises(InvalidTable, match="column 'BBY'"):
        sn.DependenceFactors(3, kind="prices").fit(holes)
    sn.DependenceFactors(3, kind="prices", missing="drop-rows").fit(holes)


def test_more_groups_than_the_exceedances_can_tell_apart_are_warned_of():
    prices = sp500_prices().iloc[:901]
    with pytest.warns(SingleEventsWarning, match="k = 10 groups from 45 exceedances.*up to 9"):
        sn.DependenceFactors(10, kind="prices").fit(prices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sn.DependenceFactors(4, kind="prices").fit(prices)


def test_score_is_the_fit_of_other_days():
    prices = sp500_prices()
    model = sn.DependenceFactors("auto", dependence="correlation", kind="prices")
    model.fit(prices.iloc[:4000])
    later = sn.abs_correlation(sn.read_panel(prices.iloc[4000:], kind="prices")).to_dense().numpy()
    H = model.result_.H.numpy()
    off = ~np.eye(20, dtype=bool)
    expected = 1 - ((later - H @ H.T)[off] ** 2).sum() / (later[off] ** 2).sum()
    assert model.score(prices.iloc[4000:]) == pytest.approx(expected, abs=1e-5)
    with pytest.raises(sn.SymnmfError, match="not the 20 of the fit"):
        model.score(prices.iloc[4000:, :10])
