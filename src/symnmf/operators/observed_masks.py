"""What callers pass as mask and weights: read, and compared with S."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.errors import InvalidMatrix
from symnmf.operators.base import SymmetricOperator

#: Remedy for a matrix that is no mask.
TRUTH = "Pass an array of truth values"


def numbers(x: Any, argument: str) -> np.ndarray:
    """An array of numbers or truth values; what pandas calls missing is NaN.

    Arguments:
        x: array, tensor, data frame, sparse matrix or operator.
        argument: name of the argument in errors.
    """
    array = _array(x)
    if array.dtype.kind not in "fiub":
        raise InvalidMatrix(argument, f"has entries of type {array.dtype}", "Pass numbers")
    return array if array.dtype in (np.float32, np.float64, np.bool_) else array.astype(np.float32)


def truth_values(mask: Any) -> np.ndarray:
    """A mask as truth values; what a sparse mask stores, zeros aside, is True.

    Raises:
        InvalidMatrix: an entry is missing, or neither true nor false.

    Example:
        >>> truth_values([[1, 0], [0, 1]])
        array([[ True, False],
               [False,  True]])
    """
    if hasattr(mask, "toarray"):
        return np.asarray(mask.toarray() != 0)
    array = _array(mask)
    if array.dtype == bool:
        return array
    if array.dtype == object and all(isinstance(v, bool | np.bool_) for v in array.flat):
        return array.astype(bool)
    if array.dtype.kind not in "fiub":
        raise InvalidMatrix("mask", f"has entries of type {array.dtype}", TRUTH)
    other = (array != 0) & (array != 1)  # NaN differs from both
    if other.any():
        place = np.argwhere(other)[0].tolist()
        value = array[tuple(place)]
        if np.isnan(value):
            raise InvalidMatrix("mask", f"the entry {place} is missing", TRUTH)
        problem = f"the entry {place} is {value:g}, neither true nor false"
        raise InvalidMatrix("mask", problem, "Pass weights=… where entries count in part")
    return array.astype(bool)


def require_names(x: Any, argument: str, names: Sequence[str] | None) -> None:
    """Raise an error if a data frame has other names than S, or another order of them.

    Arguments:
        x: mask or weights; only a data frame has names.
        argument: name of the argument in errors.
        names: names of the rows of S, if it has any.
    """
    if names is None or not (hasattr(x, "columns") and hasattr(x, "index")):
        return
    for axis, found in (("rows", x.index), ("columns", x.columns)):
        given = [str(v) for v in found]
        if len(given) != len(names) or given == list(names):
            continue
        if sorted(given) == sorted(names):
            problem = f"has its {axis} in another order than S"
            raise InvalidMatrix(argument, problem, f"Pass {argument}.loc[S.index, S.columns]")
        other = next(v for v in given if v not in set(names))
        problem = f"has {axis} that S has not, such as {other!r}"
        raise InvalidMatrix(argument, problem, "Pass one entry for each entry of S")


def alone(row: int, names: Sequence[str] | None) -> InvalidMatrix:
    """The error of a row that has no observed entry besides the diagonal."""
    name = "" if names is None else f" ({names[row]!r})"
    problem = f"row {row}{name} has no observed entry besides the diagonal"
    return InvalidMatrix("S", problem, "Leave the instrument out")


def _array(x: Any) -> np.ndarray:
    if isinstance(x, SymmetricOperator):
        x = x.to_dense()
    if hasattr(x, "toarray"):
        x = x.toarray()
    if isinstance(x, Tensor):
        x = (x.to_dense() if x.layout != torch.strided else x).detach().cpu().numpy()
    array = np.asarray(x)
    types = getattr(x, "dtypes", None)
    if array.dtype == object and types is not None and all(t.kind in "fiub" for t in types):
        return np.asarray(x.to_numpy(dtype=np.float64, na_value=np.nan))  # nullable types
    return array
