"""A table in, named groups out."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput, InvalidTable, SingleEventsWarning, UnknownName


@pytest.mark.parametrize("dependence", ["tail", "correlation"])
def test_prices_to_groups(dependence):
    model = sn.DependenceFactors(5, dependence=dependence, kind="prices").fit(sp500_prices())
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
        assert len(model.exceedance_dates_) == len(model.operator_.provenance.exceedances) > 8000
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
    assert copy.operator_.provenance.rows_a_block == 5
    with pytest.raises(UnknownName, match="dependence: got 'copula'"):
        sn.DependenceFactors(3, dependence="copula").fit(np.arange(20.0).reshape(5, 4) ** 2)
    holes = sp500_prices().iloc[:900].copy()
    holes.iloc[4, 3] = np.nan
    with pytest.raises(InvalidTable, match="column 'BBY'"):
        sn.DependenceFactors(3, kind="prices").fit(holes)
    sn.DependenceFactors(3, kind="prices", missing="drop-rows").fit(holes)


def test_more_groups_than_the_exceedances_can_tell_apart_are_warned_of():
    prices = sp500_prices().iloc[:901]
    old = {"estimator": "global"}
    with pytest.warns(SingleEventsWarning, match="k = 10 groups from 45 exceedances.*up to 9"):
        sn.DependenceFactors(10, kind="prices", dependence_options=old).fit(prices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sn.DependenceFactors(4, kind="prices", dependence_options=old).fit(prices)


def table_of_groups(T=600, seed=0):
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.normal(size=(T, 4)), 8, axis=1)
    values = own + rng.normal(size=(T, 1)) + rng.normal(size=(T, 32))
    return pd.DataFrame(values, columns=[f"s{i}" for i in range(32)])


def test_the_score_is_the_fit_to_other_days_relative_to_one_factor():
    table, later = table_of_groups(), table_of_groups(seed=1)
    model = sn.DependenceFactors(4, dependence="correlation").fit(table)
    S, T = (sn.abs_correlation(t).to_dense().double().numpy() for t in (table, later))
    off = ~np.eye(32, dtype=bool)
    H = model.result_.H.double().numpy()
    values, vectors = np.linalg.eigh(S)
    one = values[-1] * np.outer(vectors[:, -1], vectors[:, -1])
    fit = [np.corrcoef(M[off], T[off])[0, 1] ** 2 for M in (H @ H.T, one)]
    assert model.score(later) == pytest.approx(1 - (1 - fit[0]) / (1 - fit[1]), rel=1e-4)
    assert model.score(later) > 0.5
    assert model.score(later[later.columns[::-1]]) == pytest.approx(model.score(later), rel=1e-5)
    with pytest.raises(InvalidInput, match="X: has not the instruments"):
        model.score(later.drop(columns="s3"))


def test_a_grid_search_over_the_number_of_groups():
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

    table = table_of_groups()
    model = sn.DependenceFactors(dependence="correlation", n_init=1)
    search = GridSearchCV(model, {"n_components": [2, 4, 9]}, cv=KFold(2), refit=False).fit(table)
    assert search.best_params_ == {"n_components": 4}
    assert len(cross_val_score(clone(model), table, cv=KFold(2))) == 2
