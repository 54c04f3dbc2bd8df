"""Cases whose answer is known, and that nothing else is taken for one."""

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import dense, market
from symnmf.core.labels import in_group_order
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.errors import DegenerateWarning
from symnmf.planning.exact import exact_factor


def exact(S, k):
    return exact_factor(Problem(sn.as_operator(S), k))


def solved(S, k, words):
    result = sn.factorize(S, k)
    assert result.status is Status.EXACT
    assert result.solver == "exact"
    assert result.iterations == 0
    assert result.certificate.converged
    assert result.certificate.verdict.startswith("Exact")
    assert words in result.notes[0]
    return result


def test_a_gram_factor_with_few_columns_is_the_answer():
    S = market("tpdm", 1000).operator
    result = solved(S, 400, "single events, not groups: choose k below 80")
    assert torch.equal(result.H, in_group_order(S.B))  # B itself, in the order of the groups
    assert result.certificate.error < 1e-6
    with pytest.warns(DegenerateWarning, match="2 of k = 32 columns of H are zero.*k up to 30"):
        padded = solved(sn.GramOperator(S.B[:, :30].clone()), 32, "exact for every k from 30")
    assert torch.equal(padded.H[:, 30:], torch.zeros(1000, 2))
    assert exact(S, 399) is None
    signed = S.B.clone()
    signed[:, 0] *= -1
    assert exact(sn.GramOperator(signed), 400) is None


def test_diagonal():
    d = np.array([5.0, 0.0, 3.0, 4.0])
    result = solved(np.diag(d), 2, "diagonal")
    np.testing.assert_allclose(np.diag(result.H @ result.H.T), [5, 0, 0, 4], rtol=1e-12)
    assert result.certificate.error == pytest.approx(9 / 50)
    nearly = np.diag(d)
    nearly[0, 2] = nearly[2, 0] = 1e-3
    assert exact(nearly, 2) is None
    assert exact(np.eye(300) + 4e-8 * (1 - np.eye(300)), 2) is None
    large = solved(np.diag(np.random.default_rng(0).random(500)), 2, "diagonal").certificate
    assert large.excess == 0
    assert large.floor_low == large.error


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_diagonal_of_zeros_is_no_special_case(k):
    cycle = np.roll(np.eye(12), 1, axis=0)
    bipartite = np.kron(1 - np.eye(2), np.ones((6, 6)))
    cliques = np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4))
    for S in (cycle + cycle.T, bipartite, cliques, np.ones((12, 12)) - np.eye(12)):
        result = sn.factorize(S, k, max_iter=3000)
        assert torch.isfinite(result.H).all()
        assert result.certificate.factors_explained <= result.certificate.factors_available
        assert exact(S, k) is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_positive_eigenvalue():
    result = sn.factorize(np.array([[0.1, 0.9], [0.9, 0.1]]), 2)
    assert result.certificate.error == pytest.approx(0.64 / 1.64, rel=1e-5)
    alone = sn.factorize(sn.GramOperator(torch.rand(50, 1)), 3, "sketched")
    assert alone.certificate.error < 1e-4


@pytest.mark.slow
def test_everything_that_was_done_is_counted():
    S = market("corr", 1000).operator
    auto, named = sn.factorize(S, 31), sn.factorize(S, 31, "sketched")
    assert auto.products == pytest.approx(named.products, abs=0.1)
    problem = Problem(S, 1)
    result = sn.factorize(problem.S, 1)
    assert result.products == pytest.approx(problem.S.work / 1000**2)


def test_blocks_of_rank_one():
    rng = np.random.default_rng(0)
    H = np.zeros((40, 4))
    H[np.arange(40), rng.integers(4, size=40)] = rng.uniform(0.5, 2, 40)
    H[7] = 0  # a row of zeros belongs to no block
    result = solved(H @ H.T, 4, "4 blocks of rank one")
    np.testing.assert_allclose(result.H @ result.H.T, H @ H.T, atol=1e-12)
    assert result.labels()[7] == -1
    with pytest.warns(DegenerateWarning, match="2 of k = 6 columns"):
        solved(H @ H.T, 6, "4 blocks")
    with pytest.warns(DegenerateWarning, match="2 of k = 3 columns.*k up to 1"):
        solved(np.outer(H.sum(1), H.sum(1)), 3, "one block")
    assert exact(H @ H.T, 3) is None
    overlapping = H.copy()
    overlapping[0] = 1
    assert exact(overlapping @ overlapping.T, 4) is None
    assert exact(np.kron(np.eye(2), np.ones((2, 2)) + np.eye(2)), 2) is None


@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_one_factor_is_the_leading_eigenvector(kind):
    S = market(kind, 1000).operator
    result = solved(S, 1, "leading eigenvector")
    value, vector = np.linalg.eigh(dense(S).double().numpy())
    expected = np.abs(vector[:, -1:]) * value[-1] ** 0.5
    np.testing.assert_allclose(result.H, expected, rtol=1e-4)
    assert result.certificate.kkt < result.certificate.kkt_gate


def test_two_equal_blocks_share_the_leading_eigenvalue():
    result = solved(np.kron(np.eye(2), np.ones((3, 3)) + np.eye(3)), 1, "leading")
    assert (result.H >= 0).all()
    assert result.certificate.error == pytest.approx(1 - 16 / 36)


def test_a_start_of_the_caller_is_used_instead():
    S = np.kron(np.eye(2), np.ones((3, 3)))
    result = sn.factorize(S, 2, start=np.eye(6, 2) + 0.1)
    assert result.status is Status.CONVERGED
    assert result.solver == "sketched"
    assert not any("rank one" in note for note in result.notes)


def test_callbacks_see_the_answer_and_budgets_are_checked():
    seen = []
    sn.factorize(np.eye(4), 2, callbacks=[lambda check, H: seen.append(check.iteration)])
    assert seen == [0]
    with pytest.raises(sn.SymnmfError, match="max_iter: got -5"):
        sn.factorize(np.eye(4), 2, max_iter=-5)
    with pytest.raises(sn.SymnmfError, match="resume"):
        sn.factorize(np.eye(4), 2, resume=True)


def test_wrong_options_are_refused_before_the_answer():
    with pytest.raises(sn.SymnmfError, match="nonsense: is not an option"):
        sn.factorize(np.eye(4), 2, nonsense=1)
