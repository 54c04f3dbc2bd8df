"""Checks of hyper-parameters, made when a solver is made."""

from __future__ import annotations

from math import isfinite
from typing import Any

from symnmf.errors import InvalidInput


def positive(owner: Any, *names: str) -> None:
    """Refuse a hyper-parameter that is set and is not a positive, finite number."""
    for name in names:
        value = getattr(owner, name)
        unset = value is None and owner.__dataclass_fields__[name].default is None
        if not unset and not (_number(value) and value > 0):
            _refuse(owner, name, "Pass a positive number")


def between(owner: Any, low: float, high: float, *names: str) -> None:
    """Refuse a hyper-parameter outside [low, high)."""
    for name in names:
        value = getattr(owner, name)
        if not (_number(value) and low <= value < high):
            _refuse(owner, name, f"Pass a number from {low:g} to below {high:g}")


def fraction(owner: Any, *names: str) -> None:
    """Refuse a hyper-parameter outside (0, 1]."""
    for name in names:
        value = getattr(owner, name)
        if not (_number(value) and 0 < value <= 1):
            _refuse(owner, name, "Pass a number above 0 and at most 1")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _refuse(owner: Any, name: str, remedy: str) -> None:
    raise InvalidInput(f"{type(owner).__name__}.{name}", f"got {getattr(owner, name)!r}", remedy)
