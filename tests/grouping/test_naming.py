"""Groups with names, aligned and compared."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from helpers import market
from symnmf.errors import InvalidInput
from symnmf.grouping.comparison import align, compare
from symnmf.grouping.naming import group_of, groups
from symnmf.integrations.riskfolio import as_riskfolio
from symnmf.integrations.skfolio import as_skfolio


@pytest.fixture(scope="module")
def result():
    b = market("corr", 100)
    return sn.factorize(b.operator, b.k, seed=7)


def test_order_does_not_depend_on_the_seed(result):
    other = sn.factorize(market("corr", 100).operator, 10, "admm", seed=3)
    assert adjusted_rand_score(other.labels(), result.labels()) == 1
    assert torch.equal(other.labels(), result.labels())
    sizes = torch.bincount(result.labels())
    assert (sizes[:-1] >= sizes[1:]).all()


def test_groups_have_members_by_loading(result):
    found = groups(result)
    assert sum(len(g.members) for g in found) == 100
    for g in found:
        assert g.leader == g.members[0]
        assert g.name == f"{g.number} {g.leader}"
        assert g.number == g.column + 1
        assert (np.diff(g.loadings) <= 0).all()
        assert ((g.margins >= 0) & (g.margins <= 1)).all()


def test_columns_of_two_factorizations_are_aligned(result):
    order = torch.randperm(10, generator=torch.Generator().manual_seed(1))
    assert torch.equal(order[align(result.H[:, order], result.H)], torch.arange(10))
    few = align(result.H, result.H[:, [3, 5]])
    assert few[:2].tolist() == [3, 5]
    assert sorted(few.tolist()) == list(range(10))
    eye = torch.eye(3)
    assert align(eye[:, [2, 0]], eye).tolist() == [1, 0]  # more groups there than here
    assert align(eye[:, [1, 2]], eye).tolist() == [1, 0]
    with pytest.raises(InvalidInput, match="reference: has 99 rows"):
        align(result.H, result.H[:99])


def test_comparison_with_classes(result):
    truth = market("corr", 100).labels
    found = compare(result, [f"sector {g}" for g in truth])
    assert found.ari == pytest.approx(adjusted_rand_score(truth, result.labels()))
    assert found.nmi == pytest.approx(1.0)
    assert found.table.to_numpy().sum() == 100
    assert ((found.table > 0).sum(axis=1) == 1).all()
    some = compare(result, {str(i): "a" for i in range(40)})
    assert len(some.missing) == 60
    for wrong in (["a"], {"unknown": "a"}):
        with pytest.raises(InvalidInput, match="classes"):
            compare(result, wrong)


def test_plain_mappings_for_other_libraries(result):
    mapping, table = as_skfolio(result), as_riskfolio(result)
    assert list(mapping) == [str(i) for i in range(100)]
    assert all(isinstance(v, list) and len(v) == 1 for v in mapping.values())
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["Assets", "Class"]
    assert dict(zip(table["Assets"], table["Class"], strict=True)) == group_of(result)


def test_a_zero_row_is_unassigned():
    S = np.kron(np.eye(2), np.ones((3, 3)))
    S[5] = S[:, 5] = 0
    assert group_of(sn.factorize(S, 2))["5"] == "unassigned"
