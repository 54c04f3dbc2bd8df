"""Errors for matrices that cannot be factorized, each with a remedy."""

from __future__ import annotations

from typing import NoReturn

import torch

from symnmf.errors import InvalidMatrix

#: Largest |S_ij − S_ji| and −S_ij that count as rounding, as a fraction of max |S|.
ROUNDING = 1e-5


#: Scales of S (see ``SymmetricOperator.scale``) whose squares each type can represent.
SCALE_RANGE = {torch.float32: (1e-33, 1e31), torch.float64: (1e-140, 1e140)}


def zero(argument: str) -> NoReturn:
    """Raise the error for a matrix of zeros."""
    raise InvalidMatrix(argument, "every entry is zero", "Pass a matrix with positive entries")


def out_of_range(argument: str, size: float, low: float, high: float) -> NoReturn:
    """Raise the error for a matrix whose squares overflow or underflow."""
    raise InvalidMatrix(
        argument,
        f"its entries are of the size {size:.3g}",
        f"Scale S to a size from {low:g} to {high:g}: multiply S by a number c, and divide H by "
        "the square root of c",
    )


def nonfinite(argument: str, row: int, column: int, value: float) -> NoReturn:
    """Raise the error for NaN and infinity."""
    raise InvalidMatrix(
        argument,
        f"entry [{row}, {column}] is {value}",
        "Every entry must be finite: remove the instrument, or estimate S from complete data",
    )


def negative(argument: str, row: int, column: int, value: float) -> NoReturn:
    """Raise the error for an entry below zero."""
    raise InvalidMatrix(
        argument,
        f"Negative values in data: entry [{row}, {column}] is {value:.6g}",
        "S must be non-negative: take absolute values, or clip at zero if the entry is noise",
    )


def asymmetric(argument: str, row: int, column: int, gap: float) -> NoReturn:
    """Raise the error for a matrix that differs from its transpose."""
    raise InvalidMatrix(
        argument,
        f"not symmetric: entries [{row}, {column}] and [{column}, {row}] differ by {gap:.6g}",
        "Pass the mean of the matrix and its transpose if the difference is noise",
    )
