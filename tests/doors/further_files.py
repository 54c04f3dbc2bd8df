"""Further files of the corpus: exports of vendors, agencies and spreadsheets of many countries."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
from typing import Any

import numpy as np
import pandas as pd
from corpus import (
    DAYS,
    LARGE,
    MONTHS,
    NAMES,
    PRICES,
    RETURNS,
    ROWS,
    Case,
    S,
    _feather,
    _parquet,
    built,
    european,
    frame,
    long,
    reads,
    refused,
    text,
    text_cells,
    with_cells,
    workbook,
    zipped,
)

ISO = list(DAYS.strftime("%Y-%m-%d"))
BY_NAME = tuple(sorted(NAMES))
SORTED = PRICES[:, [NAMES.index(n) for n in BY_NAME]]
AUTO: dict[str, Any] = {"kind": "auto"}


def comma(v: float) -> str:
    """172,9120."""
    return f"{v:.4f}".replace(".", ",")


def vendors() -> None:
    """Bloomberg, Refinitiv, Datastream, Stooq, FRED, Kenneth French, the World Bank."""
    equity = tuple(f"{n} US Equity" for n in NAMES)
    body = text(header=False)
    reads(
        "bloomberg_excel.csv",
        "Start Date,1/2/2024,,,,\nEnd Date,3/25/2024,,,,\n,,,,,\n,"
        + ",".join(equity)
        + "\nDates"
        + ",PX_LAST" * 5
        + "\n"
        + text(header=False, dates=DAYS.strftime("%-m/%-d/%Y")),
        names=equity,
        **AUTO,
    )
    pairs = "\n".join(
        f"{d}," + ",".join(f"{v:.4f},{1000 * i + j}" for j, v in enumerate(r))
        for i, (d, r) in enumerate(zip(ISO, PRICES, strict=True))
    )
    reads(
        "bloomberg_two_fields.csv",
        "," + ",,".join(equity) + ",\nDates" + ",PX_LAST,PX_VOLUME" * 5 + "\n" + pairs,
        names=equity,
        says="'px last' was taken",
        **AUTO,
    )
    rows = [f"{n}.O,{d}T00:00:00Z,{v:.4f}" for n, c in zip(NAMES, PRICES.T, strict=True)
            for d, v in zip(ISO, c, strict=True)]  # fmt: skip
    reads(
        "refinitiv.csv",
        "Instrument,Date,Price Close\n" + "\n".join(rows),
        SORTED,
        names=tuple(f"{n}.O" for n in BY_NAME),
        **AUTO,
    )
    reads(
        "datastream.csv",
        "Name,APPLE,MICROSOFT,EXXON,JPM,KO\nCode,@AAPL,@MSFT,U:XOM,U:JPM,U:KO\n"
        "CURRENCY,U$,U$,U$,U$,U$\n" + text(header=False, dates=DAYS.strftime("%d/%m/%Y")),
        names=("@AAPL", "@MSFT", "U:XOM", "U:JPM", "U:KO"),
        says="names of the columns taken from line 2",
        **AUTO,
    )
    rows = [f"{n}.US,D,{d.replace('-', '')},000000,{v:.4f},{v + 1:.4f},{v - 1:.4f},{v:.4f},9,0"
            for n, c in zip(NAMES, PRICES.T, strict=True)
            for d, v in zip(ISO, c, strict=True)]  # fmt: skip
    reads(
        "stooq.txt",
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n"
        + "\n".join(rows),
        SORTED,
        names=tuple(f"{n}.US" for n in BY_NAME),
        says="'<CLOSE>' by '<TICKER>'",
        **AUTO,
    )
    refused(
        "stooq_polish.csv",
        text(corner="Data", names=["Otwarcie", "Najwyzszy", "Najnizszy", "Zamkniecie", "Wolumen"]),
        ["fields of one instrument"],
        **AUTO,
    )
    refused(
        "ohlc_german.csv",
        text(corner="Datum", names=["Eröffnung", "Hoch", "Tief", "Schluss", "Volumen"]),
        ["fields of one instrument"],
        **AUTO,
    )
    gap = with_cells(PRICES, **{f"r5c{j}": "." for j in range(5)})
    reads(
        "fred.csv",
        text_cells(gap, corner="observation_date"),
        np.delete(PRICES, 5, axis=0),
        says="1 row without any number",
        **AUTO,
    )
    percent = np.round(100 * RETURNS, 2)
    industries = ("NoDur", "Durbl", "Manuf", "Enrgy", "HiTec")
    head = "," + ",".join(industries) + "\n"

    def block(values: np.ndarray, dates: Any) -> str:
        return head + text(values, header=False, dates=dates, number=lambda v: f"{v:7.2f}")

    reads(
        "french_daily.csv",
        "This file was created by CMPT_IND_RETS using the 202401 CRSP database.\n"
        "Missing data are indicated by -99.99 or -999.\n\n\n  Value Weighted Returns -- Daily\n"
        + block(percent, DAYS.strftime("%Y%m%d"))
        + "\n\n  Equal Weighted Returns -- Daily\n"
        + block(2 * percent, DAYS.strftime("%Y%m%d"))
        + "\n\nCopyright 2024 Kenneth R. French\n",
        percent,
        names=industries,
        says="several tables",
        **AUTO,
    )
    reads(
        "french_factors.csv",
        ",Mkt-RF,SMB,HML,RMW,RF\n"
        + text(
            np.c_[percent[:, :4], np.full(ROWS, 0.022)],
            header=False,
            dates=DAYS.strftime("%Y%m%d"),
        ),
        percent[:, :4],
        names=("Mkt-RF", "SMB", "HML", "RMW"),
        says="without any change left out: RF",
        **AUTO,
    )
    bank = frame(index=[str(1960 + i) for i in range(ROWS)]).T
    bank.insert(0, "Country Code", NAMES)
    bank.insert(1, "Indicator Name", "GDP")
    reads(
        "world_bank.csv",
        '"Data Source","World Development Indicators",\n\n"Last Updated","2024-03-28",\n\n'
        + bank.rename_axis("Country Name").to_csv(),
        first="1960-12-31",
        says="instruments in rows",
        **AUTO,
    )
    rows = [f"USGS\t0{j + 1}646500\t{d}\t{v:.4f}\tA" for j, c in enumerate(PRICES.T)
            for d, v in zip(ISO, c, strict=True)]  # fmt: skip
    reads(
        "usgs.rdb",
        "# US Geological Survey\n#\nagency_cd\tsite_no\tdatetime\t12345_00060_00003\tcode\n"
        "5s\t15s\t20d\t14n\t10s\n" + "\n".join(rows),
        names=tuple(f"0{j + 1}646500" for j in range(5)),
        kind="values",
    )
    refused(
        "noaa.csv",
        "STATION,NAME,DATE,PRCP,TMAX\n"
        + "\n".join(
            f'U{j},"CITY {j}, US",{d},{j},{i}' for j in range(5) for i, d in enumerate(ISO)
        ),
        ["several columns of numbers", "--columns DATE,NAME,PRCP"],
        kind="values",
    )
    crsp = [f"{10000 + j},{d},{n},{v if i % 7 else -v:.4f}" for j, n in enumerate(NAMES)
            for i, (d, v) in enumerate(zip(ISO, PRICES[:, j], strict=True))]  # fmt: skip
    refused(
        "crsp_minus.csv",
        "PERMNO,date,TICKER,PRC\n" + "\n".join(crsp),
        ["not a price (45 such cells)", "bid and ask"],
        **AUTO,
    )
    refused("prices_as_sectors.csv", text(), ["dates and numbers"], kind="classes")
    refused("lfs.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 5\n", "LFS")
    refused("hits_limit.csv", "Exceeded the daily hits limit", ["one column", "Exceeded the daily"])
    refused("not_found.csv", "404: Not Found", ["one column", "404: Not Found"])
    refused("array.json", "[[1.0, 2.0], [3.0, 4.0]]", "JSON")
    reads("hash_header.csv", "#" + text(), **AUTO)
    reads("names_row.csv", text().replace("\n", "\nName,A,B,C,D,E\n", 1), says="line 1", **AUTO)
    refused("header_short.csv", text().replace(",KO", "", 1), ["header has 5", "no name"], **AUTO)
    reads(
        "volumes.csv",
        text(LARGE, names=[f"{n} Volume" for n in NAMES]),
        LARGE,
        names=tuple(f"{n} Volume" for n in NAMES),
        says="called 'volume'",
        **AUTO,
    )
    reads(
        "same_twice.csv",
        text(np.c_[PRICES, PRICES[:, 0]], names=[*NAMES, "AAPL.1"]),
        np.c_[PRICES, PRICES[:, 0]],
        names=(*NAMES, "AAPL.1"),
        says="the same numbers as another one: AAPL.1 (as AAPL)",
        **AUTO,
    )
    reads("no_names.csv", body, names=tuple("12345"), says="by their place", **AUTO)


def calendars() -> None:
    """Dates of many countries and agencies."""
    sas = [f"{d:%d%b%Y}:00:00:00".upper() for d in DAYS]
    reads("sas_datetime20.csv", text(dates=sas, corner="DATE"))
    weeks = [f"{2021 + i // 52}{i % 52 + 1:02d}" for i in range(len(DAYS))]
    words = ["'Week'", "in no known form", "2024-12-31"]
    refused("week_numbers.csv", text(dates=weeks, corner="Week"), words)
    months = {
        "spanish": (["enero", "febrero", "marzo"], "{d} de {m} de {y}"),
        "french": (["janvier", "février", "mars"], "{d} {m} {y}"),
        "italian": (["gen", "feb", "mar"], "{d:02d}-{m}-{s}"),
        "polish": (["stycznia", "lutego", "marca"], "{d} {m} {y}"),
        "czech": (["ledna", "února", "března"], "{d}. {m} {y}"),
        "swedish": (["januari", "februari", "mars"], "{d} {m} {y}"),
        "turkish": (["Ocak", "Şubat", "Mart"], "{d} {m} {y}"),
        "russian": (["января", "февраля", "марта"], "{d} {m} {y}"),
        "finnish": (["tammikuu", "helmikuu", "maaliskuu"], "{d}. {m} {y}"),
        "dutch": (["jan", "feb", "mrt"], "{m}-{d:02d}-{y}"),
    }
    for language, (words, form) in months.items():
        cells = [form.format(d=d.day, m=words[d.month - 1], y=d.year, s=d.year % 100) for d in DAYS]
        reads(f"months_{language}.csv", text(sep=";", dates=cells), **AUTO)
    days = {
        "japanese": "{0.year}年{0.month}月{0.day}日",
        "korean": "{0.year}년 {0.month}월 {0.day}일",
        "hungarian": "{0.year}. {0.month:02d}. {0.day:02d}.",
        "czech_numbers": "{0.day}. {0.month}. {0.year}",
        "year_day": "{0.year}-{0.day_of_year:03d}",
        "seven": "{0.year}{0.day_of_year:03d}",
    }
    for name, form in days.items():
        reads(f"days_{name}.csv", text(dates=[form.format(d) for d in DAYS]), **AUTO)
    weeks = [d.isocalendar() for d in DAYS]
    reads("week_day.csv", text(dates=[f"{w[0]}-W{w[1]:02d}-{w[2]}" for w in weeks]), **AUTO)
    reads("week_basic.csv", text(dates=[f"{w[0]}W{w[1]:02d}{w[2]}" for w in weeks]), **AUTO)
    for name, form in {
        "kw": "KW {w}/{y}", "w_first": "W{w:02d}-{y}", "columns": "{y},{w}",
    }.items():  # fmt: skip
        cells = [form.format(w=i % 52 + 1, y=2022 + i // 52) for i in range(ROWS)]
        corner = "Year,Week" if name == "columns" else "Week"
        reads(f"week_{name}.csv", text(dates=cells, corner=corner), first="2022-01-07", **AUTO)
    for name, form in {
        "roman": "{r}/{y}", "quartal": "{q}. Quartal {y}", "trimestre": "T{q} {y}",
        "short": "{q}Q{s:02d}", "dash": "{y}-Q{q}", "columns": "{y},{q}", "words": "{y},Q{q}",
    }.items():  # fmt: skip
        cells = [
            form.format(r=["I", "II", "III", "IV"][i % 4], q=i % 4 + 1, y=y, s=y % 100)
            for i in range(ROWS)
            for y in [1990 + i // 4]
        ]
        corner = "Year,Quarter" if "," in form else "Period"
        reads(f"quarter_{name}.csv", text(dates=cells, corner=corner), first="1990-03-31", **AUTO)
    for name, form in {"h": "{y}H{h}", "s": "S{h} {y}"}.items():
        cells = [form.format(y=1980 + i // 2, h=i % 2 + 1) for i in range(ROWS)]
        reads(f"half_year_{name}.csv", text(dates=cells), first="1980-06-30", **AUTO)
    reads(
        "year_month_words.csv",
        text(dates=[f"{d.year},{d:%b}" for d in MONTHS], corner="Year,Month"),
        first="1990-01-31",
        says="separate columns of year, month",
        **AUTO,
    )
    first = {"first": "1990-01-01", **AUTO}
    reads(
        "first_of_month.csv",
        text(dates=[f"01/{d.month:02d}/{d.year}" for d in MONTHS]),
        says="day first",
        **first,
    )
    reads(
        "first_of_month_us.csv",
        text(dates=[f"{d.month:02d}/01/{d.year}" for d in MONTHS]),
        says="month first",
        **first,
    )
    refused("same_day.csv", text(dates=[f"01/02/{1960 + i}" for i in range(ROWS)]), "month first")
    for name, start, freq in (
        ("1950", "1950-01-31", "ME"),
        ("1967", "1967-01-02", "B"),
        ("1995", "1995-01-31", "QE"),
    ):
        stamps = pd.date_range(start, periods=ROWS, freq=freq)
        span = f"years of two digits read as {stamps[0].year} to {stamps[-1].year}"
        cells = stamps.strftime("%d-%b-%y")
        reads(f"two_digits_{name}.csv", text(dates=cells), first=start, says=span, **AUTO)
    century = pd.date_range("1926-01-31", periods=1200, freq="ME")
    walk = np.round(100 * np.exp(np.cumsum(np.tile(RETURNS, (20, 1)), axis=0)), 6)
    reads(
        "two_digits_century.csv",
        text(walk, dates=century.strftime("%b-%y")),
        walk,
        first="1926-01-31",
        says="years of two digits read as 1926 to 2025",
        **AUTO,
    )
    reads(
        "julian.csv",
        text(dates=[f"{d.to_julian_date():.1f}" for d in DAYS], corner="JD"),
        says="Julian days",
        **AUTO,
    )
    refused(
        "epoch_short.csv",
        text(dates=[f"{d.timestamp() * 1000:.5e}" for d in DAYS], corner="timestamp"),
        ["digits are lost"],
        **AUTO,
    )
    reads(
        "count_halves.csv",
        text(dates=[f"{i / 2}" for i in range(ROWS)], corner=""),
        first=None,
        says="counts the rows",
        **AUTO,
    )
    hours = [(DAYS[0] + pd.Timedelta(i // 24, "D"), i % 24) for i in range(ROWS)]
    for name, form, corner in (
        ("hour", "{d:%Y-%m-%d},{h}", "Date,Hour"),
        ("hhmm", "{d:%Y%m%d},{h:02d}00", "DATE,HHMM"),
        ("hhmmss", "{d:%Y%m%d},{h:02d}0000", "<DATE>,<TIME>"),
        ("ending", "{d:%m/%d/%Y} {e:02d}:00", "Date"),
    ):
        cells = [form.format(d=d, h=h, e=h + 1) for d, h in hours]
        reads(f"hours_{name}.csv", text(RETURNS, dates=cells, corner=corner), RETURNS, **AUTO)
    ticks = pd.date_range("2024-01-02 09:30", periods=ROWS, freq="250ms")
    reads("ticks.csv", text(RETURNS, dates=[str(t)[:23] for t in ticks]), RETURNS, **AUTO)
    autumn = pd.date_range("2024-11-02 20:00", periods=ROWS, freq="30min", tz="America/New_York")
    refused(
        "clock_goes_back.csv",
        text(RETURNS, dates=[f"{t:%Y-%m-%d %H:%M}" for t in autumn]),
        ["2024-11-03 01:00:00 occurs more than once"],
        **AUTO,
    )


def numbers() -> None:
    """Numbers of accountants, Indians, Fortran and spreadsheets."""
    million = np.round(RETURNS * 1e6)
    lakh = np.round(LARGE * 100)

    def indian(v: float) -> str:
        whole = f"{v:.0f}"
        return re.sub(r"(?<=\d)(?=(\d\d)+$)", ",", whole[:-3]) + "," + whole[-3:] + ".00"

    returns: dict[str, tuple[np.ndarray, Any]] = {
        "dollar_parentheses": (million, lambda v: f"$ ({-v:,.2f})" if v < 0 else f"$ {v:,.2f} "),
        "percent_outside": (
            RETURNS,
            lambda v: f"({-100 * v:.4f})%" if v < 0 else f"{100 * v:.4f}%",
        ),
        "percent_inside": (RETURNS, lambda v: f"({-100 * v:.4f}%)" if v < 0 else f"{100 * v:.4f}%"),
        "per_mille": (RETURNS, lambda v: f"{1000 * v:.4f}‰"),
        "fortran": (RETURNS, lambda v: f"{v:.6e}".replace("e", "D")),
        "lakh": (lakh, indian),
        "held": (PRICES, lambda v: f'=""{v:.4f}""'),
        "apostrophe": (PRICES, lambda v: f"'{v:.4f}"),
        "no_break_space": (PRICES, lambda v: f"{v:.4f}\u00a0"),
    }
    for name, (values, number) in returns.items():
        reads(f"number_{name}.csv", text(values, quote=True, number=number), values, **AUTO)
    for name, sign in {"kr": "kr", "zloty": "zł", "forint": "Ft", "real": "R$"}.items():
        reads(f"currency_{name}.csv", text(sep=";", number=lambda v, s=sign: f"{comma(v)} {s}"))
    european_whole = np.round(LARGE, 1)
    reads(
        "european_one_place.csv",
        text(european_whole, sep=";", number=lambda v: european(v, 1)),
        european_whole,
        **AUTO,
    )
    refused("basis_points.csv", text(RETURNS, number=lambda v: f"{1e4 * v:.1f} bps"), "units")
    refused("negative_oil.csv", text_cells(with_cells(PRICES, r30c2="-37.63")),
            ["line 32", "column 'XOM' is -37.63", "--values"], **AUTO)  # fmt: skip
    refused("all_missing.csv", text_cells([["NaN"] * 5] * ROWS), ["no numbers"], **AUTO)
    refused("one_row.csv", "Date,AAPL,MSFT\n2024-01-02,1,2\n", ["1 row of numbers"], **AUTO)
    refused(
        "unequal_long.csv",
        long().iloc[:-20].to_csv(index=False),
        ["20 of 300 numbers are missing", "the first is 2024-02-27, column 'KO'"],
    )


def formats() -> None:
    """Compressed files, archives, workbooks and columnar files."""
    plain = text().encode()
    reads("prices.csv.bz2", bz2.compress(plain), **AUTO)
    reads("prices.csv.xz", lzma.compress(plain), **AUTO)
    refused("cut.csv.bz2", bz2.compress(plain)[:300], "damaged")
    refused("cut.csv.xz", lzma.compress(plain)[:300], "damaged")
    reads("csv_and_readme.zip", zipped({"x.csv": text(), "readme.txt": "hello"}), **AUTO)
    refused("book.zip", zipped({"x.xlsx": "?"}), ["no table of text", "x.xlsx"])
    refused("letter.docx", zipped({"word/document.xml": "<x/>"}), "text document")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("x.csv")
        member.size = len(plain)
        archive.addfile(member, io.BytesIO(plain))
    refused("prices.tar.gz", out.getvalue(), "archive (tar)")
    refused("parquet.gz", gzip.compress(_parquet(frame())), "compressed once more")
    refused("message.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "no workbook")
    refused("weather.nc", b"CDF\x01" + bytes(100), "NetCDF")
    japanese = text(names=["トヨタ", *NAMES[1:]]).encode("shift-jis")
    garbled = japanese.split(b",")[1].decode("cp1252", errors="replace").replace("\ufffd", "?")
    reads("shift_jis.csv", japanese, names=(garbled, *NAMES[1:]), says="unknown encoding", **AUTO)
    notes = pd.DataFrame({"This workbook holds prices": ["Contact: me"]})
    reads("notes_first.xlsx", workbook({"Readme": notes, "Data": frame()}), says="sheet 'Data'")
    refused(
        "sheet_each.xlsx",
        workbook({n: frame()[[n]] for n in NAMES}),
        ["1 instrument are left (sheet 'AAPL' of 5 sheets"],
        **AUTO,
    )
    fields = pd.concat(
        {n: pd.DataFrame({"Close": frame()[n], "Volume": 9.0}) for n in NAMES}, axis=1
    )
    merged = [["", *(c for n in NAMES for c in (n, ""))], ["Date", *["Close", "Volume"] * 5]]
    cells = "\n".join(",".join(row) for row in merged)
    body = fields.to_csv(header=False)
    reads("merged_fields.csv", f"{cells}\n{body}", says="'close' was taken", **AUTO)
    reads(
        "periods.parquet", _parquet(frame(index=MONTHS.to_period("M"))), first="1990-01-31", **AUTO
    )
    refused("lists.parquet", _parquet(pd.DataFrame({"a": [[1, 2]] * 5, "b": 1.0})), "holds lists")
    refused("truth.parquet", _parquet(frame() > 0), "true and false")
    refused("nothing.parquet", _parquet(frame().iloc[:0]), "0 rows")
    reads("two_indices.parquet", _parquet(long().set_index(["Date", "ticker"])), SORTED,
          names=BY_NAME, **AUTO)  # fmt: skip
    reads("categories.feather", _feather(long().astype({"ticker": "category"})), SORTED,
          names=BY_NAME, **AUTO)  # fmt: skip
    refused(
        "no_dates_across.csv", pd.DataFrame(PRICES.T, NAMES).to_csv(), ["instruments are in rows"]
    )


def matrices() -> None:
    """Matrices without names, with half of their entries, with rounding; found by themselves."""
    plain = pd.DataFrame(S, NAMES, NAMES)
    triangle = np.tri(5, dtype=bool)
    permnos = ["10107", "14593", "11850", "47896", "11308"]
    found: dict[str, Any] = {"kind": "matrix by itself", "first": None}
    reads("M_header.csv", plain.to_csv(index=False), S, **found)
    reads("M_bare.csv", plain.to_csv(index=False, header=False), S, names=(), **found)
    reads("M_rows.csv", plain.to_csv(header=False), S, **found)
    reads("M_half_zero.csv", plain.where(triangle, 0.0).to_csv(), S, **found)
    reads("M_upper_zero.csv", plain.where(triangle.T, 0.0).to_csv(), S, **found)
    reads("M_upper.csv", plain.where(triangle.T).to_csv(), S, **found)
    empty = plain.mask(np.eye(5, dtype=bool)).to_csv()
    reads("M_no_diagonal.csv", empty, S, says="diagonal filled with 1", **found)
    uneven = plain + 1e-4 * np.triu(np.ones((5, 5)), 1)
    mean = (uneven + uneven.T).to_numpy() / 2
    reads("M_rounded.csv", uneven.to_csv(), mean, says="their mean taken", **found)
    numbered = plain.set_axis(permnos, axis=0).set_axis(permnos, axis=1)
    reads("M_permnos.csv", numbered.to_csv(), S, names=tuple(permnos), **found)
    years = [str(2020 + i) for i in range(5)]
    dated = plain.set_axis(years, axis=0).set_axis(years, axis=1)
    reads("M_years.csv", dated.to_csv(), S, names=tuple(years), **found)
    scale = np.array([0.01, 0.011, 0.012, 0.013, 0.0105])
    even = plain * np.outer(scale, scale)
    reads("M_even_covariance.csv", even.to_csv(), even.to_numpy(), says="no correlation", **found)
    large = plain.mask(S[0, 1] == plain, 1.3)
    reads("M_above_one.csv", large.to_csv(), large.to_numpy(), says="than the diagonal", **found)
    refused("M_pairs.csv", plain.stack().to_csv(header=["corr"]), ["pairs", "matrix"], **AUTO)


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(vendors, calendars, numbers, formats, matrices)
