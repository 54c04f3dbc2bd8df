"""Typed errors and warnings: each states what was wrong, where, and what to do.

Messages use the caller's vocabulary: names of arguments in Python, names of options on the
command line (:func:`speaking`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: Maps the name of an argument to the caller's name for it; None in Python.
_CALLED: ContextVar[Mapping[str, str] | None] = ContextVar("called", default=None)


@contextmanager
def speaking(called: Mapping[str, str]) -> Iterator[None]:
    """Make messages use other names for arguments, such as options of the command line.

    Arguments:
        called: mapping from the name of an argument to the caller's name for it. Nested contexts
            add to the mapping.
    """
    token = _CALLED.set({**(_CALLED.get() or {}), **called})
    try:
        yield
    finally:
        _CALLED.reset(token)


def called(argument: str) -> str:
    """The caller's name for an argument.

    Example:
        >>> called("n_init")
        'n_init'
        >>> with speaking({"n_init": "--starts"}):
        ...     called("n_init")
        '--starts'
    """
    return (_CALLED.get() or {}).get(argument, argument)


def offered(argument: str) -> bool:
    """Whether the caller can pass an argument; on the command line, only if it has an option.

    Example:
        >>> with speaking({"table": "prices.csv"}):
        ...     offered("kind")
        True
        >>> with speaking({"k": "--k"}):
        ...     offered("kind")
        False
    """
    names = _CALLED.get() or {}
    options = any(name.startswith("--") for name in names.values())
    return argument in names or not options


def spelled(argument: str, value: Any = True) -> str:
    """An argument with a value, in the caller's notation.

    Arguments:
        argument: name of the argument in Python.
        value: value of the argument; True becomes a bare flag on the command line.

    Example:
        >>> spelled("missing", "drop-rows"), spelled("force")
        ("missing='drop-rows'", 'force=True')
        >>> with speaking({"missing": "--missing", "force": "--force"}):
        ...     spelled("missing", "drop-rows"), spelled("force")
        ('--missing drop-rows', '--force')
    """
    name = called(argument)
    if not name.startswith("--"):
        return f"{name}={value!r}"
    return name if value is True else f"{name} {value}"


class SymnmfError(Exception):
    """Base class of every error that this package raises deliberately.

    Example:
        >>> import symnmf as sn
        >>> try:
        ...     sn.factorize([[1.0, 0.5], [0.5, 1.0]], k=3)
        ... except SymnmfError as wrong:
        ...     print(wrong)
        k: got 3. Pass a whole number from 1 to n = 2.
    """


class InvalidInput(SymnmfError, ValueError):
    """A value that the caller passed cannot be used.

    Arguments:
        argument: name of the argument in question.
        problem: description of the problem, with the value or its position.
        remedy: instruction that solves the problem.
    """

    def __init__(self, argument: str, problem: str, remedy: str):
        self.argument, self.problem, self.remedy = argument, problem, remedy
        end = "" if remedy.endswith("?") else "."
        super().__init__(f"{called(argument)}: {problem}. {remedy}{end}")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.argument, self.problem, self.remedy)


class InvalidMatrix(InvalidInput):
    """The matrix S is not symmetric, non-negative, finite and square."""


class InvalidTable(InvalidInput):
    """A table of prices or returns has rows, columns or cells that cannot be used."""


class InvalidFactor(InvalidInput):
    """A start factor H0 has the wrong shape, or negative or non-finite entries."""


class UnknownName(InvalidInput):
    """A name, such as that of a solver or an option, is not registered."""


class InvalidFile(InvalidInput):
    """A file is missing, damaged, of another format, or belongs to another run."""


class FolderBusy(SymnmfError, RuntimeError):
    """Another process is writing to the folder."""


class NotWritable(SymnmfError, OSError):
    """A folder cannot be written to; the message gives the reason and a remedy."""


class PeerLost(SymnmfError, RuntimeError):
    """Another process of the run does not respond, or responds with something unexpected.

    Arguments:
        message: the processes, and what to do.
        spoken: whether this process is the one of its host that tells a person.
    """

    def __init__(self, message: str, spoken: bool = True):
        self.spoken = spoken
        super().__init__(message)


class NotEnough(SymnmfError, MemoryError):
    """The work needs more memory or disk space than is free; the message gives a remedy."""


class DataWarning(UserWarning):
    """The data were read, but a person should know something before believing the answer."""


class NotConvergedWarning(UserWarning):
    """The run ended without meeting the criterion; its status tells how."""


class CollapsedWarning(NotConvergedWarning):
    """The run ended on the plateau where the columns of H carry no groups."""


class AmbiguousWarning(UserWarning):
    """The fit is good, but other starts fit as well and find other groups."""


class DegenerateWarning(UserWarning):
    """S has fewer groups than requested, or all partitions are about equally good."""


class MarginWarning(UserWarning):
    """The margins of the data are far from the assumed distribution."""


class SingleEventsWarning(UserWarning):
    """More groups were requested than the number of exceedances can distinguish."""
