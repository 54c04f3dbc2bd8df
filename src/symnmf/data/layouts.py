"""From cells to a table of numbers: dates, long and wide tables, instruments in rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from symnmf.data.date_text import ReadDates, read_dates, shift_eastern, way_of
from symnmf.data.fields import check_one_instrument, take_field
from symnmf.data.header_rows import LISTED, RawTable
from symnmf.data.long_tables import long_table
from symnmf.data.number_text import NumberStyle, find_style, is_missing, read_numbers
from symnmf.data.numeric_dates import DATE_NAMES, from_parts, numeric_dates
from symnmf.data.table_model import Reading, Table, day
from symnmf.errors import InvalidTable, offered, spelled

#: Cells from which the decimal mark is found, and by which a column is recognized as dates.
STYLE_CELLS, TRIED_CELLS = 20_000, 30


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
    take_field(raw)
    style = _style(raw, reading)
    if _names_are_dates(raw):
        raw = _transposed(raw)
    dates = _take_dates(raw, reading)
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
    _select(raw, [j for j, name in enumerate(raw.names) if name.strip() not in drop])
    raw.notes.append(f"columns left out as asked: {', '.join(drop)}")


def _select(raw: RawTable, stay: list[int]) -> None:
    raw.frame = raw.frame.iloc[:, stay]
    raw.frame.columns = range(len(stay))
    raw.names = [raw.names[j] for j in stay]
    raw.levels = [
        [(level + [""] * len(raw.names))[j] for j in stay]
        if len(level) <= max(stay, default=0)
        else [level[j] for j in stay]
        for level in raw.levels
    ]


def _unnamed(name: str) -> bool:
    return not name.strip() or bool(re.fullmatch(r"Unnamed: ?\d+(_level_\d)?", name.strip()))


def _drop_empty(raw: RawTable) -> None:
    """Leave out columns without a name and without a number."""
    unnamed = [j for j, name in enumerate(raw.names) if _unnamed(name)]
    empty = [j for j in unnamed if _all_missing(raw.frame.iloc[:, j])]
    if empty:
        _select(raw, [j for j in range(len(raw.names)) if j not in set(empty)])


def _all_missing(column: pd.Series) -> bool:
    if column.isna().all():
        return True
    return not _is_number_type(column) and all(is_missing(cell) for cell in column)


def _is_number_type(column: Any) -> bool:
    """Whether a column or its type holds real numbers."""
    kind = pd.api.types
    other = kind.is_bool_dtype(column) or kind.is_complex_dtype(column)
    return bool(kind.is_numeric_dtype(column) and not other)


def _style(raw: RawTable, reading: Reading) -> NumberStyle:
    """The decimal mark, found from cells that are not dates."""
    cells: list[str] = []
    for j, dtype in enumerate(raw.frame.dtypes):
        if _is_number_type(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
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


def _transposed(raw: RawTable) -> RawTable:
    """Instruments in rows become columns; columns without a date, such as currencies, go."""
    stay = [j for j, name in enumerate(raw.names) if j and way_of(name) is not None]
    gone = [raw.names[j] for j in range(1, len(raw.names)) if j not in set(stay)]
    turned = raw.frame.iloc[:, stay].astype(object).T.reset_index(drop=True)
    turned.insert(0, "dates", [raw.names[j] for j in stay])
    names = [str(c).strip() for c in raw.frame.iloc[:, 0]]
    turned.columns = range(turned.shape[1])
    notes = [*raw.notes, f"instruments in rows: {len(names)} of them, turned into columns"]
    if gone:
        notes.append(f"columns without a date left out: {', '.join(gone[:LISTED])}")
    return RawTable(["date", *names], turned, notes=notes, unit="column", argument=raw.argument)


def _take_dates(raw: RawTable, reading: Reading) -> np.ndarray | None:
    """The dates of the rows; their columns are taken out of the table."""
    found: list[tuple[int, np.ndarray]] = []
    gone: list[int] = []
    wanted = None if reading.columns is None else reading.columns[0]
    if wanted is None and (parts := _separate_parts(raw)) is not None:
        raw.notes.append("dates read from separate columns of year, month and day")
        columns, stamps = parts
        _select(raw, [j for j in range(len(raw.names)) if j not in columns])
        return stamps
    dtypes, last = list(raw.frame.dtypes), len(raw.frame) - 1
    begins, ends = (raw.frame.iloc[i].to_numpy(dtype=object) for i in (0, last))
    for j, name in enumerate(raw.names):
        if wanted is not None and name.strip() != wanted:
            continue
        if j and _is_number_type(dtypes[j]) and not DATE_NAMES.fullmatch(name.strip()):
            if begins[j] not in (0, 1, 2) or ends[j] != begins[j] + last:
                continue  # it does not count the rows
        column = raw.frame.iloc[:, j]
        stamps, counts = _dates_of(raw, j, column, name, reading)
        if stamps is not None:
            found.append((j, stamps))
        elif counts:
            gone.append(j)
    if len(found) > 1:
        _check_date_each(raw, [j for j, _ in found])
        named = [pair for pair in found if DATE_NAMES.fullmatch(raw.names[pair[0]].strip())]
        chosen = (named or found)[0]
        others = ", ".join(repr(raw.names[j]) for j, _ in found if j != chosen[0])
        raw.notes.append(f"dates taken from {raw.names[chosen[0]]!r}, not from {others}")
        gone += [j for j, _ in found]
        found = [chosen]
    stamps = found[0][1] if found else None
    gone += [j for j, _ in found]
    if stamps is not None:
        stamps = _with_times(raw, stamps, gone)
        stamps, note = shift_eastern(stamps)
        if note:
            raw.notes.append(note)
    if gone:
        _select(raw, [j for j in range(len(raw.names)) if j not in set(gone)])
    return stamps


def _dates_of(
    raw: RawTable, j: int, column: pd.Series, name: str, reading: Reading
) -> tuple[np.ndarray | None, bool]:
    """Dates of a column, or whether it counts the rows."""
    if isinstance(column.dtype, pd.PeriodDtype):
        return np.asarray(column.dt.to_timestamp(how="end").dt.normalize(), "datetime64[ns]"), False
    if pd.api.types.is_datetime64_any_dtype(column):
        if column.isna().any():
            _no_date(raw, int(np.flatnonzero(column.isna())[0]))
        return _local(raw, column), False
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_complex_dtype(column):
        return None, False
    if not _is_number_type(column):
        some = [c for c in column.iloc[: 4 * TRIED_CELLS] if not is_missing(c)][:TRIED_CELLS]
        hits = sum(not isinstance(c, str) or way_of(c) is not None for c in some)
        texts = all(isinstance(c, str) or hasattr(c, "year") for c in some)
        if some and texts and hits >= 0.8 * len(some):
            found = read_dates(column, reading.dates)
            if found is not None and not (found.bad and way_of(str(some[0])) == "eight"):
                return _checked(raw, found, column), False
        if j > 0 and not DATE_NAMES.fullmatch(name.strip()) and raw.frame.shape[1] > 16:
            return None, False
        read = read_numbers(column, NumberStyle())
        if len(read.bad):
            return None, False
        values = read.values
    else:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    counted = numeric_dates(values, name, j == 0)
    if counted is None:
        return None, False
    if counted.doubt:
        raise InvalidTable(
            raw.argument,
            counted.doubt,
            f"Write dates as 2024-12-31, or leave the column out{_drop_words(name)}",
        )
    raw.notes.append(counted.note)
    return counted.stamps, counted.stamps is None


def _drop_words(name: str) -> str:
    return f": {spelled('drop', name)}" if offered("drop") else ""


def _local(raw: RawTable, column: pd.Series) -> np.ndarray:
    """Stamps as the local clock shows them."""
    if column.dt.tz is not None:
        if str(column.dt.tz) not in ("UTC", "utc", "Etc/UTC"):
            raw.notes.append(f"dates taken as the clock of {column.dt.tz} shows them")
        column = column.dt.tz_localize(None)
    return np.asarray(column.to_numpy(), dtype="datetime64[ns]")


def _checked(raw: RawTable, found: ReadDates, column: pd.Series) -> np.ndarray:
    """Dates without gaps and without doubt."""
    if found.doubt is not None:
        i = next(
            i
            for i, c in enumerate(column)
            if isinstance(c, str) and c.strip().startswith(found.doubt)
        )
        raise InvalidTable(
            raw.argument,
            f"{raw.place(i)} has the date {found.doubt!r}, which may be month first or day first",
            f"Write dates as 2024-12-31, or pass {spelled('dates', 'day-first')} or "
            f"{spelled('dates', 'month-first')}",
        )
    if found.bad:
        cells = [f"{str(column.iloc[i])[:40]!r} ({raw.place(i)})" for i in found.bad[:LISTED]]
        more = f" and {len(found.bad) - LISTED} more" if len(found.bad) > LISTED else ""
        good = next(c for i, c in enumerate(column) if i not in found.bad and not is_missing(c))
        raise InvalidTable(
            raw.argument,
            f"{len(found.bad)} cells are no dates as {str(good)[:40]!r} is: {', '.join(cells)}{more}",
            "Write all dates in one way, as 2024-12-31",
        )
    empty = np.flatnonzero(np.isnat(found.stamps))
    if len(empty):
        _no_date(raw, int(empty[0]))
    raw.notes += found.notes
    return found.stamps


def _no_date(raw: RawTable, i: int) -> None:
    raise InvalidTable(raw.argument, f"{raw.place(i)} has no date", "Give every row its date")


def _separate_parts(raw: RawTable) -> tuple[list[int], np.ndarray] | None:
    """Columns of year, month and (maybe) day, and the dates they make."""
    names = [name.strip().lower() for name in raw.names]
    places = [
        next((names.index(w) for w in words if w in names), None)
        for words in (
            ("year", "yr", "yyyy", "jahr"),
            ("month", "mon", "mm", "monat"),
            ("day", "dd", "tag", "dom"),
        )
    ]
    if places[0] is None or places[1] is None:
        return None
    columns = [j for j in places if j is not None]
    values = [read_numbers(raw.frame.iloc[:, j], NumberStyle()).values for j in columns]
    stamps = from_parts(values[0], values[1], values[2] if len(values) > 2 else None)
    return None if stamps is None else (columns, stamps)


def _check_date_each(raw: RawTable, columns: list[int]) -> None:
    """Raise an error for a table with a column of dates for each instrument."""
    if len(columns) >= 2 and len(columns) * 2 == len(raw.names) and np.all(np.diff(columns) == 2):
        raise InvalidTable(
            raw.argument,
            f"has {len(columns)} columns of dates, one for each instrument",
            "Bring the instruments to common dates: one column of dates, then one for each of them",
        )


def _with_times(raw: RawTable, stamps: np.ndarray, gone: list[int]) -> np.ndarray:
    """Dates with the times of day of another column."""
    for j, name in enumerate(raw.names):
        if j in gone or not re.fullmatch(r"time|hour|zeit|hora|heure", name.strip(), re.IGNORECASE):
            continue
        cells = [str(c) for c in raw.frame.iloc[:, j]]
        if not all(re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", c.strip()) for c in cells):
            continue
        padded = [c if c.count(":") == 2 else f"{c}:00" for c in cells]
        stamps = stamps + pd.to_timedelta(padded).to_numpy()
        gone.append(j)
        raw.notes.append(f"times of day taken from column {name!r}")
    return stamps


def _wide(raw: RawTable, dates: np.ndarray | None, style: NumberStyle) -> Table:
    names = [name.strip() for name in raw.names]
    check_one_instrument(raw, names)
    if not names:
        raise InvalidTable(
            raw.argument,
            "has no column of numbers",
            "Pass a table with a column for each instrument",
        )
    if dates is None:
        _check_first(raw)
    values, numeric = _numbers(raw, style)
    text = [names[j] for j in range(len(names)) if not numeric[j]]
    if text:
        raw.notes.append(f"columns of text left out: {', '.join(text[:LISTED])}")
        names = [name for name, number in zip(names, numeric, strict=True) if number]
        values = values[:, numeric]
    where = "without dates, rows in order of time" if dates is None else "a row for each date"
    note = f"read as a wide table, {where}: {len(values)} rows, {len(names)} columns"
    work = Table(names, values, dates, "wide", numbers=raw.numbers, unit=raw.unit)
    work.steps = [note, *raw.notes]
    return work


def _check_first(raw: RawTable) -> None:
    """Raise an error if the first column holds neither dates nor numbers."""
    column = raw.frame.iloc[:, 0]
    if (
        _is_number_type(column)
        or pd.api.types.is_bool_dtype(column)
        or pd.api.types.is_complex_dtype(column)
    ):
        return
    read = read_numbers(column, NumberStyle())
    if len(read.bad) < 0.5 * len(column) or len(read.bad) == 0:
        return
    cells = [str(c).strip() for c in column]
    if set(cells) == {n.strip() for n in raw.names[1:]} and len(cells) == len(raw.names) - 1:
        other = (
            "the option --matrix"
            if not offered("kind") or spelled("kind", "x").startswith("--")
            else "kind='matrix'"
        )
        raise IsMatrix(
            raw.argument,
            "has the same names in rows and columns: it is a matrix",
            f"Pass it with {other}",
        )
    bad = column.iloc[int(read.bad[0])]
    raise InvalidTable(
        raw.argument,
        f"the first column {raw.names[0]!r} holds neither dates nor numbers ({str(bad)[:40]!r})",
        "Write dates as 2024-12-31, or leave the column out",
    )


def _numbers(raw: RawTable, style: NumberStyle) -> tuple[np.ndarray, np.ndarray]:
    """Every cell as float64, and which columns hold numbers; errors name the first bad cells."""
    frame = raw.frame
    numeric = np.ones(frame.shape[1], dtype=bool)
    if all(kind == np.float64 for kind in frame.dtypes):
        return frame.to_numpy(dtype=np.float64, copy=True), numeric
    out = np.empty(frame.shape)
    bad: list[tuple[int, int]] = []
    percent: list[str] = []
    marked = 0
    for j in range(frame.shape[1]):
        column, name = frame.iloc[:, j], raw.names[j].strip()
        if pd.api.types.is_complex_dtype(column) or pd.api.types.is_bool_dtype(column):
            raise InvalidTable(
                raw.argument, f"column {name!r} is {column.dtype}", "Pass real numbers"
            )
        if _is_number_type(column):
            out[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            continue
        read = read_numbers(column, style)
        out[:, j] = read.values
        filled = len(column) - int(np.isnan(read.values).sum()) + len(read.bad)
        if (
            len(read.bad)
            and len(read.bad) >= filled
            and not _has_digits(column, read.bad)
            and frame.shape[1] > 2
            and isinstance(column.iloc[int(read.bad[0])], str)
        ):
            numeric[j] = False
            continue
        bad += [(int(i), j) for i in read.bad]
        if len(read.percent):
            _check_percent(raw, name, read.values, read.percent)
            percent.append(name)
        marked += read.marked
    if bad:
        _bad_cells(raw, sorted(bad))
    if percent:
        raw.notes.append(f"percentages divided by 100 in {len(percent)} columns")
    if marked:
        raw.notes.append(f"thousands marks or currency signs removed in {marked} columns")
    return out, numeric


def _has_digits(column: pd.Series, rows: np.ndarray) -> bool:
    return any(any(c.isdigit() for c in str(column.iloc[int(i)])) for i in rows[:50])


def _check_percent(raw: RawTable, name: str, values: np.ndarray, percent: np.ndarray) -> None:
    """Raise an error if some numbers of a column have a percent sign and others do not."""
    others = np.ones(len(values), dtype=bool)
    others[percent] = False
    others &= ~np.isnan(values) & (values != 0)
    if others.any():
        few = percent if len(percent) < others.sum() else np.flatnonzero(others)
        raise InvalidTable(
            raw.argument,
            f"column {name!r} has {len(percent)} numbers with a percent sign and "
            f"{int(others.sum())} without; {raw.place(int(few[0]))} is the first of the fewer",
            "Write all of them in one way",
        )


def _bad_cells(raw: RawTable, bad: list[tuple[int, int]]) -> None:
    """Raise the error for cells that are not numbers, with a guess at the cause."""

    def words(i: int, j: int) -> str:
        return (
            f"{raw.place(i)}, column {raw.names[j].strip()!r} is {str(raw.frame.iloc[i, j])[:40]!r}"
        )

    listed = "; ".join(words(i, j) for i, j in bad[:LISTED])
    more = f" and {len(bad) - LISTED} more cells" if len(bad) > LISTED else ""
    cells = {str(raw.frame.iloc[i, j]) for i, j in bad[:200]}
    remedy = "Leave the column out, or correct the cell"
    if any(";" in c for c in cells):
        remedy = "Is the file separated by ';'? Save it with one kind of separator"
    elif any(re.fullmatch(r"[-+]?\d+,\d+", c) for c in cells):
        remedy = f"Are these decimal commas? Pass {spelled('decimal', ',')}"
    elif any(re.fullmatch(r"[-+]?[\d.,]+\s?(k|m|b|mn|bn|bps?|x)", c, re.IGNORECASE) for c in cells):
        remedy = "Write the numbers without units"
    elif any(way_of(c) for c in cells):
        remedy = "Did a spreadsheet turn numbers into dates? Correct the cells"
    columns = {j for _, j in bad}
    if len(columns) == 1 and offered("drop"):
        remedy += (
            f" ({spelled('drop', raw.names[next(iter(columns))].strip())})"
            if remedy.startswith("Leave")
            else ""
        )
    raise InvalidTable(raw.argument, f"{listed}, not a number{more}", remedy)


def from_frame(frame: Any) -> RawTable:
    """The cells of a pandas table; its index becomes the first column unless it counts the rows.

    Raises:
        InvalidTable: the table is empty.
    """
    if frame.empty:
        raise InvalidTable(
            "table", f"has shape {frame.shape}", "Pass a table with rows and columns"
        )
    index, columns = frame.index, frame.columns
    levels: list[list[str]] = []
    if columns.nlevels > 1:
        levels = [[str(v) for v in columns.get_level_values(i)] for i in range(columns.nlevels)]
        distinct = max(levels, key=lambda level: len(set(level)))
        names = list(distinct)
    else:
        names = [_column_name(c) for c in columns]
    body = frame.reset_index(drop=True)
    body.columns = range(len(names))
    for level in reversed(range(index.nlevels)):
        values, name = index.get_level_values(level), index.names[level]
        if _counts(values, str(name or "")):
            continue
        body.insert(0, f"index {level}", values.to_series().reset_index(drop=True))
        names.insert(0, str(name or "date"))
        levels = [["", *row] for row in levels]
    body.columns = range(len(names))
    if levels and levels[0][0] != "":  # no index: the dates are in the first column
        levels = levels if any(c == "" for level in levels for c in level) else levels
    return RawTable(names, body, levels)


def _column_name(column: Any) -> str:
    return "" if column is None or (isinstance(column, float) and column != column) else str(column)


def _counts(values: Any, name: str) -> bool:
    """Whether an index holds row numbers and no dates."""
    if isinstance(values, pd.RangeIndex):
        return True
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    found = numeric_dates(np.asarray(values, dtype=np.float64), name or "index", True)
    return found is None or found.stamps is None


__all__ = ["day", "from_frame", "understand"]
