"""The weights of a portfolio."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from symnmf.data.classes import CLASS_COLUMNS
from symnmf.data.name_tables import AMOUNT_WORDS, OTHER_WORDS, WEIGHT_WORDS, NameTable, spoken
from symnmf.data.number_text import NumberStyle, find_style
from symnmf.display import counted
from symnmf.errors import DataWarning, InvalidFile, InvalidTable

#: Units that a heading states → what they are worth.
UNITS = (
    (re.compile(r"\b(bps?|basis points?)\b", re.IGNORECASE), 1e-4),
    (re.compile(r"%|\b(percent\w*|pct|per cent|anteil)\b", re.IGNORECASE), 0.01),
)
#: Names of lines that may be the sum of others.
TOTALS = re.compile(
    r"(.* )?(sub)?totals?\b.*|sum|(net|gross)( (assets|exposure|value|liquidation).*)?",
    re.IGNORECASE,
)
#: Names that are those of no instrument.
PLAIN_TOTALS = re.compile(r"((grand|account|portfolio) ?)?(sub)?totals?:?", re.IGNORECASE)
#: Largest difference of a total and the sum of the lines, in terms of the latter.
TOTAL_ROUNDING = 0.01
#: Headings and cells that tell long from short positions.
SIDES = re.compile(r"side|direction|long/short|l/s|long or short|position type|b/s|buy/sell")
LONG, SHORT = ("long", "l", "buy", "b"), ("short", "s", "sell", "ss", "short sell")
#: Cells without a weight.
NO_WEIGHT = ("", "-", "--", "–", "—")


@dataclass(frozen=True)
class _Line:
    """A line of a file: its name, which may be empty, and its number."""

    name: str
    value: float
    place: str


def read_weights(path: str | Path) -> dict[str, float]:
    r"""Read the weight of each name from a file, such as the positions of a portfolio.

    The columns of names and weights are found by their headings; without known ones the file has
    one column of numbers. Percent and basis points, in the cells or in the heading, are fractions.
    A column such as ``side`` makes the weights of short positions negative. A line with the total
    of the others is left out.

    Arguments:
        path: path of a table with a column of names and a column of numbers.

    Raises:
        InvalidFile: the file is missing or cannot be read, a weight is no number or has no name, a
            name stands twice, or several columns could be the weights.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "weights.csv"
        >>> _ = path.write_text("ticker;price;weight\nXOM;101;0,25\nKO;60;75 %\n")
        >>> read_weights(path)
        {'XOM': 0.25, 'KO': 0.75}
    """
    table = NameTable.read(Path(path), "weight")
    named = _names(table)
    if len(table.columns) > 2:  # of a table of prices, no column could be the weights
        table.check_no_observations(named, 1 if named == 0 else 0)
    column = _weights(table, named)
    table.check_no_observations(named, column)
    found: dict[str, float] = {}
    lines, empty = _lines(table, named, column)
    for line in _without_totals(lines):
        if not line.name and not line.value:
            continue
        if not line.name:
            raise InvalidFile(
                str(path), f"{line.place} has a weight and no name", "Write a name in each line"
            )
        if line.name in found:
            raise InvalidFile(
                str(path),
                f"{line.place} gives {line.name!r} a second weight",
                "Add them up in one line",
            )
        found[line.name] = line.value
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


def _lines(table: NameTable, named: int, column: int) -> tuple[list[_Line], int]:
    """The lines with a number, and how many names have none."""
    style = _style(table, column)
    heading = spoken(table.headings[column])
    unit = next((size for words, size in UNITS if words.search(heading)), 1.0)
    sides = _sides(table)
    lines, empty, percent, above_one = [], 0, False, False
    rows = zip(table.columns[named], table.columns[column], table.places, strict=True)
    for i, (name, cell, place) in enumerate(rows):
        if cell in NO_WEIGHT:
            empty += bool(name) and not TOTALS.fullmatch(name)
            continue
        number = style.parse(cell)
        if number is None:
            raise InvalidFile(
                str(table.path),
                f"the weight of {name!r} is {cell!r}",
                "Write a number for each name",
            )
        value, is_percent = number
        percent |= is_percent
        above_one |= not is_percent and abs(value) > 1
        value = value if is_percent else unit * value
        if sides and sides[i] in SHORT:
            value = -abs(value)
        lines.append(_Line(name, value, place))
    if percent and above_one and unit == 1.0:
        raise InvalidFile(
            str(table.path),
            "some weights have a percent sign and others do not",
            "Write all of them in one way",
        )
    return lines, empty


def _style(table: NameTable, column: int) -> NumberStyle:
    """How the weights are written; amounts of money such as 1,234 have marks of thousands."""
    try:
        return find_style(table.columns[column], ";")
    except InvalidTable as doubt:
        if AMOUNT_WORDS.search(spoken(table.headings[column])):
            commas = any("," in cell for cell in table.columns[column])
            return NumberStyle("." if commas else ",")
        raise InvalidFile(str(table.path), doubt.problem, "Write weights such as 0.25") from doubt


def _without_totals(lines: list[_Line]) -> list[_Line]:
    """The lines that are no sum of the others; a sum that may be an instrument is named."""
    totals = [line for line in lines if not line.name or TOTALS.fullmatch(line.name)]
    rest = [line.value for line in lines if line not in totals]
    sums = (sum(rest), sum(map(abs, rest)))
    near = TOTAL_ROUNDING * sums[1]
    gone = []
    for line in totals:
        plain = not line.name or bool(PLAIN_TOTALS.fullmatch(line.name))
        if len(rest) < (1 if plain else 2) or min(abs(line.value - s) for s in sums) > near:
            continue
        gone.append(line)
        if not plain:
            warnings.warn(
                f"{line.name!r} is left out: its weight is the sum of the others",
                DataWarning,
                stacklevel=3,
            )
    return [line for line in lines if line not in gone]


def _sides(table: NameTable) -> list[str]:
    """Whether each position is long or short, in small letters; empty if no column says so."""
    for j, heading in enumerate(table.headings):
        cells = [cell.lower() for cell in table.columns[j]]
        if SIDES.fullmatch(spoken(heading)) and all(c in (*LONG, *SHORT, "") for c in cells):
            return cells
    return []


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
    words = [spoken(heading) for heading in table.headings]
    others = [j for j in range(len(words)) if j != named]
    for known in (WEIGHT_WORDS, AMOUNT_WORDS):
        headed = [j for j in others if known.search(words[j])]
        if known is AMOUNT_WORDS:
            headed = [j for j in headed if not OTHER_WORDS.search(words[j])]
        if len(headed) == 1:
            return headed[0]
        if headed:
            raise _unclear(table, headed, "several columns could be the weights")
    unknown = [
        j
        for j in others
        if table.words[j] not in CLASS_COLUMNS and not OTHER_WORDS.search(words[j])
    ]
    numeric = [j for j in unknown if _is_numeric(table.columns[j], _style(table, j))]
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
