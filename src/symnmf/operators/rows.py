"""An n×m array known by its rows: in memory, mapped from a file, or shared out over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf.errors import InvalidFile
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.group import CHUNKS, Group

#: Given some rows and which rows they are: something for each of them, or a sum over them.
Part = Callable[[Tensor, slice], Tensor]
#: Given the rows of this process and places in them, and which of the wanted ones they are.
PartAt = Callable[[Tensor, Tensor, Tensor], Tensor]


def chunk_edges(n: int) -> list[int]:
    """Where the fixed row chunks begin and end, whatever the number of processes.

    Example:
        >>> chunk_edges(130)[:4], len(chunk_edges(130))
        ([0, 2, 4, 6], 65)
    """
    return [n * c // CHUNKS for c in range(CHUNKS + 1)]


@dataclass(frozen=True)
class Source:
    """A file that is mapped, as it was then.

    One that is replaced by another stays mapped. One that is written over changes under the feet
    of a run; that is seen at its next look.
    """

    path: Path
    seen: tuple[int, int, int]  # which file, bytes, time of the last change

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """The file as it is now."""
        return cls(Path(path), cls._look(Path(path)))

    @staticmethod
    def _look(path: Path) -> tuple[int, int, int]:
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def check(self) -> None:
        """Refuse to go on with a file that was written to."""
        try:
            now = self._look(self.path)
        except OSError:  # removed: what is mapped stays
            return
        if now[0] == self.seen[0] and now != self.seen:
            raise InvalidFile(
                str(self.path),
                "was written to while it was in use",
                "Run again with a file that stays as it is",
            )


class Rows:
    """Rows of an array, worked on piece by piece; the only place that knows where they are.

    Whole in memory there is one piece, and nothing between the caller and the product. A mapped
    file is walked in tiles, and the next tile is asked for while one is multiplied. Shared out
    over processes, each walks its share of 64 fixed chunks, and results are put together so that
    they are the same, bit for bit, for every number of processes.

    Arguments:
        data: (rows of this process, m); may be a map of a file.
        pieces: rows to work on at a time, of all n; by default all at once.
        device: where to compute; where ``data`` is by default.
        ahead: told before a piece is worked on which rows of ``data`` come next.
        group: the processes that have the other rows.
        n: number of all rows, with a group.

    Example:
        >>> rows = Rows(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        >>> rows.each(lambda part, _: part.sum(dim=1))
        tensor([1., 2.])
    """

    def __init__(
        self,
        data: Tensor,
        pieces: Sequence[slice] | None = None,
        device: torch.device | None = None,
        ahead: Callable[[slice], None] | None = None,
        group: Group | None = None,
        n: int | None = None,
    ):
        self.data, self.group, self._ahead = data, group, ahead
        self.n, self.m = len(data) if n is None else n, data.shape[1]
        self.dtype, self.device = data.dtype, device or data.device
        self.pieces = [slice(0, self.n)] if pieces is None else list(pieces)
        self.begin = self.pieces[0].start if group is not None else 0
        self.source: Source | None = None

    @classmethod
    def shared_out(
        cls,
        data: Tensor,
        n: int,
        group: Group,
        device: torch.device | None = None,
        ahead: Callable[[slice], None] | None = None,
    ) -> Rows:
        """The share of one process: ``data`` holds the rows of its chunks, of n."""
        edges = chunk_edges(n)
        pieces = [slice(edges[c], edges[c + 1]) for c in group.share()]
        return cls(data, pieces, device, ahead, group, n)

    @property
    def whole(self) -> Tensor:
        """The array itself, where one process has it."""
        assert self.group is None, "the rows are shared out"
        return self.data

    def each(self, part: Part) -> Tensor:  # (n, …)
        """Something for each row."""
        if self.group is None and len(self.pieces) == 1:
            return part(self._moved(self.data), self.pieces[0])
        out: Tensor | None = None
        for rows, piece in self._walk():
            value = part(piece, rows)
            if out is None:
                out = value.new_empty(len(self.data), *value.shape[1:])
            out[self._local(rows)] = value
        assert out is not None
        if self.group is None:
            return out
        edges = chunk_edges(self.n)
        sizes = [edges[share.stop] - edges[share.start] for share in self.group.shares()]
        return self.group.gather(out, sizes)

    def total(self, part: Part) -> Tensor:
        """A sum over the rows: in order of the pieces, or by a fixed tree over the chunks."""
        if self.group is not None:
            walk = self._walk()

            def leaf(chunk: int) -> Tensor:
                rows, piece = next(walk)
                return part(piece, rows)

            return self.group.tree(leaf)
        total: Tensor | None = None
        for rows, piece in self._walk():
            value = part(piece, rows)
            total = value if total is None else total.add_(value)
        assert total is not None
        return total

    def at(self, i: Tensor, part: PartAt, by_chunk: bool = False) -> Tensor:  # (|i|, …)
        """Something for each of the rows ``i``.

        Arguments:
            i: rows, in any order.
            part: given the data of this process, places in it, and which of ``i`` they are.
            by_chunk: work on the rows of one chunk together: a product then does not depend on
                how the chunks are shared out.
        """
        if self.group is None:
            every = torch.arange(len(i), device=i.device)
            return part(self.data, i.to(self.data.device), every).to(self.device)
        own = ((i >= self.begin) & (i < self.begin + len(self.data))).nonzero()[:, 0]
        lots = [own]
        if by_chunk:
            edges = torch.tensor([rows.stop for rows in self.pieces], device=i.device)
            chunk = torch.searchsorted(edges, i[own], right=True)
            order = torch.argsort(chunk, stable=True)
            counts = torch.bincount(chunk, minlength=len(edges))
            lots = [lot for lot in torch.split(own[order], counts.tolist()) if len(lot)] or [own]
        out: Tensor | None = None
        for lot in lots:
            value = part(self.data, (i[lot] - self.begin).to(self.data.device), lot)
            if out is None:
                out = torch.zeros(len(i), *value.shape[1:], dtype=value.dtype, device=self.device)
            out[lot] = value.to(self.device)
        assert out is not None
        return self.group.disjoint(out)

    def times(self, V: Tensor) -> Tensor:  # (m, c) -> (n, c)
        """The array times V."""
        return self.each(lambda piece, _: piece @ V)

    def transposed_times(self, X: Tensor) -> Tensor:  # (n, c) -> (m, c)
        """The transposed array times X."""
        return self.total(lambda piece, rows: piece.T @ X[rows])

    def take(self, i: Tensor) -> Tensor:  # (|i|, m)
        """The rows ``i``."""
        return self.at(i, lambda data, local, _: data[local])

    def _local(self, rows: slice) -> slice:
        return slice(rows.start - self.begin, rows.stop - self.begin)

    def _moved(self, piece: Tensor) -> Tensor:
        return piece if piece.device == self.device else piece.to(self.device)

    def _walk(self) -> Iterator[tuple[slice, Tensor]]:
        """The pieces in order; the next one is asked for before one is given out."""
        for m, rows in enumerate(self.pieces):
            if self._ahead is not None:
                self._ahead(self._local(self.pieces[(m + 1) % len(self.pieces)]))
            yield rows, self._moved(self.data[self._local(rows)])


class OfRows(SymmetricOperator):
    """An operator made of rows, which may be shared out over processes."""

    rows: Rows

    def _take_rows(self, rows: Rows, names: Sequence[str] | None) -> None:
        self.rows, self.names, self.n = rows, names, rows.n
        self.dtype, self.device = rows.dtype, rows.device
        self.rank = 0 if rows.group is None else rows.group.rank
        self.processes = 1 if rows.group is None else rows.group.size

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """Rank 0's values."""
        return values if self.rows.group is None else self.rows.group.agree(*values)

    def same(self, H: Tensor) -> bool:
        """Whether the processes hold the same factor; a mapped file must be the same as well."""
        if self.rows.source is not None:
            self.rows.source.check()
        return self.rows.group is None or self.rows.group.same(H)
