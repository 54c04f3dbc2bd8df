"""A wide .parquet file of which some columns are read at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from symnmf.data.panel import between, check_numbers, drop_constant, sort_dates, to_returns
from symnmf.data.plausibility import check_kind, drop_sentinels
from symnmf.data.table_model import Table
from symnmf.errors import InvalidTable
from symnmf.storage.untrusted import check_expansion, reading

#: Bytes of a file that are read at a time for its checksum.
BLOCK = 1 << 24


class ColumnTable:
    """The names and dates of a wide .parquet file, whose numbers are read by columns.

    Every column but one of dates holds numbers. Rows are sorted by date and restricted to a span
    as :func:`symnmf.read_panel` does it; nothing else is done to the whole table, so that a process
    needs memory for the columns that it reads.

    Arguments:
        path: path of the file.
        kind: ``"prices"``, ``"returns"`` or ``"values"``.
        returns: returns that are computed from prices, ``"log"`` or ``"simple"``.
        start, end: first and last date.
        drop: names of columns to leave out.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        returns: str = "log",
        start: str | None = None,
        end: str | None = None,
        drop: Sequence[str] = (),
    ):
        import pyarrow.parquet as pq

        self.path, self.kind, self.returns = path, kind, returns
        with reading(path):
            self._file = head = pq.ParquetFile(path)  # opened once: its end describes all columns
            schema = head.schema_arrow
            check_expansion(path, 8.0 * head.metadata.num_rows * max(1, len(schema)))
            days, numbers = _split(schema)
            self.names = tuple(name for name in numbers if name not in set(drop))
            dates = None
            if days:
                column = head.read(columns=days).column(0).to_numpy()
                dates = column.astype("datetime64[ns]")
        rows = head.metadata.num_rows
        if dates is not None and (np.isnat(dates).any() or len(np.unique(dates)) < rows):
            raise InvalidTable(
                str(path),
                "a date is missing or occurs more than once",
                "Keep one row for each date",
            )
        work = Table([], np.empty((rows, 0)), dates, "wide", numbers=np.arange(rows))
        sort_dates(work)
        between(work, start, end)
        assert work.numbers is not None
        self.order, self.days = work.numbers, work.dates
        self.steps = [f"wide table: {rows} rows, {len(self.names)} columns", *work.steps]

    @property
    def dates(self) -> np.ndarray | None:  # (T,)
        """Dates of the observations."""
        lost = 1 if self.kind == "prices" else 0
        return None if self.days is None else self.days[lost:]

    def columns(self, names: Sequence[str]) -> Table:
        """Some columns as returns; constant ones are left out, and noted as dropped.

        Raises:
            InvalidTable: a number is infinite, or the numbers are not of the stated kind.
        """
        with reading(self.path):
            found = self._file.read(columns=list(names))
            values = np.empty((len(self.order), len(names)))
            for j, name in enumerate(names):
                column = found.column(name).to_numpy(zero_copy_only=False)
                values[:, j] = column.astype(np.float64)[self.order]
        work = Table(list(names), values, self.days, "wide")
        check_numbers(work)
        drop_sentinels(work)
        check_kind(work, self.kind)
        if self.kind == "prices" and not np.isnan(work.values).any():
            to_returns(work, self.returns)
        drop_constant(work)
        return work

    def digest(self) -> str:
        """SHA-256 of the file, which is read once, a block at a time."""
        mark = hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(BLOCK):
                mark.update(block)
        return mark.hexdigest()


def columns_of(path: Path) -> int:
    """Number of columns of numbers that can be read one by one; 0 for any other file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return 0
    try:
        days, numbers = _split(pq.ParquetFile(path).schema_arrow)
    except (pa.ArrowInvalid, OSError, ValueError):
        return 0  # the reader of whole tables says what is wrong
    named = len(numbers) == len(set(numbers)) and all(numbers)
    return len(numbers) if named and len(days) <= 1 else 0


def _split(schema: object) -> tuple[list[str], list[str]]:
    """Names of the columns of dates and of numbers; an error for any other column."""
    import pyarrow as pa

    days, numbers = [], []
    for column in schema:  # type: ignore[attr-defined]
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            days.append(column.name)
        elif pa.types.is_floating(column.type):  # whole numbers may be dates
            numbers.append(column.name)
        else:
            raise ValueError(f"column {column.name!r} holds {column.type}")
    return days, numbers
