"""Start factors."""

import numpy as np
import pytest
import torch

from helpers import market
from symnmf.core.problem import Problem
from symnmf.errors import InvalidFactor, InvalidInput, UnknownName
from symnmf.operators import as_operator

S = as_operator(torch.full((6, 6), 0.5) + torch.eye(6))


def test_random_start_is_the_papers():
    b = market("corr", 1000)
    H = Problem(b.operator, 31, seed=5).H0
    top = (b.operator.mean() / 31) ** 0.5
    assert float(H.min()) >= 0
    assert float(H.max()) <= top
    assert float(H.max()) > 0.999 * top
    assert float(H.mean()) == pytest.approx(top / 2, rel=0.01)


def test_same_seed_same_start():
    a, b, c = (Problem(S, 3, seed).H0 for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_nndsvd_beats_random_and_has_no_zeros():
    b = market("tpdm", 1000)

    def error(start):
        problem = Problem(b.operator, b.k, 0, start)
        H = problem.H0.double()
        formed = b.operator.B.double() @ b.operator.B.T.double()
        assert float(H.min()) > 0 or start == "random"
        return float((formed - H @ H.T).square().sum() / formed.square().sum())

    assert error("nndsvd") < 0.9 * error("random")


def test_nndsvd_first_column_is_the_perron_vector():
    problem = Problem(S, 2, 0, "nndsvd")
    values, vectors = np.linalg.eigh(S.S.numpy())
    expected = np.abs(vectors[:, -1]) * values[-1] ** 0.5
    np.testing.assert_allclose(problem.H0[:, 0], expected, rtol=1e-5)


def test_nndsvd_of_an_indefinite_matrix_fills_missing_columns():
    swap = as_operator(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    H = Problem(swap, 2, 0, "nndsvd").H0
    assert torch.isfinite(H).all()
    assert (H > 0).all()


def test_own_start_is_copied():
    H0 = torch.rand(6, 2)
    problem = Problem(S, 2, 0, H0)
    problem.H0.zero_()
    assert float(H0.sum()) > 0


@pytest.mark.parametrize(
    ("H0", "words"),
    [
        (torch.ones(6, 3), r"shape \(6, 3\).*\(6, 2\)"),
        (torch.ones(6), r"shape \(6,\)"),
        (torch.tensor([[1.0, 1.0]] * 5 + [[1.0, -1.0]]), r"entry \[5, 1\] is negative \(-1\)"),
        (torch.tensor([[1.0, float("nan")]] * 6), r"entry \[0, 1\] is not finite"),
        (torch.zeros(6, 2), "every entry is zero"),
    ],
)
def test_bad_start_is_refused(H0, words):
    with pytest.raises(InvalidFactor, match=words):
        Problem(S, 2, 0, H0)


def test_unknown_start_and_bad_numbers():
    with pytest.raises(UnknownName, match="'svd'.*nndsvd"):
        Problem(S, 2, 0, "svd")
    for k in (0, -1, 7, 2.5, "3"):
        with pytest.raises(InvalidInput, match=r"^k: got .*1 to n = 6"):
            Problem(S, k)
    with pytest.raises(InvalidInput, match="seed: got -1"):
        Problem(S, 2, seed=-1)
