"""Files of programs, damaged text, unusual shapes, matrices and workbooks."""

from __future__ import annotations

import gzip
from datetime import time

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
    built,
    frame,
    holes,
    reads,
    refused,
    sheet_of,
    text,
    text_cells,
    workbook,
    zipped,
)
from exports import BODY, LINES
from further_files import ISO

SRT = [NAMES.index(n) for n in sorted(NAMES)]
SN = tuple(sorted(NAMES))
SP = PRICES[:, SRT]
f = frame()


def matlab():
    return text(
        dates=[f"{(d - pd.Timestamp('0001-01-01')).days + 367}" for d in DAYS], corner="datenum"
    )


Sd = pd.DataFrame(S, NAMES, NAMES)
sg = np.sign(np.random.default_rng(1).normal(size=(5, 5)))
sg = np.triu(sg, 1)
sg = sg + sg.T + np.eye(5)


def programs() -> None:
    """"""
    reads(
        "stacked8.csv",
        "stn;date;t\n"
        + "\n".join(
            (
                f"{7005 + j};{d.replace('-', '')};{v}"
                for j, c in enumerate(PRICES.T)
                for d, v in zip(ISO, c, strict=True)
            )
        ),
        names=tuple(f"{7005 + j}" for j in range(5)),
        kind="values",
    )
    reads("p_matlab.csv", matlab(), kind="auto")
    reads(
        "p_r_rownames.csv",
        '"Date","'
        + '","'.join(NAMES)
        + '"\n'
        + "\n".join(
            (
                f'"{i + 1}","{d}",' + ",".join(map(str, r))
                for i, (d, r) in enumerate(zip(ISO, PRICES, strict=True))
            )
        ),
        kind="auto",
    )
    reads(
        "p_r_x_names.csv",
        '"","X1","X2","X3"\n'
        + "\n".join(
            (f'"{d}",' + ",".join(map(str, r[:3])) for d, r in zip(ISO, PRICES, strict=True))
        ),
        PRICES[:, :3],
        names=("X1", "X2", "X3"),
        kind="auto",
    )
    reads(
        "p_r_zoo.csv",
        '"Index",'
        + ",".join(f'"{n}.Adjusted"' for n in NAMES)
        + "\n"
        + "\n".join((f'"{d}",' + ",".join(map(str, r)) for d, r in zip(ISO, PRICES, strict=True))),
        names=tuple(f"{n}.Adjusted" for n in NAMES),
        kind="auto",
    )
    stata = b"r\x02\x01\x00\x06\x00<\x00\x00\x00" + bytes(200)
    refused("p_stata.dta", stata, "is a data file of Stata", kind="auto")
    refused(
        "p_spss.sav",
        b"$FL2@(#) SPSS DATA FILE MS Windows" + bytes(500),
        "is a data file of SPSS. Save the table as .csv, .parquet or",
        kind="auto",
    )
    refused(
        "p_sas.sas7bdat",
        bytes(12) + b"\xc2\xea\x81`" + bytes(500),
        "is a data file of SAS. Save the table as .csv, .parquet or",
        kind="auto",
    )
    refused(
        "p_rdata.rds",
        gzip.compress(b"X\n" + bytes(200)),
        "is a data file of R. Save the table as .csv, .parquet or",
        kind="auto",
    )
    refused(
        "p_rdata_x.RData",
        gzip.compress(b"RDX3\nX\n" + bytes(200)),
        "is a data file of R. Save the table as .csv, .parquet or",
        kind="auto",
    )
    refused(
        "p_mat.mat",
        b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(500),
        "is a data file of Matlab",
        kind="auto",
    )
    refused("p_hdf.h5", b"\x89HDF\r\n\x1a\n" + bytes(500), "is an HDF5 file", kind="auto")
    refused(
        "p_npz.npz",
        zipped({"arr_0.npy": "x"}),
        "is an archive with no table of text (arr_0.npy)",
        kind="auto",
    )
    refused("p_sqlite.db", b"SQLite format 3\x00" + bytes(500), "is a database", kind="auto")
    refused(
        "p_access.mdb",
        b"\x00\x01\x00\x00Standard Jet DB" + bytes(500),
        "is a database of Access",
        kind="auto",
    )
    refused(
        "p_numbers.numbers",
        zipped({"Index/Document.iwa": "x"}),
        "is a document of Apple's Numbers",
        kind="auto",
    )
    refused(
        "p_ods.ods",
        zipped(
            {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}
        ),
        "is an OpenDocument spreadsheet",
        kind="auto",
    )
    refused(
        "p_xlsb.xlsb",
        zipped({"xl/workbook.bin": "x", "[Content_Types].xml": "x"}),
        "is a binary workbook",
        kind="auto",
    )
    refused(
        "p_xml.xml",
        '<?xml version="1.0"?>'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"><Row/></Workbook>',
        "is an XML document, not a table",
        kind="auto",
    )
    refused(
        "p_json_records.json",
        f.reset_index().assign(Date=ISO).to_json(orient="records"),
        "is JSON, not a table",
        kind="auto",
    )
    refused(
        "p_ndjson.ndjson",
        f.reset_index().assign(Date=ISO).to_json(orient="records", lines=True),
        "is JSON, not a table",
        kind="auto",
    )
    refused(
        "p_yaml.yaml",
        "a: 1\nb: 2\n",
        "the first column '0' holds neither dates nor numbers ('a:')",
        kind="auto",
    )
    reads(
        "p_latex.tex",
        "\\begin{tabular}{lrr}"
        + "\n"
        + "\n".join(l.replace(",", " & ") + " \\\\" for l in LINES)
        + "\n"
        + "\\end{tabular}",
        kind="auto",
    )
    refused(
        "p_html_table.html",
        "<table><tr><td>1</td></tr></table>",
        "is a web page, not a table",
        kind="auto",
    )
    reads("p_pandas_tostring.txt", f.to_string(), kind="auto")
    refused(
        "p_pandas_rows_left_out.txt", f.to_string(max_rows=20), "line 13 has no date", kind="auto"
    )
    refused(
        "p_pandas_columns_left_out.txt",
        f.to_string(max_cols=4),
        "as it is printed, with columns left out",
        kind="auto",
    )
    reads(
        "p_gretl.csv",
        "obs,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join((f"{d}," + ",".join(map(str, r)) for d, r in zip(ISO, PRICES, strict=True))),
        kind="auto",
    )
    reads(
        "p_eviews.csv",
        "obs\t"
        + "\t".join(NAMES)
        + "\n"
        + "\n".join(
            (
                f"{d.year}M{d.month:02d}\t" + "\t".join(map(str, r))
                for d, r in zip(MONTHS, PRICES, strict=True)
            )
        ),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "p_eviews_q.csv",
        "obs,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (f"{2005 + i // 4}Q{i % 4 + 1}," + ",".join(map(str, r)) for i, r in enumerate(PRICES))
        ),
        kind="auto",
        first="2005-03-31",
    )
    reads(
        "p_kdb.csv",
        text(dates=[d.strftime("%Y.%m.%dD%H:%M:%S.000000000") for d in DAYS], corner="date"),
        kind="auto",
    )
    reads(
        "p_kdb_date.csv",
        text(dates=[d.strftime("%Y.%m.%d") for d in DAYS], corner="date"),
        kind="auto",
    )
    reads(
        "p_bigquery.csv",
        text(dates=[d.strftime("%Y-%m-%d 00:00:00.000000 UTC") for d in DAYS], corner="date"),
        kind="auto",
    )
    refused(
        "p_hive.tsv",
        "\n".join(
            (f"{d}\x01" + "\x01".join(map(str, r)) for d, r in zip(ISO, PRICES, strict=True))
        ),
        "has one column",
        kind="auto",
    )
    reads("p_double_pipe.txt", text(sep="||"), kind="auto")
    reads(
        "p_multi_space_names.txt",
        "Date  Apple Inc  Microsoft Corp\n"
        + "\n".join((f"{d}  {r[0]:.4f}  {r[1]:.4f}" for d, r in zip(ISO, PRICES, strict=True))),
        PRICES[:, :2],
        names=("Apple Inc", "Microsoft Corp"),
        kind="auto",
    )
    reads(
        "p_semicolon_trailing.csv", "\n".join(l.replace(",", ";") + ";" for l in LINES), kind="auto"
    )
    reads(
        "p_space_sep_dates.txt",
        "\n".join(
            ["Date Time AAPL MSFT"]
            + [f"{d} 16:00 {r[0]} {r[1]}" for d, r in zip(ISO, PRICES, strict=True)]
        ),
        PRICES[:, :2],
        names=("AAPL", "MSFT"),
        kind="auto",
    )


