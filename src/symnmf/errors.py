"""Typed errors and warnings: each says what was wrong, where, and what to do."""

from __future__ import annotations


class SymnmfError(Exception):
    """Base of every error that this package raises on purpose.

    Example:
        >>> import symnmf as sn
        >>> try:
        ...     sn.factorize([[1.0, 0.5], [0.5, 1.0]], k=3)
        ... except SymnmfError as wrong:
        ...     print(wrong)
        k: got 3. Pass a whole number from 1 to n = 2.
    """


class InvalidInput(SymnmfError, ValueError):
    """A value given by the caller cannot be used.

    Arguments:
        argument: name of the offending argument.
        problem: what is wrong with it, with the value or its place.
        remedy: what the caller can do.
    """

    def __init__(self, argument: str, problem: str, remedy: str):
        self.argument, self.problem, self.remedy = argument, problem, remedy
        super().__init__(f"{argument}: {problem}. {remedy}.")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.argument, self.problem, self.remedy)


class InvalidMatrix(InvalidInput):
    """The matrix S is not symmetric, non-negative, finite and square."""


class InvalidTable(InvalidInput):
    """A table of prices or returns has rows, columns or cells that cannot be used."""


class InvalidFactor(InvalidInput):
    """A start factor H0 has the wrong shape, sign or numbers."""


class UnknownName(InvalidInput):
    """A name (of a solver, an option) that no registry knows."""


class InvalidFile(InvalidInput):
    """A file is missing, damaged, foreign, or does not belong to this run."""


class FolderBusy(SymnmfError, RuntimeError):
    """Another process is writing to the folder."""


class NotWritable(SymnmfError, OSError):
    """A folder cannot be written to; the message says why and what to do."""


class PeerLost(SymnmfError, RuntimeError):
    """Another process of the run does not answer, or answers something else."""


class NotEnough(SymnmfError, MemoryError):
    """The work needs more memory or disk than there is; the message says what to do."""


class NotConvergedWarning(UserWarning):
    """The run ended without meeting the criterion; the status says how."""


class CollapsedWarning(NotConvergedWarning):
    """The run ended on the plateau where the columns of H carry no groups."""


class AmbiguousWarning(UserWarning):
    """The fit is good, but other starts fit as well and find other groups."""


class DegenerateWarning(UserWarning):
    """More groups were asked for than there are, or a partition where any is about as good."""


class MarginWarning(UserWarning):
    """The margins of the data are far from what was assumed."""


class SingleEventsWarning(UserWarning):
    """More groups were asked for than the number of exceedances can tell apart."""
