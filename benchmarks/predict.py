"""``make bench-predict DATA=FOLDER``: whether members of a group crash together later.

FOLDER holds us_rsr_logret_2013_2017.parquet, us_rsr_industry.csv and
ff30_daily_returns_pct.parquet. Groups are found in one window of returns; in the next one a crash
is a return below the 5 % quantile of the first. The lift is how much likelier two members of one
group crash on the same day than a random pair; intervals are from days of the later windows, drawn
in blocks of a week.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.cluster import AgglomerativeClustering

import symnmf as sn
from benchmarks.sheet import Sheet
from benchmarks.stocks import in_large_industries
from symnmf.data import Panel
from symnmf.groups.risk import crash_lift

CRASH, WEEK, DRAWS = 0.05, 5, 200


def labels_of(panel: Panel, k: int, known: np.ndarray | None) -> dict[str, np.ndarray]:
    """Groups of a window by four ways."""
    S, T = sn.abs_correlation(panel), sn.tail_dependence(panel, q=0.1)
    everything = torch.arange(S.n)
    far = 1 - S.block(everything, everything).double().numpy()
    found = {
        "TPDM": sn.factorize(T, k, n_init=5).labels().numpy(),
        "correlation": sn.factorize(S, k, n_init=5).labels().numpy(),
        "Ward": AgglomerativeClustering(k, linkage="ward").fit_predict(far),
    }
    return found if known is None else {**found, "industries": known}


def lifts(
    panel: Panel, k: int, window: int, ahead: int, known: np.ndarray | None
) -> dict[str, list[np.ndarray]]:
    """For each way, a row of lifts for each window: that of its days, then of days drawn again."""
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


def rows(sheet: Sheet, panel: str, found: dict[str, list[np.ndarray]]) -> None:
    """Mean lift over the windows, with its interval."""
    for name, lift in found.items():
        means = np.nanmean(np.stack(lift), axis=0)
        low, high = np.quantile(means[1:], [0.05, 0.95])
        sheet.add(panel, name, means[0], low, high, len(lift))


def main(folder: Path) -> None:
    """Both panels."""
    warnings.simplefilter("ignore")
    sheet = Sheet(
        "predict",
        "how much likelier two members of a group crash on the same later day than a random pair",
        ["panel", "groups", "lift", "5 %", "95 %", "windows"],
        {"lift": "lower"},
        labels=2,
    )
    industries = sn.read_panel(folder / "ff30_daily_returns_pct.parquet", kind="returns")
    rows(sheet, "30 industry portfolios, k = 6", lifts(industries, 6, 1000, 250, None))
    returns = pd.read_parquet(folder / "us_rsr_logret_2013_2017.parquet").dropna(axis=1)
    table = pd.read_csv(folder / "us_rsr_industry.csv", keep_default_na=False)
    chosen = in_large_industries(returns, table)
    panel = sn.read_panel(returns[chosen.index], kind="returns")
    known = pd.factorize(chosen)[0]
    title = f"{len(chosen)} US stocks, k = {chosen.nunique()}"
    rows(sheet, title, lifts(panel, chosen.nunique(), 500, 247, known))
    sheet.show()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
