"""Declared options: each hyper-parameter is declared once, together with its constraint.

A frozen dataclass declares its options with :func:`option`, and :func:`check_options` validates
a new object. The registry page, the command line and the contract tests read the same
constraints through :func:`constraints`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from operator import index
from typing import Any

from symnmf.errors import InvalidInput, UnknownName

#: Key of the constraint in the metadata of a dataclass field.
CONSTRAINT = "constraint"


@dataclass(frozen=True)
class Constraint:
    """The values that an option may have.

    Attributes:
        kind: ``"number"``, ``"integer"``, ``"flag"`` or ``"choice"``.
        low, high: bounds of the range of a number.
        open_low, open_high: whether the bounds themselves are excluded.
        choices: words that a choice may be.
        optional: whether None is allowed, which leaves the value to the solver.

    Example:
        >>> Constraint("integer", low=1).words
        'a whole number of at least 1'
    """

    kind: str
    low: float = -inf
    high: float = inf
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def words(self) -> str:
        """Description of the allowed values, for people."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.kind == "flag":
            return "True or False"
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.low == 0 and self.open_low and self.high == inf:
            return noun.replace("a ", "a positive ", 1)
        if -inf < self.low and self.high < inf and not (self.open_low or self.open_high):
            return f"{noun} from {self.low:g} to {self.high:g}"
        ends = []
        if self.low > -inf:
            ends.append(f"{'above' if self.open_low else 'of at least'} {self.low:g}")
        if self.high < inf:
            ends.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        return f"{noun} {' and '.join(ends)}".strip()

    def allows(self, value: Any) -> bool:
        """Whether a value satisfies the constraint."""
        if value is None:
            return self.optional
        if self.kind == "choice":
            return isinstance(value, str) and value in self.choices
        if self.kind == "flag":
            return isinstance(value, bool)
        if isinstance(value, bool):
            return False
        if self.kind == "integer":
            try:
                value = index(value)
            except TypeError:
                return False
        elif not (isinstance(value, int | float) and isfinite(value)):
            return False
        above = value > self.low if self.open_low else value >= self.low
        return bool(above and (value < self.high if self.open_high else value <= self.high))

    def wrong_values(self) -> Iterator[Any]:
        """Values that violate the constraint, for tests."""
        yield from ("nonsense", float("nan"), inf, [1])
        if not self.optional:
            yield None
        if self.kind in ("number", "integer"):
            yield True
        if self.kind == "integer":
            yield 2.5
        if self.low > -inf:
            yield self.low if self.open_low else self.low - 1
        if self.high < inf:
            yield self.high if self.open_high else self.high + 1
        if self.kind == "flag":
            yield 1

    def check(self, argument: str, value: Any) -> None:
        """Raise an error unless the value satisfies the constraint.

        Raises:
            UnknownName: the value is not one of the choices.
            InvalidInput: the value is outside the range or of the wrong type.
        """
        if self.allows(value):
            return
        kind = UnknownName if self.kind == "choice" else InvalidInput
        raise kind(argument, f"got {value!r}", f"Pass {self.words}")


def option(
    default: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    choices: Sequence[str] = (),
    whole: bool = False,
) -> Any:
    """A field of a frozen dataclass with its constraint.

    Arguments:
        default: default value; None makes the option optional.
        above, at_least: exclusive and inclusive lower bound.
        below, at_most: exclusive and inclusive upper bound.
        choices: allowed words.
        whole: whether the option is a whole number.

    Returns:
        A dataclass field that carries the constraint.

    Example:
        >>> @dataclass(frozen=True)
        ... class Steps:
        ...     count: int = option(10, whole=True, at_least=1)
        ...     def __post_init__(self):
        ...         check_options(self)
        >>> try:
        ...     Steps(count=2.5)
        ... except InvalidInput as wrong:
        ...     print(wrong)
        Steps.count: got 2.5. Pass a whole number of at least 1.
    """
    kind = "integer" if whole else "number"
    if choices:
        kind = "choice"
    elif isinstance(default, bool):
        kind = "flag"
    low, high = (above if at_least is None else at_least), (below if at_most is None else at_most)
    constraint = Constraint(
        kind=kind,
        low=-inf if low is None else low,
        high=inf if high is None else high,
        open_low=above is not None,
        open_high=below is not None,
        choices=tuple(choices),
        optional=default is None,
    )
    return field(default=default, metadata={CONSTRAINT: constraint})


def constraints(owner: Any) -> dict[str, Constraint]:
    """The constraints of a dataclass or of its instance, by name of the option."""
    return {f.name: f.metadata[CONSTRAINT] for f in fields(owner) if CONSTRAINT in f.metadata}


def check_options(owner: Any) -> None:
    """Validate the options of a dataclass instance.

    Raises:
        InvalidInput: an option violates its constraint (UnknownName for a choice).
    """
    for name, constraint in constraints(owner).items():
        constraint.check(f"{type(owner).__name__}.{name}", getattr(owner, name))


def whole_number(
    argument: str, value: Any, low: int, high: float = inf, words: str | None = None
) -> int:
    """Validate a whole number in a range.

    Arguments:
        argument: name of the argument, for the error.
        value: value that the caller passed.
        low, high: inclusive bounds of the range.
        words: description of the range, such as ``"from 1 to n = 5"``; by default its bounds.

    Returns:
        The value as an int.

    Raises:
        InvalidInput: the value is not a whole number in the range.

    Example:
        >>> whole_number("k", 3, 1, 5)
        3
    """
    constraint = Constraint("integer", low=low, high=high)
    if not constraint.allows(value):
        remedy = constraint.words if words is None else f"a whole number {words}"
        raise InvalidInput(argument, f"got {value!r}", f"Pass {remedy}")
    return index(value)


def choice(argument: str, value: Any, choices: Sequence[str]) -> str:
    """Validate a choice.

    Returns:
        The value as a str.

    Raises:
        UnknownName: the value is not one of the choices; the message lists them.

    Example:
        >>> try:
        ...     choice("tail", "left", ("lower", "upper"))
        ... except UnknownName as wrong:
        ...     print(wrong)
        tail: got 'left'. Pass one of lower, upper.
    """
    Constraint("choice", choices=tuple(choices)).check(argument, value)
    return str(value)
