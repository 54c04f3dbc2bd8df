"""The corpus of files that people really have: each with what must come out of it.

    python tests/doors/corpus.py FOLDER

writes the files, to try them by hand. Every file is made from one panel of prices or returns, or
from one matrix, so that the numbers that must be read are known.
"""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

NAMES = ["AAPL", "MSFT", "XOM", "JPM", "KO"]
ROWS = 60
RNG = np.random.default_rng(22)
DAYS = pd.bdate_range("2024-01-02", periods=ROWS)
RETURNS = RNG.standard_t(4, size=(ROWS, 5)) * 0.01 + RNG.normal(size=(ROWS, 1)) * 0.008
PRICES = np.round(np.array([180.0, 400, 100, 170, 60]) * np.exp(np.cumsum(RETURNS, axis=0)), 4)
RETURNS = np.round(RETURNS, 6)
LARGE = np.round(PRICES * 40, 2)  # 2 400 to 16 000: thousands marks
MONTHS = pd.date_range("1990-01-31", periods=ROWS, freq="ME")
S = np.round(np.abs(np.corrcoef(RETURNS.T)) * 0.5 + 0.5 * np.eye(5), 4)


@dataclass
class Case:
    """A file and what must come out of it.

    Attributes:
        name: name of the file.
        content: its bytes.
        kind: ``prices``, ``returns``, ``values``, ``auto``, ``matrix`` or ``classes``.
        values: the numbers that must be read; None if the file must be refused.
        says: words that the summary, or the message of the refusal, must contain.
        first: first date of the table that must be read.
        names: names that must be read.
        options: further arguments of the reader.
    """

    name: str
    content: bytes
    kind: str = "prices"
    values: np.ndarray | None = None
    says: tuple[str, ...] = ()
    first: str | None = None
    names: tuple[str, ...] = tuple(NAMES)
    options: dict[str, Any] = field(default_factory=dict)


def frame(values: np.ndarray = PRICES, index: Any = DAYS, names: Any = NAMES) -> pd.DataFrame:
    """The panel as a table with dates in its index."""
    return pd.DataFrame(values, index=pd.Index(index, name="Date"), columns=list(names))


def text(
    values: np.ndarray = PRICES,
    dates: Any = None,
    *,
    sep: str = ",",
    names: Any = NAMES,
    corner: str = "Date",
    number: Callable[[float], str] = lambda v: f"{v:.10g}",
    quote: bool = False,
    end: str = "\n",
    above: str = "",
    below: str = "",
    header: bool = True,
) -> str:
    """A text file, written cell by cell."""
    stamps = [d.strftime("%Y-%m-%d") for d in DAYS] if dates is None else list(dates)

    def line(cells: Any) -> str:
        return sep.join(f'"{c}"' if quote else str(c) for c in cells)

    lines = [line([corner, *names])] if header else []
    lines += [line([d, *map(number, row)]) for d, row in zip(stamps, values, strict=True)]
    return above + end.join(lines) + end + below


def european(v: float, places: int = 2) -> str:
    """1.234,56."""
    return f"{v:,.{places}f}".replace(",", "_").replace(".", ",").replace("_", ".")


def workbook(tables: dict[str, pd.DataFrame], **options: Any) -> bytes:
    """An .xlsx file."""
    out = io.BytesIO()
    with pd.ExcelWriter(out, engine="openpyxl") as writer:
        for sheet, table in tables.items():
            table.to_excel(writer, sheet_name=sheet, **options)
    return out.getvalue()


