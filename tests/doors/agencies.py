"""Files of agencies, exchanges, data vendors and gauges."""

from __future__ import annotations

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
    reads,
    refused,
    sheet_of,
    text,
)
from further_files import ISO, comma

ser = [f"EXR.D.{n}.EUR.SP00.A" for n in NAMES]
mon = [f"{d:%Y-%m}" for d in MONTHS]
hrs = pd.date_range("2024-01-02", periods=ROWS, freq="h")
ms = [str(int(d.timestamp() * 1000)) for d in DAYS]
us = [str(int(d.timestamp() * 1000000.0)) for d in DAYS]
ns = [str(int(d.timestamp() * 1000000000.0)) for d in DAYS]


def agencies() -> None:
    """Central banks, statistics, power, rivers and weather."""
    reads(
        "ecb_sdmx_wide.csv",
        '"DATE","TIME PERIOD",'
        + ",".join(f'"{s}"' for s in ser)
        + "\n"
        + "\n".join(
            (
                f'"{d}","{x:%d %b %Y}",' + ",".join((f'"{v}"' for v in r))
                for d, x, r in zip(ISO, DAYS, PRICES, strict=True)
            )
        ),
        names=tuple(ser),
        kind="auto",
    )
    reads(
        "ecb_long.csv",
        "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\n"
        + "\n".join(
            (
                f"EXR.D.{n}.EUR.SP00.A,D,{n},EUR,SP00,A,{d},{v}"
                for n, c in zip(NAMES, PRICES.T, strict=True)
                for d, v in zip(ISO, c, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(f"EXR.D.{n}.EUR.SP00.A" for n in sorted(NAMES)),
        kind="auto",
    )
    reads(
        "eurostat_wide.tsv",
        "freq,unit,geo\\TIME_PERIOD\t"
        + " \t".join(mon)
        + "\n"
        + "\n".join(
            (
                f"M,I15,{n}\t" + " \t".join((f"{v:.4f}" for v in c))
                for n, c in zip(NAMES, PRICES.T, strict=True)
            )
        ),
        names=tuple(f"M,I15,{n}" for n in NAMES),
        kind="auto",
        first="1990-01-31",
    )
    refused(
        "eurostat_flags.tsv",
        "freq,unit,geo\\TIME_PERIOD\t"
        + "\t".join(mon)
        + "\n"
        + "\n".join(
            (
                f"M,I15,{n}\t"
                + "\t".join((f"{v:.4f} p" if i > 55 else f"{v:.4f}" for i, v in enumerate(c)))
                for n, c in zip(NAMES, PRICES.T, strict=True)
            )
        ),
        "column 56, column 'M,I15,AAPL' is '174.6822 p'",
        kind="auto",
    )
    reads(
        "eurostat_sdmx.csv",
        "DATAFLOW,LAST UPDATE,freq,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG\n"
        + "\n".join(
            (
                f"ESTAT:X(1.0),01/02/24 11:00:00,M,{n},{m},{v},"
                for n, c in zip(NAMES, PRICES.T, strict=True)
                for m, v in zip(mon, c, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "oecd.csv",
        '"LOCATION","INDICATOR","SUBJECT","MEASURE","FREQUENCY","TIME","Value","Flag Codes"\n'
        + "\n".join(
            (
                f'"{n}","CPI","TOT","IDX","M","{m}",{v},'
                for n, c in zip(NAMES, PRICES.T, strict=True)
                for m, v in zip(mon, c, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "imf_ifs.csv",
        "Country,Scale,Base Year,"
        + ",".join(f"{d:%b %Y}" for d in MONTHS)
        + "\n"
        + "\n".join(
            (f"{n},Units,," + ",".join(map(str, c)) for n, c in zip(NAMES, PRICES.T, strict=True))
        ),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "bundesbank.csv",
        '"";BBEX3.A;BBEX3.B;BBEX3.C;BBEX3.D;BBEX3.E\n'
        '"";Name A;Name B;Name C;Name D;Name E\nEinheit;EUR;EUR;EUR;EUR;EUR\n'
        "Dimension;Eins;Eins;Eins;Eins;Eins\nStand vom;02.01.2024 11:00:00 Uhr;;;;\n"
        + "\n".join((f"{d};" + ";".join(map(comma, r)) for d, r in zip(ISO, PRICES, strict=True))),
        names=tuple(f"Name {c}" for c in "ABCDE"),
        kind="auto",
    )
    reads(
        "snb.csv",
        '"CubeId";"devkum"\n"PublishingDate";"2024-04-01 09:00"\n\n"Date";"D0";"D1";"Value"\n'
        + "\n".join(
            (
                f'"{m}";"M0";"{n}";"{v}"'
                for m, r in zip(mon, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "boe.csv",
        "DATE,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (f"{d:%d %b %Y}," + ",".join(map(str, r)) for d, r in zip(DAYS, PRICES, strict=True))
        ),
        kind="auto",
    )
    reads(
        "boj.csv",
        '"Series code","FXERD01","FXERD02","FXERD03","FXERD04","FXERD05"\n'
        + "\n".join(
            (f'"{d:%Y/%m/%d}",' + ",".join(map(str, r)) for d, r in zip(DAYS, PRICES, strict=True))
        ),
        names=tuple(f"FXERD0{i}" for i in range(1, 6)),
        kind="auto",
    )
    reads(
        "entsoe.csv",
        '"MTU (CET/CEST)","DE-LU [EUR/MWh]","FR [EUR/MWh]","NL [EUR/MWh]","BE [EUR/MWh]",'
        '"AT [EUR/MWh]"\n'
        + "\n".join(
            (
                f'''"{d:%d.%m.%Y %H:%M} - {d + pd.Timedelta(1, "h"):%d.%m.%Y %H:%M}",'''
                + ",".join((f'"{v:.4f}"' for v in r))
                for d, r in zip(hrs, PRICES, strict=True)
            )
        ),
        names=("DE-LU [EUR/MWh]", "FR [EUR/MWh]", "NL [EUR/MWh]", "BE [EUR/MWh]", "AT [EUR/MWh]"),
        kind="values",
    )
    reads(
        "smard.csv",
        "Datum von;Datum bis;Deutschland/Luxemburg [€/MWh];Belgien [€/MWh];Frankreich [€/MWh]\n"
        + "\n".join(
            (
                f"{d:%d.%m.%Y %H:%M};{d + pd.Timedelta(1, 'h'):%d.%m.%Y %H:%M};"
                + ";".join((f"{v:.2f}".replace(".", ",") for v in r[:3]))
                for d, r in zip(hrs, PRICES, strict=True)
            )
        ),
        cents(PRICES[:, :3]),
        names=("Deutschland/Luxemburg [€/MWh]", "Belgien [€/MWh]", "Frankreich [€/MWh]"),
        kind="values",
    )
    refused(
        "nordpool.csv",
        "Nord Pool;;;;;\nElspot Prices in EUR/MWh;;;;;\n;;SE1;SE2;SE3;FI\n"
        + "\n".join(
            (
                f"{d:%d-%m-%Y};{d.hour:02d} - {(d.hour + 1) % 24:02d};"
                + ";".join((f"{v:.2f}".replace(".", ",") for v in r[:4]))
                for d, r in zip(hrs, PRICES, strict=True)
            )
        ),
        "line 4 has the date '02-01-2024', which may be month first",
        kind="values",
    )
    reads(
        "power_negative.csv",
        text(100 * RETURNS, dates=[f"{d:%Y-%m-%dT%H:%M:%S+01:00}" for d in hrs]),
        100 * RETURNS,
        kind="values",
    )
    refused(
        "grdc.txt",
        "# Title: GRDC STATION DATA FILE\n# --------------\n# GRDC-No.: 6335020\n#\n"
        "# DATA\nYYYY-MM-DD;hh:mm; Value\n"
        + "\n".join((f"{d};--:--;{v:10.3f}" for d, v in zip(ISO, PRICES[:, 0], strict=True))),
        "line 7, column 'hh:mm' is '--:--'",
        kind="values",
    )
    refused(
        "nrfa.csv",
        "file,timestamp,2024-04-01T00:00:00\ndatabase,id,nrfa\nstation,id,39001\n"
        "station,name,Thames at Kingston\n"
        + "\n".join((f"{d},{v}" for d, v in zip(ISO, PRICES[:, 0], strict=True))),
        "60 observations of 1 instrument are left (names of the",
        kind="values",
    )
    reads(
        "ghcn_wide.csv",
        "STATION,"
        + ",".join(ISO)
        + "\n"
        + "\n".join((f"USW0000{i}," + ",".join(map(str, c)) for i, c in enumerate(PRICES.T))),
        names=tuple(f"USW0000{i}" for i in range(5)),
        kind="values",
    )
    refused(
        "dwd.txt",
        "STATIONS_ID;MESS_DATUM;QN_3;FX;eor\n"
        + "\n".join(
            (
                f"{44 + j:11d};{d.replace('-', '')};{10:5d};{v:8.4f};eor"
                for j, c in enumerate(PRICES.T)
                for d, v in zip(ISO, c, strict=True)
            )
        ),
        "is a long table with several columns of numbers: QN_3, FX.",
        kind="values",
    )
    reads(
        "meteofrance.csv",
        "numer_sta;date;t\n"
        + "\n".join(
            (
                f"{7005 + j:05d};{d.replace('-', '')}000000;{v}"
                for j, c in enumerate(PRICES.T)
                for d, v in zip(ISO, c, strict=True)
            )
        ),
        names=tuple(f"{7005 + j:05d}" for j in range(5)),
        kind="values",
    )
    reads(
        "knmi.txt",
        "# KNMI\n# STN,YYYYMMDD,   FG\n"
        + "\n".join(
            (
                f"{209 + j:5d},{d.replace('-', '')},{v:10.4f}"
                for j, c in enumerate(PRICES.T)
                for d, v in zip(ISO, c, strict=True)
            )
        ),
        names=tuple(str(209 + j) for j in range(5)),
        kind="values",
    )
    reads(
        "gauge_flags.csv",
        "Date,Gauge1,Gauge1_flag,Gauge2,Gauge2_flag,Gauge3,Gauge3_flag\n"
        + "\n".join(
            (
                f"{d}," + ",".join((f"{v},{('A' if i % 3 else 'E')}" for v in r[:3]))
                for i, (d, r) in enumerate(zip(ISO, PRICES, strict=True))
            )
        ),
        PRICES[:, :3],
        names=("Gauge1", "Gauge2", "Gauge3"),
        kind="values",
    )
    reads(
        "gauge_flag_numbers.csv",
        "Date,Gauge1,Gauge1_quality,Gauge2,Gauge2_quality\n"
        + "\n".join(
            (
                f"{d}," + ",".join((f"{v},{(1 if i % 3 else 2)}" for v in r[:2]))
                for i, (d, r) in enumerate(zip(ISO, PRICES, strict=True))
            )
        ),
        PRICES[:, :2],
        names=("Gauge1", "Gauge2"),
        kind="values",
    )
    reads(
        "fixed_width.txt",
        "\n".join(
            [f"{'Date':<12}" + "".join(f"{n:>12}" for n in NAMES)]
            + [
                f"{d:<12}" + "".join(f"{v:12.4f}" for v in r)
                for d, r in zip(ISO, PRICES, strict=True)
            ]
        ),
        kind="auto",
    )
    refused(
        "fixed_width_gap.txt",
        "\n".join(
            [f"{'Date':<12}" + "".join(f"{n:>12}" for n in NAMES)]
            + [
                f"{d:<12}"
                + "".join((" " * 12 if (i, j) == (5, 2) else f"{v:12.4f}" for j, v in enumerate(r)))
                for i, (d, r) in enumerate(zip(ISO, PRICES, strict=True))
            ]
        ),
        "line 7 has 5 cells; the header has 6",
        kind="auto",
    )


def vendors() -> None:
    """Exchanges and vendors of prices."""
    reads("binance_us.csv", text(dates=us, corner="open_time"), kind="auto")
    reads("crypto_ns.csv", text(dates=ns, corner="ts"), kind="auto")
    reads(
        "crypto_s_decimal.csv",
        text(dates=[f"{d.timestamp():.3f}" for d in DAYS], corner="time"),
        kind="auto",
    )
    reads(
        "crypto_utc.csv",
        text(dates=[f"{d:%Y-%m-%d} 00:00:00 UTC" for d in DAYS], corner="snapped_at"),
        kind="auto",
    )
    reads(
        "coinmarketcap.csv",
        "timeOpen;timeClose;AAPL;MSFT\n"
        + "\n".join(
            (
                f'"{d}T00:00:00.000Z";"{d}T23:59:59.999Z";{r[0]};{r[1]}'
                for d, r in zip(ISO, PRICES, strict=True)
            )
        ),
        PRICES[:, :2],
        names=("AAPL", "MSFT"),
        kind="auto",
    )
    refused(
        "binance_klines.csv",
        "\n".join(
            (
                f"{m},{r[0]},{r[0] + 1},{r[0] - 1},{r[0]},1000"
                f",{int(m) + 86399999},2000,500,600,700,0"
                for m, r in zip(ms, PRICES, strict=True)
            )
        ),
        "holds numbers that are neither clearly prices (positive",
        kind="auto",
    )
    reads(
        "tiny_coins.csv",
        text(PRICES * 1e-09, number=lambda v: f"{v:.12f}"),
        cents(PRICES * 1e-09, 12),
        kind="auto",
    )
    refused(
        "googlefinance.csv",
        "Date,Close,Date,Close,Date,Close\n"
        + "\n".join(
            (
                ",".join((f"{d.month}/{d.day}/{d.year} 16:00:00,{v}" for v in r[:3]))
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        "has 3 columns of dates, one for each instrument",
        kind="auto",
    )
    refused(
        "googlefinance_names.csv",
        "Date,AAPL,Date,MSFT,Date,XOM\n"
        + "\n".join(
            (
                ",".join((f"{d.month}/{d.day}/{d.year} 16:00:00,{v}" for v in r[:3]))
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        "has 3 columns of dates, one for each instrument",
        kind="auto",
    )
    refused(
        "investing_com.csv",
        '"Date","Price","Open","High","Low","Vol.","Change %"\n'
        + "\n".join(
            (
                f'"{d:%b %d, %Y}","{r[0]}","{r[0]}","{r[0] + 1}","{r[0] - 1}","12.5M","0.5%"'
                for d, r in list(zip(DAYS, PRICES, strict=True))[::-1]
            )
        ),
        "the columns Price, Open, High, Low, Vol., Change % are",
        kind="auto",
    )
    refused(
        "nasdaq_com.csv",
        "Date,Close/Last,Volume,Open,High,Low\n"
        + "\n".join(
            (
                f"{d:%m/%d/%Y},${r[0]},100,${r[0]},${r[0] + 1},${r[0] - 1}"
                for d, r in list(zip(DAYS, PRICES, strict=True))[::-1]
            )
        ),
        "the columns Close/Last, Volume, Open, High, Low are fields",
        kind="auto",
    )
    refused(
        "nse_india.csv",
        "Date ,series ,OPEN ,HIGH ,LOW ,PREV. CLOSE ,ltp ,close ,vwap \n"
        + "\n".join(
            (
                f"{d:%d-%b-%Y},EQ,{r[0]},{r[0] + 1},{r[0] - 1},{r[0]},{r[0]},{r[0]},{r[0]}"
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        "the columns series, OPEN, HIGH, LOW, PREV. CLOSE, ltp are",
        kind="auto",
    )
    reads(
        "bhavcopy.csv",
        "SYMBOL,SERIES,OPEN,HIGH,LOW,CLOSE,LAST,TIMESTAMP\n"
        + "\n".join(
            (
                f"{n},EQ,{v},{v + 1},{v - 1},{v},{v},{d:%d-%b-%Y}".upper()
                for d, r in zip(DAYS, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
    )
    reads(
        "jquants.csv",
        "日付,コード,終値\n"
        + "\n".join(
            (
                f"{d},{1300 + j},{v}"
                for d, r in zip(ISO, PRICES, strict=True)
                for j, v in enumerate(r)
            )
        ),
        names=tuple(str(1300 + j) for j in range(5)),
        kind="auto",
    )
    reads(
        "factset.csv",
        "Ticker,Company,"
        + ",".join(f"{d:%m/%d/%y}" for d in DAYS)
        + "\n"
        + "\n".join(
            (
                f'{n}-US,"{n}, Inc.",' + ",".join(map(str, c))
                for n, c in zip(NAMES, PRICES.T, strict=True)
            )
        ),
        names=tuple(f"{n}-US" for n in NAMES),
        kind="auto",
    )
    reads(
        "capitaliq.csv",
        "S&P Capital IQ\nPricing as of Mar-25-2024\n\n"
        "Date,NasdaqGS:AAPL - Share Pricing,NasdaqGS:MSFT - Share Pricing,"
        "NYSE:XOM - Share Pricing\n"
        + "\n".join(
            (
                f"{d:%b-%d-%Y}," + ",".join((f"{v}" for v in r[:3]))
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        PRICES[:, :3],
        names=(
            "NasdaqGS:AAPL - Share Pricing",
            "NasdaqGS:MSFT - Share Pricing",
            "NYSE:XOM - Share Pricing",
        ),
        kind="auto",
    )
    reads(
        "morningstar.csv",
        "Historical NAV\n\nDate,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (f"{d:%m-%d-%Y}," + ",".join(map(str, r)) for d, r in zip(DAYS, PRICES, strict=True))
        ),
        kind="auto",
    )
    reads(
        "tradingview.csv",
        'time,"NASDAQ:AAPL, close","NASDAQ:MSFT, close","NYSE:XOM, close"\n'
        + "\n".join(
            (
                f"{int(d.timestamp())}," + ",".join(map(str, r[:3]))
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        PRICES[:, :3],
        names=("NASDAQ:AAPL, close", "NASDAQ:MSFT, close", "NYSE:XOM, close"),
        kind="auto",
    )
    reads(
        "portfolio_visualizer.csv",
        "Year,Month,"
        + ",".join(NAMES)
        + "\n"
        + "\n".join(
            (
                f"{d.year},{d.month}," + ",".join((f"{100 * v:.2f}%" for v in r))
                for d, r in zip(MONTHS, RETURNS, strict=True)
            )
        ),
        cents(100 * RETURNS) / 100,
        kind="auto",
        first="1990-01-31",
    )
    reads(
        "msci.csv",
        'Index Level :,Price\nCurrency :,USD\nAs of :,"Mar 25, 2024"\n\n'
        "Date,WORLD,EM,USA,EUROPE,JAPAN\n"
        + "\n".join(
            (
                f'"{d:%b %d, %Y}",' + ",".join((f'"{v:,.3f}"' for v in r))
                for d, r in zip(DAYS, LARGE, strict=True)
            )
        )
        + '\n\n"Copyright MSCI 2024. All rights reserved. Unpublished."\n',
        LARGE,
        names=("WORLD", "EM", "USA", "EUROPE", "JAPAN"),
        kind="auto",
    )
    reads(
        "stoxx.txt",
        "Date      ;SX5E;SX7E;\n"
        + "\n".join((f"{d:%d.%m.%Y};{r[0]};{r[1]};" for d, r in zip(DAYS, PRICES, strict=True))),
        PRICES[:, :2],
        names=("SX5E", "SX7E"),
        kind="auto",
    )
    reads(
        "stoxx_date_symbol.txt",
        "Date;Symbol;Indexvalue\n"
        + "\n".join(
            (
                f"{d:%d.%m.%Y};{n};{v}"
                for d, r in zip(DAYS, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
    )
    refused(
        "cboe.csv",
        "DATE,OPEN,HIGH,LOW,CLOSE\n"
        + "\n".join(
            (f"{d:%m/%d/%Y},{r[0]},{r[0]},{r[0]},{r[0]}" for d, r in zip(DAYS, PRICES, strict=True))
        ),
        "the columns OPEN, HIGH, LOW, CLOSE are fields of one",
        kind="auto",
    )
    reads(
        "aqr.xlsx",
        sheet_of(
            [["AQR Capital Management"], ["Data current as of 2024"], [], ["DATE", *NAMES]]
            + [[f"{d:%m/%d/%Y}", *map(float, r)] for d, r in zip(DAYS, RETURNS, strict=True)]
        ),
        RETURNS,
        kind="auto",
    )
    reads(
        "quandl.csv",
        'Date,"WIKI/AAPL - Adj. Close","WIKI/MSFT - Adj. Close"\n'
        + "\n".join((f"{d},{r[0]},{r[1]}" for d, r in zip(ISO, PRICES, strict=True))),
        PRICES[:, :2],
        names=("WIKI/AAPL - Adj. Close", "WIKI/MSFT - Adj. Close"),
        kind="auto",
    )
    refused(
        "alphavantage.csv",
        "timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient\n"
        + "\n".join((f"{d},1,2,3,{r[0]},{r[0]},100,0,1" for d, r in zip(ISO, PRICES, strict=True))),
        "the columns open, high, low, close, adjusted_close, volume",
        kind="auto",
    )
    reads(
        "polygon.csv",
        "ticker,volume,open,close,high,low,window_start,transactions\n"
        + "\n".join(
            (
                f"{n},100,{v},{v},{v},{v},{int(d.timestamp() * 1000000000.0)},5"
                for d, r in zip(DAYS, PRICES, strict=True)
                for n, v in zip(NAMES, r, strict=True)
            )
        ),
        PRICES[:, [NAMES.index(n) for n in sorted(NAMES)]],
        names=tuple(sorted(NAMES)),
        kind="auto",
    )
    reads(
        "dukascopy.csv",
        "Gmt time,EURUSD,GBPUSD,USDJPY\n"
        + "\n".join(
            (
                f"{d:%d.%m.%Y} 00:00:00.000,{r[0]},{r[1]},{r[2]}"
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        PRICES[:, :3],
        names=("EURUSD", "GBPUSD", "USDJPY"),
        kind="auto",
    )
    refused(
        "histdata.csv",
        "\n".join(
            (
                f"{d:%Y%m%d} 170000;{r[0]};{r[1]};{r[2]};{r[3]};0"
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        "holds numbers that are neither clearly prices (positive",
        kind="auto",
    )
    refused(
        "metatrader.csv",
        "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\n"
        + "\n".join(
            (
                f"{d:%Y.%m.%d}\t00:00:00\t{r[0]}\t{r[0]}\t{r[0]}\t{r[0]}"
                for d, r in zip(DAYS, PRICES, strict=True)
            )
        ),
        "the columns <OPEN>, <HIGH>, <LOW>, <CLOSE> are fields of",
        kind="auto",
    )
    refused(
        "ibkr.csv",
        "Statement,Header,Field Name,Field Value\nStatement,Data,BrokerName,X\n"
        "Statement,Data,Title,Activity\n",
        "has no row of numbers",
        kind="auto",
    )
    reads(
        "crypto_iso_us.csv",
        text(dates=[f"{d:%Y-%m-%d}T00:00:00.000000Z" for d in DAYS]),
        kind="auto",
    )


def build() -> list[Case]:
    """All cases; the same ones every time."""
    return built(agencies, vendors)