def characters() -> None:
    """Encodings, quotes and characters that cannot be seen."""
    refused(
        "b_nul.csv",
        text().encode().replace(b"2024-01-05", b"2024-01-05\x00"),
        "is no text file (it has zero bytes)",
        kind="auto",
    )
    reads("b_utf32.csv", text().encode("utf-32"), kind="auto")
    reads("b_utf16be.csv", b"\xfe\xff" + text().encode("utf-16-be"), kind="auto")
    reads(
        "b_quoted_newline.csv",
        text(names=['"Apple\nInc"', '"Micro\r\nsoft"', "XOM", "JPM", "KO"]),
        names=("Apple Inc", "Micro soft", "XOM", "JPM", "KO"),
        kind="auto",
    )
    reads(
        "b_quote_in_name.csv",
        text(names=['"A ""big"" one"', "B", "C", "D", "E"]),
        names=('A "big" one', "B", "C", "D", "E"),
        kind="auto",
    )
    refused(
        "b_smart_quotes.csv",
        text(names=["“AAPL”", "“MSFT”", "XOM", "JPM", "KO"], dates=[f"“{d}”" for d in ISO]),
        "the first column 'Date' holds neither dates nor numbers",
        kind="auto",
    )
    reads("b_gz_named_csv.csv", gzip.compress(text().encode()), kind="auto")
    refused(
        "b_two_gz.csv.gz",
        gzip.compress(gzip.compress(text().encode())),
        "is a table that is compressed once more",
        kind="auto",
    )
    reads("b_empty_lines_between.csv", "\n\n".join(LINES), kind="auto")
    reads("b_vertical_tab.csv", text().replace("\n", "\x0b\n", 3), kind="auto")
    reads("b_form_feed.csv", text() + "\x0c\n", kind="auto")