def sheet_of(rows: list[list[Any]]) -> bytes:
    """An .xlsx file, row by row."""
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    """A .zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def long(values: np.ndarray = PRICES, **extra: Any) -> pd.DataFrame:
    """The panel as a long table."""
    table = frame(values).reset_index().melt("Date", var_name="ticker", value_name="close")
    for name, column in extra.items():
        table[name] = column
    return table


CASES: list[Case] = []


def reads(
    name: str, content: str | bytes, values: np.ndarray = PRICES, says: Any = (), **rest: Any
) -> None:
    """Add a file that must be read."""
    data = content.encode() if isinstance(content, str) else content
    said = (says,) if isinstance(says, str) else tuple(says)
    rest.setdefault("first", "2024-01-02")
    if "kind" not in rest and values is RETURNS:
        rest["kind"] = "returns"
    CASES.append(Case(name, data, values=values, says=said, **rest))


def refused(name: str, content: str | bytes, says: Any, **rest: Any) -> None:
    """Add a file that must be refused with certain words."""
    data = content.encode() if isinstance(content, str) else content
    CASES.append(Case(name, data, says=(says,) if isinstance(says, str) else tuple(says), **rest))


def with_cells(values: np.ndarray, **cells: str) -> list[list[str]]:
    """Cells of a table as text, some of them replaced: r3c1="x"."""
    out = [[f"{v:.10g}" for v in row] for row in values]
    for place, cell in cells.items():
        i, j = place[1:].split("c")
        out[int(i)][int(j)] = cell
    return out


def text_cells(cells: list[list[str]], **rest: Any) -> str:
    """A text file of cells that are text already."""
    return text(cells, number=str, **rest)  # type: ignore[arg-type]


def holes(values: np.ndarray, *places: tuple[int, int]) -> np.ndarray:
    """Numbers with gaps."""
    out = values.copy()
    for i, j in places:
        out[i, j] = np.nan
    return out


def replaced(values: np.ndarray, number: float) -> np.ndarray:
    """Numbers with another one in row 7, column 2."""
    out = values.copy()
    out[7, 2] = number
    return out


def cents(values: np.ndarray, places: int = 2) -> np.ndarray:
    """Numbers as they are when so many decimals are written."""
    return np.array([[float(f"{v:.{places}f}") for v in row] for row in values])


def built(*parts: Callable[[], None]) -> list[Case]:
    """The cases that some functions add; the same ones every time."""
    before = list(CASES)
    CASES.clear()
    for part in parts:
        part()
    made = list(CASES)
    CASES[:] = before
    return made


def separators_and_marks() -> None:
    """Separators, decimal commas, thousands marks, signs."""
    reads("plain.csv", text())
    reads("semicolon.csv", text(sep=";"), says="separated by ';'")
    reads("tab.tsv", text(sep="\t"), says="separated by tabs")
    reads("tab.txt", text(sep="\t"), says="separated by tabs")
    reads("pipe.txt", text(sep="|"), says="separated by '|'")
    reads("spaces.txt", text(sep="  "), says="separated by spaces")
    reads("comma_space.csv", text(sep=", "))
    reads(
        "semicolon_decimal_comma.csv",
        text(sep=";", number=lambda v: f"{v:.4f}".replace(".", ",")),
        says="decimal commas",
    )
    reads(
        "tab_decimal_comma.txt",
        text(sep="\t", number=lambda v: f"{v:.4f}".replace(".", ",")),
        says="decimal commas",
    )
    reads(
        "quoted_decimal_comma.csv",
        text(quote=True, number=lambda v: f"{v:.4f}".replace(".", ",")),
        says="decimal commas",
    )
    reads(
        "german_thousands.csv", text(LARGE, sep=";", number=european), LARGE, says="decimal commas"
    )
    reads(
        "us_thousands_quoted.csv",
        text(LARGE, quote=True, number=lambda v: f"{v:,.2f}"),
        LARGE,
        says="thousands marks",
    )
    reads("us_thousands_tab.txt", text(LARGE, sep="\t", number=lambda v: f"{v:,.2f}"), LARGE)
    reads(
        "swiss_thousands.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "'")),
        LARGE,
    )
    reads(
        "french_spaces.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ",")),
        LARGE,
        says="decimal commas",
    )
    reads(
        "space_thousands.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", " ")),
        LARGE,
    )
    reads("dollar.csv", text(number=lambda v: f"${v:.4f}"), says="currency signs")
    reads("dollar_thousands.csv", text(LARGE, quote=True, number=lambda v: f"${v:,.2f}"), LARGE)
    reads(
        "euro_after.csv",
        text(sep=";", number=lambda v: f"{v:.4f} €".replace(".", ",")),
        says="decimal commas",
    )
    reads("usd_code.csv", text(number=lambda v: f"USD {v:.4f}"))
    reads(
        "percent.csv",
        text(RETURNS, number=lambda v: f"{100 * v:.4f}%"),
        RETURNS,
        says="percentages divided by 100",
    )
    reads(
        "percent_space.csv",
        text(RETURNS, sep=";", number=lambda v: f"{100 * v:.4f} %".replace(".", ",")),
        RETURNS,
        says="percentages",
    )
    reads(
        "parentheses.csv",
        text(RETURNS, number=lambda v: f"({-v:.6f})" if v < 0 else f"{v:.6f}"),
        RETURNS,
    )
    reads(
        "unicode_minus.csv", text(RETURNS, number=lambda v: f"{v:.6f}".replace("-", "−")), RETURNS
    )
    reads(
        "trailing_minus.csv",
        text(RETURNS, number=lambda v: f"{-v:.6f}-" if v < 0 else f"{v:.6f}"),
        RETURNS,
    )
    reads("plus_signs.csv", text(RETURNS, number=lambda v: f"{v:+.6f}"), RETURNS)
    reads("exponents.csv", text(RETURNS, number=lambda v: f"{v:.6e}"), RETURNS)
    reads("all_quoted.csv", text(quote=True))
    reads("sep_line.csv", text(sep=";", above="sep=;\n"))
    reads(
        "quoted_lines.csv",
        "\n".join(f'"{line}"' for line in text().splitlines()),
        says="quotes around whole lines",
    )
    reads(
        "decimal_option.csv",
        text(np.round(PRICES, 3), sep=";", number=lambda v: f"{v:.3f}".replace(".", ",")),
        np.round(PRICES, 3),
        options={"decimal": ","},
    )
    refused(
        "doubtful_comma.csv",
        text(
            np.full((ROWS, 5), 1.234) + np.round(RETURNS, 3),
            sep=";",
            number=lambda v: f"{v:.3f}".replace(".", ","),
        ),
        ["--decimal", "thousand"],
    )
    refused(
        "two_decimal_marks.csv",
        text_cells(with_cells(PRICES, r3c1="400,25"), sep=";"),
        ["decimal point", "decimal comma"],
    )
    refused(
        "comma_in_comma.csv", text(number=lambda v: f"{v:.2f}".replace(".", ",")), ["cells", "';'"]
    )
    refused(
        "mixed_percent.csv",
        text_cells(
            with_cells(RETURNS, r3c1="0.5%"),
        ),
        ["percent sign", "line 5"],
        kind="returns",
    )
    refused(
        "units.csv",
        text_cells(with_cells(LARGE, r3c1="1.2k", r4c1="1.3k")),
        ["line 5, column 'MSFT' is '1.2k'", "without units"],
    )


def encodings_and_formats() -> None:
    """Bytes, endings, archives, workbooks, columnar files."""
    plain = text(names=["Nestlé", *NAMES[1:]])
    latin = ("Nestlé", *NAMES[1:])
    reads("utf8_bom.csv", b"\xef\xbb\xbf" + plain.encode(), names=latin)
    reads("utf16.csv", plain.encode("utf-16"), names=latin, says="UTF-16")
    reads("utf16_tabs.txt", text(sep="\t").encode("utf-16"), says="UTF-16")
    reads("utf16le_nobom.csv", plain.encode("utf-16-le"), names=latin, says="UTF-16")
    reads("latin1.csv", plain.encode("latin-1"), names=latin, says="Latin-1")
    reads("cp1252_euro.csv", text(number=lambda v: f"€{v:.4f}").encode("cp1252"), says="Latin-1")
    reads("UPPER.CSV", text())
    reads("dat_file.dat", text())
    reads("no_ending", text())
    reads("crlf.csv", text(end="\r\n"))
    reads("old_mac.csv", text(end="\r"))
    reads("ctrl_z.csv", text(below="\x1a"))
    reads("gzipped.csv.gz", gzip.compress(text().encode()))
    reads("gzipped_but_csv.csv", gzip.compress(text().encode()))
    reads("zipped.zip", zipped({"prices.csv": text()}))
    reads("book.xlsx", workbook({"Prices": frame()}))
    reads(
        "second_sheet.xlsx",
        workbook({"Empty": pd.DataFrame(), "Prices": frame()}),
        says="sheet 'Prices'",
    )
    reads(
        "chosen_sheet.xlsx",
        workbook({"Other": frame(LARGE), "Prices": frame()}),
        options={"sheet": "Prices"},
    )
    reads("titles.xlsx", workbook({"P": frame()}, startrow=3, startcol=2))
    reads("workbook_named.csv", workbook({"P": frame()}))
    reads(
        "text_dates.xlsx", workbook({"P": frame(index=DAYS.strftime("%d.%m.%Y"))}), says="day first"
    )
    reads(
        "merged_head.xlsx",
        sheet_of(
            [
                ["Prices of five stocks"],
                [],
                ["Date", *NAMES],
                *([d.to_pydatetime(), *map(float, r)] for d, r in zip(DAYS, PRICES, strict=True)),
                ["Average", *PRICES.mean(axis=0).tolist()],
            ]
        ),
        says="below the table left out",
    )
    reads(
        "errors.xlsx",
        sheet_of(
            [
                ["Date", *NAMES],
                *(
                    [d.to_pydatetime(), *(["#N/A", *r[1:].tolist()] if i == 5 else r.tolist())]
                    for i, (d, r) in enumerate(zip(DAYS, PRICES, strict=True))
                ),
            ]
        ),
        holes(PRICES, (5, 0)),
        options={"missing": "pairwise"},
    )
    refused(
        "missing_sheet.xlsx",
        workbook({"Prices": frame()}),
        ["no sheet 'Returns'", "Prices"],
        options={"sheet": "Returns"},
    )
    reads("old.xls", old_workbook())
    reads("table.parquet", _parquet(frame()))
    reads("no_index.parquet", _parquet(frame().reset_index()))
    reads("parquet_named.csv", _parquet(frame()))
    reads("table.feather", _feather(frame().reset_index()))
    reads(
        "date32.parquet", _parquet(frame().reset_index().assign(Date=lambda t: t["Date"].dt.date))
    )
    reads(
        "text_dates.parquet",
        _parquet(frame().reset_index().assign(Date=lambda t: t["Date"].dt.strftime("%Y-%m-%d"))),
    )
    reads("zoned.parquet", _parquet(frame(index=DAYS.tz_localize("Asia/Tokyo"))), says="Asia/Tokyo")
    reads(
        "float32.parquet",
        _parquet(frame().astype(np.float32)),
        PRICES.astype(np.float32).astype(float),
    )
    reads("decimal.parquet", _parquet(_decimals()))
    refused("broken.parquet", b"PAR1 and nothing more", "cannot be read")
    refused("cut.parquet", _parquet(frame())[:500], "cannot be read")
    refused("broken.xlsx", workbook({"P": frame()})[:2000], ["damaged"])
    refused("cut.csv.gz", gzip.compress(text().encode())[:400], "damaged")
    refused("page.xls", "<html><body><table><tr><td>1</td></tr></table></body></html>", "web page")
    refused(
        "error_page.csv",
        "<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head></html>",
        "web page",
    )
    refused("json.csv", '{"AAPL": {"2024-01-02": 1.0}}', "JSON")
    refused("paper.csv", b"%PDF-1.7\n%\xe2\xe3", "PDF")
    refused("pickle.csv", b"\x80\x04\x95\x00\x00\x00\x00", "pickle")
    refused("two_tables.zip", zipped({"a.csv": text(), "b.csv": text()}), "archive with 2 tables")
    refused("binary.csv", bytes(range(256)) * 40, "no text file")
    refused("empty.csv", "", "is empty")
    refused("blank.csv", "\n\n  \n", "is empty")
    refused("only_header.csv", "Date,AAPL,MSFT\n", ["no row of numbers"])
    refused("array.npy", _npy(), "array of numpy")


def _parquet(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    table.to_parquet(out)
    return out.getvalue()


def _feather(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    table.to_feather(out)
    return out.getvalue()


def _decimals() -> pd.DataFrame:
    from decimal import Decimal

    return frame().map(lambda v: Decimal(f"{v:.4f}"))


def _npy() -> bytes:
    out = io.BytesIO()
    np.save(out, PRICES)
    return out.getvalue()


def old_workbook() -> bytes:
    """An .xls file of 1997; without a writer, the same as a new one."""
    try:
        import xlwt
    except ImportError:
        return workbook({"P": frame()})
    book = xlwt.Workbook()
    sheet = book.add_sheet("P")
    style = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for j, name in enumerate(["Date", *NAMES]):
        sheet.write(0, j, name)
    for i, (d, row) in enumerate(zip(DAYS, PRICES, strict=True), 1):
        sheet.write(i, 0, d.to_pydatetime(), style)
        for j, v in enumerate(row, 1):
            sheet.write(i, j, float(v))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def dates() -> None:
    """Dates in every form."""
    for name, form in {
        "iso_slash": "%Y/%m/%d",
        "iso_dots": "%Y.%m.%d",
        "eight": "%Y%m%d",
        "german": "%d.%m.%Y",
        "british": "%d/%m/%Y",
        "american": "%m/%d/%Y",
        "american_short": "%m/%d/%y",
        "dashes": "%d-%m-%Y",
        "day_mon_year": "%d-%b-%Y",
        "day_mon_yy": "%d-%b-%y",
        "day_mon_spaces": "%d %b %Y",
        "long_month": "%d %B %Y",
        "month_comma": '"%B %d, %Y"',
        "weekday": '"%A, %d %B %Y"',
        "iso_time": "%Y-%m-%d 16:00:00",
        "iso_t": "%Y-%m-%dT00:00:00",
        "iso_z": "%Y-%m-%dT00:00:00Z",
        "millis": "%Y-%m-%dT00:00:00.000",
        "american_time": "%m/%d/%Y 4:00 PM",
        "sortable_time": "%Y%m%d 160000",
    }.items():
        reads(f"date_{name}.csv", text(dates=DAYS.strftime(form)))
    reads("date_unpadded.csv", text(dates=[f"{d.month}/{d.day}/{d.year}" for d in DAYS]))
    reads(
        "date_english_mon.csv",
        text(
            dates=[f"{d.day}. {['Jan.', 'Feb.', 'März'][d.month - 1]} {d.year}" for d in DAYS],
            sep=";",
        ),
    )
    reads(
        "date_descending.csv",
        text(PRICES[::-1], dates=DAYS[::-1].strftime("%Y-%m-%d")),
        says="sorted by date",
    )
    reads(
        "date_day_first_by_order.csv",
        text(
            PRICES[:8],
            dates=[
                "28/01/2024",
                "29/01/2024",
                "30/01/2024",
                "31/01/2024",
                "01/02/2024",
                "02/02/2024",
                "03/02/2024",
                "04/02/2024",
            ],
        ),
        PRICES[:8],
        first="2024-01-28",
    )
    reads(
        "date_option.csv",
        text(PRICES[:8], dates=[f"0{i}/02/2024" for i in range(1, 9)]),
        PRICES[:8],
        first="2024-02-01",
        options={"dates": "day-first"},
    )
    refused(
        "date_doubtful.csv",
        text(PRICES[:8], dates=[f"0{i}/02/2024" for i in range(1, 9)]),
        ["month first or day first", "--dates day-first", "line 2"],
    )
    reads(
        "tz_east.csv",
        text(dates=[f"{d:%Y-%m-%d} 00:00:00+09:00" for d in DAYS]),
        says="local clock",
    )
    reads(
        "tz_west.csv",
        text(dates=[f"{d:%Y-%m-%d} 00:00:00-05:00" for d in DAYS]),
        says="local clock",
    )
    reads(
        "tz_mixed.csv",
        text(dates=[f"{d:%Y-%m-%d} 00:00:00-0{5 if d.month < 3 else 4}:00" for d in DAYS]),
        says="local clock",
    )
    reads(
        "tz_utc_eve.csv",
        text(dates=[f"{d - pd.Timedelta('9h'):%Y-%m-%d %H:%M:%S}+00:00" for d in DAYS]),
        says="east of Greenwich",
    )
    reads(
        "tz_naive_eve.csv",
        text(dates=[f"{d - pd.Timedelta('9h'):%Y-%m-%d %H:%M:%S}" for d in DAYS]),
        says="east of Greenwich",
    )
    reads(
        "excel_serials.csv",
        text(dates=[f"{(d - pd.Timestamp('1899-12-30')).days}" for d in DAYS]),
        says="Excel's day numbers",
    )
    reads(
        "excel_serials.xlsx",
        sheet_of(
            [
                ["Date", *NAMES],
                *(
                    [(d - pd.Timestamp("1899-12-30")).days, *r.tolist()]
                    for d, r in zip(DAYS, PRICES, strict=True)
                ),
            ]
        ),
        says="Excel's day numbers",
    )
    reads(
        "epoch_s.csv",
        text(dates=[f"{int(d.timestamp())}" for d in DAYS], corner="timestamp"),
        says="since 1970",
    )
    reads(
        "epoch_ms.csv",
        text(dates=[f"{int(d.timestamp()) * 1000}" for d in DAYS], corner="time"),
        says="since 1970",
    )
    reads(
        "matlab_days.csv",
        text(dates=[f"{(d - pd.Timestamp('1970-01-01')).days + 719529}" for d in DAYS]),
        says="Matlab",
    )
    reads(
        "years.csv",
        text(dates=[str(1960 + i) for i in range(ROWS)], corner="Year"),
        first="1960-12-31",
        says="years",
    )
    reads(
        "years_unnamed.csv",
        text(dates=[str(1960 + i) for i in range(ROWS)], corner=""),
        first="1960-12-31",
        says="years",
    )
    reads(
        "yyyymm.csv",
        text(dates=MONTHS.strftime("%Y%m"), corner="yyyymm"),
        first="1990-01-31",
        says="202412",
    )
    reads(
        "yyyymm_unnamed.csv",
        text(RETURNS, dates=MONTHS.strftime("%Y%m"), corner=""),
        RETURNS,
        first="1990-01-31",
        says="202412",
    )
    reads("yyyymmdd_float.csv", text(dates=[f"{d:%Y%m%d}.0" for d in DAYS]))
    reads("jan_90.csv", text(dates=MONTHS.strftime("%b-%y")), first="1990-01-31")
    reads("jan_1990.csv", text(dates=MONTHS.strftime("%b %Y")), first="1990-01-31")
    reads("1990_01.csv", text(dates=MONTHS.strftime("%Y-%m")), first="1990-01-31")
    reads("1990m1.csv", text(dates=[f"{d.year}M{d.month}" for d in MONTHS]), first="1990-01-31")
    reads(
        "quarters.csv",
        text(dates=[f"{1990 + i // 4}Q{i % 4 + 1}" for i in range(ROWS)]),
        first="1990-03-31",
    )
    reads(
        "quarters_q1.csv",
        text(dates=[f"Q{i % 4 + 1} {1990 + i // 4}" for i in range(ROWS)]),
        first="1990-03-31",
    )
    reads(
        "weeks.csv",
        text(dates=[f"{2023 + i // 52}-W{i % 52 + 1:02d}" for i in range(ROWS)]),
        first="2023-01-06",
    )
    reads(
        "decimal_years.csv",
        text(dates=[f"{1990 + i / 12:.4f}" for i in range(ROWS)], corner="time"),
        first="1990-01-01",
        says="fraction",
    )
    reads(
        "year_month_day.csv",
        text(dates=[f"{d.year},{d.month},{d.day}" for d in DAYS], corner="year,month,day"),
        says="separate columns",
    )
    reads(
        "date_and_time.csv",
        text(dates=[f"{d:%Y-%m-%d},16:00" for d in DAYS], corner="date,time"),
        says="times of day",
    )
    reads(
        "date_last.csv",
        "\n".join(
            [
                ",".join([*NAMES, "Date"]),
                *(
                    ",".join([*(f"{v:.4f}" for v in r), d])
                    for r, d in zip(PRICES, DAYS.strftime("%Y-%m-%d"), strict=True)
                ),
            ]
        ),
    )
    reads(
        "date_middle.csv",
        "\n".join(
            [
                ",".join([NAMES[0], "date", *NAMES[1:]]),
                *(
                    ",".join([f"{r[0]:.4f}", d, *(f"{v:.4f}" for v in r[1:])])
                    for r, d in zip(PRICES, DAYS.strftime("%d.%m.%Y"), strict=True)
                ),
            ]
        ),
    )
    reads("row_numbers.csv", frame().reset_index().to_csv(), says="counts the rows")
    reads(
        "row_numbers_named.csv",
        frame().reset_index().rename_axis("no").to_csv(),
        says="counts the rows",
    )
    reads(
        "row_numbers_only.csv",
        text(dates=map(str, range(1, ROWS + 1)), corner=""),
        first=None,
        says="counts the rows",
    )
    reads(
        "two_dates.csv",
        text(
            dates=[f"{d:%Y-%m-%d},{d + pd.Timedelta('2D'):%Y-%m-%d}" for d in DAYS],
            corner="Date,Settlement",
        ),
        says="dates taken from 'Date'",
    )
    reads(
        "intraday.csv",
        text(
            dates=pd.date_range("2024-01-02 09:00", periods=ROWS, freq="5min").strftime(
                "%Y-%m-%d %H:%M"
            )
        ),
    )
    refused("no_year.csv", text(dates=DAYS.strftime("%d-%b")), ["neither dates nor numbers"])
    refused(
        "mixed_dates.csv",
        text(dates=[f"{d:%m/%d/%Y}" if d.day <= 12 else f"{d:%Y-%m-%d}" for d in DAYS]),
        ["cells are no dates", "line"],
    )
    refused(
        "date_typo.csv",
        text(
            dates=[*DAYS[:10].strftime("%Y-%m-%d"), "2024-13-45", *DAYS[11:].strftime("%Y-%m-%d")]
        ),
        ["2024-13-45", "line 12"],
    )
    refused(
        "date_missing.csv",
        text(dates=[*DAYS[:10].strftime("%Y-%m-%d"), "", *DAYS[11:].strftime("%Y-%m-%d")]),
        ["line 12 has no date"],
    )
    refused(
        "date_twice.csv",
        text(
            dates=[*DAYS[:10].strftime("%Y-%m-%d"), "2024-01-02", *DAYS[11:].strftime("%Y-%m-%d")]
        ),
        ["2024-01-02 occurs more than once", "line 2", "line 12"],
    )
    refused(
        "strange_numbers.csv",
        text(dates=[str(500 + 7 * i) for i in range(ROWS)], corner="date"),
        ["looks like dates"],
    )


def shapes() -> None:
    """Titles, totals, empty parts, long tables, instruments in rows, fields."""
    reads(
        "titles.csv",
        text(above="Prices of five stocks\nSource: a vendor\n\n"),
        says="above the table left out",
    )
    reads(
        "titles_padded.csv",
        text(above="Prices of five stocks,,,,,\n,,,,,\n"),
        says="above the table left out",
    )
    reads(
        "comments.csv", text(above="# exported 2024-04-01\n# by somebody\n"), says="above the table"
    )
    reads(
        "total_row.csv",
        text(below="Total," + ",".join(f"{v:.2f}" for v in PRICES.sum(axis=0)) + "\n"),
        says="below the table left out: 'Total'",
    )
    reads(
        "average_row.csv",
        text(below="\nAverage," + ",".join(f"{v:.2f}" for v in PRICES.mean(axis=0)) + "\n"),
        says="'Average'",
    )
    reads(
        "notes_below.csv",
        text(below="\nSource: a vendor, all rights reserved\n"),
        says="below the table left out",
    )
    reads("empty_rows_below.csv", text(below=",,,,,\n,,,,,\n\n"))
    reads("empty_columns.csv", "\n".join(f"{line},,," for line in text().splitlines()))
    reads("blank_lines.csv", text().replace("\n", "\n\n"))
    reads(
        "repeated_header.csv",
        "\n".join([*text().splitlines()[:31], text().splitlines()[0], *text().splitlines()[31:]]),
        says="repeated row of names",
    )
    reads(
        "units_row.csv",
        text().replace("\n", "\n,USD,USD,USD,USD,USD\n", 1),
        says="names of the columns",
    )
    reads(
        "names_and_tickers.csv",
        "Company,Apple,Microsoft,Exxon,JP Morgan,Coca-Cola\n" + text(),
        says="names of the columns",
    )
    reads(
        "bloomberg.csv",
        text().replace("\n", "\nDates,PX_LAST,PX_LAST,PX_LAST,PX_LAST,PX_LAST\n", 1),
    )
    reads("r_style.csv", text(corner="X").replace("X,", "", 1))
    reads(
        "no_header.csv", text(header=False), names=("1", "2", "3", "4", "5"), says="no names above"
    )
    reads(
        "numbers_as_names.csv",
        text(RETURNS, names=["10107", "14593", "11850", "47896", "11308"]),
        RETURNS,
        names=("10107", "14593", "11850", "47896", "11308"),
    )
    reads(
        "numbers_as_names_no_dates.csv",
        text(RETURNS, names=["10107", "14593", "11850", "47896", "11308"])
        .replace("Date,", "")
        .replace("\n", "\n@")
        .replace("@2024", "@")
        .split("@")[0]
        + "\n".join(",".join(f"{v:.6f}" for v in r) for r in RETURNS),
        RETURNS,
        names=("10107", "14593", "11850", "47896", "11308"),
        first=None,
    )
    reads(
        "names_with_zeros.csv",
        text(names=["000001", "000002", "600000", "600519", "300750"]),
        names=("000001", "000002", "600000", "600519", "300750"),
    )
    reads(
        "quoted_names.csv",
        text(names=['"Apple, Inc."', '"Microsoft"', '"Exxon ""Mobil"""', "JPM", "KO"]),
        names=("Apple, Inc.", "Microsoft", 'Exxon "Mobil"', "JPM", "KO"),
    )
    reads(
        "long_cell.csv", text(names=['"Apple\nInc."', *NAMES[1:]]), names=("Apple Inc.", *NAMES[1:])
    )
    reads(
        "name_na.csv",
        long().replace({"ticker": {"KO": "NA"}}).to_csv(index=False),
        names=("AAPL", "JPM", "MSFT", "NA", "XOM"),
        values=PRICES[:, [0, 3, 1, 4, 2]],
    )
    reads(
        "text_column.csv",
        frame().assign(Currency="USD").to_csv(),
        says="columns of text left out: Currency",
    )
    reads(
        "weekday_column.csv",
        frame().assign(Weekday=DAYS.strftime("%a")).to_csv(),
        says="left out: Weekday",
    )
    reads("empty_instrument.csv", frame().assign(NEW=np.nan).to_csv(), says="without any number")
    by_name = tuple(sorted(NAMES))
    sorted_prices = PRICES[:, [NAMES.index(n) for n in by_name]]
    reads(
        "long.csv",
        long().to_csv(index=False),
        sorted_prices,
        names=by_name,
        says="long table: 300 values of 5 names",
    )
    reads("long.parquet", _parquet(long()), sorted_prices, names=by_name)
    reads(
        "long_shuffled.csv",
        long().sample(frac=1, random_state=0).to_csv(index=False),
        sorted_prices,
        names=by_name,
    )
    reads(
        "long_order.csv",
        long()[["close", "ticker", "Date"]].to_csv(index=False),
        sorted_prices,
        names=by_name,
    )
    reads(
        "long_numbered.csv", long().to_csv(), sorted_prices, names=by_name, says="counts the rows"
    )
    reads(
        "long_currency.csv",
        long(currency="USD").to_csv(index=False),
        sorted_prices,
        names=by_name,
        says="columns left out: currency",
    )
    ohlc = long(open=1.0, high=2.0, low=0.5, volume=1000)[
        ["Date", "ticker", "open", "high", "low", "close", "volume"]
    ]
    reads(
        "long_ohlc.csv",
        ohlc.to_csv(index=False),
        sorted_prices,
        names=by_name,
        says="'close' by 'ticker'",
    )
    reads(
        "long_adj.csv",
        ohlc.rename(columns={"close": "Adj Close", "open": "Close"}).to_csv(index=False),
        sorted_prices,
        names=by_name,
        says="'Adj Close'",
    )
    reads(
        "long_option.csv",
        long(bid=1.0, ask=2.0).rename(columns={"close": "px"}).to_csv(index=False),
        sorted_prices,
        names=by_name,
        options={"columns": "Date,ticker,px"},
    )
    reads(
        "long_decimal_comma.csv",
        long().to_csv(index=False, sep=";", decimal=","),
        sorted_prices,
        names=by_name,
        says="decimal commas",
    )
    reads(
        "long_permno.csv",
        long()
        .assign(
            permno=lambda t: t["ticker"].map(dict(zip(NAMES, range(10001, 10006), strict=True)))
        )
        .drop(columns="ticker")
        .to_csv(index=False),
        PRICES,
        names=tuple(map(str, range(10001, 10006))),
    )
    reads(
        "long_crsp.csv",
        long(RETURNS)
        .rename(columns={"close": "RET", "Date": "date"})
        .assign(PRC=5.0, SHROUT=100)
        .to_csv(index=False),
        RETURNS[:, [NAMES.index(n) for n in by_name]],
        names=by_name,
        says="'RET'",
        kind="returns",
    )
    reads(
        "long_twice_equal.csv",
        pd.concat([long(), long().iloc[:3]]).to_csv(index=False),
        sorted_prices,
        names=by_name,
        says="counted once",
    )
    reads("long.xlsx", workbook({"L": long()}, index=False), sorted_prices, names=by_name)
    refused(
        "long_many_values.csv",
        long(pe=10.0, beta=1.0).rename(columns={"close": "foo"}).to_csv(index=False),
        ["several columns of numbers", "--columns"],
    )
    refused(
        "long_twice.csv",
        pd.concat([long(), long(PRICES + 1).iloc[:3]]).to_csv(index=False),
        ["several values on 2024-01-02"],
    )
    refused(
        "long_text.csv",
        long()
        .astype({"close": object})
        .assign(close=lambda t: ["?!"] + [str(v) for v in t["close"][1:]])
        .to_csv(index=False),
        ["line 2 is '?!'"],
    )
    refused(
        "long_bad_option.csv",
        long().to_csv(index=False),
        ["no column 'price'"],
        options={"columns": "Date,ticker,price"},
    )
    reads(
        "instruments_in_rows.csv",
        frame().T.rename_axis("ticker").to_csv(),
        says="instruments in rows",
    )
    reads(
        "instruments_in_rows_dots.csv",
        frame(index=DAYS.strftime("%d.%m.%Y")).T.rename_axis("ticker").to_csv(sep=";"),
        says="instruments in rows",
    )
    reads(
        "instruments_in_rows_currency.csv",
        frame().T.rename_axis("ticker").assign(currency="USD").to_csv(),
        says="instruments in rows",
    )
    reads(
        "instruments_in_rows.xlsx",
        workbook({"P": frame(index=DAYS.strftime("%Y-%m-%d")).T}),
        says="instruments in rows",
    )
    fields = {
        f: frame(PRICES + shift)
        for f, shift in (
            ("Close", 0.0),
            ("High", 1.0),
            ("Low", -1.0),
            ("Open", 0.5),
            ("Volume", 1e6),
        )
    }
    wide = pd.concat(fields, axis=1, names=["Price", "Ticker"])
    reads("yfinance.csv", wide.to_csv(), says="'close' was taken")
    reads(
        "yfinance_adj.csv",
        pd.concat(
            {**fields, "Close": frame(PRICES * 2), "Adj Close": frame()},
            axis=1,
            names=["Price", "Ticker"],
        ).to_csv(),
        says="'adj close' was taken",
    )
    reads(
        "yfinance_by_ticker.csv",
        wide.swaplevel(axis=1).sort_index(axis=1).to_csv(),
        sorted_prices,
        names=by_name,
        says="'close' was taken",
    )
    reads("yfinance.parquet", _parquet(wide), says="'close' was taken")
    reads(
        "joined_names.csv",
        wide.set_axis([f"{t}_{f}" for f, t in wide.columns], axis=1).to_csv(),
        says="'close' was taken",
    )
    reads(
        "joined_before.csv",
        wide.set_axis([f"{f} {t}" for f, t in wide.columns], axis=1).to_csv(),
        says="'close' was taken",
    )
    refused(
        "one_stock.csv",
        pd.concat({f: t["AAPL"] for f, t in fields.items()}, axis=1).to_csv(),
        ["fields of one instrument"],
    )
    refused("one_column.csv", frame()[["AAPL"]].to_csv(), ["instruments"])
    refused(
        "date_each.csv",
        pd.concat(
            [
                frame().reset_index()[["Date", n]].rename(columns={"Date": f"Date{j}"})
                for j, n in enumerate(NAMES)
            ],
            axis=1,
        ).to_csv(index=False),
        ["columns of dates, one for each instrument"],
    )
    reads(
        "stacked_tables.csv",
        text(
            RETURNS,
            above="  Average Value Weighted Returns -- Monthly\n",
            dates=MONTHS.strftime("%Y%m"),
            corner="",
        )
        + "\n  Average Equal Weighted Returns -- Monthly\n"
        + text(RETURNS * 2, dates=MONTHS.strftime("%Y%m"), corner=""),
        RETURNS,
        first="1990-01-31",
        says="several tables",
    )
    refused(
        "ragged.csv",
        "\n".join(line if i != 7 else line + ",9,9" for i, line in enumerate(text().splitlines())),
        ["line 8 has 8 cells", "header has 6"],
    )
    refused("cut_line.csv", text()[:-25], ["cut off"])
    refused(
        "short_line.csv",
        "\n".join(
            line if i != 7 else line.rsplit(",", 2)[0] for i, line in enumerate(text().splitlines())
        ),
        ["line 8 has 4 cells"],
    )
    refused("unclosed_quote.csv", text().replace("2024-01-10", '"2024-01-10', 1), ["quote"])
    refused(
        "duplicate_names.csv",
        text(names=["AAPL", "MSFT", "AAPL", "JPM", "KO"]),
        ["'AAPL' occurs in columns"],
    )
    refused("unnamed_column.csv", text(names=["AAPL", "", "XOM", "JPM", "KO"]), ["has no name"])
    refused(
        "bad_cells.csv",
        text_cells(
            with_cells(
                PRICES,
                r1c0="abc",
                r2c1="err",
                r3c2="x9",
                r4c3="oops",
                r5c4="zz",
                r6c0="q",
                r7c1="w",
            )
        ),
        ["line 3, column 'AAPL' is 'abc'", "and 2 more cells"],
    )
    refused(
        "spreadsheet_dates.csv",
        text_cells(with_cells(PRICES, r3c1="02-Jan-2024")),
        ["'02-Jan-2024'", "dates"],
    )
    reads(
        "drop_option.csv",
        text_cells(with_cells(np.c_[PRICES, PRICES[:, 0]], r3c5="bad"), names=[*NAMES, "EXTRA"]),
        options={"drop": "EXTRA"},
    )


