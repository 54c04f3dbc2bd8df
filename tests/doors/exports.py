"""Exports of statistical programs, databases and spreadsheets, and files that were damaged."""

from __future__ import annotations

import numpy as np
import pandas as pd
from corpus import (
    DAYS,
    LARGE,
    NAMES,
    PRICES,
    RETURNS,
    ROWS,
    Case,
    built,
    european,
    holes,
    reads,
    refused,
    replaced,
    text,
    text_cells,
    with_cells,
)
from further_files import AUTO, ISO, comma

LINES = text().splitlines()
HEAD, BODY = LINES[0], LINES[1:]
GAPS = {"kind": "auto", "options": {"missing": "pairwise"}}


def programs() -> None:
    """R, SAS, Stata, Matlab, databases."""
    quoted = ",".join(f'"{n}"' for n in NAMES)
    rows = list(zip(ISO, PRICES, strict=True))
    reads(
        "r_write_csv2.csv",
        f'"";{quoted.replace(",", ";")}\n'
        + "\n".join(f'"{d}";' + ";".join(map(comma, r)) for d, r in rows),
        says="decimal commas",
        **AUTO,
    )
    reads(
        "r_write_table.txt",
        f"{quoted.replace(',', ' ')}\n"
        + "\n".join(f'"{d}" ' + " ".join(f"{v:.4f}" for v in r) for d, r in rows),
        says="separated by spaces",
        **AUTO,
    )
    reads("sas_date9.csv", text(dates=[f"{d:%d%b%Y}".upper() for d in DAYS]), **AUTO)
    reads("stata_td.csv", text(dates=[f"{d:%d%b%Y}".lower() for d in DAYS]), **AUTO)
    since = [str((d - pd.Timestamp("1960-01-01")).days) for d in DAYS]
    reads("stata_days.csv", text(dates=since, corner="date"), **AUTO)
    reads("matlab_datestr.csv", text(dates=DAYS.strftime("%d-%b-%Y 00:00:00")), **AUTO)
    rule = "+" + "------+" * 6
    framed = [f"| {line.replace(',', ' | ')} |" for line in LINES]
    reads("mysql.txt", "\n".join([rule, framed[0], rule, *framed[1:], rule]), **AUTO)
    bare = [f" {line.replace(',', ' | ')}" for line in LINES]
    reads(
        "psql.txt", "\n".join([bare[0], "+".join(["------"] * 6), *bare[1:], "(60 rows)"]), **AUTO
    )
    reads("markdown.txt", "\n".join([framed[0], "|" + "---|" * 6, *framed[1:]]), **AUTO)
    reads("caret.txt", text(sep="^"), says="separated by '^'", **AUTO)
    reads("tilde.txt", text(sep="~"), says="separated by '~'", **AUTO)


def vendors() -> None:
    """Bloomberg, Yahoo, FRED, flight delays."""
    equity = tuple(f"{n} US Equity" for n in NAMES)
    above = f"Security,{','.join(equity)}\nField{',PX_LAST' * 5}\nDates,,,,,\n"
    reads("bloomberg_bdh.csv", above + "\n".join(BODY), names=equity, **AUTO)
    words = {"r3c1": "#N/A N/A", "r4c1": "#N/A Field Not Applicable", "r5c2": "#N/A Real Time"}
    gone = holes(PRICES, (3, 1), (4, 1), (5, 2))
    reads("bloomberg_na.csv", text_cells(with_cells(PRICES, **words)), gone, **GAPS)
    above = f"Price{',Close' * 5}\nTicker,{','.join(NAMES)}\nDate,,,,,\n"
    reads("yfinance_three_rows.csv", above + "\n".join(BODY), **AUTO)
    points = text_cells(with_cells(PRICES, r3c1=".", r9c0="."), corner="observation_date")
    reads("fred_points.csv", points, holes(PRICES, (3, 1), (9, 0)), **GAPS)
    delays = np.round(100 * RETURNS, 4)
    order = sorted(NAMES)
    reads(
        "bts_delays.csv",
        '"FL_DATE","OP_CARRIER","ARR_DELAY",\n'
        + "\n".join(
            f'{d.month}/{d.day}/{d.year} 12:00:00 AM,"{n}",{delays[t, i]:.4f},'
            for t, d in enumerate(DAYS)
            for i, n in enumerate(NAMES)
        ),
        delays[:, [NAMES.index(n) for n in order]],
        names=tuple(order),
        kind="values",
    )


