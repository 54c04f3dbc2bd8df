"""From cells to a table of numbers: dates, long and wide tables, instruments in rows."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from symnmf.data.cell_numbers import cells_to_numbers
from symnmf.data.date_columns import take_dates
from symnmf.data.date_text import way_of
from symnmf.data.fields import check_one_instrument, drop_descriptions, take_field
from symnmf.data.header_rows import LISTED, RawTable, is_number_type
from symnmf.data.long_tables import long_table
from symnmf.data.number_text import PLAIN, NumberStyle, find_style, is_missing, read_numbers
from symnmf.data.numeric_dates import calendar_names
from symnmf.data.table_model import Reading, Table
from symnmf.data.text_encoding import OTHER_SCRIPT
from symnmf.data.text_lines import is_value
from symnmf.display import counted
from symnmf.errors import InvalidTable, offered, spelled

#: Largest difference of two halves of a matrix, in terms of its largest entry.
SYMMETRIC = 1e-3
#: Names of columns that are computed from the others.
SUMS = re.compile(r"(grand |sub)?total|sum|average|mean|summe|gesamt|moyenne", re.IGNORECASE)
#: Cells from which the decimal mark is found.
STYLE_CELLS = 20_000


class IsMatrix(InvalidTable):
    """A table with the same names in rows and columns."""


def understand(raw: RawTable, reading: Reading) -> Table:
    """The numbers of a table with their names and dates.

    Arguments:
        raw: cells of the table.
        reading: what the caller said about the table.

    Raises:
        InvalidTable: the table has rows, columns or cells that cannot be used.
    """
    _drop_named(raw, reading.drop)
    _drop_empty(raw)
    if reading.columns is None and _names_twice(raw):
        _is_matrix(raw)
    take_field(raw)
    drop_descriptions(raw)
    style = _style(raw, reading)
    if _names_are_dates(raw):
        raw = _transposed(raw)
    dates = take_dates(raw, reading)
    long = long_table(raw, dates, reading, style)
    if long is not None:
        return long
    if reading.columns is not None:
        raise InvalidTable(
            raw.argument,
            "is not a long table: every date occurs once",
            f"Leave out {spelled('columns', ','.join(reading.columns))}",
        )
    return _wide(raw, dates, style)


def _drop_named(raw: RawTable, drop: tuple[str, ...]) -> None:
    if not drop:
        return
    unknown = [name for name in drop if name not in [n.strip() for n in raw.names]]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], raw.names, 1)
        hint = f"Did you mean {near[0]!r}" if near else "Check how the names are written"
        raise InvalidTable("drop", f"the table has no column {unknown[0]!r}", hint)
    raw.select([j for j, name in enumerate(raw.names) if name.strip() not in drop])
    raw.notes.append(f"columns left out as asked: {', '.join(drop)}")


def _unnamed(name: str) -> bool:
    return not name.strip() or bool(re.fullmatch(r"Unnamed: ?\d+(_level_\d)?", name.strip()))


def _drop_empty(raw: RawTable) -> None:
    """Leave out columns without a name and without a number."""
    unnamed = [j for j, name in enumerate(raw.names) if _unnamed(name)]
    empty = [j for j in unnamed if _all_missing(raw.frame.iloc[:, j])]
    if empty:
        raw.select([j for j in range(len(raw.names)) if j not in set(empty)])


def _all_missing(column: pd.Series) -> bool:
    if column.isna().all():
        return True
    return not is_number_type(column) and all(is_missing(cell) for cell in column)


def _style(raw: RawTable, reading: Reading) -> NumberStyle:
    """The decimal mark, found from cells that are not dates."""
    cells: list[str] = []
    for j, dtype in enumerate(raw.frame.dtypes):
        if is_number_type(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
            continue
        column = raw.frame.iloc[:, j]
        some = [
            c for c in [*column[:200], *column[-20:]] if isinstance(c, str) and not is_missing(c)
        ]
        if some and way_of(some[0]) is None:
            cells += some
        if len(cells) > STYLE_CELLS:
            break
    style = find_style(cells, raw.separator, reading.decimal)
    if style.decimal == ",":
        raw.notes.append("decimal commas")
    return style


def _names_are_dates(raw: RawTable) -> bool:
    """Whether the instruments are in rows: dates above the columns, names in the first column."""
    if len(raw.names) > 3 and _calendar_columns(raw):
        return True
    rest = raw.names[1:]
    if len(rest) < 3 or raw.frame.shape[1] < 4:
        return False
    if sum(way_of(name) is not None for name in rest[:LISTED]) == 0:
        return False
    hits = sum(way_of(name) is not None for name in rest)
    if hits < 0.8 * len(rest):
        return False
    first = [c for c in raw.frame.iloc[:20, 0] if not is_missing(c)]
    return bool(first) and all(way_of(str(c)) is None for c in first)


def _calendar_columns(raw: RawTable) -> list[int]:
    """Columns whose names are years or other numbers of a calendar, where the first are text."""
    stay = [j for j, name in enumerate(raw.names) if PLAIN.fullmatch(name.strip())]
    if len(stay) < 3 or stay[0] == 0 or stay != list(range(stay[0], stay[0] + len(stay))):
        return []
    first = [c for c in raw.frame.iloc[:20, 0] if not is_missing(c)]
    if not first or any(not isinstance(c, str) or is_value(c) for c in first):
        return []
    return stay if calendar_names([raw.names[j] for j in stay]) else []


def _transposed(raw: RawTable) -> RawTable:
    """Instruments in rows become columns; columns without a date, such as currencies, go."""
    stay = _calendar_columns(raw)
    stay = stay or [j for j, name in enumerate(raw.names) if j and way_of(name) is not None]
    gone = [raw.names[j] for j in range(1, len(raw.names)) if j not in set(stay)]
    turned = raw.frame.iloc[:, stay].astype(object).T.reset_index(drop=True)
    turned.insert(0, "dates", [raw.names[j] for j in stay])
    names = [str(c).strip() for c in raw.frame.iloc[:, 0]]
    turned.columns = pd.RangeIndex(turned.shape[1])
    notes = [*raw.notes, f"instruments in rows: {len(names)} of them, turned into columns"]
    if gone:
        notes.append(f"columns without a date left out: {', '.join(gone[:LISTED])}")
    return RawTable(["date", *names], turned, notes=notes, unit="column", argument=raw.argument)


def _wide(raw: RawTable, dates: np.ndarray | None, style: NumberStyle) -> Table:
    names = [name.strip() for name in raw.names]
    check_one_instrument(raw, names, _yearly(dates))
    if not names:
        raise InvalidTable(
            raw.argument,
            "has no column of numbers",
            "Pass a table with a column for each instrument",
        )
    if dates is None:
        _check_first(raw)
    values, numeric = cells_to_numbers(raw, style)
    if dates is None and numeric.all() and _is_symmetric(values):
        _is_matrix(raw)
    text = [names[j] for j in range(len(names)) if not numeric[j]]
    if text:
        raw.notes.append(f"columns of text left out: {', '.join(text[:LISTED])}")
        names = [name for name, number in zip(names, numeric, strict=True) if number]
        values = values[:, numeric]
    where = "without dates, rows in order of time" if dates is None else "a row for each date"
    size = f"{counted(len(values), 'row')}, {counted(len(names), 'column')}"
    note = f"read as a wide table, {where}: {size}"
    work = Table(names, values, dates, "wide", numbers=raw.numbers, unit=raw.unit)
    work.steps, work.cautions = [note, *raw.notes], list(raw.cautions)
    sums = [name for name in names if SUMS.fullmatch(name)]
    if sums:
        work.cautions.append(
            f"the column {sums[0]!r} is taken for an instrument; leave it out if it is computed "
            f"from the others: {spelled('drop', sums[0])}"
        )
    return work


def _yearly(dates: np.ndarray | None) -> bool:
    """Whether dates are a year apart."""
    if dates is None or len(dates) < 2:
        return False
    return bool(np.median(np.abs(np.diff(dates)) / np.timedelta64(1, "D")) > 360)


def _check_first(raw: RawTable) -> None:
    """Raise an error if the first column holds neither dates nor numbers."""
    column = raw.frame.iloc[:, 0]
    if (
        is_number_type(column)
        or pd.api.types.is_bool_dtype(column)
        or pd.api.types.is_complex_dtype(column)
    ):
        return
    read = read_numbers(column, NumberStyle())
    if len(read.bad) < 0.5 * len(column) or len(read.bad) == 0:
        return
    rest = [read_numbers(raw.frame.iloc[:, j], NumberStyle()) for j in range(1, len(raw.names))]
    if len(rest) == len(column) and _is_symmetric(np.column_stack([r.values for r in rest])):
        _is_matrix(raw)
    remedy = "Write dates as 2024-12-31, or leave the column out"
    if len(rest) == 2 and len(rest[0].bad) == len(column) and not len(rest[1].bad):
        remedy = "If it lists pairs, write them as a matrix: a row and a column for each name"
    elif len(rest) > len(column) and not any(len(r.bad) for r in rest):
        remedy = "If the instruments are in rows, write a date above each column, or turn the table"
    if OTHER_SCRIPT in raw.cautions:
        remedy = "The encoding of the file is unknown: save it as UTF-8"
    bad = column.iloc[int(read.bad[0])]
    raise InvalidTable(
        raw.argument,
        f"the first column {raw.names[0]!r} holds neither dates nor numbers ({str(bad)[:40]!r})",
        remedy,
    )


def _names_twice(raw: RawTable) -> bool:
    """Whether the first column holds the names of the other columns."""
    if len(raw.frame) != len(raw.names) - 1 or len(raw.frame) < 2:
        return False
    cells = [str(c).strip() for c in raw.frame.iloc[:, 0]]
    return sorted(cells) == sorted(n.strip() for n in raw.names[1:])


def _is_symmetric(values: np.ndarray) -> bool:
    """Whether numbers are a square matrix that equals its transpose, but for rounding."""
    if len(values) < 3 or values.shape[0] != values.shape[1] or not np.isfinite(values).all():
        return False
    return bool(np.abs(values - values.T).max() <= SYMMETRIC * np.abs(values).max() > 0)


def _is_matrix(raw: RawTable) -> None:
    other = (
        "the option --matrix"
        if not offered("kind") or spelled("kind", "x").startswith("--")
        else "kind='matrix'"
    )
    raise IsMatrix(
        raw.argument,
        "is square, with the same names or numbers in rows and columns: it is a matrix",
        f"Pass it with {other}",
    )
