"""What all processes must hold alike, and actions that succeed in all of them or in none."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from torch import Tensor

from symnmf.errors import InvalidFile, SymnmfError
from symnmf.numerics import chunk_edges, row_chunks

T = TypeVar("T")

#: Bytes of a tensor that are copied at a time for its checksum.
DIGEST_BYTES = 1 << 24


class Gathering(Protocol):
    """A process group, as far as texts are gathered from it."""

    process_index: int
    process_count: int

    def texts(self, text: str) -> list[str]:
        """The texts of all processes."""

    def name(self, process_index: int) -> str:
        """A process in words, with its host."""


def digest_of(*values: Any) -> str:
    """SHA-256 of tensors (by their bytes) and of other values (by their JSON text).

    Example:
        >>> import torch
        >>> digest_of(torch.ones(2), "a") == digest_of(torch.ones(2), "a")
        True
        >>> digest_of(torch.ones(2)) == digest_of(torch.ones(2).double())
        False
    """
    digest = hashlib.sha256()
    for value in values:
        if isinstance(value, Tensor):
            digest.update(f"{value.dtype} {tuple(value.shape)}".encode())
            flat = value.detach().reshape(-1)
            for part in row_chunks(len(flat), value.element_size(), DIGEST_BYTES):
                digest.update(flat[part].cpu().numpy().data)
        else:
            digest.update(json.dumps(value, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def row_digests(array: Tensor) -> dict[str, str]:  # (n, m)
    """Checksum of each fixed row chunk, by a name of the rows."""
    edges = chunk_edges(len(array))
    return {
        rows_name(begin, stop): digest_of(array[begin:stop])
        for begin, stop in pairwise(edges)
        if begin < stop
    }


def rows_name(begin: int, stop: int) -> str:
    """Some rows in words.

    Example:
        >>> rows_name(0, 3), rows_name(3, 4)
        ('rows 0 to 2', 'row 3')
    """
    return f"row {begin}" if stop == begin + 1 else f"rows {begin} to {stop - 1}"


def require_same(group: Gathering | None, what: str, marks: Mapping[str, str], remedy: str) -> None:
    """Raise an error, in every process, unless all processes hold the same marks; collective.

    Arguments:
        group: the processes; None for a single one.
        what: what is compared, for the message.
        marks: checksums or words of this process, by the part of the whole that they stand for.
        remedy: instruction for the case that they differ.

    Raises:
        InvalidFile: a process holds other marks than most, and all processes name it.
    """
    if group is None or group.process_count == 1:
        return
    whole = group.texts(digest_of(dict(marks)))
    if len(set(whole)) == 1:
        return
    every = [json.loads(text) for text in group.texts(json.dumps(dict(marks)))]
    usual = _usual(whole)
    model = every[whole.index(usual)]
    odd = [p for p, mark in enumerate(whole) if mark != usual]
    parts = {part: None for p in odd for part in (*model, *every[p])}
    differ = [part for part in parts if any(every[p].get(part) != model.get(part) for p in odd)]
    named = differ[0] if len(differ) == 1 else f"{differ[0]} and {len(differ) - 1} other parts"
    others = ", ".join(group.name(p) for p in odd)
    raise InvalidFile(
        what,
        f"{others} {'holds' if len(odd) == 1 else 'hold'} another copy than "
        f"{group.name(whole.index(usual))}: {named} "
        f"{'differs' if len(differ) == 1 else 'differ'}{_values(model, every[odd[0]], differ[0])}",
        remedy,
    )


def _usual(marks: list[str]) -> str:
    """The mark of most processes; of several, the one that comes first."""
    counts = Counter(marks)
    most = max(counts.values())
    return next(mark for mark in marks if counts[mark] == most)


def _values(model: Mapping[str, str], other: Mapping[str, str], part: str) -> str:
    """The two values in brackets, where a person can read them."""
    pair = [str(marks.get(part, "none")) for marks in (other, model)]
    return "" if max(map(len, pair)) >= 64 else f" ({pair[0]}, {pair[1]})"


def all_or_none(group: Gathering | None, act: Callable[[], T]) -> T:
    """Run an action in every process; if it fails in one, all of them raise an error; collective.

    The action must not be collective.

    Arguments:
        group: the processes; None for a single one.
        act: the action.

    Returns:
        What the action returned in this process.

    Raises:
        InvalidFile: the action failed in another process.
    """
    failure: Exception | None = None
    made: list[T] = []
    try:
        made.append(act())
    except (SymnmfError, OSError) as error:
        failure = error
    if group is not None and group.process_count > 1:
        words = group.texts("" if failure is None else f"{failure}"[:400] or "unknown")
        if failure is None and any(words):
            failed = [p for p, text in enumerate(words) if text]
            reason = words[failed[0]].rstrip(".")
            raise InvalidFile(group.name(failed[0]), reason, "All processes ended")
    if failure is not None:
        raise failure
    return made[0]
