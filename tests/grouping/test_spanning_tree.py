"""The tree of the strongest links."""

import numpy as np
import torch

import symnmf as sn
from helpers import dense, market
from symnmf.grouping.spanning_tree import spanning_tree
from symnmf.plot import network


def kruskal(S):
    """Sum of the strongest tree, written from the definition."""
    n, total = len(S), 0.0
    part = list(range(n))
    pairs = sorted(((S[i, j], i, j) for i in range(n) for j in range(i)), reverse=True)
    for value, i, j in pairs:
        if part[i] != part[j]:
            part = [part[i] if p == part[j] else p for p in part]
            total += value
    return total


def test_the_tree_is_the_strongest_one():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k)
    tree = spanning_tree(b.operator, result)
    S = dense(b.operator).numpy()
    assert len(tree.links) == 99
    np.testing.assert_allclose(tree.strengths.sum(), kruskal(S), rtol=1e-5)
    assert tree.everyone
    assert 0.5 < tree.inside <= 1
    gaps = np.linalg.norm(tree.places[:, None] - tree.places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 0.1  # nobody lies on another
    linked = gaps[tree.links[:, 0], tree.links[:, 1]]
    assert np.median(linked) < np.median(gaps[np.isfinite(gaps)]) / 2


def test_of_many_the_strongest_members_are_linked():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k)
    tree = spanning_tree(b.operator, result, most=30)
    assert not tree.everyone
    assert len(tree.rows) <= 30
    labels = result.labels().numpy()
    assert set(tree.labels) == set(labels)  # no group is missing
    H = result.H.numpy()
    for g in np.unique(labels):
        own = H[:, g] * (labels == g)
        assert own.argmax() in tree.rows


def test_entries_of_zero_are_links_too():
    S = torch.eye(4)
    tree = spanning_tree(sn.as_operator(S), sn.factorize(S, 4))
    assert len(tree.links) == 3
    assert tree.strengths.tolist() == [0, 0, 0]


def test_the_figure_has_a_colour_for_each_group():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k)
    figure = network(b.operator, result)
    assert figure.data[0].x.count(None) == 99
    assert sum(len(trace.x) for trace in figure.data[1:]) == 100
    assert len(figure.data) == 1 + len(np.unique(result.labels()))
    named = [word for trace in figure.data[1:] for word in trace.text if word]
    assert len(named) == b.k  # of many, one of each group
