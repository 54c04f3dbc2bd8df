"""The bundled sample of real prices. Its source and licence are in NOTICE."""

from __future__ import annotations

from importlib.resources import as_file, files

import pandas as pd


def sp500_prices() -> pd.DataFrame:
    """Daily prices of 20 companies of the S&P 500, 1990 to 2022, one column per company.

    Example:
        >>> sp500_prices().shape[1]
        20
    """
    with as_file(files(__name__) / "sp500_20.parquet") as path:
        return pd.read_parquet(path)
