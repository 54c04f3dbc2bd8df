"""Columns that hold several fields of each instrument, such as open, high, low and close."""

from __future__ import annotations

import re

import pandas as pd

from symnmf.data.date_text import way_of
from symnmf.data.date_words import MONTH_OF
from symnmf.data.header_rows import LISTED, RawTable
from symnmf.errors import InvalidTable, spelled

#: Fields of which one is taken, in order of preference.
PREFERRED = (
    "adj close",
    "adjclose",
    "adjusted close",
    "adjusted",
    "close adj",
    "total return index",
    "close",
    "px last",
    "last price",
    "last",
    "settle",
    "settlement",
    "price",
    "prc",
    "nav",
    "mid",
)
#: Fields of market data that are no instruments.
FIELDS = frozenset(
    (
        *PREFERRED,
        *("open", "high", "low", "volume", "vol", "dividends", "dividend", "splits", "vwap"),
        *("bid", "ask", "turnover", "trades"),
        *("stock splits", "capital gains", "px open", "px high", "px low", "px volume"),
        *("open interest", "adj open", "adj high", "adj low", "adj volume", "ex dividend"),
        *("split ratio", "repaired?", "change", "change %", "pct change", "market cap"),
        *("chg", "% chg", "chg %", "pct chg", "% change", "net chg", "net change"),
    )
)
#: Fields of which a file of one instrument has several.
OF_ONE = frozenset(
    ["open", "high", "low", "close", "adj close", "volume", "price", "vol", "change %"]
)
#: Columns among which the months of a calendar are sought.
MONTH_COLUMNS = 20
#: Names, at most, that are no fields among those of a table of fields.
OTHER_NAMES, MANY_NAMES = 2, 4
#: Names of columns that describe the numbers of another column.
DESCRIPTION = re.compile(
    r"(?P<name>.+?)[ _.:-]\(?(flags?|quality|qc|qa|qualifiers?|status|remarks?|comment|note)\)?",
    re.IGNORECASE,
)
#: Fields in other languages.
FIELD_WORDS = {
    word: field
    for field, words in {
        "open": "otwarcie eröffnung eröffnungskurs ouverture apertura abertura opening öppning",
        "high": "najwyzszy najwyższy hoch tageshoch haut máximo maximo massimo máxima hoogste",
        "low": "najnizszy najniższy tief tagestief bas mínimo minimo mínima laagste",
        "close": "zamkniecie zamknięcie schluss schlusskurs clôture cloture cierre chiusura "
        "fechamento slotkoers dernier último ultimo letzter",
        "volume": "wolumen volumen stück stücke volumes volume quantité",
        "price": "kurs prix precio prezzo preço koers",
    }.items()
    for word in words.split()
}
#: Names of the columns with the prices or returns of a long table, in order of preference.
VALUE_NAMES = (
    *PREFERRED,
    "ret",
    "return",
    "returns",
    "log return",
    "value",
    "x",
    "level",
    "close price",
)


def field_name(text: str) -> str:
    """The name of a field in one spelling.

    Example:
        >>> field_name("Adj_Close"), field_name(" PX_LAST "), field_name("Vol.")
        ('adj close', 'px last', 'vol')
    """
    word = " ".join(re.sub(r"[_.*:<>\d]+", " ", text.lower()).split())
    return FIELD_WORDS.get(word, word)


def take_field(raw: RawTable) -> RawTable:
    """Keep one field of each instrument where the names of the columns have two levels.

    Arguments:
        raw: a table; it is changed.

    Raises:
        InvalidTable: the columns are the fields of one instrument, or none of them is a price.
    """
    if len(raw.levels) >= 2:
        _two_levels(raw)
    else:
        _joined(raw)
    return raw


def _two_levels(raw: RawTable) -> None:
    """One row of names holds fields, another one instruments."""
    for level in raw.levels:
        begin = 1 if field_name(level[0]) not in FIELDS or _holds_dates(raw) else 0
        filled = [field_name(c) for c in level[begin:] if c]
        if not filled or not all(word in FIELDS for word in filled):
            continue
        others = [other for other in raw.levels if other is not level]
        names = max(others, key=lambda other: len({c for c in other[1:] if c}))
        fields = (
            _forward([field_name(c) for c in level])
            if "" in level[1:]
            else [field_name(c) for c in level]
        )
        names = _forward(names)
        first = raw.names[0]
        _keep(raw, fields, names, set(filled), begin)
        if begin:
            raw.names[0] = first
        raw.levels = []
        return


def _holds_dates(raw: RawTable) -> bool:
    """Whether the first column holds dates."""
    column = raw.frame.iloc[:, 0]
    first = column.iloc[0]
    if isinstance(first, str):
        return way_of(first) is not None
    return not pd.api.types.is_numeric_dtype(column)


