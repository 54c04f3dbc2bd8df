"""Where a fit computes: the words of the caller, and moving a matrix there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

from symnmf.errors import InvalidInput, UnknownName
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.gram import GramOperator

#: Words for a device; ``"auto"`` is the first GPU of CUDA if there is one, otherwise the CPU.
DEVICES = ("auto", "cpu", "cuda", "mps")

#: Device of the fits inside :func:`computing_on`; None where S is.
_DEVICE: ContextVar[torch.device | None] = ContextVar("device", default=None)


def resolve_device(device: str | torch.device) -> torch.device:
    """The device that a word means on this machine.

    Arguments:
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` (or ``"cuda:1"``), or a device of torch.

    Raises:
        InvalidInput: there is no such device, or it has no float64 (``"mps"``).

    Example:
        >>> resolve_device("cpu")
        device(type='cpu')
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except RuntimeError:
        raise UnknownName("device", f"unknown device {device!r}", f"Choose {_words()}") from None
    if found.type == "mps":
        raise InvalidInput(
            "device",
            "mps has no float64, in which sums, spectrum and certificate are computed",
            "Choose cpu: nothing is computed in a lower precision silently",
        )
    if found.type not in ("cpu", "cuda"):
        raise InvalidInput("device", f"got {device}", f"Choose {_words()}")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("device", "cuda was asked for, and torch finds no GPU",
                           "Choose cpu or auto, or install torch with CUDA")  # fmt: skip
    if str(found) == "cuda":  # with its number, as tensors on it name it
        return torch.device("cuda", torch.cuda.current_device())
    return found


def _words() -> str:
    return f"{', '.join(DEVICES[:-1])} or {DEVICES[-1]}"


@contextmanager
def computing_on(device: str | torch.device | None) -> Iterator[None]:
    """Fits that begin inside compute on a device; their results come back to where S is.

    Arguments:
        device: as for :func:`resolve_device`; None changes nothing.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> with computing_on("cpu"):
        ...     sn.factorize(np.eye(3), 2).H.device.type
        'cpu'
    """
    token = _DEVICE.set(_DEVICE.get() if device is None else resolve_device(device))
    try:
        yield
    finally:
        _DEVICE.reset(token)


def on_chosen_device(S: SymmetricOperator) -> SymmetricOperator:
    """S on the device of :func:`computing_on`.

    Matrices in memory are moved. Matrices on disk, sparse ones and those whose rows several
    processes share stay where they were opened.
    """
    device = _DEVICE.get()
    if device is None or device.type == S.device.type:
        return S
    if not isinstance(S, DenseOperator | GramOperator) or not S.rows.in_memory:
        return S
    rows = S.rows.whole
    _require_device_memory(rows.nbytes, device)
    moved = rows.to(device)
    if isinstance(S, GramOperator):
        return GramOperator(moved, S.d, S.names, S.provenance)
    return DenseOperator.of(
        type(S.rows)(moved), S.frob_sq(), S.mean() * S.n**2, S.names, S.provenance
    )


def device_memory(device: torch.device) -> float:
    """Free bytes of a GPU; infinite where that is not known."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return float("inf")
    return float(torch.cuda.mem_get_info(device)[0])


def _require_device_memory(need: float, device: torch.device) -> None:
    from symnmf.resources import require_memory

    remedy = "Choose the CPU, or more processes with a GPU each (`symnmf plan` tells how many)"
    require_memory(need, f"S on {device}", remedy, device_memory(device))
