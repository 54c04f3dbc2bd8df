"""The sketch as an operator, and its correction."""

import pytest
import torch

from helpers import dense, market
from symnmf.core.problem import Problem
from symnmf.operators import LowRankOperator, as_operator
from symnmf.operators.lowrank import CorrectedOperator


@pytest.fixture
def sketched():
    S = dense(market("corr", 100).operator).double()
    values, U = torch.linalg.eigh(S)
    return S, LowRankOperator.sketch(U[:, -11:], values[-11:], S.diagonal()), U[:, -11:]


def everything(T):
    index = torch.arange(T.n)
    return T.block(index, index)


def test_the_sketch_has_the_diagonal_and_the_leading_block(sketched):
    S, T, U = sketched
    whole = everything(T)
    torch.testing.assert_close(T.diag(), S.diagonal(), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(U.T @ whole @ U, U.T @ S @ U, rtol=1e-3, atol=1e-3)
    # So that S − T is orthogonal to T, and errors on T are errors on S.
    assert float(((S - whole) * whole).sum()) == pytest.approx(0, abs=1e-2)
    assert float((S - whole).square().sum()) < 0.5 * float((S - U @ (U.T @ S)).square().sum())


def test_the_correction_is_right_on_the_columns_of_h(sketched):
    S, T, _ = sketched
    H = torch.rand(100, 7, dtype=torch.float64)
    C = CorrectedOperator(T, H, CorrectedOperator.correction(T, H, S @ H))
    whole = everything(C)
    torch.testing.assert_close(whole, whole.T)
    torch.testing.assert_close(whole @ H, S @ H)
    R, Q = S - everything(T), torch.linalg.qr(H).Q
    expected = Q @ (Q.T @ R) + (R @ Q) @ Q.T - Q @ (Q.T @ R @ Q) @ Q.T
    torch.testing.assert_close(whole - everything(T), expected)


@pytest.mark.parametrize("corrected", [False, True])
def test_both_keep_the_contract(sketched, corrected):
    S, T, _ = sketched
    if corrected:
        H = torch.rand(100, 3, dtype=torch.float64)
        T = CorrectedOperator(T, H, CorrectedOperator.correction(T, H, S @ H))
    whole = everything(T)
    X = torch.rand(100, 4, dtype=torch.float64)
    torch.testing.assert_close(T.matmul(X), whole @ X)
    assert T.frob_sq() == pytest.approx(float(whole.square().sum()))
    assert T.mean() == pytest.approx(float(whole.mean()))
    torch.testing.assert_close(T.diag(), whole.diagonal())


def test_surrogate_is_s_where_products_are_as_cheap():
    tail = market("tpdm", 1000)
    wide, narrow = Problem(tail.operator, 150), Problem(tail.operator, 2)
    assert wide.surrogate is wide.S
    assert narrow.surrogate is not narrow.S
    before = narrow.S.work
    narrow.surrogate.matmul(torch.rand(1000, 2))
    assert narrow.S.work == before
    correlation = Problem(as_operator(dense(market("corr", 100).operator)), 10)
    assert isinstance(correlation.surrogate, LowRankOperator)
