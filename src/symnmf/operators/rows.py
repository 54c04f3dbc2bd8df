"""An n×m array by rows: in memory, mapped from a file, or distributed over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from symnmf.distributed.agreement import all_or_none, digest_of, require_same
from symnmf.distributed.process_group import ProcessGroup
from symnmf.numerics import chunk_edges, row_chunks
from symnmf.operators.base import SymmetricOperator
from symnmf.provenance import Provenance
from symnmf.storage.mapped import MappedFile

#: Bytes of a tile of a mapped file; two tiles are in use at a time.
TILE_BYTES = 64 << 20
#: What to do where processes hold different copies of a matrix.
SAME_COPY = "Give every host the same file, such as one on a shared disk"
#: Function of some rows and their slice: returns a value per row, or a sum over the rows.
Part = Callable[[Tensor, slice], Tensor]


#: Function of the rows of this process, places in them, and their places in the request.
PartAt = Callable[[Tensor, Tensor, Tensor], Tensor]


class Rows:
    """Rows of an array, processed in pieces; the only class that knows where they are stored.

    An array in memory is one piece, and a product with it is a single call. A mapped file is
    processed in tiles, and the next tile is requested while one is multiplied. Of a distributed
    array each process works on its share of 64 fixed chunks, and results are combined so that they
    are the same, bit for bit, for every number of processes.

    Arguments:
        data: (rows of this process, m) tensor; may be a memory map.
        pieces: slices of the n rows to process at a time; by default all rows at once.
        device: device of the computation; by default that of ``data``.
        ahead: function called with the next rows of ``data`` before a piece is processed.
        process_group: processes that hold the other rows.
        n: total number of rows, with a process group.

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
        process_group: ProcessGroup | None = None,
        n: int | None = None,
    ):
        self.data, self.process_group, self._ahead = data, process_group, ahead
        self.n, self.m = len(data) if n is None else n, data.shape[1]
        self.dtype, self.device = data.dtype, device or data.device
        self.pieces = [slice(0, self.n)] if pieces is None else list(pieces)
        self.begin = self.pieces[0].start if process_group is not None else 0
        self.source: MappedFile | None = None

    @classmethod
    def shared_out(
        cls,
        data: Tensor,
        n: int,
        process_group: ProcessGroup,
        device: torch.device | None = None,
        ahead: Callable[[slice], None] | None = None,
    ) -> Rows:
        """The share of one process; ``data`` holds the rows of its chunks, out of n rows."""
        edges = chunk_edges(n)
        pieces = [slice(edges[c], edges[c + 1]) for c in process_group.share()]
        return cls(data, pieces, device, ahead, process_group, n)

    def mapped_on(self, device: torch.device, resident: bool) -> Rows:
        """Rows of a mapped file for products on another device.

        Arguments:
            device: where the products are computed.
            resident: whether the rows are copied to the device once; otherwise every product
                moves them tile by tile.
        """
        data = self.data.to(device) if resident else self.data
        tiles = list(row_chunks(self.n, self.m * data.element_size(), TILE_BYTES))
        ahead = None if resident else self._ahead
        rows = Rows(data, tiles if len(self.pieces) == 1 else self.pieces, device, ahead)
        rows.source = self.source
        return rows

    @property
    def in_memory(self) -> bool:
        """Whether one process holds all rows in memory, on the device of the computation."""
        return self.process_group is None and len(self.pieces) == 1 and self.source is None

    @property
    def whole(self) -> Tensor:
        """The array, if one process holds all of its rows."""
        assert self.process_group is None, "the rows are distributed"
        return self.data

    def each(self, part: Part) -> Tensor:  # (n, …)
        """A value for each row."""
        if self.process_group is None and len(self.pieces) == 1:
            if self.source is not None:
                self.source.check_size()
            return part(self._moved(self.data), self.pieces[0])
        out: Tensor | None = None
        for rows, piece in self._walk():
            value = part(piece, rows)
            if out is None:
                out = value.new_empty(len(self.data), *value.shape[1:])
            out[self._local(rows)] = value
        assert out is not None
        if self.process_group is None:
            return out
        edges = chunk_edges(self.n)
        sizes = [edges[share.stop] - edges[share.start] for share in self.process_group.shares()]
        return self.process_group.gather(out, sizes)

    def total(self, part: Part) -> Tensor:
        """A sum over the rows, in the order of the pieces or by a fixed tree over the chunks."""
        if self.process_group is not None:
            walk = self._walk()

            def leaf(chunk: int) -> Tensor:
                rows, piece = next(walk)
                return part(piece, rows)

            return self.process_group.tree(leaf)
        total: Tensor | None = None
        for rows, piece in self._walk():
            value = part(piece, rows)
            total = value if total is None else total.add_(value)
        assert total is not None
        return total

    def at(self, i: Tensor, part: PartAt, by_chunk: bool = False) -> Tensor:  # (|i|, …)
        """A value for each of the rows ``i``.

        Arguments:
            i: indices of rows, in any order.
            part: function of the data of this process, places in it, and their places in ``i``.
            by_chunk: whether to process the rows of each chunk together, so that a product does
                not depend on the distribution of the chunks.
        """
        if self.source is not None:
            self.source.check_size()
        if self.process_group is None:
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
        return self.process_group.disjoint(out)

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
        """The pieces in order; the next piece is requested before one is returned."""
        for m, rows in enumerate(self.pieces):
            if self.source is not None:
                self.source.check_size()
            if self._ahead is not None:
                self._ahead(self._local(self.pieces[(m + 1) % len(self.pieces)]))
            yield rows, self._moved(self.data[self._local(rows)])


class RowOperator(SymmetricOperator):
    """An operator whose rows may be distributed over processes."""

    rows: Rows

    def _take_rows(
        self,
        rows: Rows,
        names: Sequence[str] | None,
        provenance: Provenance | None,
        *replicated: Tensor | float | None,
    ) -> None:
        """Set the attributes; processes that share the rows must agree on everything else."""
        if rows.process_group is not None and rows.process_group.process_count > 1:
            marks = {
                "its kind": type(self).__name__,
                "its shape": f"{rows.n} × {rows.m}, {rows.dtype}",
                "the names of its rows": "" if names is None else digest_of(list(names)),
                "its numbers": digest_of(*replicated),
            }
            require_same(rows.process_group, "S", marks, SAME_COPY)
        self.rows, self.names, self.n = rows, names, rows.n
        self.provenance = provenance
        self.dtype, self.device = rows.dtype, rows.device
        self.process_index = 0 if rows.process_group is None else rows.process_group.process_index
        self.process_count = 1 if rows.process_group is None else rows.process_group.process_count

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The values of process 0."""
        return values if self.rows.process_group is None else self.rows.process_group.agree(*values)

    def largest(self, *values: int) -> tuple[int, ...]:
        """The largest value of all processes."""
        group = self.rows.process_group
        return values if group is None else group.largest(*values)

    def same(self, H: Tensor) -> bool:
        """Whether the processes hold the same factor; a mapped file must be unchanged.

        Raises:
            InvalidFile: the file was modified in one of the processes; all of them raise it.
        """
        group, source = self.rows.process_group, self.rows.source
        if source is not None:
            if group is None:
                source.check()
            else:
                all_or_none(group, source.check)
        return group is None or group.same(H)

    def require_same(self, what: str, marks: Mapping[str, str], remedy: str) -> None:
        """Raise InvalidFile in every process that shares the rows unless their marks are equal."""
        require_same(self.rows.process_group, what, marks, remedy)