def missing_numbers() -> None:
    """Missing cells in every spelling, and policies."""
    gaps = holes(PRICES, (3, 1), (4, 1), (20, 3))
    for name, word in {
        "empty": "", "na": "NA", "n_a": "n/a", "hash_na": "#N/A", "bloomberg": "#N/A N/A",
        "nan": "NaN",
        "null": "null", "dash": "-", "dots": "..", "dot": ".", "div": "#DIV/0!",
        "requesting": "#N/A Requesting Data...",
        "none": "None", "german_nv": "#NV", "spaces": "   ", "ind": "1.#IND",
    }.items():  # fmt: skip
        reads(
            f"gap_{name}.csv",
            text_cells(with_cells(PRICES, r3c1=word, r4c1=word, r20c3=word)),
            gaps,
            options={"missing": "pairwise"},
        )
    refused(
        "gap_policy.csv",
        text_cells(with_cells(PRICES, r3c1="", r4c1="")),
        ["2 of 300 numbers are missing", "line 5", "--missing drop-columns"],
    )
    reads(
        "gap_sentinel.csv",
        text_cells(with_cells(RETURNS, r3c1="-99.99", r9c2="-99.99")),
        holes(RETURNS, (3, 1), (9, 2)),
        kind="returns",
        says="-99.99 taken as missing",
        options={"missing": "pairwise"},
    )
    reads(
        "gap_999.csv",
        text_cells(with_cells(PRICES, r3c1="-999")),
        holes(PRICES, (3, 1)),
        says="-999 taken as missing",
        options={"missing": "pairwise"},
    )
    reads(
        "holiday_row.csv",
        text_cells([[""] * 5 if i == 10 else row for i, row in enumerate(with_cells(PRICES))]),
        np.delete(PRICES, 10, axis=0),
        says="1 row without any number",
    )
    reads(
        "from_to.csv",
        text(),
        PRICES[8:30],
        first="2024-01-12",
        options={"start": "2024-01-12", "end": DAYS[29].strftime("%Y-%m-%d")},
    )
    reads(
        "from_month.csv",
        text(),
        PRICES[DAYS >= "2024-02"],
        first="2024-02-01",
        options={"start": "2024-02"},
    )
    refused(
        "from_nowhere.csv", text(), ["no row is between", "2024-01-02"], options={"start": "2030"}
    )
    refused("from_nonsense.csv", text(), ["got 'soon'", "2015-06-30"], options={"start": "soon"})


