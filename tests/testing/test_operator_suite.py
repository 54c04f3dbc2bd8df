"""The suite of an operator finds what is wrong: one broken operator for each check."""

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.testing import check_operator

N = 11


def matrix(dtype=torch.float64):
    A = torch.rand(N, N, generator=torch.Generator().manual_seed(5), dtype=dtype)
    return A + A.T


class Plain(SymmetricOperator):
    """A right operator with only what the contract asks for; each test breaks one part of it."""

    def __init__(self, S=None):
        self.S = matrix() if S is None else S
        self.n, self.dtype, self.device = len(self.S), self.S.dtype, self.S.device

    def matmul(self, X):
        return self.S @ X

    def block(self, i, j):
        return self.S[i][:, j]

    def frob_sq(self):
        return float(self.S.square().sum())

    def mean(self):
        return float(self.S.mean())


def broken(**parts):
    """Plain with some methods or attributes replaced."""
    return type("Broken", (Plain,), parts)()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1, 2, 3, N, 300])
def test_four_methods_are_enough(size, dtype):
    A = torch.rand(size, size, generator=torch.Generator().manual_seed(5), dtype=dtype)
    check_operator(Plain(A + A.T))
    check_operator(Plain(A + A.T), (A + A.T).numpy())


def asymmetric(self, X):
    upper = self.S.triu()
    return upper @ X + upper.T @ X - self.S.diagonal()[:, None] * X + 1e-3 * (X.roll(1, 0))


def shared(self, i, j):
    return self.S if len(i) == len(j) == self.n else self.S[i][:, j]


def cached(self, X):
    if getattr(self, "last", None) is None or self.last.shape != X.shape or (self.of != X).any():
        self.last, self.of = self.S @ X, X.clone()
    return self.last


class Halved(Plain):
    """A product that changes its argument."""

    def matmul(self, X):
        return self.S @ X.mul_(0.5) * 2


BROKEN = {
    "mean": (
        broken(mean=lambda self: float(self.S.sum()) / self.n),
        "Broken.mean(): expected 0.951191392, got 10.4631053",
    ),
    "mean of the diagonal": (
        broken(mean=lambda self: float(self.S.diagonal().mean())),
        "Broken.mean(): expected",
    ),
    "mean as a tensor": (broken(mean=lambda self: self.S.mean()), "expected a float, got a Tensor"),
    "frob": (broken(frob_sq=lambda self: float(self.S.norm())), "Broken.frob_sq(): expected"),
    "asymmetric product": (broken(matmul=asymmetric), "Broken.matmul(X): expected a symmetric"),
    "another product": (
        broken(matmul=lambda self, X: 1.001 * (self.S @ X)),
        "Broken.matmul(X): expected what the formed matrix gives, got 33 of 33 entries differ",
    ),
    "product of one column": (
        broken(matmul=lambda self, X: self.S @ X if X.shape[1] > 1 else X.clone()),
        "Broken.matmul(X) with one column: expected",
    ),
    "product as a float64": (
        broken(S=None, matmul=lambda self, X: (self.S @ X).double()),
        "Broken.matmul(X): expected entries of torch.float32, got torch.float64",
    ),
    "product of another shape": (
        broken(matmul=lambda self, X: (self.S @ X)[:, 0]),
        f"Broken.matmul(X): expected shape ({N}, 3), got ({N},)",
    ),
    "cached product": (broken(matmul=cached), "the last result changed in place"),
    "changed argument": (Halved(), "Halved.matmul(X): expected"),
    "product that fails": (
        broken(matmul=lambda self, X: X.T @ self.S @ self.S[:2]),
        "Broken.matmul(X): expected a value, got RuntimeError",
    ),
    "block without j": (
        broken(block=lambda self, i, j: self.S[i][:, : len(j)]),
        "Broken.block(i, j): expected what the formed matrix gives",
    ),
    "block in order": (
        broken(block=lambda self, i, j: self.S[i.sort()[0]][:, j]),
        "Broken.block(i, j): expected what the formed matrix gives",
    ),
    "block without repeats": (
        broken(block=lambda self, i, j: self.S[i.unique()][:, j]),
        "Broken.block(i, j): expected shape (6, 5), got (5, 5)",
    ),
    "asymmetric block": (
        broken(block=lambda self, i, j: self.S.triu()[i][:, j]),
        "Broken.block(i, j): expected a symmetric matrix",
    ),
    "block product": (
        broken(block_matmul=lambda self, i, j, X: self.block(i, j) @ X.flip(0)),
        "Broken.block_matmul(i, j, X): expected what",
    ),
    "entries": (
        broken(entries=lambda self, i, j: self.S[i, i]),
        "Broken.entries(i, j): expected what",
    ),
    "diag": (broken(diag=lambda self: self.S[0]), "Broken.diag(): expected what"),
    "trace": (broken(trace=lambda self: float(self.n)), "Broken.trace(): expected"),
    "row norms": (
        broken(row_norms=lambda self: self.S.square().sum(dim=1)),
        "Broken.row_norms(): expected what",
    ),
    "scale": (broken(scale=lambda self: self.trace()), "Broken.scale(): expected"),
    "cost": (broken(cost=lambda self: 0.0), "Broken.cost(): expected a positive number"),
    "whole matrix": (broken(to_dense=lambda self: self.S * 2), "Broken.to_dense(): expected what"),
    "names": (broken(names=["a", "b"]), "Broken.names: expected 11 names or None, got 2"),
    "text": (broken(__repr__=lambda self: "S"), "Broken.__repr__(): expected a text with n=11"),
    "agreement": (broken(agree=lambda self, *values: values[0]), "Broken.agree(1, 'a'): expected"),
    "another factor": (broken(same=lambda self, H: False), "Broken.same(H): expected True"),
}
BROKEN["product as a float64"][0].__init__(matrix(torch.float32))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_operator_is_found(name):
    S, message = BROKEN[name]
    with pytest.raises(AssertionError) as found:
        check_operator(S)
    assert message in str(found.value)


