"""K-means on directions."""

import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from symnmf.core import kmeans as module
from symnmf.core.kmeans import kmeans


def directions(n=400, k=8, noise=0.15, seed=0):
    rng = torch.Generator().manual_seed(seed)
    truth = torch.randint(k, (n,), generator=rng)
    centres = torch.randn(k, 12, generator=rng)
    X = centres[truth] / centres[truth].norm(dim=1, keepdim=True)
    X += noise * torch.randn(n, 12, generator=rng)
    return X / X.norm(dim=1, keepdim=True), truth


def inertia(X, labels):
    total = 0.0
    for g in labels.unique():
        total += len(X[labels == g]) - float(X[labels == g].sum(dim=0).norm())
    return total


def test_finds_directions_as_well_as_scikit_learn():
    X, truth = directions()
    labels = kmeans(X, 8, torch.Generator().manual_seed(1))
    assert adjusted_rand_score(truth, labels) > 0.99
    peer = KMeans(8, n_init=1, random_state=0).fit(X.numpy())
    assert inertia(X, labels) <= 1.01 * inertia(X, torch.from_numpy(peer.labels_))


def test_many_points_are_sampled(monkeypatch):
    X, truth = directions(3000)
    monkeypatch.setattr(module, "SAMPLE_SIZE", 500)
    labels = kmeans(X, 8, torch.Generator().manual_seed(1))
    assert adjusted_rand_score(truth, labels) > 0.99
    again = kmeans(X, 8, torch.Generator().manual_seed(1))
    assert torch.equal(labels, again)


def test_fewer_directions_than_groups():
    X = torch.eye(3).repeat(4, 1)
    labels = kmeans(X, 7, torch.Generator().manual_seed(0))
    assert len(labels.unique()) == 3
    assert torch.equal(labels[:3].repeat(4), labels)


def test_a_group_without_members_takes_the_worst_point():
    X = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    labels = torch.tensor([0, 0, 0, 0])
    centres = module.ExplicitRows(X).centres(labels, 2, fit=torch.tensor([0.9, 0.9, 0.1, 0.8]))
    torch.testing.assert_close(centres[1], X[2])
