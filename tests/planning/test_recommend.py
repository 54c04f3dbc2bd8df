"""The rules, one by one."""

import sys

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import dense, market
from symnmf.core.problem import Problem
from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.errors import UnknownName
from symnmf.planning.recommendation import angular_collapse

#: The name of the package is the function.
module = sys.modules["symnmf.planning.recommendation"]


def test_the_sketch_by_default():
    b = market("corr", 1000)
    advice = sn.recommend(b.operator, b.k)
    assert advice.solver == "sketched"
    assert "a sketch of rank 62 replaces S" in advice.reasons[0]
    result = sn.factorize(b.operator, b.k)
    assert result.solver == "sketched"
    assert result.notes == advice.reasons


def test_gram_is_its_own_sketch_and_single_events_are_said():
    advice = sn.recommend(market("tpdm", 1000).operator, 150)
    assert "on S itself" in advice.reasons[0]
    assert "more than a fifth of the 400 exceedances" in advice.reasons[1]


def test_exact():
    advice = sn.recommend(np.eye(5), 2)
    assert advice.solver == "exact"
    assert advice.exact is not None


def test_hard_labels():
    b = market("corr", 100)
    advice = sn.recommend(b.operator, b.k, goal="labels")
    assert advice.solver == "spherical-kmeans"
    assert "several directions" in advice.reasons[0]
    B = torch.ones(50, 3) + 0.02 * torch.rand(50, 3, generator=torch.Generator().manual_seed(0))
    advice = sn.recommend(sn.GramOperator(B), 2, goal="labels")
    assert advice.solver == "sketched"
    assert "hard angular clustering degenerates" in advice.reasons[0]
    bipartite = np.kron(1 - np.eye(2), np.ones((6, 6)))  # two directions
    assert sn.recommend(bipartite, 2, goal="labels").solver == "spherical-kmeans"
    with pytest.raises(UnknownName, match="goal: unknown goal 'fun'"):
        sn.recommend(b.operator, b.k, goal="fun")


@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_both_sides_of_the_angular_collapse_inequality(kind):
    b = market(kind, 100)
    problem = Problem(b.operator, b.k)
    left, right = angular_collapse(problem)
    S = dense(b.operator).double()
    values, U = torch.linalg.eigh(S)
    cosine_sq = (S @ U[:, -1]).square() / S.square().sum(dim=1)
    weights = S.square().sum(dim=1)
    assert left == pytest.approx(float(((1 - cosine_sq) * weights).sum() / weights.sum()), rel=1e-5)
    assert right == pytest.approx((100 / float(values[-1]) - 1) ** 2, rel=1e-5)
    assert left <= right


def test_the_papers_rules_for_full_matrix_solvers():
    corr, tail = market("corr", 100), market("tpdm", 100)

    def chosen(b, **more):
        return sn.recommend(b.operator, b.k, full_matrix=True, **more)

    assert chosen(corr).solver == "adagrad"
    assert "correlation type" in chosen(corr).reasons[0]
    assert chosen(tail).solver == "adagrad"
    assert chosen(tail, short=True).solver == "adagrad"


@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_resets_are_for_short_runs_near_a_hundred_thousand_rows(kind, monkeypatch):
    """The paper: Piecewise AdaGrad is the fastest at 10⁵, and slower at 10⁴ and at 10⁶."""
    assert 100_000 in module.RESETS_PAY
    assert 10_000 not in module.RESETS_PAY
    assert 1_000_000 not in module.RESETS_PAY
    monkeypatch.setattr(module, "RESETS_PAY", range(50, 150))
    b = market(kind, 100)
    advice = sn.recommend(b.operator, b.k, full_matrix=True, short=True)
    assert advice.solver == "piecewise-adagrad"


def test_large_tail_dependence_gets_growing_blocks(monkeypatch):
    """From n = 10⁶ on, as in the paper (its section 5.3); at 10⁵ it finds full batches faster."""
    assert module.LARGE_N == 10**6
    monkeypatch.setattr(module, "LARGE_N", 100)
    b = benchmark_matrix("tpdm", 100, seed=7)
    advice = sn.recommend(b.operator, b.k, full_matrix=True)
    assert advice.solver == "block-svrg-adaptgrow"


def test_a_gap_that_does_not_exist_has_words():
    """A complete graph has one positive eigenvalue."""
    advice = sn.recommend(1 - np.eye(40), 3, full_matrix=True)
    assert "nan" not in " ".join(advice.reasons)
    assert "no positive eigenvalue below rank 4" in advice.reasons[0]
