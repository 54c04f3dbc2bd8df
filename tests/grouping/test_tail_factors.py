"""Loadings that are continued from another fit: each row is the exact least-squares solution."""

import numpy as np
import pytest
from scipy.optimize import nnls

from symnmf.grouping.tail_factors import continued_loadings


def by_rows(C, start, sweeps):
    """The same sweeps with scipy's solution of the n − 1 equations of each row."""
    A = start.copy()
    for _ in range(sweeps):
        for i in range(len(A)):
            others = np.arange(len(A)) != i
            row = nnls(A[others], C[others, i])[0]
            A[i] = row / max(1.0, np.linalg.norm(row))
    return A


@pytest.mark.parametrize(("n", "k"), [(12, 3), (60, 4), (40, 12)])
def test_every_row_is_that_of_all_its_equations(n, k):
    rng = np.random.default_rng(n)
    A = rng.gamma(0.4, size=(n, k))
    A /= np.maximum(1, np.linalg.norm(A, axis=1, keepdims=True))
    C = A @ A.T + 0.05 * rng.normal(size=(n, n))
    C = (C + C.T) / 2
    np.fill_diagonal(C, 1)
    start = np.abs(A + 0.2 * rng.normal(size=A.shape))
    found = continued_loadings(C, start, 4)
    np.testing.assert_allclose(found, by_rows(C, start, 4), atol=1e-10)
    assert (found == 0).any()


def test_instruments_without_dependence_get_no_loadings():
    rng = np.random.default_rng(0)
    A = rng.gamma(0.4, size=(12, 3))
    A /= np.maximum(1, np.linalg.norm(A, axis=1, keepdims=True))
    A[4] = 0
    C = A @ A.T
    np.fill_diagonal(C, 1)
    for start in (A, A + 0.1):  # a row of zeros before, and one that becomes it
        assert (continued_loadings(C, start)[4] == 0).all()
    assert (continued_loadings(np.eye(4), np.zeros((4, 2))) == 0).all()
    assert (continued_loadings(np.eye(4), np.ones((4, 2))) == 0).all()


def test_a_row_of_zeros_may_get_loadings_again():
    A = np.array([[0.9, 0.0], [0.8, 0.1], [0.0, 0.7], [0.1, 0.9], [0.5, 0.5]])
    C = A @ A.T
    np.fill_diagonal(C, 1)
    start = A.copy()
    start[0] = 0
    np.testing.assert_allclose(continued_loadings(C, start), by_rows(C, start, 30), atol=1e-3)


def test_equal_columns_are_fitted_as_well_as_one():
    C = np.full((6, 6), 0.5)
    np.fill_diagonal(C, 1)
    found = continued_loadings(C, np.ones((6, 3)))
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose((found @ found.T)[off], 0.5, atol=1e-3)
