"""The weights of a portfolio."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from symnmf.data.classes import CLASS_COLUMNS
from symnmf.data.name_tables import NameTable
from symnmf.data.number_text import NumberStyle, find_style
from symnmf.display import counted
from symnmf.errors import DataWarning, InvalidFile

#: Headings of weights, and of amounts of money, which are weights in another unit.
WEIGHT_WORDS = re.compile(r"\b(weights?|wgt|wt|allocations?|gewicht\w*|poids|peso)\b|^(w|%|pct)$")
AMOUNT_WORDS = re.compile(r"\b(market value|exposure|notional|mv|nav|amount)\b")
#: Headings of numbers that are no weights.
OTHER_WORDS = re.compile(
    r"\b(price|close|last|shares|quantity|qty|units|volume|margin|confidence|beta|rank|id|no)\b"
)
#: Headings that state a unit of percent.
PERCENT = re.compile(r"%|\b(percent|pct|per cent)\b", re.IGNORECASE)
#: Names of lines that sum up the others.
TOTALS = re.compile(r"(grand |sub)?(total|sum|net|gross)s?\b.*", re.IGNORECASE)


def read_weights(path: str | Path) -> dict[str, float]:
    r"""Read the weight of each name from a file, such as the positions of a portfolio.

    The columns of names and weights are found by their headings; without known ones the file has
    one column of numbers. Percent, in the cells or in the heading, are hundredths. A line with
    the total is left out.

    Arguments:
        path: path of a table with a column of names and a column of numbers.

    Raises:
        InvalidFile: the file is missing or cannot be read, a weight is no number, a name stands
            twice, or several columns could be the weights.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "weights.csv"
        >>> _ = path.write_text("ticker;price;weight\nXOM;101;0,25\nKO;60;75 %\n")
        >>> read_weights(path)
        {'XOM': 0.25, 'KO': 0.75}
    """
    table = NameTable.read(Path(path), "weight")
    named = _names(table)
    column = _weights(table, named)
    table.check_no_observations(named, column)
    cells = table.columns[column]
    style = find_style(cells, ";")
    unit = 0.01 if PERCENT.search(table.headings[column]) else 1.0
    found: dict[str, float] = {}
    empty = 0
    for name, cell, place in zip(table.columns[named], cells, table.places, strict=True):
        if not name or TOTALS.fullmatch(name):
            continue
        if not cell:
            empty += 1
            continue
        number = style.parse(cell)
        if number is None:
            raise InvalidFile(
                str(path), f"the weight of {name!r} is {cell!r}", "Write a number for each name"
            )
        if name in found:
            raise InvalidFile(
                str(path), f"{place} gives {name!r} a second weight", "Add them up in one line"
            )
        value, is_percent = number
        found[name] = value if is_percent else unit * value
    if not found:
        raise InvalidFile(
            str(path), "gives no name a weight", "Write a name and a weight in each line"
        )
    if empty:
        warnings.warn(
            f"{path}: {counted(empty, 'name has', 'names have')} an empty weight, which counts "
            "as 0",
            DataWarning,
            stacklevel=2,
        )
    return found


def _names(table: NameTable) -> int:
    """The column of names: by its heading, else the first that is not all numbers."""
    named = table.names_column()
    if named is not None:
        return named
    style = NumberStyle(".")
    text = [j for j, cells in enumerate(table.columns) if not _is_numeric(cells, style)]
    return text[0] if text else 0


def _weights(table: NameTable, named: int) -> int:
    """The column of weights: by its heading, else the only one with numbers."""
    words = table.words
    others = [j for j in range(len(words)) if j != named]
    for known in (WEIGHT_WORDS, AMOUNT_WORDS):
        headed = [j for j in others if known.search(words[j]) or known.search(table.headings[j])]
        if len(headed) == 1:
            return headed[0]
        if headed:
            raise _unclear(table, headed, "several columns could be the weights")
    unknown = [
        j for j in others if words[j] not in CLASS_COLUMNS and not OTHER_WORDS.search(words[j])
    ]
    numeric = [
        j for j in unknown if _is_numeric(table.columns[j], find_style(table.columns[j], ";"))
    ]
    if len(numeric) > 1:
        raise _unclear(table, numeric, "several columns could be the weights")
    if not unknown:
        raise _unclear(table, others, "no column holds weights")
    return (numeric or unknown)[0]  # an error will name cells that are no numbers


def _is_numeric(cells: list[str], style: NumberStyle) -> bool:
    """Whether all cells that are not empty are numbers."""
    return any(cells) and all(style.parse(cell) is not None for cell in cells if cell)


def _unclear(table: NameTable, columns: list[int], problem: str) -> InvalidFile:
    names = ", ".join(repr(table.headings[j] or f"column {j + 1}") for j in columns[:5])
    return InvalidFile(
        str(table.path),
        f"{problem}: {names}",
        "Keep a column of names and one with the heading 'weight'",
    )