def test_a_block_that_shares_memory_is_found():
    S = broken(block=lambda self, i, j: self.S[: len(i), : len(j)])
    with pytest.raises(AssertionError, match="block"):
        check_operator(S)
    with pytest.raises(AssertionError, match=r"to_dense\(\): expected .* new tensor"):
        check_operator(broken(block=shared))


def test_the_frame_has_the_names():
    names = [f"row {m}" for m in range(N)]
    S = broken(to_frame=lambda self: Plain.to_frame(self).reset_index(drop=True))
    S.names = names
    with pytest.raises(AssertionError, match="names of the rows as index"):
        check_operator(S)
    check_operator(as_operator(matrix(), names=names))


@pytest.mark.parametrize("attribute", ["n", "dtype", "device"])
def test_what_every_operator_has(attribute):
    S = Plain()
    setattr(S, attribute, "x")
    with pytest.raises(AssertionError, match=f"Plain.{attribute}: expected a "):
        check_operator(S)


def test_half_precision_is_not_supported():
    S = Plain()
    S.dtype = torch.float16
    with pytest.raises(AssertionError, match="Plain.dtype: expected torch.float32 or"):
        check_operator(S)


def test_another_matrix_is_found():
    S = matrix()
    check_operator(as_operator(S), S)
    S[2, 3] = S[3, 2] = S[2, 3] + 1e-6
    with pytest.raises(AssertionError, match="formed matrix gives"):
        check_operator(as_operator(matrix()), S)
    with pytest.raises(AssertionError, match=r"dense: expected shape \(11, 11\), got \(3, 3\)"):
        check_operator(as_operator(matrix()), np.eye(3))


def test_the_tolerance_follows_the_size_of_the_entries():
    check_operator(Plain(matrix() * 1e8))
    check_operator(Plain(matrix() * 1e-8))
    small = Plain(matrix() * 1e-8)
    small.mean = lambda: float(small.S.mean()) * (1 + 1e-9)
    with pytest.raises(AssertionError, match="mean"):
        check_operator(small)


def test_draws_leave_the_callers_generator_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    check_operator(Plain())
    assert torch.equal(torch.rand(3), expected)


def test_only_operators_are_checked():
    with pytest.raises(InvalidInput, match="S: is a Tensor. Pass a symnmf.SymmetricOperator"):
        sn.testing.check_operator(matrix())