def wrong_kinds() -> None:
    """Prices that are returns, returns that are prices, levels among returns, probable errors."""
    refused("prices_as_returns.csv", text(), ["not returns", "--prices"], kind="returns")
    refused("returns_as_prices.csv", text(RETURNS), ["not a price", "--returns"])
    refused("gross_as_prices.csv", text(1 + RETURNS), ["does not hold prices", "--returns"])
    refused("gross_as_returns.csv", text(1 + RETURNS), ["not returns"], kind="returns")
    refused(
        "level_among_returns.csv",
        text(np.c_[RETURNS, np.linspace(15, 20, ROWS) + RETURNS[:, 0]], names=[*NAMES, "VIX"]),
        ["'VIX'", "--drop VIX"],
        kind="returns",
    )
    refused(
        "zero_price.csv",
        text_cells(with_cells(PRICES, r3c1="0")),
        ["line 5 (2024-01-05), column 'MSFT' is 0, which is not a price"],
    )
    refused("infinite.csv", text_cells(with_cells(PRICES, r3c1="inf")), ["is infinite"])
    reads("auto_prices.csv", text(), kind="auto", says="taken as prices")
    reads("auto_returns.csv", text(RETURNS), RETURNS, kind="auto", says="taken as returns")
    refused(
        "auto_unclear.csv",
        text(np.abs(RNG.normal(size=(ROWS, 5)))),
        ["--prices, --returns or --values"],
        kind="auto",
    )
    levels = np.round(np.abs(RNG.normal(size=(ROWS, 5))) * 100, 3)
    reads("values.csv", text(levels), levels, kind="values")
    reads("values_smooth.csv", text(), kind="values", values=PRICES)
    split = PRICES.copy()
    split[40:, 1] /= 2
    reads("split.csv", text(split), split, says=("MSFT", "split 2:1"))
    finger = PRICES.copy()
    finger[25, 2] *= 10
    reads("fat_finger.csv", text(finger), finger, says=("XOM", "jump and back"))
    refused(
        "split_error.csv",
        text(split),
        ["MSFT 2024-02-27 (split 2:1)", "--jumps mask"],
        options={"jumps": "error"},
    )
    stale = PRICES.copy()
    stale[15:35, 4] = stale[15, 4]
    reads(
        "stale.csv",
        text(stale),
        stale,
        says="1 stretch of 1 instrument without any change, the longest 19 rows of KO",
    )
    gap_days = [*DAYS[:30], *(DAYS[30:] + pd.Timedelta("200D"))]
    reads(
        "gap_in_dates.csv",
        text(dates=[d.strftime("%Y-%m-%d") for d in gap_days]),
        says="1 gap in the dates",
    )
    refused(
        "matrix_as_prices.csv",
        pd.DataFrame(S, NAMES, NAMES).to_csv(),
        ["it is a matrix", "--matrix"],
    )
    refused("constant.csv", text(np.full((ROWS, 5), 3.0)), ["instruments are left"])
    refused(
        "three_rows.csv", text(PRICES[:3], dates=DAYS[:3].strftime("%Y-%m-%d")), ["2 observations"]
    )


