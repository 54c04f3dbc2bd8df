"""Where a fit computes: the words of the caller, and moving a matrix there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy

import torch

from symnmf.errors import InvalidInput, UnknownName
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.gram import GramOperator
from symnmf.operators.lowrank import LowRankOperator
from symnmf.operators.rows import Rows
from symnmf.operators.sparse import SparseOperator
from symnmf.operators.wrappers import WrappedOperator

#: Words for a device; ``"auto"`` is the first GPU of CUDA if there is one, otherwise the CPU.
DEVICES = ("auto", "cpu", "cuda", "mps")

#: Fraction of the free memory of a device that the rows of a mapped file may take.
RESIDENT_FRACTION = 0.5

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

    Rows that several processes share stay on the device of their process group, and the operator
    of a caller or of observed entries stays where it was made.
    """
    device = _DEVICE.get()
    return S if device is None else moved(S, device)


def moved(S: SymmetricOperator, device: torch.device) -> SymmetricOperator:
    """S on another device; S itself if it is there, or is of a kind that cannot be moved.

    Matrices in memory are copied to the device. Of a matrix on disk the rows are, if they fit;
    otherwise its tiles are moved for every product.

    Arguments:
        S: operator to move.
        device: where its products are to be computed.

    Raises:
        NotEnough: a matrix in memory does not fit in that of the device.
    """
    if is_on(S, device):
        return S
    if isinstance(S, WrappedOperator):
        twin = copy(S)
        WrappedOperator.__init__(twin, moved(S.inner, device))
        return twin
    if isinstance(S, LowRankOperator):
        return LowRankOperator(S.U.to(device), S.core, S.d)
    if isinstance(S, SparseOperator):
        _require_device_memory(S.crow.nbytes + S.col.nbytes + S.values.nbytes, device)
        return SparseOperator(S.crow.to(device), S.col.to(device), S.values.to(device), S.names)
    if not isinstance(S, DenseOperator | GramOperator) or S.rows.process_group is not None:
        return S
    rows = _rows_on(S.rows, device)
    if isinstance(S, GramOperator):
        return GramOperator(rows, S.d, S.names, S.provenance)
    return DenseOperator.of(rows, S.frob_sq(), S.mean() * S.n**2, S.names, S.provenance)


def is_on(S: SymmetricOperator, device: torch.device) -> bool:
    """Whether S is on a device; any GPU if the device has no number."""
    return S.device.type == device.type and device.index in (None, S.device.index)


def _rows_on(rows: Rows, device: torch.device) -> Rows:
    """The rows of one process for products on another device."""
    if rows.in_memory:
        _require_device_memory(rows.data.nbytes, device)
        return Rows(rows.data.to(device))
    return rows.mapped_on(device, fits_on(device, rows.data.nbytes))


def fits_on(device: torch.device, size: float) -> bool:
    """Whether mapped rows of this many bytes are kept on a GPU instead of moved in tiles."""
    return device.type == "cuda" and size < RESIDENT_FRACTION * device_memory(device)


def device_memory(device: torch.device) -> float:
    """Free bytes of a GPU; infinite where that is not known."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return float("inf")
    return float(torch.cuda.mem_get_info(device)[0])


def _require_device_memory(need: float, device: torch.device) -> None:
    from symnmf.resources import require_memory

    remedy = "Choose the CPU, or more processes with a GPU each (`symnmf plan` tells how many)"
    require_memory(need, f"S on {device}", remedy, device_memory(device))
