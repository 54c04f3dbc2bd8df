"""Cells of the columns of instruments as numbers; errors name the first bad cells."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.header_rows import LISTED, RawTable, is_number_type
from symnmf.data.number_text import NumberStyle, read_numbers
from symnmf.display import counted
from symnmf.errors import InvalidTable, offered, spelled


def cells_to_numbers(raw: RawTable, style: NumberStyle) -> tuple[np.ndarray, np.ndarray]:
    """Every cell as float64, and which columns hold numbers.

    Arguments:
        raw: the table without its dates.
        style: how its numbers are written.

    Raises:
        InvalidTable: a cell is not a number; the message lists the first ones.
    """
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
            words = "complex numbers" if column.dtype.kind == "c" else "true and false"
            raise InvalidTable(raw.argument, f"column {name!r} holds {words}", "Pass real numbers")
        if is_number_type(column):
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
        raw.notes.append(f"percentages divided by 100 in {counted(len(percent), 'column')}")
    if marked:
        raw.notes.append(
            f"thousands marks, currency signs or asterisks removed in {counted(marked, 'column')}"
        )
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
    remedy = "Leave the cell empty, or leave the column out"
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
