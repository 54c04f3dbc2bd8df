"""An operator of the CPU whose fit is asked to be on the device (FakeTensorMode)."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from symnmf.core.problem import Problem
from symnmf.errors import NotEnough
from symnmf.operators import (
    DenseOperator,
    GramOperator,
    LowRankOperator,
    SparseOperator,
    SymmetricOperator,
    as_operator,
)
from symnmf.operators import rows as rows_module
from symnmf.operators.devices import computing_on
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.operators.wrappers import ScaledOperator

N, M = 24, 3
B = torch.rand(N, M, generator=torch.Generator().manual_seed(0)) + torch.eye(M).repeat(N // M, 1)
S = B @ B.T


def same(x):
    return x


def in_memory(put=same):
    """Operators of the CPU."""
    Q, R = torch.linalg.qr(B)
    d = torch.full((N,), 0.5)
    table = as_operator(sp.csr_array(np.where(S > 0.5, S, 0)))
    return {
        "dense": lambda: DenseOperator(put(S)),
        "gram": lambda: GramOperator(put(B), put(d)),
        "sparse": lambda: SparseOperator(*map(put, (table.crow, table.col, table.values))),
        "low rank": lambda: LowRankOperator(put(Q), put(R @ R.T), put(d)),
        "scaled": lambda: ScaledOperator(DenseOperator(put(S)), 3.0),
    }


def on_disk(folder, kind):
    if kind == "npy":
        np.save(folder / "S.npy", S.numpy())
        return as_operator(np.load(folder / "S.npy", mmap_mode="r"))
    return open_matrix(write_matrix(folder / "S", S if kind == "dense" else B, form=kind))


def compare(device, moved, here):
    """Products and entries of a moved operator are on the device, with the same numbers."""
    i, j = torch.tensor([3, 1, 20]), torch.tensor([0, 3, 7, 20])
    X = torch.rand(N, 2, generator=torch.Generator().manual_seed(1))
    with device:
        Xd, i_d, j_d = map(device.put, (X, i, j))
        found = [
            moved.matmul(Xd), moved.block(i_d, j_d), moved.entries(i_d, j_d[:3]),
            moved.block_matmul(i_d, j_d, Xd[:4]), moved.diag(), moved.row_norms(),
        ]  # fmt: skip
        size = moved.frob_sq()
    expected = [
        here.matmul(X), here.block(i, j), here.entries(i, j[:3]),
        here.block_matmul(i, j, X[:4]), here.diag(), here.row_norms(),
    ]  # fmt: skip
    for there, y in zip(found, expected, strict=True):
        assert there.device == device.device
        torch.testing.assert_close(device.numbers(there), y)
    assert size == pytest.approx(here.frob_sq())


@pytest.mark.parametrize("name", list(in_memory()))
def test_an_operator_in_memory_is_moved(device, found, name):
    make = in_memory(lambda x: device.put(x, "cpu"))[name]
    with device, computing_on("cuda"):
        here = make()
        moved = Problem(here, M).S.inner
    assert type(moved) is type(here)
    compare(device, moved, in_memory()[name]())


@pytest.mark.parametrize("resident", [True, False])
@pytest.mark.parametrize("kind", ["dense", "gram", "npy"])
def test_a_matrix_on_disk_is_multiplied_on_the_device(
    device, found, monkeypatch, tmp_path, kind, resident
):
    """Its rows are kept there if they fit, and otherwise moved in tiles."""
    monkeypatch.setattr(rows_module, "TILE_BYTES", S.nbytes // 4)
    here, plain = on_disk(tmp_path, kind), on_disk(tmp_path, "npy")
    size = here.rows.data.nbytes
    plain = open_matrix(tmp_path / "S") if kind == "gram" else plain
    here.rows.data = device.put(here.rows.data, "cpu")
    found(8e9 if resident else 1.5 * size)
    with device, computing_on("auto"):
        moved = Problem(here, M).S.inner
    assert moved.rows.data.device.type == ("cuda" if resident else "cpu")
    assert len(moved.rows.pieces) == (1 if kind == "gram" else 4)
    compare(device, moved, plain)


@pytest.mark.filterwarnings("ignore::symnmf.errors.NotConvergedWarning")
def test_factorize_takes_an_operator_of_the_cpu(device, found, generators):
    with device:
        here = DenseOperator(device.put(S, "cpu"))
        there = sn.factorize(here, M, "hals", max_iter=3, device="cuda", start=device.put(B))
        assert there.H.device == device.device
        found(10.0)
        with pytest.raises(NotEnough, match="S on cuda:0"):
            sn.factorize(here, M, device="cuda")


class Plain(SymmetricOperator):
    """An operator of a caller."""

    def __init__(self):
        self.n, self.dtype, self.device = N, torch.float32, torch.device("cpu")

    def matmul(self, X):
        return S @ X

    def block(self, i, j):
        return S[i][:, j]

    def frob_sq(self):
        return float(S.square().sum())

    def mean(self):
        return float(S.mean())


def test_an_operator_of_a_caller_that_is_elsewhere_is_refused(found):
    with pytest.raises(sn.SymnmfError, match="Plain is on cpu, and cannot be moved"):
        sn.factorize(Plain(), M, device="cuda")
