"""Prototypes of crashes: planted kinds, both ways to cluster, what is refused."""

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.grouping import prototypes
from symnmf.grouping.prototypes import METHODS, cluster_directions


def planted(days=2000, seed=0):
    """Losses of twelve instruments, four of which fall together on each of three kinds of days."""
    rng = np.random.default_rng(seed)
    kind = np.full(days, -1)
    hit = rng.permutation(days)[:100]
    kind[hit] = rng.choice(3, size=100, p=[0.5, 0.3, 0.2])
    values = rng.normal(size=(days, 12))
    for g in range(3):
        rows = kind == g
        values[np.ix_(rows, range(4 * g, 4 * g + 4))] -= 8 + rng.pareto(2, (int(rows.sum()), 1))
    return values, kind


@pytest.mark.parametrize("method", METHODS)
def test_planted_kinds_are_found(method):
    values, kind = planted()
    panel = sn.read_panel(values, kind="returns")
    result = sn.factorize(sn.tail_dependence(panel), 3)
    found = sn.prototypes(result, panel, 3, method=method)
    assert len(found.rows) == 100
    mine = kind[found.rows]
    assert adjusted_rand_score(mine[mine >= 0], found.kinds[mine >= 0]) > 0.95
    assert [p.days for p in found.found] == sorted((p.days for p in found.found), reverse=True)
    labels = result.labels().numpy()
    for place, prototype in enumerate(found.found):
        most = np.argsort(-prototype.direction)[:4]
        assert len(set(most // 4)) == 1  # the four that fall together
        (number, ratio), *_ = found.hit(place)
        assert number == labels[most[0]] + 1
        assert ratio > 1.2
        assert np.linalg.norm(prototype.direction) == pytest.approx(1)
        assert prototype.groups.sum() == pytest.approx(1)
        assert 0 < prototype.fit <= 1
    table = found.table()
    assert table["prototype"].tolist() == (found.kinds + 1).tolist()
    assert (table["size"] >= 1 - 1e-12).all()


def test_the_centre_of_kpc_is_the_leading_component():
    rng = np.random.default_rng(1)
    X = np.abs(rng.normal(size=(60, 5))) * [3, 1, 1, 0.5, 2]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    _, (centre,) = cluster_directions(X, 1, "k-pc")
    vectors = np.linalg.eigh(X.T @ X)[1]
    np.testing.assert_allclose(centre, np.abs(vectors[:, -1]), atol=1e-5)
    _, (mean,) = cluster_directions(X, 1, "k-means")
    total = X.sum(axis=0)
    np.testing.assert_allclose(mean, total / np.linalg.norm(total), atol=1e-8)


def test_gains_are_the_losses_of_the_other_side():
    values, _ = planted()
    down, up = (sn.read_panel(sign * values, kind="returns") for sign in (1, -1))
    result = sn.factorize(sn.tail_dependence(down), 3, n_init=1)
    one, two = sn.prototypes(result, down), sn.prototypes(result, up, tail="upper")
    assert one.rows.tolist() == two.rows.tolist()
    assert one.kinds.tolist() == two.kinds.tolist()


def test_what_is_refused():
    values, _ = planted(300)
    panel = sn.read_panel(values, kind="returns")
    result = sn.factorize(sn.tail_dependence(panel), 3, n_init=1)
    with pytest.raises(InvalidInput, match="q: 0.01 leaves 3 of 300 days"):
        sn.prototypes(result, panel, q=0.01)
    with pytest.raises(InvalidInput, match="count: .*15 extreme days"):
        sn.prototypes(result, panel, 16)
    with pytest.raises(InvalidInput, match="method"):
        sn.prototypes(result, panel, method="k-median")
    assert len(sn.prototypes(result, panel, decluster=5).rows) <= 15


def test_few_directions_are_clustered_on_one_thread(monkeypatch):
    seen, lloyd, before = [], prototypes.lloyd, torch.get_num_threads()

    def noted(*args):
        seen.append(torch.get_num_threads())
        return lloyd(*args)

    monkeypatch.setattr(prototypes, "lloyd", noted)
    torch.set_num_threads(2)
    try:
        cluster_directions(np.eye(3)[[0, 0, 1, 2, 2]], 3)
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