def matrices() -> None:
    """Matrices, and what is taken for one by mistake."""
    plain = pd.DataFrame(S, NAMES, NAMES)
    lower = pd.DataFrame(np.where(np.tri(5, dtype=bool), S, np.nan), NAMES, NAMES)
    kind: dict[str, Any] = {"kind": "matrix", "first": None}
    reads("S.csv", plain.to_csv(), S, **kind)
    reads("S_semicolon.csv", plain.to_csv(sep=";", decimal=","), S, **kind)
    reads("S_lower.csv", lower.to_csv(), S, **kind)
    reads("S_upper.csv", lower.T.to_csv(), S, **kind)
    reads("S_reordered.csv", plain[NAMES[::-1]].to_csv(), S, **kind)
    reads("S_r.csv", plain.to_csv().replace(",", "", 1), S, **kind)
    reads(
        "S_unnamed.csv",
        plain.to_csv(header=False, index=False),
        S,
        kind="matrix",
        first=None,
        names=(),
    )
    reads("S_header_only.csv", plain.to_csv(index=False), S, **kind)
    reads("S.xlsx", workbook({"S": plain}), S, **kind)
    reads("S.parquet", _parquet(plain), S, **kind)
    reads("S_title.csv", "Correlation of five stocks\n\n" + plain.to_csv(), S, **kind)
    reads(
        "S_numbers.csv",
        plain.set_axis(list("12345"), axis=0).set_axis(list("12345"), axis=1).to_csv(),
        S,
        kind="matrix",
        first=None,
        names=tuple("12345"),
    )
    signed = S * np.where(np.arange(5) % 2, -1, 1)[:, None] * np.where(np.arange(5) % 2, -1, 1)
    reads(
        "S_signed.csv",
        pd.DataFrame(signed, NAMES, NAMES).to_csv(),
        S,
        says="absolute values",
        **kind,
    )
    distance = np.sqrt(2 * (1 - S))
    refused(
        "S_distance.csv",
        pd.DataFrame(distance, NAMES, NAMES).to_csv(),
        ["distances", "--diagonal"],
        kind="matrix",
    )
    refused(
        "S_dissimilarity.csv",
        pd.DataFrame(1.2 - S, NAMES, NAMES).to_csv(),
        ["distances"],
        kind="matrix",
    )
    scales = np.array([0.01, 0.02, 0.03, 0.015, 0.008])
    refused(
        "S_covariance.csv",
        pd.DataFrame(S * np.outer(scales, scales), NAMES, NAMES).to_csv(),
        ["covariance", "--diagonal unit"],
        kind="matrix",
    )
    reads(
        "S_covariance_unit.csv",
        pd.DataFrame(S * np.outer(scales, scales), NAMES, NAMES).to_csv(),
        S,
        options={"diagonal": "unit"},
        says="unit diagonal",
        **kind,
    )
    refused(
        "S_asymmetric.csv",
        pd.DataFrame(S + np.triu(np.full((5, 5), 0.1), 1), NAMES, NAMES).to_csv(),
        ["not symmetric"],
        kind="matrix",
    )
    refused(
        "S_gap.csv",
        plain.mask(np.eye(5, k=1).astype(bool)).to_csv(),
        ["'AAPL'", "'MSFT'"],
        kind="matrix",
    )
    refused("S_table.csv", text(), ["no square matrix", "--prices"], kind="matrix")
    refused(
        "S_text.csv",
        plain.astype(object).replace({S[0, 1]: "high"}).to_csv(),
        ["is 'high', not a number"],
        kind="matrix",
    )


