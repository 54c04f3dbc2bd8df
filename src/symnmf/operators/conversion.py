"""Conversion of arrays, tensors, data frames and sparse matrices to operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.errors import InvalidInput, InvalidMatrix
from symnmf.operators import validation
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.devices import is_on, moved
from symnmf.operators.gram import GramOperator
from symnmf.operators.sparse import SparseOperator


def as_operator(
    x: Any,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    names: Sequence[str] | None = None,
    argument: str = "S",
) -> SymmetricOperator:
    """The operator of a matrix.

    Arguments:
        x: (n, n) numpy array (also a read-only memory map), torch tensor, torch or scipy sparse
            matrix, data frame whose index equals its columns, or an operator.
        dtype: float32 or float64; by default the type of ``x`` (integers become float32).
            Without a change of type or device nothing is copied.
        device: device of the operator; by default that of ``x``.
        names: names of the rows; by default those of the data frame.
        argument: name of the matrix in errors.

    Raises:
        InvalidMatrix: the matrix is not square, symmetric, non-negative and finite.

    Example:
        >>> import numpy as np
        >>> as_operator(np.eye(4))
        DenseOperator(n=4, dtype=float64)
    """
    if dtype not in (None, torch.float32, torch.float64):
        raise InvalidInput("dtype", f"got {dtype}", "Choose torch.float32 or torch.float64")
    if isinstance(x, SymmetricOperator):
        return _converted(x, dtype, device, names)
    if hasattr(x, "columns") and hasattr(x, "index"):
        names, x = _frame(x, argument) if names is None else (names, x)
        x = x.to_numpy() if hasattr(x, "to_numpy") else x
    is_sparse = hasattr(x, "tocsr") or (isinstance(x, Tensor) and x.layout != torch.strided)
    if not (is_sparse or isinstance(x, Tensor | np.memmap)):
        x = np.asarray(x)
    _check_shape(tuple(x.shape), argument)
    _check_names(names, x.shape[0], argument)
    if is_sparse:
        return _sparse(x, dtype, device, names, argument)
    return DenseOperator(_float(x, dtype, device, argument), names=names, argument=argument)


def _check_shape(shape: tuple[int, ...], argument: str) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidMatrix(
            argument,
            f"has shape {shape}",
            "Pass a square matrix with one row and one column per instrument (a table of "
            "returns must first be converted to a dependence matrix)",
        )
    if shape[0] < 2:
        raise InvalidMatrix(
            argument,
            f"has shape {shape}: {shape[0]} sample(s)",
            "At least 2 instruments are needed to find groups",
        )


def validate_operator(S: SymmetricOperator) -> None:
    """Raise InvalidMatrix for an operator that is too small, zero, out of range or badly named.

    Operators of callers are validated as well.
    """
    _check_shape((S.n, S.n), "S")
    _check_names(S.names, S.n, "S")
    if S.frob_sq() == 0.0 and S.trace() == 0.0:
        validation.zero("S")
    size = S.scale()
    low, high = validation.SCALE_RANGE[S.dtype]
    if not low <= size <= high:
        validation.out_of_range("S", size, low, high)


def _check_names(names: Sequence[str] | None, n: int, argument: str) -> None:
    if names is None:
        return
    if len(names) != n:
        raise InvalidMatrix(
            "names", f"{len(names)} names for {n} rows of {argument}", "Pass one name per row"
        )
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InvalidMatrix(
            argument,
            f"the name {name!r} occurs {count} times",
            "Give every row its own name, or drop the repeated rows",
        )


def frame_names(x: Any) -> list[str] | None:
    """Names of the rows of a data frame or an operator; None for other matrices."""
    if isinstance(x, SymmetricOperator):
        return None if x.names is None else list(x.names)
    return _frame(x, "S")[0] if hasattr(x, "columns") and hasattr(x, "index") else None


def _frame(x: Any, argument: str) -> tuple[list[str], Any]:
    index, columns = [str(v) for v in x.index], [str(v) for v in x.columns]
    if len(index) == len(columns) and index != columns:
        at = next(m for m, (a, b) in enumerate(zip(index, columns, strict=True)) if a != b)
        raise InvalidMatrix(
            argument,
            f"index and columns differ at position {at}: row {index[at]!r}, column {columns[at]!r}",
            "Name rows and columns alike, in the same order",
        )
    return columns, x


def _float(
    x: Tensor | np.ndarray,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
    argument: str,
) -> Tensor | np.ndarray:
    """The same matrix as float32 or float64, sharing its memory where possible."""
    kind = str(x.dtype).removeprefix("torch.")
    if kind.startswith("complex") or (isinstance(x, np.ndarray) and x.dtype.kind not in "fiub"):
        raise InvalidMatrix(
            argument,
            f"has entries of type {kind}",
            "Real numbers are needed: correct the entries that are not numbers, then convert "
            "with S.astype(float)",
        )
    if isinstance(x, np.ndarray):
        if not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        if x.dtype in (np.float32, np.float64) and dtype is None and device is None:
            return np.ascontiguousarray(x) if min(x.strides, default=0) < 0 else x
        if x.dtype.kind == "f" and x.dtype.itemsize > 8:
            x = x.astype(np.float64)
        x = torch.tensor(np.ascontiguousarray(x))
    wanted = dtype or (x.dtype if x.dtype in (torch.float32, torch.float64) else torch.float32)
    return x.detach().to(dtype=wanted, device=device)


def _converted(
    x: SymmetricOperator,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
    names: Sequence[str] | None,
) -> SymmetricOperator:
    """The operator on another device; a Gram operator also with another type."""
    place = x.device if device is None else torch.device(device)
    x = moved(x, place)
    if not is_on(x, place):
        raise InvalidInput("device", f"{type(x).__name__} is on {x.device}, and cannot be moved",
                           "Create the operator on this device")  # fmt: skip
    if dtype not in (None, x.dtype):
        if not isinstance(x, GramOperator) or x.rows.process_group is not None:
            raise InvalidInput("dtype", f"{type(x).__name__} holds {x.dtype}",
                               "Create the operator from a matrix with this type")  # fmt: skip
        x = GramOperator(x.B.to(dtype), x.d, x.names, x.provenance)
    if names is not None and list(names) != list(x.names or ()):
        x = copy(x)
        x.names = names
    return x


def _sparse(
    x: Any,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
    names: Sequence[str] | None,
    argument: str,
) -> SparseOperator:
    if isinstance(x, Tensor):
        import scipy.sparse as sp

        coo = x.detach().to_sparse(layout=torch.sparse_coo).coalesce().cpu()
        index, values = coo.indices().numpy(), coo.values().numpy()
        x, device = sp.csr_array((values, index), shape=x.shape), device or x.device
    x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    data = torch.as_tensor(_float(x.data, dtype, device, argument), device=device)
    crow, col = (
        torch.as_tensor(np.asarray(v, dtype=np.int64), device=device) for v in (x.indptr, x.indices)
    )
    return SparseOperator(crow, col, data, names=names, argument=argument)
