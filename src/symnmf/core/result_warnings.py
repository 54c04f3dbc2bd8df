"""Warnings about results that did not converge or whose groups are doubtful."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from symnmf.core.result import Result, Status
from symnmf.defaults import EVENTS_A_GROUP
from symnmf.errors import (
    AmbiguousWarning,
    CollapsedWarning,
    DegenerateWarning,
    NotConvergedWarning,
    SingleEventsWarning,
    called,
    offered,
    spelled,
)
from symnmf.provenance import Provenance

_REPORTED: ContextVar[bool] = ContextVar("reported", default=True)


@contextmanager
def unreported() -> Iterator[None]:
    """Nobody sees the fits inside the block: they do not warn, and starts are not compared.

    Unlike the filters of warnings it holds for the thread of the block alone.

    Example:
        >>> with unreported():
        ...     is_reported()
        False
    """
    before = _REPORTED.set(False)
    try:
        yield
    finally:
        _REPORTED.reset(before)


def is_reported() -> bool:
    """Whether a person will see the fit."""
    return _REPORTED.get()


def advice(status: Status) -> str:
    """Advice for a run that ended without meeting the criterion, in the caller's vocabulary."""
    if status is Status.COLLAPSED:
        start = f"{spelled('start', 'nndsvd')}, " if offered("start") else ""
        return (
            "every column of H is nearly the same and carries no groups; try another "
            f"{called('seed')}, {start}or another {called('solver')}"
        )
    if status is Status.STAGNATED:
        precision = " or dtype=torch.float64" if offered("dtype") else ""
        return (
            "the error no longer changes but the gradient is above its gate; try another "
            f"{called('solver')}{precision}"
        )
    if status in (Status.MAX_ITER, Status.TIME_OUT):
        limit = "max_iter" if status is Status.MAX_ITER else "max_seconds"
        return f"raise {called(limit)}, or try another {called('solver')}"
    return "use a smaller step, or the default options of the solver"


def warn_of_single_events(provenance: Provenance | None, k: int, stacklevel: int = 4) -> None:
    """Warn if a tail dependence matrix is estimated from too few extreme events for k groups."""
    events = 0 if provenance is None else provenance.events
    if 0 < events < EVENTS_A_GROUP * k and is_reported():
        warnings.warn(
            f"k = {k} groups from {events} exceedances: with more than one group per "
            f"{EVENTS_A_GROUP} exceedances the factors tend to single events; choose k up to "
            f"{max(1, events // EVENTS_A_GROUP)}, or more exceedances.",
            SingleEventsWarning,
            stacklevel=stacklevel,
        )


def warn_of_result(result: Result, stacklevel: int = 5) -> None:
    """Warn once if the criterion was not met, or if the groups are ambiguous or degenerate.

    A run that the caller stopped does not cause a warning.
    """
    if result.status is Status.STOPPED or not is_reported():
        return
    if result.status.good:
        _warn_of_groups(result, stacklevel + 1)
        return
    kind = CollapsedWarning if result.status is Status.COLLAPSED else NotConvergedWarning
    warnings.warn(
        f"{result.solver} ended {result.status.name} after {result.iterations} iterations "
        f"(error {result.certificate.error:.3g}, gradient "
        f"{result.certificate.kkt / result.certificate.kkt_gate:.3g} × its gate): "
        f"{advice(result.status)}.",
        kind,
        stacklevel=stacklevel,
    )


def _warn_of_groups(result: Result, stacklevel: int) -> None:
    """Warn of a good fit whose groups are not unique, or fewer than requested."""
    certificate, k = result.certificate, result.H.shape[1]
    used = int(result.H.any(dim=0).sum())
    if certificate.ambiguous:
        warnings.warn(
            f"the fit is good, but starts that fit as well find other groups (agreement "
            f"{certificate.agreement:.2f} of 1): choose another {called('k')}, use more data, or "
            "use the loadings instead of the labels.",
            AmbiguousWarning,
            stacklevel=stacklevel,
        )
    elif used < k:
        warnings.warn(
            f"{k - used} of k = {k} columns of H are zero: the other columns explain all that H "
            f"can explain of S; choose k up to {used}.",
            DegenerateWarning,
            stacklevel=stacklevel,
        )
