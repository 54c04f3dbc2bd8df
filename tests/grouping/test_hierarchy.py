"""The path over k as a tree."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, is_valid_linkage
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.plot import dendrogram


def nested(seed=0):
    """Two halves, each of two groups of eight."""
    rng = np.random.default_rng(seed)
    fine = np.repeat(np.arange(4), 8)
    X = rng.normal(size=(800, 4))[:, fine] + rng.normal(size=(800, 2))[:, fine // 2]
    return sn.abs_correlation(X + 0.7 * rng.normal(size=X.shape)), fine


def test_a_tree_of_nested_groups():
    S, fine = nested()
    tree = sn.hierarchy(S, 4)
    assert tree.numbers == (2, 3, 4)
    assert is_valid_linkage(tree.linkage)
    assert adjusted_rand_score(fine, tree.labels(4)) == 1.0
    assert adjusted_rand_score(fine // 2, tree.labels(2)) == 1.0
    table = tree.splits()
    last = table[table["k"] == 4]
    assert last["size"].tolist() == [8, 8, 8, 8]
    assert last["overlap"].min() > 0.5
    # Each group of four comes from the group of three that holds most of its members.
    before, after = (r.labels().numpy() for r in tree.results[1:])
    for _, row in last.iterrows():
        mine = before[after == row["group"] - 1]
        assert np.bincount(mine).argmax() + 1 == row["from group"]


def test_the_order_of_merging_is_that_of_the_levels():
    S, fine = nested(1)
    depth = np.zeros((32, 32))
    depth[np.triu_indices(32, 1)] = cophenet(sn.hierarchy(S, [2, 4]).linkage)
    depth += depth.T
    same, near = fine[:, None] == fine, fine[:, None] // 2 == fine // 2
    off = ~np.eye(32, dtype=bool)
    assert depth[same & off].max() < depth[near & ~same].min() < depth[~near].min()


def test_numbers_that_cannot_be_used():
    S, _ = nested()
    with pytest.raises(InvalidInput, match="ks: got no number"):
        sn.hierarchy(S, [])
    with pytest.raises(InvalidInput, match="ks: got 99"):
        sn.hierarchy(S, [2, 99])


def test_the_dendrogram_names_the_leaves():
    S, _ = nested()
    figure = dendrogram(sn.hierarchy(S, 3))
    assert sorted(figure.layout.xaxis.ticktext, key=int) == [str(i) for i in range(32)]
