"""Files that strangers tried: what they taught is what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from corpus import (
    DAYS,
    MONTHS,
    NAMES,
    PRICES,
    RETURNS,
    ROWS,
    Case,
    S,
    _parquet,
    built,
    cents,
    frame,
    holes,
    long,
    reads,
    refused,
    text,
    text_cells,
    with_cells,
    zipped,
)
from further_files import AUTO, BY_NAME, ISO, SORTED

PERCENT = cents(100 * RETURNS)
CALENDAR = pd.DataFrame(
    cents(100 * np.resize(RETURNS, (20, 12))),
    index=pd.Index(range(1990, 2010), name="Year"),
    columns=["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
)
PAIRWISE: dict[str, Any] = {**AUTO, "options": {"missing": "pairwise"}}


def printed() -> None:
    """Tables as programs of the terminal print them."""
    rows = [
        f"{d:%Y%m%d}" + "".join(f"{v:8.2f}" for v in r) for d, r in zip(DAYS, PERCENT, strict=True)
    ]
    reads(
        "french_daily.txt",
        "  Average Value Weighted Returns\n            "
        + "   ".join(NAMES)
        + "\n"
        + "\n".join(rows),
        PERCENT,
        **AUTO,
    )
    cells = [" | ".join([d, *map(str, r)]) for d, r in zip(ISO, PRICES, strict=True)]
    head = " | ".join(["day", *NAMES])
    bar = "+-----" * 6 + "+"
    framed = "\n".join(f"| {line} |" for line in cells)
    reads(
        "terminal_mysql.txt",
        f"{bar}\n| {head} |\n{bar}\n{framed}\n{bar}\n60 rows in set (0.01 sec)\n",
        **AUTO,
    )
    reads(
        "terminal_psql.txt",
        f" {head}\n{'-----+' * 5}----\n" + "\n".join(cells) + "\n(60 rows)\n",
        **AUTO,
    )
    reads("markdown.md", f"| {head} |\n|{'---|' * 6}\n{framed}\n", **AUTO)


def calendars() -> None:
    """Months side by side, and dates without a year."""
    one = "the months of one series"
    refused("months_of_a_fund.csv", CALENDAR.map(lambda v: f"{v:.2f}%").to_csv(), one, **AUTO)
    refused("months_and_year.csv", CALENDAR.assign(YTD=CALENDAR.sum(axis=1)).to_csv(), one, **AUTO)
    refused("months_of_a_river.csv", CALENDAR.to_csv(), one, kind="values")
    refused("months_numbered.csv", CALENDAR.set_axis(range(1, 13), axis=1).to_csv(), one, **AUTO)
    twelve = [f"{m:02d}" for m in range(1, 13)]
    daily = np.resize(RETURNS, (ROWS, 12)) * np.arange(1, 13)
    reads("twelve_numbered.csv", text(daily, names=twelve), daily, names=tuple(twelve), **AUTO)
    for name, form in (("month_day", "%b %d"), ("month_dash_day", "%b-%d"), ("day_month", "%d-%b")):
        stamps = DAYS.strftime(form)
        refused(f"no_year_{name}.csv", text(RETURNS, dates=stamps), "neither dates nor", **AUTO)
    reads("month_year.csv", text(dates=MONTHS.strftime("%b-%y")), first="1990-01-31", **AUTO)
    down = text(PRICES[::-1], dates=MONTHS.strftime("%b %y")[::-1])
    reads("month_year_down.csv", down, first="1990-01-31", **AUTO)
    hours = pd.date_range("2023-10-28 20:00", periods=ROWS, freq="h", tz="Europe/Paris")
    refused(
        "clock_goes_back_hourly.csv",
        text(dates=hours.strftime("%Y-%m-%d %H:%M")),
        ["2023-10-29 02:00:00 occurs more than once", "their offset from UTC"],
        **AUTO,
    )


def cells() -> None:
    """Words in place of numbers, and marks after them."""
    gap = holes(PRICES, (7, 2))
    words = [
        "closed",
        "suspended",
        "no trade",
        "n.m.",
        "NaN%",
        "Bank Holiday",
        "delisted",
        "halted",
    ]
    for word in words:
        name = word.lower().replace(" ", "_").strip("%.")
        reads(f"word_{name}.csv", text_cells(with_cells(PRICES, r7c2=word)), gap, **PAIRWISE)
    refused(
        "word_unknown.csv", text_cells(with_cells(PRICES, r7c2="ask Bob")), "Leave the cell empty"
    )
    marked = text(number=lambda v: f"{v:.4f}*" if int(v) % 7 == 0 else f"{v:.4f}")
    reads("marks.csv", marked, says="asterisks removed", **AUTO)
    known = ["NM", "CLOSED", "HOLIDAY", "PENDING", "HALTED"]
    table = long().replace({"ticker": dict(zip(NAMES, known, strict=True))})
    order = sorted(range(5), key=lambda j: known[j])
    reads(
        "tickers_that_are_words.csv",
        table.to_csv(index=False),
        PRICES[:, order],
        names=tuple(sorted(known)),
        **AUTO,
    )


def fields_and_formats() -> None:
    """Fields of quotations, and files that cannot be read."""
    both = pd.concat([frame(), frame(RETURNS).map(lambda v: f"{v:.2%}")], axis=1)
    both.columns = pd.MultiIndex.from_product([["Last", "% Chg"], NAMES])
    reads("last_and_change.csv", both.to_csv(), says="'last' was taken", **AUTO)
    quotes = long(open=1.0, high=2.0, low=0.5, volume=9)[
        ["ticker", "Date", "open", "close", "volume"]
    ]
    reads("quotes.csv", quotes.to_csv(index=False), SORTED, names=BY_NAME, **AUTO)
    refused(
        "cut_short.parquet", _parquet(frame())[:-300], "is damaged or was cut off. Save", **AUTO
    )
    secret = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000) + "EncryptedPackage".encode("utf-16-le")
    )
    refused("secret.xlsx", secret + bytes(3000), "is protected by a password", **AUTO)
    days = DAYS.strftime("%Y年%m月%d日")
    other = text(dates=days, corner="日付").encode("cp932")
    refused(
        "shift_jis_dates.csv", other, "encoding of the file is unknown: save it as UTF-8", **AUTO
    )
    reads("one_of_two.zip", zipped({"x/prices.csv": text(), "readme.md": "notes"}), **AUTO)
    half = pd.DataFrame(S, NAMES, NAMES).where(np.tri(5, k=-1, dtype=bool))
    other_half = pd.DataFrame(S, NAMES, NAMES).where(~np.tri(5, dtype=bool))
    reads("m_other_half.csv", other_half.to_csv(), S, kind="matrix by itself", first=None)
    reads("m_half_dashes.csv", half.to_csv(na_rep="-"), S, kind="matrix by itself", first=None)


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(printed, calendars, cells, fields_and_formats)
