"""Every operator is tested by being listed: it must act like its formed matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from helpers import DiagonalShift
from symnmf.operators import (
    CountingOperator,
    GramOperator,
    LowRankOperator,
    ScaledOperator,
    as_operator,
)
from symnmf.operators.lowrank import CorrectedOperator
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.testing import check_operator

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


def low_rank():
    U = torch.linalg.qr(factor(4)).Q
    core = torch.diag(torch.tensor([9.0, 4.0, 2.0, 1.0], dtype=torch.float64))
    return LowRankOperator(U, core, shift()), U @ core @ U.T + torch.diag(shift())


def corrected():
    T, formed = low_rank()
    H, P = factor(3), factor(5)[:, 2:]
    return CorrectedOperator(T, H, P), formed + P @ H.T + H @ P.T


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
    "low rank": lambda p: low_rank(),
    "low rank, corrected": lambda p: corrected(),
    "scaled": lambda p: (ScaledOperator(as_operator(matrix()), 2.5), 2.5 * matrix()),
    "shifted": lambda p: (
        DiagonalShift(as_operator(matrix()), shift()),
        matrix() + torch.diag(shift()),
    ),
    "named": lambda p: (
        as_operator(matrix(), names=[f"row {m}" for m in range(N)]),
        matrix(),
    ),
    "counting": lambda p: (CountingOperator(as_operator(matrix())), matrix()),
    "counting scaled gram": lambda p: (
        CountingOperator(ScaledOperator(gram(7)[0], 0.5)),
        0.5 * gram(7)[1],
    ),
}


@pytest.mark.parametrize("name", OPERATORS, ids=lambda name: name.replace(" ", "-"))
def test_operator_acts_like_its_formed_matrix(name, tmp_path):
    check_operator(*OPERATORS[name](tmp_path))


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