def shapes() -> None:
    """Rows above and below the table, names, long tables."""
    reads("s_total_bottom_german.csv", text(sep=";", below="Summe;1;2;3;4;5\n"), kind="auto")
    reads(
        "s_stats_below.csv",
        text(below="\nMean,1,2,3,4,5\nStd,1,2,3,4,5\nMin,1,2,3,4,5\nMax,1,2,3,4,5\n"),
        kind="auto",
    )
    reads("s_stats_above.csv", "Start,2024-01-02\nEnd,2024-03-25\nCount,60\n" + text(), kind="auto")
    reads(
        "s_source_below.csv", text(below="\nSource: Bloomberg L.P.\n* preliminary\n"), kind="auto"
    )
    reads(
        "s_footnote_names.csv",
        text(names=["AAPL*", "MSFT(1)", "XOM²", "JPM†", "KO"]),
        names=("AAPL*", "MSFT(1)", "XOM²", "JPM†", "KO"),
        kind="auto",
    )
    reads(
        "s_units_in_names.csv",
        text(names=["Gauge A (m³/s)", "Gauge B (m³/s)", "C [mm]", "D [mm]", "E"]),
        names=("Gauge A (m³/s)", "Gauge B (m³/s)", "C [mm]", "D [mm]", "E"),
        kind="values",
    )
    reads(
        "s_three_header_rows.csv",
        "Sector,Tech,Tech,Energy,Bank,Food\nCountry,US,US,US,US,US\nDate,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(BODY),
        kind="auto",
    )
    reads(
        "s_header_below_units.csv",
        ",USD,USD,USD,USD,USD\nDate," + ",".join(NAMES) + "\n" + "\n".join(BODY),
        kind="auto",
    )
    reads(
        "s_isin_row.csv",
        "Name,Apple,Microsoft,Exxon,JPM,Coca\n"
        "ISIN,US0378331005,US5949181045,US30231G1022,US46625H1005,US1912161007\n" + "\n".join(BODY),
        names=("US0378331005", "US5949181045", "US30231G1022", "US46625H1005", "US1912161007"),
        kind="auto",
    )
    reads(
        "s_weights_row.csv",
        "Date," + ",".join(NAMES) + "\nWeight,0.2,0.2,0.2,0.2,0.2\n" + "\n".join(BODY),
        kind="auto",
    )
    reads(
        "s_pivot.csv",
        "Sum of Close,Column Labels,,,,,\nRow Labels,AAPL,MSFT,XOM,JPM,KO,Grand Total\n"
        + "\n".join(
            (
                f"{d}," + ",".join(map(str, r)) + f",{r.sum():.4f}"
                for d, r in zip(ISO, PRICES, strict=True)
            )
        )
        + "\nGrand Total,1,2,3,4,5,15\n",
        np.c_[PRICES, PRICES.sum(1).round(4)],
        names=(*NAMES, "Grand Total"),
        kind="auto",
    )
    reads("s_blank_first_col.csv", "\n".join("," + l for l in LINES), kind="auto")
    reads("s_blank_first_rows.csv", ",,,,,\n,,,,,\n" + text(), kind="auto")
    reads(
        "s_half_empty_columns.csv",
        text_cells(
            [
                [c if j != 4 or i > 30 else "" for j, c in enumerate(r)]
                for i, r in enumerate([[f"{v:.4f}" for v in r] for r in PRICES])
            ]
        ),
        holes(PRICES, *[(i, 4) for i in range(31)]),
        kind="auto",
        options={"missing": "pairwise"},
    )
    refused(
        "s_ipo.csv",
        text_cells(
            [
                [c if j != 4 or i > 30 else "" for j, c in enumerate(r)]
                for i, r in enumerate([[f"{v:.4f}" for v in r] for r in PRICES])
            ]
        ),
        "31 of 300 numbers are missing, in 1 column; the first is",
        kind="auto",
    )
    refused(
        "s_dup_columns_same.csv",
        text(np.c_[PRICES, PRICES[:, 0]], names=[*NAMES, "AAPL"]),
        "the name 'AAPL' occurs in columns 0 and 5",
        kind="auto",
    )
    reads(
        "s_case_names.csv",
        text(names=["aapl", "AAPL", "XOM", "JPM", "KO"]),
        names=("aapl", "AAPL", "XOM", "JPM", "KO"),
        kind="auto",
    )
    reads("s_space_names.csv", text(names=[" AAPL ", "MSFT ", " XOM", "JPM", "KO"]), kind="auto")
    reads(
        "s_numeric_names.csv",
        text(names=["600519", "000001", "300750", "000858", "601318"]),
        names=("600519", "000001", "300750", "000858", "601318"),
        kind="auto",
    )
    reads(
        "s_date_names_cols.csv",
        text(names=["2024", "2025", "2026", "2027", "2028"]),
        names=("2024", "2025", "2026", "2027", "2028"),
        kind="auto",
    )
    refused(
        "s_one_instrument.csv",
        "Date,AAPL\n" + "\n".join((f"{d},{v}" for d, v in zip(ISO, PRICES[:, 0], strict=True))),
        "59 observations of 1 instrument are left (log returns of",
        kind="auto",
    )
    reads(
        "s_two_instruments.csv",
        "Date,AAPL,MSFT\n"
        + "\n".join((f"{d},{r[0]},{r[1]}" for d, r in zip(ISO, PRICES, strict=True))),
        PRICES[:, :2],
        names=("AAPL", "MSFT"),
        kind="auto",
    )
    refused(
        "s_constant_all.csv",
        text(np.full((ROWS, 5), 100.0)),
        "59 observations of 0 instruments are left (5 columns",
        kind="auto",
    )
    reads(
        "s_currency_col.csv",
        "Date,Currency,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(l.replace(",", ",USD,", 1) for l in BODY),
        kind="auto",
    )
    reads(
        "s_long_tidy_value_str.csv",
        "date,variable,value\n"
        + "\n".join(
            (
                f'{d},{n},"{v:,.2f}"'
                for d, r in zip(ISO, LARGE, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        LARGE[:, SRT],
        names=SN,
        kind="auto",
    )
    reads(
        "s_long_date_text_first.csv",
        "symbol,asof,px\n"
        + "\n".join(
            (
                f"{n},{d},{v}"
                for d, r in zip(ISO, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        SP,
        names=SN,
        kind="auto",
    )
    refused(
        "s_long_bid_ask.csv",
        "date,symbol,bid,ask\n"
        + "\n".join(
            (
                f"{d},{n},{v},{v + 0.1}"
                for d, r in zip(ISO, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        "is a long table with several columns of numbers: bid, ask",
        kind="auto",
    )
    refused(
        "s_long_blank_names.csv",
        "date,symbol,close\n"
        + "\n".join(
            (
                f"{d},{(n if i == 0 else '')},{v}"
                for n, c in zip(NAMES, PRICES.T, strict=True)
                for i, (d, v) in enumerate(zip(ISO, c, strict=True))
            )
        ),
        "line 3 has no name",
        kind="auto",
    )
    refused(
        "s_long_blank_dates.csv",
        "date,symbol,close\n"
        + "\n".join(
            (
                f"{(d if j == 0 else '')},{n},{v}"
                for d, r in zip(ISO, PRICES, strict=True)
                for j, (n, v) in enumerate(zip(NAMES, r, strict=True))
            )
        ),
        "line 3 has no date",
        kind="auto",
    )
    refused(
        "s_long_two_ids.csv",
        "date,exchange,ticker,close\n"
        + "\n".join(
            (
                f"{d},{x},{n},{v + k}"
                for d, r in zip(ISO, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
                for k, x in enumerate(["N", "L"])
            )
        ),
        "'AAPL' has several values on 2024-01-02 (line 2)",
        kind="auto",
    )


def matrices() -> None:
    """Matrices as programs write them."""
    refused(
        "m_edges.csv",
        "from,to,weight\n"
        + "\n".join(f"{a},{b},{Sd.loc[a, b]}" for a in NAMES for b in NAMES if a < b),
        "the first column 'from' holds neither dates nor numbers",
        kind="auto",
    )
    refused(
        "m_edges_auto_pct.csv",
        "Asset 1,Asset 2,Correlation\n"
        + "\n".join(f"{a},{b},{Sd.loc[a, b]}" for a in NAMES for b in NAMES),
        "the first column 'Asset 1' holds neither dates nor numbers",
        kind="auto",
    )
    reads("m_negative.csv", (Sd * sg).to_csv(), S, kind="matrix by itself", first=None)
    reads(
        "m_bloomberg_corr.csv",
        "Correlation Matrix\nPeriod: 1Y\n\n" + Sd.to_csv(),
        S,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_semicolon_comma.csv",
        Sd.to_csv(sep=";", decimal=","),
        S,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_percent.csv",
        Sd.map(lambda v: f"{100 * v:.2f}%").to_csv(),
        S,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_lower_blank_diag.csv",
        Sd.where(np.tri(5, k=-1, dtype=bool)).to_csv(),
        S,
        says="the empty diagonal filled with 1",
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_upper_triangle_ragged.csv",
        ","
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (
                n + "," + ",".join(("" if j < i else str(S[i, j]) for j in range(5)))
                for i, n in enumerate(NAMES)
            )
        ),
        S,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_lower_ragged_short.csv",
        ","
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (n + "," + ",".join((str(S[i, j]) for j in range(i + 1))) for i, n in enumerate(NAMES))
        ),
        S,
        kind="matrix by itself",
        first=None,
    )
    refused(
        "m_stata_style.txt",
        "             |     "
        + "     ".join(NAMES)
        + "\n-------------+------\n"
        + "\n".join(
            (
                f"{n:>12} | " + "  ".join((f"{S[i, j]:8.4f}" for j in range(i + 1)))
                for i, n in enumerate(NAMES)
            )
        ),
        "has no row of numbers",
        kind="matrix",
    )
    refused(
        "m_mtx.mtx",
        "%%MatrixMarket matrix array real general\n5 5\n" + "\n".join(str(v) for v in S.ravel()),
        "has one column ('%%MatrixMarket matrix array real general'",
        kind="matrix",
    )
    refused(
        "m_distance.csv",
        pd.DataFrame(np.sqrt(2 * (1 - S)), NAMES, NAMES).to_csv(),
        "the diagonal is about 0 and the other entries about 1.29:",
        kind="matrix",
    )
    refused(
        "m_asym.csv",
        pd.DataFrame(S + np.triu(np.full((5, 5), 0.2), 1), NAMES, NAMES).to_csv(),
        "not symmetric: entries [0, 1] and [1, 0] differ by 0.2",
        kind="matrix",
    )
    reads(
        "m_cov_annual.csv",
        pd.DataFrame(np.cov(RETURNS.T) * 252, NAMES, NAMES).to_csv(),
        np.cov(RETURNS.T) * 252,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_asterisks.csv",
        Sd.map(lambda v: f"{v:.4f}" + ("***" if v < 1 else "")).to_csv(),
        S,
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_markdown.md",
        "| |"
        + "|".join(NAMES)
        + "|\n|---|"
        + "---|" * 5
        + "\n"
        + "\n".join(f"|{n}|" + "|".join(map(str, r)) + "|" for n, r in zip(NAMES, S, strict=True)),
        S,
        kind="matrix by itself",
        first=None,
    )
    refused(
        "m_with_mean_row.csv",
        pd.concat([Sd, Sd.mean().to_frame("Mean").T]).to_csv(),
        "column '' is 'AAPL'",
        kind="matrix",
    )
    refused(
        "m_rect.csv",
        Sd.iloc[:4].to_csv(),
        "has 4 rows and 5 columns: it is no square matrix",
        kind="matrix",
    )
    reads(
        "m_2x2.csv",
        Sd.iloc[:2, :2].to_csv(),
        S[:2, :2],
        names=("AAPL", "MSFT"),
        kind="matrix by itself",
        first=None,
    )
    reads(
        "m_xlsx_blank_corner.xlsx", workbook({"corr": Sd}), S, kind="matrix by itself", first=None
    )
    refused(
        "m_nan_row.csv",
        Sd.assign(XOM=np.nan).to_csv(),
        "the entry of 'AAPL' and 'XOM' is missing (5 such entries)",
        kind="matrix",
    )
    reads(
        "m_npy_text.txt",
        "\n".join(" ".join(f"{v:.4e}" for v in r) for r in S),
        S,
        names=(),
        kind="matrix by itself",
        first=None,
    )
    refused("m_python_list.txt", str(S.tolist()), "is JSON, not a table", kind="matrix")
    refused(
        "m_names_differ.csv",
        pd.DataFrame(S, [n + " US" for n in NAMES], NAMES).to_csv(),
        "index and columns differ at position 0: row 'AAPL US',",
        kind="matrix",
    )


def workbooks() -> None:
    """Sheets of Excel."""
    reads(
        "x_int_dates.xlsx",
        sheet_of(
            [["Date", *NAMES]]
            + [
                [(d - pd.Timestamp("1899-12-30")).days, *map(float, r)]
                for d, r in zip(DAYS, PRICES, strict=True)
            ]
        ),
        kind="auto",
    )
    reads(
        "x_text_numbers.xlsx",
        sheet_of(
            [["Date", *NAMES]]
            + [
                [d.to_pydatetime(), *[f"{v:.4f}".replace(".", ",") for v in r]]
                for d, r in zip(DAYS, PRICES, strict=True)
            ]
        ),
        kind="auto",
    )
    reads(
        "x_merged_title.xlsx",
        sheet_of(
            [
                ["Prices 2024", None, None, None, None, None],
                [],
                ["Date", *NAMES],
                ["", "USD", "USD", "USD", "USD", "USD"],
            ]
            + [[d.to_pydatetime(), *map(float, r)] for d, r in zip(DAYS, PRICES, strict=True)]
        ),
        kind="auto",
    )
    reads(
        "x_formula_errors.xlsx",
        sheet_of(
            [["Date", *NAMES]]
            + [
                [
                    d.to_pydatetime(),
                    *["#N/A" if (i, j) == (5, 1) else float(v) for j, v in enumerate(r)],
                ]
                for i, (d, r) in enumerate(zip(DAYS, PRICES, strict=True))
            ]
        ),
        holes(PRICES, (5, 1)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "x_total.xlsx",
        sheet_of(
            [["Date", *NAMES]]
            + [[d.to_pydatetime(), *map(float, r)] for d, r in zip(DAYS, PRICES, strict=True)]
            + [["Total", *map(float, PRICES.sum(0))]]
        ),
        kind="auto",
    )
    refused(
        "x_side_by_side.xlsx",
        sheet_of(
            [["Date", *NAMES, None, "Date", *NAMES]]
            + [
                [d.to_pydatetime(), *map(float, r), None, d.to_pydatetime(), *map(float, r)]
                for d, r in zip(DAYS, PRICES, strict=True)
            ]
        ),
        "the name 'AAPL' occurs in columns 0 and 5",
        kind="auto",
    )
    reads(
        "x_wide_offset.xlsx",
        sheet_of(
            [[], [], [None, None, "Date", *NAMES]]
            + [
                [None, None, d.to_pydatetime(), *map(float, r)]
                for d, r in zip(DAYS, PRICES, strict=True)
            ]
        ),
        kind="auto",
    )
    reads(
        "x_transposed.xlsx",
        sheet_of(
            [["Ticker", *[d.to_pydatetime() for d in DAYS]]]
            + [[n, *map(float, c)] for n, c in zip(NAMES, PRICES.T, strict=True)]
        ),
        kind="auto",
    )
    reads(
        "x_times.xlsx",
        sheet_of(
            [["Date", "Time", *NAMES]]
            + [
                [d.to_pydatetime(), time(16, 0), *map(float, r)]
                for d, r in zip(DAYS, PRICES, strict=True)
            ]
        ),
        kind="auto",
    )
    reads(
        "x_bool.xlsx",
        sheet_of(
            [["Date", *NAMES, "Holiday"]]
            + [
                [d.to_pydatetime(), *map(float, r), i % 7 == 0]
                for i, (d, r) in enumerate(zip(DAYS, PRICES, strict=True))
            ]
        ),
        kind="auto",
    )


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(programs, characters, shapes, matrices, workbooks)