def sectors() -> None:
    """Files of classes."""
    rows = list(zip(NAMES, ["tech", "tech", "energy", "banks", "food"], strict=True))
    kind: dict[str, Any] = {"kind": "classes", "first": None}
    values = np.zeros(0)
    reads("sectors.csv", "ticker,sector\n" + "\n".join(map(",".join, rows)), values, **kind)
    reads(
        "sectors_reversed.csv",
        "sector,ticker\n" + "\n".join(f"{b},{a}" for a, b in rows),
        values,
        **kind,
    )
    reads(
        "sectors_more.csv",
        "id,name,GICS Sector,ticker\n"
        + "\n".join(f"{i},Company {i},{b},{a}" for i, (a, b) in enumerate(rows)),
        values,
        **kind,
    )
    reads(
        "sectors_semicolon.csv", "ticker;sector\n" + "\n".join(map(";".join, rows)), values, **kind
    )
    reads(
        "sectors.parquet",
        _parquet(pd.DataFrame(rows, columns=["ticker", "sector"])),
        values,
        **kind,
    )
    reads(
        "sectors.xlsx",
        workbook({"S": pd.DataFrame(rows, columns=["ticker", "sector"])}, index=False),
        values,
        **kind,
    )
    reads(
        "sectors_latin1.csv",
        ("ticker,sector\n" + "\n".join(map(",".join, rows)).replace("food", "café")).encode(
            "latin-1"
        ),
        values,
        **kind,
    )
    reads(
        "sectors_empty.csv",
        "ticker,sector\n" + "\n".join(map(",".join, rows)) + "\nGE,\n",
        values,
        says="1 name has an empty class",
        **kind,
    )
    refused(
        "sectors_twice.csv",
        "ticker,sector\n" + "\n".join(map(",".join, rows)) + "\nKO,drinks\n",
        ["line 7 gives 'KO' a second class"],
        kind="classes",
    )
    refused("sectors_one_column.csv", "ticker\n" + "\n".join(NAMES), ["1 column"], kind="classes")
    refused(
        "sectors_none.csv", "ticker,sector\nAAPL,\nKO,\n", ["gives no name a class"], kind="classes"
    )


def build() -> list[Case]:
    """All cases; the same ones every time."""
    if not CASES:
        for part in (
            separators_and_marks,
            encodings_and_formats,
            dates,
            shapes,
            missing_numbers,
            wrong_kinds,
            matrices,
            sectors,
        ):
            part()
    return CASES


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in build():
        (folder / case.name).write_bytes(case.content)
    print(f"{len(CASES)} files in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
