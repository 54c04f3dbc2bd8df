"""Silhouettes against scikit-learn on the formed matrix."""

import pytest
import torch
from sklearn.metrics import silhouette_samples, silhouette_score

import symnmf as sn
from helpers import dense, market
from symnmf.errors import InvalidInput, UnknownName
from symnmf.grouping.silhouette import silhouette


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_against_scikit_learn(kind, metric):
    b = market(kind, 100)
    labels = sn.spherical_kmeans(b.operator, b.k, seed=7).labels
    X = dense(b.operator)
    X = X / X.norm(dim=1, keepdim=True)
    found = silhouette(b.operator, labels, metric=metric)
    expected = silhouette_samples(X.numpy(), labels.numpy(), metric=metric)
    torch.testing.assert_close(found.values, torch.from_numpy(expected), atol=2e-4, rtol=1e-3)
    wide = silhouette(dense(b.operator), labels, metric=metric)
    assert wide.mean == pytest.approx(silhouette_score(X, labels, metric=metric), abs=1e-6)
    assert wide.standard_error == 0


def test_simplified_by_centroids():
    b = market("corr", 100)
    labels = torch.from_numpy(b.labels)
    X = dense(b.operator)
    X = X / X.norm(dim=1, keepdim=True)
    centres = torch.stack([X[labels == g].sum(dim=0) for g in range(b.k)])
    centres /= centres.norm(dim=1, keepdim=True)
    far = 1 - X @ centres.T
    own = far.gather(1, labels[:, None])[:, 0]
    other = far.scatter(1, labels[:, None], torch.inf).min(dim=1).values
    expected = float(((other - own) / torch.maximum(own, other)).mean())
    assert silhouette(dense(b.operator), labels).simplified == pytest.approx(expected, abs=1e-9)


def test_samples_say_how_sure_they_are():
    b = market("corr", 1000)
    labels = torch.from_numpy(b.labels)
    exact = silhouette(b.operator, labels, metric="euclidean")
    some = silhouette(b.operator, labels, metric="euclidean", sample=300)
    assert len(some.values) == 300
    assert 0 < some.standard_error < 0.02
    assert abs(some.mean - exact.mean) < 4 * some.standard_error


def test_groups_of_one_and_rows_of_none():
    S = torch.block_diag(torch.ones(3, 3), torch.ones(3, 3), torch.ones(1, 1), torch.zeros(1, 1))
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2, -1])
    found = silhouette(S.double(), labels)
    assert found.values.tolist() == [1, 1, 1, 1, 1, 1, 0]
    with pytest.raises(InvalidInput, match="fewer than two groups"):
        silhouette(S.double(), torch.zeros(8, dtype=torch.int64))
    with pytest.raises(InvalidInput, match="labels: has shape"):
        silhouette(S.double(), labels[:4])
    with pytest.raises(UnknownName, match="metric: unknown metric 'city'"):
        silhouette(S.double(), labels, metric="city")
