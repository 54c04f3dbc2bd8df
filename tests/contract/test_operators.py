"""Every operator is tested by being listed: it must act like its formed matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import dense
from symnmf.operators import (
    CountingOperator,
    DiagonalShift,
    GramOperator,
    ScaledOperator,
    as_operator,
)
from symnmf.operators.store import open_matrix
from symnmf.operators.writer import write_matrix

N = 23


def matrix(dtype=torch.float64) -> torch.Tensor:
    A = torch.rand(N, N, generator=torch.Generator().manual_seed(1), dtype=dtype)
    return (A + A.T) * (A * A.T > 0.2)


def factor(m: int, dtype=torch.float64) -> torch.Tensor:
    return torch.rand(N, m, generator=torch.Generator().manual_seed(2), dtype=dtype)


def memmap(tmp_path):
    np.save(tmp_path / "S.npy", matrix().numpy())
    return as_operator(np.load(tmp_path / "S.npy", mmap_mode="r")), matrix()


def stored(path, array, form, **options):
    """A folder, read in tiles of a few rows."""
    return open_matrix(write_matrix(path / "M", array, form=form, **options), tile_bytes=600)


def shift() -> torch.Tensor:
    return torch.linspace(0, 2, N, dtype=torch.float64)


def gram(m, d=None):
    B = factor(m)
    formed = B @ B.T + (0 if d is None else torch.diag(d))
    return GramOperator(B, d), formed


OPERATORS = {
    "dense torch": lambda p: (as_operator(matrix()), matrix()),
    "dense float32": lambda p: (as_operator(matrix(torch.float32)), matrix(torch.float32)),
    "dense numpy": lambda p: (as_operator(matrix().numpy()), matrix()),
    "dense memmap": memmap,
    "dense tiles": lambda p: (stored(p, matrix(), "dense"), matrix()),
    "gram tiles": lambda p: (stored(p, factor(7), "gram"), gram(7)[1]),
    "gram tiles and diagonal": lambda p: (
        stored(p, factor(7), "gram", shift=0.5),
        gram(7)[1] + 0.5 * torch.eye(N),
    ),
    "sparse scipy": lambda p: (as_operator(sp.csr_array(matrix().numpy())), matrix()),
    "sparse coo": lambda p: (as_operator(sp.coo_array(matrix().numpy())), matrix()),
    "sparse torch": lambda p: (as_operator(matrix().to_sparse()), matrix()),
    "gram": lambda p: gram(7),
    "gram wide": lambda p: gram(40),
    "gram and diagonal": lambda p: gram(7, shift()),
    "gram wide and diagonal": lambda p: gram(40, shift()),
    "scaled": lambda p: (ScaledOperator(as_operator(matrix()), 2.5), 2.5 * matrix()),
    "shifted": lambda p: (
        DiagonalShift(as_operator(matrix()), shift()),
        matrix() + torch.diag(shift()),
    ),
    "counting": lambda p: (CountingOperator(as_operator(matrix())), matrix()),
    "counting scaled gram": lambda p: (
        CountingOperator(ScaledOperator(gram(7)[0], 0.5)),
        0.5 * gram(7)[1],
    ),
}


@pytest.fixture(params=OPERATORS, ids=lambda name: name.replace(" ", "-"))
def pair(request, tmp_path):
    operator, formed = OPERATORS[request.param](tmp_path)
    return operator, formed.to(torch.float64)


def close(a, b, operator):
    tolerance = 1e-5 if operator.dtype == torch.float32 else 1e-12
    torch.testing.assert_close(
        torch.as_tensor(a, dtype=torch.float64), b, rtol=tolerance, atol=tolerance
    )


def test_matmul(pair):
    S, formed = pair
    X = torch.randn(N, 3, dtype=S.dtype)
    before = X.clone()
    close(S.matmul(X), formed @ X.to(torch.float64), S)
    assert torch.equal(X, before)
    close(S.matmul(X[:, :1]), formed @ X[:, :1].to(torch.float64), S)


def test_blocks_and_entries(pair):
    S, formed = pair
    i, j = torch.tensor([3, 0, 22, 7]), torch.tensor([7, 3, 5])
    close(S.block(i, j), formed[i][:, j], S)
    X = torch.rand(3, 2, dtype=S.dtype)
    close(S.block_matmul(i, j, X), formed[i][:, j] @ X.to(torch.float64), S)
    rows, columns = torch.randint(N, (500,)), torch.randint(N, (500,))
    close(S.entries(rows, columns), formed[rows, columns], S)


def test_sums(pair):
    S, formed = pair
    close(S.diag(), formed.diagonal(), S)
    close(S.trace(), formed.trace(), S)
    close(S.frob_sq(), formed.square().sum(), S)
    close(S.mean(), formed.mean(), S)
    close(S.scale(), max(formed.trace(), formed.norm()) / N, S)


def test_shape_and_symmetry(pair):
    S, _ = pair
    assert S.n == N
    assert S.device.type == "cpu"
    assert f"n={N}" in repr(S)
    assert S.agree(1, "a") == (1, "a")
    formed = dense(S)
    torch.testing.assert_close(formed, formed.T)


def test_memmap_is_not_copied(tmp_path):
    np.save(tmp_path / "S.npy", matrix().numpy())
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    assert as_operator(mapped).S.data_ptr() == mapped.ctypes.data


def test_arrays_and_tensors_are_shared_not_copied():
    array, tensor = matrix().numpy(), matrix()
    assert as_operator(array).S.data_ptr() == array.ctypes.data
    assert as_operator(tensor).S.data_ptr() == tensor.data_ptr()


def test_counting():
    S = CountingOperator(gram(7)[0])
    S.matmul(torch.rand(N, 5, dtype=torch.float64))
    assert S.columns == 5
    i, j = torch.arange(4), torch.arange(6)
    S.block_matmul(i, j, torch.rand(6, 5, dtype=torch.float64))
    S.entries(i, i)
    S.block(i, j)
    assert S.columns == pytest.approx(5 + (4 * 6 * 5 + 4 + 4 * 6) / N**2)
    S.frob_sq(), S.mean(), S.trace()
    assert S.columns == pytest.approx(5 + (4 * 6 * 5 + 4 + 4 * 6) / N**2)
