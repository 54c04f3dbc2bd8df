"""Whether members of a group crash together later; ``--data`` names the folder of the tables.

Groups are found in one window of returns; in the next one a crash is a return below the 5 %
quantile of the first. The lift is how much likelier two members of one group crash on the same day
than a random pair; intervals are from days of the later windows, drawn in blocks of a week.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from sklearn.cluster import AgglomerativeClustering

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.us_stocks import in_large_industries, read_industries, read_returns
from symnmf.data import Panel, read_panel
from symnmf.dependence.correlation import abs_correlation
from symnmf.dependence.tail import tail_dependence
from symnmf.factorization import factorize

PORTFOLIOS = "ff30_daily_returns_pct.parquet"
CRASH, WEEK, DRAWS = 0.05, 5, 200
PREDICT = MeasuredTable(
    "predict",
    "How much likelier two members of a group crash on the same later day than a random pair",
    ("panel", "groups"),
    ("lift", "5 %", "95 %", "windows"),
    {"lift": "lower"},
)


def crash_lift(
    crashes: np.ndarray, labels: Sequence[int] | np.ndarray
) -> float:  # (T, n) of truth values, (n,)
    """How much likelier two members of one group crash together than a random pair.

    Arguments:
        crashes: whether each instrument crashed on each day.
        labels: groups; an instrument with −1 is in none.

    Returns:
        The lift; nan when no two instruments of one group, or no two at all, can crash together.

    Example:
        >>> crash_lift(np.array([[True, True, False, False]]), [0, 0, 1, 1])
        3.0
    """
    hits = np.asarray(crashes, dtype=np.float64)
    labels = np.asarray(labels)
    joint = float((np.square(hits.sum(axis=1)) - hits.sum(axis=1)).sum())
    n = hits.shape[1]
    inside, pairs = 0.0, 0.0
    for group in np.unique(labels[labels >= 0]):
        members = hits[:, labels == group].sum(axis=1)
        size = int((labels == group).sum())
        inside += float((np.square(members) - members).sum())
        pairs += size * (size - 1)
    if joint == 0 or pairs == 0:
        return float("nan")
    return float((inside / pairs) / (joint / (n * (n - 1))))


def labels_of(panel: Panel, k: int, known: np.ndarray | None) -> dict[str, np.ndarray]:
    """Groups of a window by four methods."""
    S, T = abs_correlation(panel), tail_dependence(panel, q=0.1)
    everything = torch.arange(S.n)
    distance = 1 - S.block(everything, everything).double().numpy()
    found = {
        "TPDM": factorize(T, k, n_init=5).labels().numpy(),
        "correlation": factorize(S, k, n_init=5).labels().numpy(),
        "Ward": AgglomerativeClustering(k, linkage="ward").fit_predict(distance),
    }
    return found if known is None else {**found, "industries": known}


def lifts(
    panel: Panel, k: int, window: int, ahead: int, known: np.ndarray | None
) -> dict[str, list[np.ndarray]]:
    """For each method a row of lifts per window: of its days, then of days drawn again."""
    found: dict[str, list[np.ndarray]] = {}
    for begin in range(0, len(panel.values) - window - ahead + 1, ahead):
        train = panel.rows(begin, begin + window)
        crashes = panel.values[begin + window : begin + window + ahead] < np.quantile(
            train.values, CRASH, axis=0
        )
        rng = np.random.default_rng(begin)
        days = [np.arange(ahead)]
        for _ in range(DRAWS):
            weeks = rng.integers(ahead, size=-(-ahead // WEEK))
            days.append(((weeks[:, None] + np.arange(WEEK)) % ahead).ravel()[:ahead])
        for name, labels in labels_of(train, k, known).items():
            row = np.array([crash_lift(crashes[d], labels) for d in days])
            found.setdefault(name, []).append(row)
    return found


def rows(panel: str, found: dict[str, list[np.ndarray]]) -> Iterator[MeasuredRow]:
    """Mean lift over the windows, with its interval."""
    for name, lift in found.items():
        means = np.nanmean(np.stack(lift), axis=0)
        low, high = np.quantile(means[1:], [0.05, 0.95])
        yield PREDICT.row(panel, name, means[0], low, high, len(lift))


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of the portfolios and of the stocks; ``--sizes`` chooses how many stocks."""
    portfolios = read_panel(choices.file(PORTFOLIOS), kind="returns")
    returns, table = read_returns(choices), read_industries(choices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from rows("30 industry portfolios, k = 6", lifts(portfolios, 6, 1000, 250, None))
        chosen = in_large_industries(returns, table)
        k = chosen.nunique()
        if k < 2:  # too few stocks were chosen
            return
        stocks = read_panel(returns[chosen.index], kind="returns")
        found = lifts(stocks, k, 500, 247, pd.factorize(chosen)[0])
        yield from rows(f"{len(chosen)} US stocks, k = {k}", found)


MEASUREMENT = Measurement(
    "predict",
    "Whether members of a group crash together later",
    (PREDICT,),
    ("sizes", "data"),
    measure,
)
