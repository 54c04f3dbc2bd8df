"""Test suite for operators: every method agrees with the formed matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.errors import InvalidInput
from symnmf.numerics import torch_stream
from symnmf.operators import SymmetricOperator
from symnmf.testing.expectations import calling, difference, expect

#: Allowed difference, relative to the entries of S: about a hundred roundings.
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}
#: Number of entries that are read one by one.
DRAWN = 500


def check_operator(S: SymmetricOperator, dense: Tensor | np.ndarray | None = None) -> None:
    """Test an operator against its contract: every method agrees with the formed matrix.

    The suite calls ``matmul``, ``left_matmul``, ``block``, ``entries``, ``block_matmul``,
    ``diag``, ``trace``, ``mean``, ``frob_sq``, ``row_norms``, ``scale``, ``cost``, ``to_dense``
    and ``to_frame``.
    Numbers may differ by 10⁻⁵ (float32) or 10⁻¹² (float64) of the size of the entries. Results of
    ``matmul`` and ``block`` must be new tensors: callers change them in place.

    Arguments:
        S: the operator; its matrix is formed, so n should be at most a few thousand.
        dense: (n, n) matrix that the operator represents; by default formed from ``S.block``.

    Raises:
        AssertionError: a method fails; names the method, the expected and the actual value.

    Example:
        >>> class Ones(SymmetricOperator):
        ...     def __init__(self, n):
        ...         self.n, self.dtype, self.device = n, torch.float32, torch.device("cpu")
        ...     def matmul(self, X):
        ...         return X.sum(dim=0).expand(self.n, -1).clone()
        ...     def block(self, i, j):
        ...         return torch.ones(len(i), len(j))
        ...     def frob_sq(self):
        ...         return float(self.n**2)
        ...     def mean(self):
        ...         return 1 / self.n
        >>> try:
        ...     check_operator(Ones(10))
        ... except AssertionError as wrong:
        ...     print(wrong)
        Ones.mean(): expected 1, got 0.1
    """
    if not isinstance(S, SymmetricOperator):
        raise InvalidInput("S", f"is a {type(S).__name__}", "Pass a symnmf.SymmetricOperator")
    _check_attributes(S)
    case = _case(S, dense)
    for check in (
        _check_symmetry,
        _check_products,
        _check_blocks,
        _check_entries,
        _check_vectors,
        _check_numbers,
        _check_whole,
        _check_processes,
    ):
        check(case)


@dataclass(frozen=True)
class _Case:
    """An operator, its formed matrix in float64, and indices for the tests.

    ``i`` and ``j`` are in no order, overlap, and contain a repeated index where n allows it.
    """

    S: SymmetricOperator
    formed: Tensor  # (n, n)
    i: Tensor
    j: Tensor
    rng: torch.Generator

    def name(self, call: str) -> str:
        """A call, for messages."""
        return f"{type(self.S).__name__}.{call}"

    def random(self, rows: int, columns: int) -> Tensor:  # (rows, columns)
        """A factor with entries of both signs."""
        X = torch.randn(rows, columns, generator=self.rng, dtype=torch.float64)
        return X.to(dtype=self.S.dtype, device=self.S.device)

    def agree(self, call: str, make: Callable[[], Any], expected: Tensor) -> Tensor:
        """Call a method and compare its result with that of the formed matrix."""
        S, called = self.S, self.name(call)
        with calling(called):
            came = make()
        expect(isinstance(came, Tensor), called, "a tensor", f"a {type(came).__name__}")
        expect(came.shape == expected.shape, called, f"shape {_shape(expected)}", _shape(came))
        expect(came.dtype == S.dtype, called, f"entries of {S.dtype}", came.dtype)
        expect(came.device.type == S.device.type, called, f"a tensor on {S.device}", came.device)
        tolerance = TOLERANCES[S.dtype]
        size = float(self.formed.norm()) / S.n
        wrong = difference(came, expected, tolerance, tolerance * size)
        expect(wrong is None, called, "what the formed matrix gives", wrong)
        return torch.as_tensor(came)

    def unchanged(self, call: str, X: Tensor, before: Tensor) -> None:
        """Check that a product left its argument unchanged."""
        expect(torch.equal(X, before), self.name(call), "X left as it was", "a changed X")


def _shape(X: Tensor) -> str:
    return str(tuple(X.shape))


def _check_attributes(S: SymmetricOperator) -> None:
    name = type(S).__name__
    for attribute, kind in (("n", int), ("dtype", torch.dtype), ("device", torch.device)):
        value = getattr(S, attribute, None)
        known = isinstance(value, kind) and not isinstance(value, bool)
        expect(known, f"{name}.{attribute}", f"a {kind.__name__}", repr(value))
    expect(S.n > 0, f"{name}.n", "at least 1", S.n)
    expect(S.dtype in TOLERANCES, f"{name}.dtype", "torch.float32 or torch.float64", S.dtype)
    if S.names is not None:
        expect(len(S.names) == S.n, f"{name}.names", f"{S.n} names or None", f"{len(S.names)}")
    expect(f"n={S.n}" in repr(S), f"{name}.__repr__()", f"a text with n={S.n}", repr(S))


def _case(S: SymmetricOperator, dense: Tensor | np.ndarray | None) -> _Case:
    """The operator with the matrix to compare it with."""
    everything = torch.arange(S.n, device=S.device)
    with calling(f"{type(S).__name__}.block(i, j)"):
        given = S.block(everything, everything) if dense is None else dense
    formed = torch.as_tensor(given).detach().to("cpu", torch.float64, copy=True)
    if formed.shape != (S.n, S.n):
        called = f"{type(S).__name__}.block(i, j)" if dense is None else "dense"
        expect(False, called, f"shape ({S.n}, {S.n})", _shape(formed))
    rng = torch_stream(0, "operator suite")
    order = torch.randperm(S.n, generator=rng)
    i = torch.cat([order[: min(S.n, 5)], order[:1]])
    j = torch.cat([order[: min(S.n, 3)].flip(0), order[-2:]])
    return _Case(S, formed, i.to(S.device), j.to(S.device), rng)


def _check_symmetry(case: _Case) -> None:
    """S = Sᵀ, in its entries and as a map: ⟨Y, S X⟩ = ⟨S Y, X⟩."""
    S, formed, tolerance = case.S, case.formed, TOLERANCES[case.S.dtype]
    size = float(formed.norm()) / S.n
    wrong = difference(formed, formed.T, tolerance, tolerance * size)
    expect(wrong is None, case.name("block(i, j)"), "a symmetric matrix", wrong)
    called = case.name("matmul(X)")
    X, Y = case.random(S.n, 3), case.random(S.n, 3)
    with calling(called):
        SX, SY = S.matmul(X), S.matmul(Y)
    for Z in (SX, SY):
        expect(Z.shape == X.shape, called, f"shape {_shape(X)}", _shape(Z))
    left, right = (
        float((A.to(torch.float64) * B.to(torch.float64)).sum()) for A, B in ((Y, SX), (SY, X))
    )
    room = tolerance * size * S.n * float(X.norm() * Y.norm())
    expect(
        abs(left - right) <= room,
        called,
        f"a symmetric product, <Y, S X> = <S Y, X> up to {room:.3g}",
        f"{left:.9g} and {right:.9g}",
    )


def _check_products(case: _Case) -> None:
    """``matmul`` with several columns and with one, ``left_matmul`` with rows.

    The caller may change the results.
    """
    S, formed = case.S, case.formed
    X = case.random(S.n, 3)
    before, expected = X.clone(), formed @ X.to("cpu", torch.float64)
    call = "matmul(X)"
    product = case.agree(call, lambda: S.matmul(X), expected)
    case.unchanged(call, X, before)
    product.zero_()
    case.unchanged(f"{call}, its result changed in place", X, before)
    case.agree(f"{call}, the last result changed in place", lambda: S.matmul(X), expected)
    one = X[:, :1]  # a view of X that is not contiguous
    case.agree("matmul(X) with one column", lambda: S.matmul(one), expected[:, :1])
    rows, call = X.T.contiguous(), "left_matmul(X)"
    product = case.agree(call, lambda: S.left_matmul(rows), expected.T)
    product.zero_()
    case.unchanged(f"{call}, its result changed in place", rows, before.T)


def _check_blocks(case: _Case) -> None:
    """``block`` and ``block_matmul`` for index vectors without order."""
    S, i, j = case.S, case.i, case.j
    expected = case.formed[i.cpu()][:, j.cpu()]
    block = case.agree("block(i, j)", lambda: S.block(i, j), expected)
    block.zero_()
    case.agree("block(i, j), the last result changed in place", lambda: S.block(i, j), expected)
    X = case.random(len(j), 2)
    before, call = X.clone(), "block_matmul(i, j, X)"
    product = expected @ X.to("cpu", torch.float64)
    case.agree(call, lambda: S.block_matmul(i, j, X), product)
    case.unchanged(call, X, before)


def _check_entries(case: _Case) -> None:
    S = case.S
    i, j = torch.randint(S.n, (2, DRAWN), generator=case.rng)
    there = (i.to(S.device), j.to(S.device))
    case.agree("entries(i, j)", lambda: S.entries(*there), case.formed[i, j])


def _check_vectors(case: _Case) -> None:
    case.agree("diag()", case.S.diag, case.formed.diagonal())
    case.agree("row_norms()", case.S.row_norms, torch.linalg.vector_norm(case.formed, dim=1))


def _check_numbers(case: _Case) -> None:
    """Sums, which are computed in float64."""
    S, formed = case.S, case.formed
    size = max(float(formed.trace()), float(formed.norm())) / S.n
    for call, make, expected in (
        ("trace()", S.trace, float(formed.trace())),
        ("frob_sq()", S.frob_sq, float(formed.square().sum())),
        ("mean()", S.mean, float(formed.mean())),
        ("scale()", S.scale, size),
    ):
        called = case.name(call)
        with calling(called):
            came = make()
        expect(isinstance(came, float), called, "a float", f"a {type(came).__name__}")
        room = TOLERANCES[S.dtype] * max(abs(expected), float(formed.abs().mean()))
        expect(abs(came - expected) <= room, called, f"{expected:.9g}", f"{came:.9g}")
    with calling(case.name("cost()")):
        cost = S.cost()
    positive = isinstance(cost, int | float) and isfinite(cost) and cost > 0
    expect(positive, case.name("cost()"), "a positive number of multiplications", cost)


def _check_whole(case: _Case) -> None:
    """``to_dense`` and ``to_frame``."""
    S = case.S
    whole = case.agree("to_dense()", S.to_dense, case.formed)
    whole.zero_()
    wrong = difference(S.to_dense(), case.formed, 0.0, 0.1 * float(case.formed.abs().max()))
    expect(wrong is None, case.name("to_dense()"), "a new tensor each time", "one that is shared")
    called = case.name("to_frame()")
    with calling(called):
        frame = S.to_frame()
    labels = list(range(S.n)) if S.names is None else list(S.names)
    for axis, found in (("index", frame.index), ("columns", frame.columns)):
        expect(list(found) == labels, called, f"the names of the rows as {axis}", list(found)[:5])
    case.agree("to_frame()", lambda: torch.as_tensor(frame.to_numpy().copy(), device=S.device),
               case.formed)  # fmt: skip


def _check_processes(case: _Case) -> None:
    """``agree`` and ``same``, on which the processes that share the rows rely."""
    S = case.S
    with calling(case.name("agree(1, 'a')")):
        agreed = S.agree(1, "a")
    expect(agreed == (1, "a"), case.name("agree(1, 'a')"), (1, "a"), agreed)
    with calling(case.name("same(H)")):
        same = S.same(torch.ones(S.n, 1, dtype=S.dtype, device=S.device))
    expect(same is True, case.name("same(H)"), True, same)
