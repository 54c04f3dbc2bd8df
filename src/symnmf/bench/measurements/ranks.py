"""Whether the suggested number of groups is right; ``--data`` adds the US stocks.

Panels with known groups are made anew. ``--sizes`` is the number of panels of the largest kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.prediction_scores import CRASH, crash_sums, drawn_days
from symnmf.bench.simulated_panels import simulated
from symnmf.bench.us_stocks import in_large_industries, read_industries, read_returns
from symnmf.data import Panel, read_panel
from symnmf.dependence import estimate
from symnmf.factorization import factorize
from symnmf.grouping.rank_selection import suggest_rank

#: Kind of panel, dependence, its options, and the share of the panels of the largest kind.
RUNS: tuple[tuple[str, str, dict[str, Any], float], ...] = (
    ("easy", "correlation", {}, 0.7),
    ("hard", "correlation", {}, 1.0),
    ("noise", "correlation", {}, 0.5),
    ("one factor", "correlation", {}, 0.5),
    ("tight", "tail", {}, 0.25),
    ("noise", "tail", {}, 0.25),
    ("one factor", "tail", {}, 0.25),
    ("nested", "tail", {}, 0.15),
    ("many", "tail", {}, 0.05),
)
#: Number of panels of the largest kind, and numbers of groups tried on the stocks.
PANELS, TRIED = 80, (2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 34, 38, 42, 45)
#: Seeds of the fits of the stocks, whose scores are averaged: one large class that is split or not
#: moves the index of a single fit by a third.
SEEDS = 3
RANKS = MeasuredTable(
    "ranks",
    "The suggested number of groups of simulated panels",
    ("panels", "dependence"),
    ("count", "exact", "within 20 %", "bias", "ARI at true k", "ARI at suggested k", "seconds"),
    {"exact": "lower", "within 20 %": "lower", "ARI at suggested k": "lower"},
)
STOCKS = MeasuredTable(
    "ranks-stocks",
    "The suggested number of groups of US stocks, against the best number of 2 to 45",
    ("stocks",),
    (
        "suggested", "range", "ARI", "best ARI", "at k", "lift", "best lift", "at",
        "share of the best lift", "fits",
    ),
    {"ARI": "lower", "lift": "lower", "fits": "higher"},
)  # fmt: skip


def simulation(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each kind of panel."""
    most = choices.size(PANELS)
    for kind, dependence, options, share in RUNS:
        found = []
        for made in simulated(kind, max(1, round(share * most))):
            began = process_time()
            rank = suggest_rank(made.panel, dependence=dependence, **options)
            seconds, ari = process_time() - began, (np.nan, np.nan)
            if made.labels is not None:
                S = estimate(dependence, made.panel, **options)
                at = {
                    k: adjusted_rand_score(made.labels, factorize(S, k, n_init=1).labels().numpy())
                    for k in {made.k, rank.k}
                }
                ari = (at[made.k], at[rank.k])
            off = rank.k - made.k
            found.append((off == 0, abs(off) <= 0.2 * made.k, off, *ari, seconds))
            choices.note(f"{kind}, {dependence}: {rank.k} for {made.k}")
        means = np.array(found, dtype=float).mean(axis=0)
        yield RANKS.row(kind, dependence, len(found), *(round(float(m), 4) for m in means))


def stocks(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of the stocks of large industries, and of all stocks."""
    returns, table = read_returns(choices), read_industries(choices)
    chosen = in_large_industries(returns, table)
    known = dict(zip(table["ticker"], table["industry"], strict=True))
    everything = pd.Series({c: known.get(c, "n/a") for c in returns.columns})
    for name, classes in (("in industries of at least 20", chosen), ("all", everything)):
        panel = read_panel(returns[classes.index], kind="returns")
        yield one_panel(f"{panel.values.shape[1]} {name}", panel, classes.to_numpy())


def one_panel(name: str, panel: Panel, classes: np.ndarray) -> MeasuredRow:
    """The suggested number against other numbers: classes, and crashes in the second half."""
    began = process_time()
    rank = suggest_rank(panel, dependence="correlation")
    spent = process_time() - began
    S = estimate("correlation", panel)
    began = process_time()
    factorize(S, rank.k)
    spent /= process_time() - began
    half = len(panel.values) // 2
    train = panel.rows(0, half)
    before = estimate("correlation", train)
    crashes = panel.values[half:] < np.quantile(train.values, CRASH, axis=0)
    known = classes != "n/a"
    days = drawn_days(len(crashes), half)  # the days as they are, then drawn again in blocks
    ari, lift = {}, {}
    for k in sorted({*TRIED, rank.k}):
        scores, lifts = [], []
        for seed in range(SEEDS):
            labels = factorize(S, k, n_init=2, seed=seed).labels().numpy()
            scores.append(adjusted_rand_score(classes[known], labels[known]))
            labels = factorize(before, k, n_init=2, seed=seed).labels().numpy()
            inside, every = crash_sums(crashes, labels)
            lifts.append(inside[days].sum(axis=1) / every[days].sum(axis=1))
        ari[k], lift[k] = float(np.mean(scores)), np.mean(lifts, axis=0)
    best, highest = max(ari, key=lambda k: ari[k]), max(lift, key=lambda k: float(lift[k][0]))
    words = f"{rank.low} to {rank.high}"
    share = lift[rank.k] / lift[highest]
    low, high = np.quantile(share[1:], (0.05, 0.95))
    return STOCKS.row(
        name, rank.k, words, ari[rank.k], ari[best], best,
        float(lift[rank.k][0]), float(lift[highest][0]), highest,
        f"{share[0]:.3f} [{low:.2f}, {high:.2f}]", spent,
    )  # fmt: skip


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows; those of the stocks where the data folder is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from simulation(choices)
        if choices.data is not None:
            yield from stocks(choices)


MEASUREMENT = Measurement(
    "ranks",
    "Whether the suggested number of groups is right",
    (RANKS, STOCKS),
    ("sizes", "data"),
    measure,
)
