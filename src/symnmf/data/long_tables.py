"""Long tables: a row for each date and name, maybe with further columns."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from symnmf.data.fields import FIELDS, PREFERRED, VALUE_NAMES, field_name
from symnmf.data.header_rows import LISTED, RawTable
from symnmf.data.number_text import NumberStyle, read_numbers
from symnmf.data.table_model import Reading, Table, day
from symnmf.display import counted
from symnmf.errors import InvalidTable, spelled

#: Names of the columns that hold the names of instruments, in order of preference.
NAME_COLUMNS = [
    "ticker",
    "symbol",
    "sym",
    "instrument",
    "asset",
    "security",
    "ric",
    "isin",
    "cusip",
    "sedol",
    "figi",
    "permno",
    "secid",
    "gvkey",
    "name",
    "names",
    "id",
    "code",
    "stock",
    "fund",
    "series",
    "variable",
    "entity",
    "station",
    "gauge",
    "site",
    "tic",
    "wkn",
    "identifier",
    "key",
    "index",
    *("stations id", "station code", "station number", "stn", "sta", "numer sta", "site code"),
    *("site no", "site id", "station id", "station name", "station no", "gauge id", "gauge no"),
    *("location", "origin", "airport", "dest", "country", "region", "river", "sensor", "city"),
    *("fund name", "security id", "security name", "company", "issuer", "currency pair", "pair"),
]
#: Values that are preferred for returns.
RETURN_NAMES = ("ret", "return", "returns", "log return", "logret", "daily return", "retx")


def long_table(
    raw: RawTable, dates: np.ndarray | None, reading: Reading, style: NumberStyle
) -> Table | None:
    """Read a long table; None for a table with a row for each date.

    Arguments:
        raw: the table without its column of dates.
        dates: dates of the rows.
        reading: what the caller said about the table.
        style: how its numbers are written.

    Raises:
        InvalidTable: it is not clear which column holds the names or the values, or a name has two
            values on one date.
    """
    if dates is None:
        if reading.columns is not None:
            _missing_column(raw, reading.columns[0])
        return None
    repeated = len(np.unique(dates)) < len(dates)
    if reading.columns is None and not repeated:
        return None
    dates = _one_field(raw, dates)
    roles = _roles(raw, dates, reading, style)
    if roles is None:
        return None
    name_column, value_column = roles
    names = raw.frame.iloc[:, name_column]
    read = read_numbers(raw.frame.iloc[:, value_column], style)
    if len(read.bad):
        _bad_values(raw, value_column, read.bad)
    values = read.values
    labels = _labels(names)
    empty = labels == ""
    if empty.any():
        i = int(np.flatnonzero(empty)[0])
        raise InvalidTable(raw.argument, f"{raw.place(i)} has no name", "Give every row a name")
    work = _unstacked(raw, dates, labels, values)
    others = [raw.names[j] for j in range(len(raw.names)) if j not in roles]
    size = f"{counted(len(values), 'value')} of {counted(len(work.names), 'name')}"
    words = f"read as a long table: {size}"
    work.steps, work.cautions = [words, *raw.notes], list(raw.cautions)
    if others:
        taken = f"{raw.names[value_column]!r} by {raw.names[name_column]!r}"
        work.steps.append(f"values of {taken}; columns left out: {', '.join(others[:LISTED])}")
    return work


def _one_field(raw: RawTable, dates: np.ndarray) -> np.ndarray:
    """Dates of the rows of the best field, where a column names the field of each row."""
    for j in range(len(raw.names)):
        column = raw.frame.iloc[:, j]
        if pd.api.types.is_numeric_dtype(column):
            continue
        words = [field_name(word) for word in pd.unique(_labels(column))]
        if len(words) < 2 or len(words) > 30 or not all(word in FIELDS for word in words):
            continue
        taken = next((word for word in PREFERRED if word in words), None)
        if taken is None:
            continue
        stay = np.array([field_name(word) == taken for word in _labels(column)])
        raw.frame = raw.frame[stay].reset_index(drop=True)
        raw.numbers = None if raw.numbers is None else raw.numbers[stay]
        raw.notes.append(f"of the fields {', '.join(sorted(words))}, {taken!r} was taken")
        return np.asarray(dates[stay])
    return dates


def _labels(names: pd.Series) -> np.ndarray:
    """Names of the rows as text; whole numbers without a decimal point."""
    if pd.api.types.is_float_dtype(names):
        whole = names.to_numpy()
        if np.isfinite(whole).all() and (whole == np.round(whole)).all():
            return np.array([str(int(v)) for v in whole], dtype=object)
    codes, unique = pd.factorize(names.to_numpy(dtype=object), use_na_sentinel=False)
    words = ["" if u is None or u != u else str(u).strip() for u in unique]
    return np.array(words, dtype=object)[codes]


def _missing_column(raw: RawTable, name: str) -> None:
    raise InvalidTable(
        "columns",
        f"the table has no column {name!r} that can be used",
        f"Its columns are {', '.join(raw.names[:20])}",
    )


def _roles(
    raw: RawTable, dates: np.ndarray, reading: Reading, style: NumberStyle
) -> tuple[int, int] | None:
    """Columns of the names and of the values; None if there is no column of names."""
    places = {name.strip(): j for j, name in enumerate(raw.names)}
    if reading.columns is not None:
        for wanted in reading.columns[1:]:
            if wanted not in places:
                _missing_column(raw, wanted)
        return places[reading.columns[1]], places[reading.columns[2]]
    numeric = [_numeric_share(raw.frame.iloc[:, j], style) for j in range(len(raw.names))]
    names = [j for j in range(len(raw.names)) if _may_name(raw, j, dates, numeric[j])]
    if not names:
        return None
    spoken = [field_name(raw.names[j]) for j in range(len(raw.names))]
    shares = {j: _repeated(raw, j, dates) for j in names}
    names.sort(
        key=lambda j: (shares[j] > 0.2, _rank(spoken[j], NAME_COLUMNS), numeric[j], shares[j], j)
    )
    name = names[0]
    if numeric[name] == 1.0 and spoken[name] not in NAME_COLUMNS and len(raw.names) > 2:
        return None
    values = [j for j in range(len(raw.names)) if j != name and numeric[j] > 0.5]
    text = [j for j in range(len(raw.names)) if j != name and numeric[j] <= 0.5]
    if not values and len(text) == 1:
        return name, text[0]  # the error will name its cells
    if not values:
        return None
    if len(values) == 1:
        return name, values[0]
    order = (
        (*RETURN_NAMES, *VALUE_NAMES)
        if reading.kind == "returns"
        else (*VALUE_NAMES, *RETURN_NAMES)
    )
    best = min(values, key=lambda j: _rank(spoken[j], order))
    if _rank(spoken[best], order) == len(order):
        listed = ", ".join(raw.names[j] for j in values[:8])
        example = f"{raw.date_name},{raw.names[name]},{raw.names[values[0]]}"
        raise InvalidTable(
            raw.argument,
            f"is a long table with several columns of numbers: {listed}",
            f"Name three columns: {spelled('columns', example)}",
        )
    return name, best


def _rank(word: str, order: tuple[str, ...] | list[str]) -> int:
    return list(order).index(word) if word in order else len(order)


def _numeric_share(column: pd.Series, style: NumberStyle) -> float:
    """Share of numbers among the cells that are not missing, of a sample."""
    if pd.api.types.is_numeric_dtype(column):
        return 1.0
    some = column.iloc[:: max(1, len(column) // 500)]
    read = read_numbers(some, style)
    filled = len(some) - int(np.isnan(read.values).sum()) + len(read.bad)
    return 0.0 if not filled else 1.0 - len(read.bad) / filled


def _may_name(raw: RawTable, j: int, dates: np.ndarray, numeric: float) -> bool:
    """Whether a column, with the dates, tells rows apart and has fewer values than rows."""
    column = raw.frame.iloc[:, j]
    spoken = field_name(raw.names[j])
    if 0.0 < numeric < 1.0 and spoken not in NAME_COLUMNS:
        return False
    if numeric == 1.0 and not _whole_names(column, spoken):
        return False
    labels = _labels(column)
    count = len(pd.unique(labels))
    few = len(labels) < 10 or spoken in NAME_COLUMNS
    if count < (1 if few and numeric == 0.0 else 2) or (count > 0.7 * len(labels) and not few):
        return False
    return numeric == 0.0 or spoken in NAME_COLUMNS or _repeated(raw, j, dates) < 0.2


def _repeated(raw: RawTable, j: int, dates: np.ndarray) -> float:
    """Share of rows whose date and name occurred before."""
    pairs = pd.MultiIndex.from_arrays([dates, _labels(raw.frame.iloc[:, j])])
    return float(pairs.duplicated().mean())


def _whole_names(column: pd.Series, spoken: str) -> bool:
    """Whether numbers may be names: whole, and called so or written with zeros in front."""
    read = read_numbers(column, NumberStyle())
    finite = read.values[np.isfinite(read.values)]
    if not len(finite) or (finite != np.round(finite)).any():
        return False
    padded = any(isinstance(c, str) and re.fullmatch(r"0\d+", c.strip()) for c in column[:200])
    return spoken in NAME_COLUMNS or padded or len(np.unique(finite)) < 0.5 * len(finite)


def _bad_values(raw: RawTable, j: int, bad: np.ndarray) -> None:
    cells = [
        f"{raw.place(int(i))} is {str(raw.frame.iloc[int(i), j])[:40]!r}" for i in bad[:LISTED]
    ]
    more = f" and {len(bad) - LISTED} more" if len(bad) > LISTED else ""
    raise InvalidTable(
        raw.argument,
        f"column {raw.names[j]!r}: {'; '.join(cells)}, not a number{more}",
        "Correct the cells, or leave them empty",
    )


def _unstacked(raw: RawTable, dates: np.ndarray, labels: np.ndarray, values: np.ndarray) -> Table:
    """A column for each name; equal rows that occur twice count once."""
    days, rows = np.unique(dates, return_inverse=True)
    codes, names = pd.factorize(labels, sort=True)
    place = rows.astype(np.int64) * len(names) + codes
    order = np.argsort(place, kind="stable")
    same = np.flatnonzero(np.diff(place[order]) == 0)
    if len(same):
        first, second = order[same], order[same + 1]
        differ = ~(
            (values[first] == values[second]) | (np.isnan(values[first]) & np.isnan(values[second]))
        )
        if differ.any():
            i = int(first[np.flatnonzero(differ)[0]])
            raise InvalidTable(
                raw.argument,
                f"{labels[i]!r} has several values on {day(dates[i])}"
                + ("" if raw.numbers is None else f" ({raw.place(i)})"),
                "Keep one value for each date and name",
            )
        raw.notes.append(
            f"{counted(len(same), 'row that occurs', 'rows that occur')} twice counted once"
        )
    out = np.full(len(days) * len(names), np.nan)
    out[place] = values
    return Table([str(n) for n in names], out.reshape(len(days), len(names)), days, "long")
