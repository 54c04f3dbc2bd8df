"""Failures of the suites: each names the call, the expected value and the actual value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def expect(holds: bool, called: str, expected: object, came: object) -> None:
    """Raise an AssertionError unless a condition holds.

    An ``assert`` statement does not suffice: Python omits it under ``-O``.

    Arguments:
        holds: the condition.
        called: the call, such as ``"Ones.mean()"``.
        expected: the expected value.
        came: the actual value.

    Raises:
        AssertionError: the condition does not hold.

    Example:
        >>> try:
        ...     expect(1.0 == 2.0, "Ones.mean()", 1.0, 2.0)
        ... except AssertionError as wrong:
        ...     print(wrong)
        Ones.mean(): expected 1.0, got 2.0
    """
    if not holds:
        raise AssertionError(f"{called}: expected {expected}, got {came}")


@contextmanager
def calling(called: str, expected: object = "a value") -> Iterator[None]:
    """Turn an error inside the block into an AssertionError that names the call."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{called}: expected {expected}, got {came}") from error


def difference(came: Tensor, expected: Tensor, rtol: float, atol: float) -> str | None:
    """Where and by how much a tensor differs most from the expected tensor; None if it does not.

    Arguments:
        came: the computed tensor.
        expected: the expected tensor, of the same shape.
        rtol, atol: allowed difference, relative to the expected entries and absolute; with both 0,
            the bits have to be equal.

    Example:
        >>> difference(torch.tensor([1.0, 2.5]), torch.tensor([1.0, 2.0]), 1e-6, 0.0)
        '1 of 2 entries differ, most at [1]: 2.5 instead of 2'
    """
    wide, wanted = came.to("cpu", torch.float64), expected.to("cpu", torch.float64)
    excess = (wide - wanted).abs() - (atol + rtol * wanted.abs())
    wrong = ~(excess <= 0)  # NaN is wrong too
    if not bool(wrong.any()):
        return None
    most = int(torch.nan_to_num(excess, nan=torch.inf).argmax())
    place = [int(m) for m in torch.unravel_index(torch.tensor(most), excess.shape)]
    return (
        f"{int(wrong.sum())} of {wrong.numel()} entries differ, most at {place}: "
        f"{float(wide.flatten()[most]):.9g} instead of {float(wanted.flatten()[most]):.9g}"
    )