def spreadsheets() -> None:
    """Excel in German, French and Swiss, Google Sheets."""
    german = DAYS.strftime("%d.%m.%Y")
    euro = text(LARGE, german, sep=";", corner="Datum", number=lambda v: f"{european(v)} €")
    reads("excel_de_euro.csv", euro, LARGE, says="decimal commas", **AUTO)
    french = text(
        LARGE,
        DAYS.strftime("%d/%m/%Y"),
        sep=";",
        number=lambda v: f"{v:,.2f}".replace(",", "\u00a0").replace(".", ","),
    )
    reads("excel_fr_1252.csv", french.encode("cp1252"), LARGE, says="decimal commas", **AUTO)
    swiss = text(LARGE, german, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "’"))
    reads("excel_ch_1252.csv", swiss.encode("cp1252"), LARGE, **AUTO)
    words = {"r3c1": "#NV", "r4c1": "#WERT!", "r5c2": "#BEZUG!", "r6c2": "#DIV/0!"}
    gone = holes(PRICES, (3, 1), (4, 1), (5, 2), (6, 2))
    reads("excel_de_errors.csv", text_cells(with_cells(PRICES, **words), sep=";"), gone, **GAPS)
    words = {"r3c1": "#REF!", "r4c1": "#NAME?", "r5c2": "#VALUE!", "r6c2": "Loading..."}
    reads("sheets_errors.csv", text_cells(with_cells(PRICES, **words)), gone, **GAPS)
    reads("held_dates.csv", text(dates=[f'="{d}"' for d in ISO]), **AUTO)
    reads("apostrophe_dates.csv", text(dates=[f"'{d}" for d in ISO]), **AUTO)
    hyphen = text(RETURNS, number=lambda v: f"{v:.6f}".replace("-", "\u2010"))
    reads("hyphen_minus.csv", hyphen, RETURNS, **AUTO)
    pages = [HEAD, *BODY[:20], "", "Page 2", HEAD, *BODY[20:40], "", "Page 3", HEAD, *BODY[40:]]
    reads("pages.csv", "\n".join(pages), says="repeated rows of names", **AUTO)
    total = [f"{HEAD},Total"]
    total += [f"{line},{v:.4f}" for line, v in zip(BODY, PRICES.sum(axis=1), strict=True)]
    reads(
        "total_column.csv",
        "\n".join(total),
        np.column_stack([PRICES, PRICES.sum(axis=1)]),
        names=(*NAMES, "Total"),
        says="--drop Total",
        **AUTO,
    )


def faults() -> None:
    """Bytes and lines that were damaged on their way, and cells that are no numbers."""
    plain = text().encode()
    reads("zeros_below.csv", plain + b"\x00" * 50, **AUTO)
    reads("two_marks.csv", b"\xef\xbb\xbf\xef\xbb\xbf" + plain, **AUTO)
    reads("doubled_returns.csv", "\r\r\n".join(LINES), **AUTO)
    reads("mixed_ends.csv", "\r\n".join(LINES[:30]) + "\n" + "\n".join(LINES[30:]), **AUTO)
    inside = text_cells(with_cells(np.tile(PRICES, (1, 1)), r50c1="39\x002.1")).encode()
    refused("zero_byte.csv", inside, "zero bytes", **AUTO)
    refused("json_lines.csv", '{"date": "2024-01-02", "AAPL": 1.5}\n' * ROWS, "JSON", **AUTO)
    reads(
        "footnotes.csv",
        text_cells(with_cells(PRICES, r7c2="400.25*")),
        replaced(PRICES, 400.25),
        says="asterisks removed",
        **AUTO,
    )
    refused("hexadecimal.csv", text_cells(with_cells(PRICES, r3c1="0x1F")), "'0x1F'", **AUTO)
    mixed = [f"{d:%Y-%m-%d}" if i < 30 else f"{d:%m/%d/%Y}" for i, d in enumerate(DAYS)]
    refused("half_american.csv", text(dates=mixed), ["30 cells are no dates", "line 32"], **AUTO)
    clock = [f"{9 + i // 60:02d}:{i % 60:02d}" for i in range(ROWS)]
    refused("clock_only.csv", text(dates=clock, corner="Time"), "neither dates nor", **AUTO)


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(programs, vendors, spreadsheets, faults)
