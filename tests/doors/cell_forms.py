"""Numbers and dates in forms that single programs and countries have."""

from __future__ import annotations

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
    built,
    cents,
    holes,
    reads,
    refused,
    replaced,
    text,
    text_cells,
    with_cells,
)
from exports import BODY, HEAD, LINES
from further_files import ISO

GERMAN = ["Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"]
FRENCH = ["janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"]
ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}


def numbers() -> None:
    """Signs, scripts, marks and words in place of numbers."""
    reads("n_rupee.csv", text(LARGE, quote=True, number=lambda v: f"₹{v:,.2f}"), LARGE, kind="auto")
    reads("n_rs.csv", text(LARGE, quote=True, number=lambda v: f"Rs. {v:,.2f}"), LARGE, kind="auto")
    reads(
        "n_yen_full.csv",
        text(np.round(LARGE), number=lambda v: f"￥{v:.0f}"),
        np.round(LARGE),
        kind="auto",
    )
    refused(
        "n_yen.csv",
        text(np.round(LARGE), quote=True, number=lambda v: f"¥{v:,.0f}"),
        "'¥6,916' may be a whole number above a thousand or a number",
        kind="auto",
    )
    refused(
        "n_won.csv",
        text(np.round(LARGE), quote=True, number=lambda v: f"{v:,.0f}원"),
        "'6,916원' may be a whole number above a thousand or a number",
        kind="auto",
    )
    reads(
        "n_chf_after.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "'") + " CHF"),
        LARGE,
        kind="auto",
    )
    reads("n_gbp.csv", text(LARGE, quote=True, number=lambda v: f"£{v:,.2f}"), LARGE, kind="auto")
    refused(
        "n_gbx.csv",
        text(LARGE, number=lambda v: f"{v:.2f}p"),
        "line 2, column 'AAPL' is '6916.48p'",
        kind="auto",
    )
    reads(
        "n_neg_dollar.csv",
        text(RETURNS * 10000.0, number=lambda v: f"-${-v:.2f}" if v < 0 else f"${v:.2f}"),
        cents(RETURNS * 10000.0),
        kind="auto",
    )
    reads(
        "n_dollar_neg.csv",
        text(RETURNS * 10000.0, number=lambda v: f"$-{-v:.2f}" if v < 0 else f"${v:.2f}"),
        cents(RETURNS * 10000.0),
        kind="auto",
    )
    reads(
        "n_trailing_minus_pct.csv",
        text(RETURNS, number=lambda v: f"{100 * abs(v):.4f}-%" if v < 0 else f"{100 * v:.4f}%"),
        RETURNS,
        kind="auto",
    )
    reads(
        "n_pct_trailing.csv",
        text(RETURNS, number=lambda v: f"{100 * abs(v):.4f}%-" if v < 0 else f"{100 * v:.4f}%"),
        RETURNS,
        kind="auto",
    )
    refused(
        "n_cr_dr.csv",
        text(RETURNS * 10000.0, number=lambda v: f"{abs(v):.2f} {('Dr' if v < 0 else 'Cr')}"),
        "line 2, column 'AAPL' is '401.74 Dr'",
        kind="auto",
    )
    reads(
        "n_arabic.csv",
        text(number=lambda v: f"{v:.4f}".translate(str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫"))),
        kind="auto",
    )
    reads(
        "n_fullwidth.csv",
        text(
            number=lambda v: f"{v:.4f}".translate(
                str.maketrans("0123456789.", "０１２３４５６７８９．")
            )
        ),
        kind="auto",
    )
    reads(
        "n_devanagari.csv",
        text(number=lambda v: f"{v:.4f}".translate(str.maketrans("0123456789", "०१२३४५६७८९"))),
        kind="auto",
    )
    reads(
        "n_narrow_nbsp.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ",")),
        LARGE,
        kind="auto",
    )
    reads(
        "n_thin_space.csv",
        text(LARGE, sep=";", number=lambda v: f"{v:,.2f}".replace(",", "\u2009")),
        LARGE,
        kind="auto",
    )
    refused(
        "n_underscore.csv",
        text(LARGE, number=lambda v: f"{v:_.2f}"),
        "line 2, column 'AAPL' is '6_916.48'",
        kind="auto",
    )
    refused(
        "n_thousand_dot_mixed.csv",
        text(np.round(PRICES * 5), sep=";", number=lambda v: f"{v:,.0f}".replace(",", ".")),
        "'1.964' may be a whole number above a thousand or a number",
        kind="auto",
    )
    refused(
        "n_middle_dot.csv",
        text(number=lambda v: f"{v:.4f}".replace(".", "·")),
        "line 2, column 'AAPL' is '172·9120'",
        kind="auto",
    )
    reads(
        "n_en_dash_minus.csv",
        text(RETURNS, number=lambda v: f"{v:.6f}".replace("-", "–")),
        RETURNS,
        kind="auto",
    )
    reads(
        "n_1e308.csv",
        text_cells(with_cells(PRICES, r7c2="1e308")),
        replaced(PRICES, 1e308),
        kind="auto",
    )
    refused(
        "n_all_true.csv",
        text_cells([["TRUE" if v > 0 else "FALSE" for v in r] for r in RETURNS]),
        "has no numbers: all cells are empty",
        kind="auto",
    )
    refused(
        "n_m_suffix_col.csv",
        "Date,A,B,Volume\n"
        + "\n".join((f"{d},{r[0]},{r[1]},{r[2]:.2f}M" for d, r in zip(ISO, PRICES, strict=True))),
        "line 2, column 'Volume' is '98.15M'",
        kind="auto",
    )
    reads(
        "n_en_dash_gap.csv",
        text_cells(with_cells(PRICES, r7c2="–")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_em_dash_gap.csv",
        text_cells(with_cells(PRICES, r7c2="—")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_japanese_gap.csv",
        text_cells(with_cells(PRICES, r7c2="－")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_colon_gap.csv",
        text_cells(with_cells(PRICES, r7c2=":")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_missing_word.csv",
        text_cells(with_cells(PRICES, r7c2="missing")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_nd.csv",
        text_cells(with_cells(PRICES, r7c2="ND")),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    reads(
        "n_kA.csv",
        text_cells(with_cells(PRICES, r7c2="k.A."), sep=";"),
        holes(PRICES, (7, 2)),
        kind="auto",
        options={"missing": "pairwise"},
    )
    refused(
        "n_nc.csv",
        text_cells(with_cells(PRICES, r7c2="n.c."), sep=";"),
        "line 9, column 'XOM' is 'n.c.', not a number",
        kind="auto",
    )
    refused(
        "n_minus_999_values.csv",
        text_cells(with_cells(PRICES, r7c2="-999.0", r9c2="-999.0")),
        "2 of 300 numbers are missing (2 cells with -999 taken as",
        kind="values",
    )
    reads(
        "n_zero_values.csv",
        text_cells(with_cells(PRICES, r7c2="0")),
        replaced(PRICES, 0.0),
        kind="values",
    )
    refused(
        "n_fraction_32_all.csv",
        text(number=lambda v: f"{int(v)}-{int(v % 1 * 32):02d}"),
        "line 2, column 'AAPL' is '172-29'",
        kind="auto",
    )
    refused(
        "n_fraction_half.csv",
        text(number=lambda v: f"{int(v)} 1/2"),
        "line 2, column 'AAPL' is '172 1/2'",
        kind="auto",
    )
    refused(
        "n_brackets.csv",
        text(RETURNS, number=lambda v: f"[{-v:.6f}]" if v < 0 else f"{v:.6f}"),
        "line 2, column 'AAPL' is '[0.040174]'",
        kind="auto",
    )
    refused(
        "n_angle_neg.csv",
        text(RETURNS, number=lambda v: f"<{-v:.6f}>" if v < 0 else f"{v:.6f}"),
        "line 2, column 'AAPL' is '<0.040174>'",
        kind="auto",
    )
    reads(
        "n_leading_plus_pct.csv",
        text(RETURNS, number=lambda v: f"{100 * v:+.4f}%"),
        RETURNS,
        kind="auto",
    )
    refused(
        "n_mixed_decimal.csv",
        text_cells(
            [
                [f"{v:.2f}".replace(".", ",") if i > 30 else f"{v:.2f}" for v in r]
                for i, r in enumerate(PRICES)
            ],
            sep=";",
        ),
        "has numbers with a decimal point and with a decimal comma:",
        kind="auto",
    )
    refused(
        "n_three_decimals_comma.csv",
        text(sep=";", number=lambda v: f"{v:.3f}".replace(".", ",")),
        "'172,912' may be a whole number above a thousand or a",
        kind="auto",
    )
    refused(
        "n_quoted_thousand_only.csv",
        text(np.round(LARGE), quote=True, number=lambda v: f"{v:,.0f}"),
        "'6,916' may be a whole number above a thousand or a number",
        kind="auto",
    )
    reads(
        "n_thousand_dot_only.csv",
        text(np.round(LARGE), sep=";", number=lambda v: f"{v:,.0f}".replace(",", ".")),
        np.round(LARGE) / 1000,
        kind="auto",
    )
    reads("n_float_noise.csv", text(number=lambda v: f"{v:.17g}"), kind="auto")
    reads("n_quotes_spaces.csv", text(number=lambda v: f'" {v:.4f} "'), kind="auto")
    reads("n_tabs_in_cells.csv", text(number=lambda v: f"{v:.4f}\t"), kind="auto")
    reads("n_zero_width.csv", text(number=lambda v: f"\u200b{v:.4f}"), kind="auto")
    reads("n_bom_inside.csv", text().replace("\n2024-02", "\n\ufeff2024-02", 1), kind="auto")
    single = {
        "n_1e400.csv": ("1e400", "line 9 (2024-01-11), column 'XOM' is infinite"),
        "n_inf_word.csv": ("Infinity", "line 9 (2024-01-11), column 'XOM' is infinite"),
        "n_true_false.csv": ("TRUE", "line 9, column 'XOM' is 'TRUE', not a number"),
        "n_hash_overflow.csv": ("########", "line 9, column 'XOM' is '########', not a number"),
        "n_star_gap.csv": ("*", "1 of 300 numbers are missing, in 1 column; the first is"),
        "n_question_gap.csv": ("?", "1 of 300 numbers are missing, in 1 column; the first is"),
        "n_holiday_word.csv": ("Holiday", "1 of 300 numbers are missing, in 1 column; the first"),
        "n_word.csv": ("see below", "line 9, column 'XOM' is 'see below', not a number"),
        "n_sas_dot_a.csv": (".A", "line 9, column 'XOM' is '.A', not a number"),
        "n_minus_9999.csv": ("-9999", "1 of 300 numbers are missing (1 cell with -9999 taken as"),
        "n_zero_gaps.csv": ("0", "line 9 (2024-01-11), column 'XOM' is 0, which is not a"),
        "n_one_sigma_text.csv": ("398.2 (e)", "line 9, column 'XOM' is '398.2 (e)', not a number"),
        "n_fraction_32.csv": ("98'16", "line 9, column 'XOM' is \"98'16\", not a number"),
        "n_tilde.csv": ("~98.2", "line 9, column 'XOM' is '~98.2', not a number"),
    }
    for name, (cell, says) in single.items():
        refused(name, text_cells(with_cells(PRICES, r7c2=cell)), says, kind="auto")
    reads("n_rtl_mark.csv", text(dates=["\u200e" + d for d in ISO]), kind="auto")


def calendars() -> None:
    """Dates of databases, agencies and other calendars."""
    reads(
        "d_shiller.csv",
        text(
            dates=[
                f"{1990 + i // 12}.{i % 12 + 1:02d}".rstrip("0")
                if i % 12 == 9
                else f"{1990 + i // 12}.{i % 12 + 1:02d}"
                for i in range(ROWS)
            ]
        ),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "d_iso_weeks.csv",
        text(dates=[f"{2021 + i // 52}-W{i % 52 + 1:02d}" for i in range(ROWS)]),
        kind="auto",
        first="2021-01-08",
    )
    reads(
        "d_2020_q1_space.csv",
        text(dates=[f"{2005 + i // 4} Q{i % 4 + 1}" for i in range(ROWS)]),
        kind="auto",
        first="2005-03-31",
    )
    reads(
        "d_q1_dash_20.csv",
        text(dates=[f"Q{i % 4 + 1}-{5 + i // 4:02d}" for i in range(ROWS)]),
        kind="auto",
        first="2005-03-31",
    )
    reads(
        "d_2020_1.csv",
        text(dates=[f"{2005 + i // 4}.{i % 4 + 1}" for i in range(ROWS)], corner="Quarter"),
        kind="auto",
        first="2005-03-31",
    )
    refused(
        "d_year_slash.csv",
        text(dates=[f"{1950 + i}/{(51 + i) % 100:02d}" for i in range(ROWS)], corner="Year"),
        "50 cells are no dates as '2000/01' is: '1950/51' (line 2),",
        kind="auto",
    )
    reads(
        "d_mmm_apostrophe.csv",
        text(dates=[f"{d:%b} '{d:%y}" for d in MONTHS]),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "d_german_months.csv",
        text(
            sep=";",
            dates=[f"{GERMAN[d.month - 1]} {d:%y}" for d in MONTHS],
        ),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "d_french_months.csv",
        text(
            sep=";",
            dates=[f"{FRENCH[d.month - 1]}-{d:%y}" for d in MONTHS],
        ),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "d_stata_tm.csv",
        text(dates=[f"{d.year}m{d.month}" for d in MONTHS]),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "d_14.csv",
        text(dates=[d.strftime("%Y%m%d%H%M%S") for d in DAYS], corner="Date"),
        kind="auto",
    )
    reads(
        "d_14_unnamed.csv",
        text(dates=[d.strftime("%Y%m%d%H%M%S") for d in DAYS], corner=""),
        kind="auto",
    )
    reads(
        "d_12.csv", text(dates=[d.strftime("%Y%m%d%H%M") for d in DAYS], corner="Time"), kind="auto"
    )
    reads(
        "d_10.csv",
        text(
            RETURNS,
            dates=[
                d.strftime("%Y%m%d%H") for d in pd.date_range("2024-01-02", periods=ROWS, freq="h")
            ],
            corner="MESS_DATUM",
        ),
        RETURNS,
        kind="auto",
    )
    reads(
        "d_10_named.csv",
        text(
            RETURNS,
            dates=[
                d.strftime("%Y%m%d%H") for d in pd.date_range("2024-01-02", periods=ROWS, freq="h")
            ],
            corner="Date",
        ),
        RETURNS,
        kind="auto",
    )
    reads(
        "d_interval_slash.csv",
        text(
            RETURNS,
            dates=[
                f"{d:%Y-%m-%dT%H:%MZ}/{d + pd.Timedelta(1, 'h'):%Y-%m-%dT%H:%MZ}"
                for d in pd.date_range("2024-01-02", periods=ROWS, freq="h")
            ],
        ),
        RETURNS,
        kind="auto",
    )
    reads(
        "d_week_range.csv",
        text(
            dates=[
                f"{d:%d.%m.%Y} - {d + pd.Timedelta(4, 'D'):%d.%m.%Y}"
                for d in pd.date_range("2022-01-03", periods=ROWS, freq="7D")
            ]
        ),
        kind="auto",
        first="2022-01-03",
    )
    reads("d_dup_equal.csv", "\n".join([HEAD, *BODY[:10], BODY[9], *BODY[10:]]), kind="auto")
    reads(
        "d_unordered.csv",
        "\n".join([HEAD, *[BODY[i] for i in np.random.default_rng(1).permutation(ROWS)]]),
        kind="auto",
    )
    reads(
        "d_chinese_month.csv",
        text(dates=[f"{d.year}年{d.month}月" for d in MONTHS]),
        kind="auto",
        first="1990-01-31",
    )
    refused("d_two_rows.csv", "\n".join(LINES[:3]), "has 2 rows of numbers", kind="auto")
    reads(
        "d_index_and_date.csv",
        ",Date," + ",".join(NAMES) + "\n" + "\n".join((f"{i},{l}" for i, l in enumerate(BODY))),
        kind="auto",
    )
    reads(
        "d_julia.csv",
        text(dates=[f"{d:%Y-%m-%d}T00:00:00" for d in DAYS], corner="timestamp"),
        kind="auto",
    )
    refused(
        "d_excel_float.csv",
        text(
            dates=[f"{(d - pd.Timestamp('1899-12-30')).days},0" for d in DAYS],
            sep=";",
            number=lambda v: f"{v:.4f}".replace(".", ","),
        ),
        "the first column 'Date' holds neither dates nor numbers",
        kind="auto",
    )
    others = {
        "d_fiscal.csv": (
            [f"FY{10 + i // 4:02d}Q{i % 4 + 1}" for i in range(ROWS)],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_fiscal2.csv": (
            [f"FY{2010 + i // 4} Q{i % 4 + 1}" for i in range(ROWS)],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_fq.csv": (
            [f"Q{i % 4 + 1} FY{2010 + i // 4}" for i in range(ROWS)],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_month_slash_yy.csv": (
            [f"{d.month:02d}/{d.year % 100:02d}" for d in MONTHS],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_6_yymmdd.csv": (
            [d.strftime("%y%m%d") for d in DAYS],
            "column 'Date' (240102, 240103, …, 240325) looks like dates",
        ),
        "d_8_ddmmyyyy.csv": (
            [d.strftime("%d%m%Y") for d in DAYS],
            "column 'Date' (2012024, 3012024, …, 25032024) looks like",
        ),
        "d_yyddd.csv": (
            [f"{d.year % 100:02d}{d.day_of_year:03d}" for d in DAYS],
            "column 'Date' (24002, 24003, …, 24085) looks like dates or",
        ),
        "d_week_ending.csv": (
            [f"w/e {d:%d %b %Y}" for d in DAYS],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_thai.csv": (
            [f"{d.day:02d}/{d.month:02d}/{d.year + 543}" for d in DAYS],
            "60 cells are no dates: '02/01/2567' (line 2), '03/01/2567'",
        ),
        "d_roc.csv": (
            [f"{d.year - 1911}/{d.month:02d}/{d.day:02d}" for d in DAYS],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_persian.csv": (
            [f"1402/{1 + i // 30:02d}/{1 + i % 30:02d}" for i in range(ROWS)],
            "60 cells are no dates: '1402/01/01' (line 2), '1402/01/02'",
        ),
        "d_reiwa.csv": (
            [f"R6.{d.month}.{d.day}" for d in DAYS],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_reiwa2.csv": (
            [f"令和6年{d.month}月{d.day}日" for d in DAYS],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_future.csv": (
            [f"{d.year + 300}-{d:%m-%d}" for d in DAYS],
            "60 cells are no dates: '2324-01-02' (line 2), '2324-01-03'",
        ),
        "d_1900.csv": (
            ["1900-01-01" for d in DAYS],
            "the date 1900-01-01 occurs more than once, in line 2",
        ),
        "d_zero.csv": (
            ["0000-00-00" if i == 5 else d for i, d in enumerate(ISO)],
            "1 cell is no date as '2024-01-02' is: '0000-00-00' (line 7)",
        ),
        "d_feb30.csv": (
            ["2024-02-30" if i == 5 else d for i, d in enumerate(ISO)],
            "1 cell is no date as '2024-01-02' is: '2024-02-30' (line 7)",
        ),
        "d_na.csv": (["NA" if i == 5 else d for i, d in enumerate(ISO)], "line 7 has no date"),
        "d_numpy_repr.csv": (
            [f"numpy.datetime64('{d}')" for d in ISO],
            "the first column 'Date' holds neither dates nor numbers",
        ),
        "d_timestamp_repr.csv": (
            [f"Timestamp('{d} 00:00:00')" for d in ISO],
            "the first column 'Date' holds neither dates nor numbers",
        ),
    }
    for name, (cells, says) in others.items():
        refused(name, text(dates=cells), says, kind="auto")
    forms = {
        "d_words.csv": [f'"{d:%A}, {d:%B} {d.day}, {d.year}"' for d in DAYS],
        "d_ordinal.csv": [f"{d.day}{ENDINGS.get(d.day, 'th')} {d:%B} {d.year}" for d in DAYS],
        "d_ctime.csv": [d.strftime("%a %b %d %H:%M:%S %Y") for d in DAYS],
        "d_rfc2822.csv": [d.strftime('"%a, %d %b %Y %H:%M:%S +0000"') for d in DAYS],
        "d_js.csv": [d.strftime("%a %b %d %Y 00:00:00 GMT+0100 (CET)") for d in DAYS],
        "d_oracle.csv": [d.strftime("%d-%b-%y 12.00.00.000000 AM").upper() for d in DAYS],
        "d_stata_tc.csv": [d.strftime("%d%b%Y 00:00:00").lower() for d in DAYS],
        "d_ampm_dots.csv": [d.strftime("%d/%m/%Y 12:00:00 a.m.") for d in DAYS],
        "d_spanish_ampm.csv": [d.strftime("%d/%m/%Y 12:00:00 a. m.") for d in DAYS],
        "d_tz_name.csv": [f"{d:%Y-%m-%d} 16:00:00 America/New_York" for d in DAYS],
        "d_tz_paren.csv": [f"{d:%Y-%m-%d} 16:00 (EST)" for d in DAYS],
        "d_utc_plus.csv": [f"{d:%Y-%m-%d} 00:00:00 UTC+1" for d in DAYS],
        "d_dot_time.csv": [f"{d:%d.%m.%Y} 17.30" for d in DAYS],
        "d_h_time.csv": [f"{d:%d/%m/%Y} 17h30" for d in DAYS],
    }
    for name, cells in forms.items():
        reads(name, text(dates=cells), kind="auto")


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(numbers, calendars)
