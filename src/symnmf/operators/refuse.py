"""What makes a matrix unusable, and what to tell the person who gave it."""

from __future__ import annotations

from typing import NoReturn

import torch

from symnmf.errors import InvalidMatrix

#: Largest |S_ij − S_ji|, and −S_ij, taken for rounding, as a fraction of max |S|.
ROUNDING = 1e-5
#: Sizes of S (see ``SymmetricOperator.scale``) that its type can be multiplied and squared in.
SIZES = {torch.float32: (1e-33, 1e31), torch.float64: (1e-140, 1e140)}


def zero(argument: str) -> NoReturn:
    """Refuse a matrix of zeros."""
    raise InvalidMatrix(argument, "every entry is zero", "There is nothing to factorize")


def out_of_range(argument: str, size: float, low: float, high: float) -> NoReturn:
    """Refuse a matrix whose squares leave the range of numbers."""
    raise InvalidMatrix(
        argument,
        f"its entries are of the size {size:.3g}",
        f"Sizes from {low:g} to {high:g} can be worked with: multiply S by a number, and H by its "
        "square root",
    )


def nonfinite(argument: str, row: int, column: int, value: float) -> NoReturn:
    """Refuse NaN and infinity."""
    raise InvalidMatrix(
        argument,
        f"entry [{row}, {column}] is {value}",
        "Every entry must be finite: remove the instrument, or estimate S without gaps",
    )


def negative(argument: str, row: int, column: int, value: float) -> NoReturn:
    """Refuse an entry below zero."""
    raise InvalidMatrix(
        argument,
        f"Negative values in data: entry [{row}, {column}] is {value:.6g}",
        "S must be non-negative: take absolute values, or clip at zero if it is noise",
    )


def asymmetric(argument: str, row: int, column: int, gap: float) -> NoReturn:
    """Refuse a matrix that differs from its transpose."""
    raise InvalidMatrix(
        argument,
        f"not symmetric: entries [{row}, {column}] and [{column}, {row}] differ by {gap:.6g}",
        "Use (S + S.T) / 2 if the difference is noise",
    )
