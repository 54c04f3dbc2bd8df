"""The estimators inside the real skfolio."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.integrations.skfolio import as_skfolio, group_limits

pytestmark = pytest.mark.filterwarnings("ignore")
skfolio = pytest.importorskip("skfolio")


@pytest.fixture(scope="module")
def returns():
    return sp500_prices().pct_change().iloc[-900:]


@pytest.fixture(scope="module")
def parts():
    from skfolio.distance import PearsonDistance
    from skfolio.optimization import (
        HierarchicalRiskParity,
        InverseVolatility,
        MeanRisk,
        NestedClustersOptimization,
    )

    return {
        "Pearson": PearsonDistance,
        "HRP": HierarchicalRiskParity,
        "NCO": NestedClustersOptimization,
        "InverseVolatility": InverseVolatility,
        "MeanRisk": MeanRisk,
    }


def nested(parts, k, distance):
    from symnmf.integrations.skfolio import SymNMFClustering

    inner = parts["InverseVolatility"]()
    return parts["NCO"](
        inner_estimator=inner,
        outer_estimator=inner,
        distance_estimator=distance,
        clustering_estimator=SymNMFClustering(k),
        cv="ignore",
    )


def test_labels_inside_nested_clusters_are_ours(returns, parts):
    model = nested(parts, 4, parts["Pearson"](absolute=True)).fit(returns)
    labels = model.clustering_estimator_.labels_
    S = np.abs(np.corrcoef(returns.to_numpy().T))
    ours = sn.factorize(S, 4).labels()
    assert adjusted_rand_score(ours, labels) == 1.0
    assert model.weights_.sum() == pytest.approx(1)


def test_tail_distance(returns, parts):
    from symnmf.integrations.skfolio import TailDistance

    distance = TailDistance().fit(returns)
    S = sn.tail_dependence(returns.to_numpy()).to_dense().numpy()
    off = ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(distance.codependence_[off], S[off], atol=1e-6)
    weights = parts["HRP"](distance_estimator=TailDistance()).fit(returns).weights_
    assert weights.sum() == pytest.approx(1)
    pearson = parts["HRP"]().fit(returns).weights_
    assert np.abs(weights - pearson).max() > 1e-3


def test_walk_forward_and_grid_search(returns, parts):
    from skfolio.model_selection import WalkForward, cross_val_predict
    from sklearn.model_selection import GridSearchCV

    from symnmf.integrations.skfolio import TailDistance

    model = nested(parts, 4, TailDistance(dependence_options={"q": 0.1}))
    walk = WalkForward(train_size=500, test_size=200)
    path = cross_val_predict(model, returns, cv=walk)
    assert len(path.returns) == 400
    grid = {"clustering_estimator__n_clusters": [2, 4], "distance_estimator__dependence": ["tail"]}
    found = GridSearchCV(model, grid, cv=walk, error_score="raise").fit(returns)
    assert found.best_params_["clustering_estimator__n_clusters"] in (2, 4)


def test_signed_distances(returns, parts):
    from symnmf.integrations.skfolio import SymNMFClustering

    distance = parts["Pearson"]().fit(returns).distance_
    found = SymNMFClustering(4, similarity="signed").fit(distance)
    ours = sn.factorize(np.abs(np.corrcoef(returns.to_numpy().T)), 4).labels()
    assert adjusted_rand_score(ours, found.labels_) == 1.0
    with pytest.raises(sn.SymnmfError, match="matrix of distances"):
        SymNMFClustering(4).fit(np.eye(5))


def test_names_are_safe_in_equations(returns, parts):
    prices = returns.rename(columns={"AAPL": "A-B = C+", "AMD": "1 x*2"})
    result = sn.factorize(sn.abs_correlation(prices.to_numpy()), 4)
    S = sn.as_operator(sn.abs_correlation(prices.to_numpy()), names=list(prices.columns))
    result = sn.factorize(S, 4)
    groups = as_skfolio(result)
    words = sorted({g[0] for g in groups.values()})
    assert all(word.isidentifier() for word in words)
    model = parts["MeanRisk"](
        groups={name: groups[name] for name in prices.columns},
        linear_constraints=[f"{words[0]} <= 0.1", f"{words[1]} >= 0.3"],
    )
    weights = pd.Series(model.fit(prices).weights_, prices.columns)
    by_group = weights.groupby([groups[n][0] for n in prices.columns]).sum()
    assert by_group[words[0]] <= 0.1 + 1e-6
    assert by_group[words[1]] >= 0.3 - 1e-6


def test_soft_groups_as_limits(returns, parts):
    result = sn.factorize(sn.abs_correlation(returns.to_numpy()), 3)
    A, b = group_limits(result, 0.4)
    np.testing.assert_allclose(A.sum(axis=0), 1)
    model = parts["MeanRisk"](left_inequality=A, right_inequality=b).fit(returns)
    assert (A @ model.weights_ <= 0.4 + 1e-6).all()
    with pytest.raises(sn.SymnmfError, match="one for each of 3 groups"):
        group_limits(result, [0.1, 0.2])
