"""Sparse matrices: products of every width, rows without entries, the diagonal, symmetry."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from symnmf.errors import InvalidInput
from symnmf.operators import as_operator


def graph(n=60, dtype=np.float32, weights=True):
    """A graph without loops, some of whose nodes have no neighbour, the last one among them."""
    rng = np.random.default_rng(5)
    A = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.1)
    A = np.triu(A if weights else A > 0, 1)
    A[[0, 7, n - 1]] = A[:, [0, 7, n - 1]] = 0
    return (A + A.T).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 20, 100])
def test_products_are_those_of_the_dense_matrix(dtype, width):
    A = graph(dtype=dtype)
    X = torch.from_numpy(np.random.default_rng(width).normal(size=(60, width)).astype(dtype))
    S = as_operator(sp.csr_array(A))
    wanted = A.astype(np.float64) @ X.numpy().astype(np.float64)
    for given in (X, X.T.contiguous().T, torch.cat([X, X], dim=1)[:, :width]):
        found = S.matmul(given)
        assert found.dtype == X.dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=3e-6)
    assert not S.matmul(X)[[0, 7, 59]].any()


def test_the_product_does_not_depend_on_the_number_of_threads():
    S = as_operator(sp.csr_array(graph(600)))
    X = torch.rand(600, 20)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(S.matmul(X))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*found)


def test_diagonal_with_and_without_loops():
    A = graph()
    A[3, 3], A[5, 5] = 2.0, 0.5
    S = as_operator(sp.csr_array(A))
    assert torch.equal(S.diag(), torch.from_numpy(A.diagonal().copy()))
    assert S.trace() == 2.5


@pytest.mark.parametrize("other", [0.25, 0.0])
def test_an_asymmetric_entry_is_named(other):
    """With another value on the other side, and with nothing stored there."""
    A = graph(weights=False)
    i, j = (int(x[0]) for x in np.nonzero(np.triu(A)))
    A[j, i] = other
    with pytest.raises(InvalidInput, match=rf"\[{i}, {j}\] and \[{j}, {i}\] differ"):
        as_operator(sp.csr_array(A))
