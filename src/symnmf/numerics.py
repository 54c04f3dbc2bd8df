"""Named random streams, fixed row chunks, sums and products in float64, and ranks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

#: Largest temporary array of a default method, in entries.
CHUNK_ENTRIES = 1 << 20
#: Entries that a reduction converts to float64 at a time.
WIDE_ENTRIES = 1 << 16
#: Columns that :func:`product64` multiplies at a time.
DEPTH = 4096
#: Number of fixed row chunks, for every number of processes; also the maximum of processes.
CHUNKS = 64


#: Multiplications of a product up to which several threads cost more than they save.
SMALL_PRODUCT = 2e7


@contextmanager
def one_thread_if_small(work: float) -> Iterator[None]:
    """One thread of torch inside the block if products are small; the number before afterwards.

    Threads wait for each other at the end of every operation: on a busy machine with more threads
    than free cores a fit of 20 rows takes thirty times as long as with one thread.

    Arguments:
        work: multiplications of one product.

    Example:
        >>> with one_thread_if_small(400.0):
        ...     torch.get_num_threads()
        1
    """
    before = torch.get_num_threads()
    if before == 1 or work > SMALL_PRODUCT:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---- random streams: every draw is a function of a seed and a place; no state is stored ----


def _words(seed: int, place: tuple[str | int, ...]) -> list[int]:
    return [seed, *(zlib.crc32(p.encode()) if isinstance(p, str) else p for p in place)]


def numpy_stream(seed: int, *place: str | int) -> np.random.Generator:
    """A Philox stream for (seed, place): the same numbers on every machine.

    Arguments:
        seed: seed of the run.
        place: words and numbers that name the draw, such as ``"start", 3``.

    Example:
        >>> float(numpy_stream(7, "demo", 0).random()) == float(numpy_stream(7, "demo", 0).random())
        True
    """
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(_words(seed, place))))


def torch_seed(seed: int, *place: str | int) -> int:
    """A 63-bit seed for (seed, place)."""
    state = np.random.SeedSequence(_words(seed, place)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def torch_stream(seed: int, *place: str | int) -> torch.Generator:
    """A torch generator on the CPU for (seed, place); draws are moved to the device afterwards."""
    return torch.Generator().manual_seed(torch_seed(seed, *place))


# ---- rows in chunks ----


def row_chunks(n: int, width: int, entries: int = CHUNK_ENTRIES) -> Iterator[slice]:
    """Slices over ``n`` rows of ``width`` entries, each of at most ``entries`` or one row."""
    rows = max(1, entries // max(1, width))
    for begin in range(0, n, rows):
        yield slice(begin, min(begin + rows, n))


def chunk_edges(n: int) -> list[int]:
    """Boundaries of the fixed row chunks, the same for every number of processes.

    Example:
        >>> chunk_edges(130)[:4], len(chunk_edges(130))
        ([0, 2, 4, 6], 65)
    """
    return [n * c // CHUNKS for c in range(CHUNKS + 1)]


# ---- sums and products in float64 ----


def inner64(X: Tensor, Y: Tensor) -> float:  # (n, c), (n, c)
    """⟨X, Y⟩ in float64, summed over row chunks; one number is copied to the host."""
    return float(inner64_on_device(X, Y))


def inner64_on_device(X: Tensor, Y: Tensor) -> Tensor:  # (n, c), (n, c) -> ()
    """⟨X, Y⟩ in float64, summed over row chunks, on the device of X."""
    total = torch.zeros((), dtype=torch.float64, device=X.device)
    for part in row_chunks(len(X), X.shape[1], WIDE_ENTRIES):
        total += (X[part].to(torch.float64) * Y[part]).sum()
    return total


def gram64(X: Tensor, entries: int = WIDE_ENTRIES) -> Tensor:  # (n, c) -> (c, c)
    """``XᵀX`` in float64, summed over row chunks."""
    total = torch.zeros(X.shape[1], X.shape[1], dtype=torch.float64, device=X.device)
    for part in row_chunks(len(X), X.shape[1], entries):
        rows = X[part].to(torch.float64)
        total.addmm_(rows.T, rows)
    return total


def cross64(X: Tensor, Y: Tensor) -> Tensor:  # (n, c), (n, d) -> (c, d)
    """``XᵀY`` in float64, summed over row chunks."""
    total = torch.zeros(X.shape[1], Y.shape[1], dtype=torch.float64, device=X.device)
    for part in row_chunks(len(X), X.shape[1], WIDE_ENTRIES):
        total.addmm_(X[part].to(torch.float64).T, Y[part].to(torch.float64))
    return total


def product64(X: Tensor, Y: Tensor) -> Tensor:  # (a, T), (b, T) -> (a, b)
    """``X Yᵀ``: partial products in the precision of X, summed in float64."""
    if X.shape[1] <= DEPTH:  # one part
        return (X @ Y.T).to(torch.float64)
    total = torch.zeros(len(X), len(Y), dtype=torch.float64, device=X.device)
    for begin in range(0, X.shape[1], DEPTH):
        part = slice(begin, begin + DEPTH)
        total += X[:, part] @ Y[:, part].T
    return total


def symmetric_eigen(A: Tensor) -> tuple[Tensor, Tensor]:  # (n, n) -> (n,), (n, n)
    """Eigenvalues in ascending order and eigenvectors of a symmetric matrix in float64.

    The divide-and-conquer routine of LAPACK sometimes gives up on matrices of low rank with many
    equal rows; QR iteration, which is slower, does not.

    Arguments:
        A: symmetric matrix; its lower triangle is read.

    Raises:
        torch.linalg.LinAlgError: A has entries that are not finite.

    Example:
        >>> symmetric_eigen(torch.diag(torch.tensor([2.0, 1.0], dtype=torch.float64)))[0]
        tensor([1., 2.], dtype=torch.float64)
    """
    try:
        values, vectors = torch.linalg.eigh(A)
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        if not bool(torch.isfinite(A).all()):
            raise
        from scipy.linalg import eigh

        found = eigh(A.cpu().numpy(), driver="ev")
        values, vectors = (torch.from_numpy(part).to(A.device) for part in found)
    return values, vectors


def average_ranks(X: np.ndarray) -> np.ndarray:  # (T, n)
    """Ranks of each column from 1, with average ranks for ties; missing numbers stay missing.

    Example:
        >>> average_ranks(np.array([[3.0], [1.0], [3.0], [np.nan]])).ravel()
        array([2.5, 1. , 2.5, nan])
    """
    rows = np.ascontiguousarray(np.asarray(X, dtype=np.float64).T)  # (n, T)
    n, T = rows.shape
    order = rows.argsort(axis=1)
    order += np.arange(n)[:, None] * T  # places in the flattened table
    ranks = np.empty(n * T)
    ranks[order] = _shared_ranks(rows.ravel()[order])
    ranks = ranks.reshape(n, T)
    ranks[np.isnan(rows)] = np.nan
    return ranks.T


def _shared_ranks(ordered: np.ndarray) -> np.ndarray:  # (n, T)
    """Ranks of the numbers of rows in ascending order, with the average for equal ones."""
    n, T = ordered.shape
    ranks = np.tile(np.arange(1.0, T + 1), (n, 1))
    repeats = np.zeros((n, T), dtype=bool)  # equal to the number before it
    repeats[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    more = np.zeros((n, T), dtype=bool)  # equal to the number after it
    more[:, :-1] = repeats[:, 1:]
    first, last = np.flatnonzero(more & ~repeats), np.flatnonzero(repeats & ~more)
    counts = last - first + 1
    ends = np.cumsum(counts)
    places = np.repeat(first - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
    ranks.ravel()[places] = np.repeat(first % max(T, 1) + (counts + 1) / 2, counts)
    return ranks