def _forward(cells: list[str]) -> list[str]:
    """Cells of a merged heading: an empty one continues the one to its left."""
    out, last = [], ""
    for j, cell in enumerate(cells):
        last = cell or (last if j > 1 else "")
        out.append(cell if j == 0 else last)
    return out


def _joined(raw: RawTable) -> None:
    """Names such as AAPL_Close and Close_AAPL."""
    longest = sorted(FIELDS, key=len, reverse=True)
    words = "|".join(re.escape(f).replace(r"\ ", "[ _.]") for f in longest)
    marks = r"[ _.:/|,'-]+"
    after = re.compile(rf"\(?'?(?P<name>.+?){marks}(?P<field>{words})'?\)?", re.IGNORECASE)
    before = re.compile(rf"\(?'?(?P<field>{words}){marks}(?P<name>.+?)'?\)?", re.IGNORECASE)
    for pattern in (after, before):
        found: list[re.Match[str] | None] = []
        others = 0
        for name in raw.names:
            found.append(None if field_name(name) in FIELDS else pattern.fullmatch(name))
            others += found[-1] is None
            if others > OTHER_NAMES:
                break
        hits = [m for m in found if m is not None]
        if len(hits) < max(2, len(raw.names) - OTHER_NAMES):
            continue
        fields = {field_name(m["field"]) for m in hits}
        if len(fields) < 2:
            if not fields & set(PREFERRED):
                raw.cautions.append(
                    f"all columns are called {fields.pop()!r}: they are taken as they are, and "
                    "that is no price"
                )
            return
        parts = [None if m is None else (field_name(m["field"]), m["name"].strip()) for m in found]
        names = ["" if p is None else p[1] for p in parts]
        names = [raw.names[j] if p is None else names[j] for j, p in enumerate(parts)]
        _keep(raw, ["" if p is None else p[0] for p in parts], names, fields, begin=0)
        return


def _keep(raw: RawTable, fields: list[str], names: list[str], known: set[str], begin: int) -> None:
    """Keep the columns of the best field, and those before ``begin`` or without a field."""
    taken = next((f for f in PREFERRED if f in known), None)
    if taken is None:
        raise InvalidTable(
            raw.argument,
            f"the columns hold {', '.join(sorted(known))}, and none of them is a price",
            "Keep one column of prices or returns for each instrument",
        )
    stay = [j for j in range(len(raw.names)) if j < begin or fields[j] in ("", taken)]
    raw.names = list(names)
    raw.select(stay)
    if len(known) > 1:
        raw.notes.append(f"of the fields {', '.join(sorted(known))}, {taken!r} was taken")


def drop_descriptions(raw: RawTable) -> None:
    """Leave out columns that describe another one, such as gauge_quality beside gauge.

    Arguments:
        raw: a table; it is changed.
    """
    known = {name.strip() for name in raw.names}
    found = [
        m and m["name"] in known for m in (DESCRIPTION.fullmatch(n.strip()) for n in raw.names)
    ]
    if not any(found):
        return
    names = [name for name, gone in zip(raw.names, found, strict=True) if gone]
    raw.notes.append(f"columns that describe others left out: {', '.join(names[:LISTED])}")
    raw.select([j for j, gone in enumerate(found) if not gone])


def check_one_instrument(raw: RawTable, names: list[str], yearly: bool) -> None:
    """Raise an error if the columns are the fields of one instrument, or the months of its years.

    Arguments:
        raw: the table.
        names: names of its columns, without that of the dates.
        yearly: whether it has a row for each year.
    """
    months = [MONTH_OF.get(name.lower().rstrip(".")) for name in names[:MONTH_COLUMNS]]
    numbered = yearly and [name.lstrip("0") for name in names] == [str(m) for m in range(1, 13)]
    if numbered or set(range(1, 13)) <= set(months):
        raise InvalidTable(
            raw.argument,
            f"the columns {', '.join(names[:3])}, … are the months of one series",
            "Pass a table with a row for each month and a column for each instrument",
        )
    if sum(field_name(name) in OF_ONE for name in names[:MANY_NAMES]) < 2:
        return
    words = [field_name(name) for name in names]
    whole = {"open", "high", "low", "close"} <= set(words)
    if whole or (
        sum(w in OF_ONE for w in words) >= max(2, len(words) - OTHER_NAMES)
        and ("volume" in words or {"open", "close"} <= set(words) or {"high", "low"} <= set(words))
    ):
        raise InvalidTable(
            raw.argument,
            f"the columns {', '.join(names[:6])} are fields of one instrument",
            "Pass a table with one column of prices for each instrument, or a long table with a "
            f"column of names ({spelled('columns', 'date,name,close')})",
        )
