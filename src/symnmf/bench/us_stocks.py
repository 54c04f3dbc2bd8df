"""The table of US stocks behind two measurements: daily log returns, and industries."""

from __future__ import annotations

import pandas as pd

from symnmf.bench.measurement import Choices

#: Files of the data folder: log returns with a column per stock; ticker and industry of each stock.
RETURNS, INDUSTRIES = "us_rsr_logret_2013_2017.parquet", "us_rsr_industry.csv"
#: Industries with fewer stocks are left out of the comparison of groups.
MIN_STOCKS = 20


def read_returns(choices: Choices) -> pd.DataFrame:
    """Returns of the stocks without missing days; the first ``--sizes`` of them where given."""
    returns = pd.read_parquet(choices.file(RETURNS)).dropna(axis=1)
    return returns.iloc[:, : choices.size(returns.shape[1])]


def read_industries(choices: Choices) -> pd.DataFrame:
    """Ticker and industry of each stock."""
    return pd.read_csv(choices.file(INDUSTRIES), keep_default_na=False)


def in_large_industries(returns: pd.DataFrame, industries: pd.DataFrame) -> pd.Series:
    """Industry of each stock whose industry has enough of them.

    Example:
        >>> table = pd.DataFrame({"ticker": ["A", "B"], "industry": ["oil", "n/a"]})
        >>> len(in_large_industries(pd.DataFrame({"A": [0.1], "B": [0.2]}), table))
        0
    """
    known = dict(zip(industries["ticker"], industries["industry"], strict=True))
    label = pd.Series({c: known.get(c, "n/a") for c in returns.columns})
    sizes = label[label != "n/a"].value_counts()
    return label[label.isin(sizes[sizes >= MIN_STOCKS].index)]
