"""``make bench-stocks DATA=FOLDER``: fits and groups of real US stocks.

FOLDER holds us_rsr_logret_2013_2017.parquet (log returns, a column each) and us_rsr_industry.csv
(ticker, industry).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch
from rich.console import Console
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from symnmf.data import Panel
from symnmf.dependence.correlation import standardize
from symnmf.dependence.shrinkage import ledoit_wolf
from symnmf.groups.rolling import rolling
from symnmf.labels import hard_labels

#: Industries with fewer stocks than this are left out of the comparison of groups.
FEWEST = 20


def fits(console: Console, panel: Panel) -> None:
    """Excess and agreement of the default solver, and its time in dense products S H."""
    correlation = sn.abs_correlation(panel)
    cases = ((sn.tail_dependence(panel), (5, 11, 25)), (correlation, (5, 11, 25, 60)))
    for S, sizes in cases:
        for k in sizes:
            bare = _seconds(correlation.matmul, torch.rand(S.n, k))
            for starts in (1, 5):
                result = sn.factorize(S, k, n_init=starts)
                c = result.certificate
                agree = "" if c.agreement is None else f", agreement {c.agreement:.2f}"
                console.print(
                    f"{S} k={k}, {starts} starts: {result.status.name}, excess {c.excess:.4f}"
                    f"{agree}, {result.products:.0f} products, {result.seconds:.1f} s = "
                    f"{result.seconds / bare:.0f} dense products"
                )


def shrinkage(console: Console, panel: Panel) -> None:
    """The Ledoit–Wolf intensity against scikit-learn's, on z-scores."""
    Z = standardize(torch.from_numpy(panel.values.T.copy()))
    table = np.ascontiguousarray(Z.T.numpy())
    ours = _seconds(ledoit_wolf, Z)
    theirs = _seconds(lambda X: sklearn_ledoit_wolf(X, assume_centered=True), table)
    gap = abs(ledoit_wolf(Z) - sklearn_ledoit_wolf(table, assume_centered=True)[1])
    console.print(f"Ledoit–Wolf: {theirs / ours:.1f} × as fast as scikit-learn, gap {gap:.0e}")


def _seconds(call: Callable[[Any], Any], argument: Any) -> float:
    """The fastest of five."""
    times = []
    for _ in range(5):
        began = perf_counter()
        call(argument)
        times.append(perf_counter() - began)
    return min(times)


def windows(console: Console, panel: Panel) -> None:
    """Products of windows that carry over, and of independent ones."""
    for dependence, options in (("correlation", {}), ("tail", {"q": 0.1})):
        for warm in (False, True):
            found = rolling(panel, 500, 21, 25, dependence, warm=warm, **options)
            good = sum(w.result.status.good for w in found.windows)
            console.print(
                f"{dependence}, {'carried over' if warm else 'independent'}: {good} of "
                f"{len(found.windows)} windows converged, {found.products:.0f} products"
            )


def in_large_industries(returns: pd.DataFrame, table: pd.DataFrame) -> pd.Series:
    """Industry of each stock in those that have enough of them."""
    known = dict(zip(table["ticker"], table["industry"], strict=True))
    label = pd.Series({c: known.get(c, "n/a") for c in returns.columns})
    sizes = label[label != "n/a"].value_counts()
    return label[label.isin(sizes[sizes >= FEWEST].index)]


def industries(console: Console, returns: pd.DataFrame, table: pd.DataFrame) -> None:
    """ARI against the industries, of ours and of three methods of scikit-learn."""
    chosen = in_large_industries(returns, table)
    k = chosen.nunique()
    panel = sn.read_panel(returns[chosen.index], kind="returns")
    for name, S in (("corr", sn.abs_correlation(panel)), ("tail", sn.tail_dependence(panel))):
        everything = torch.arange(S.n)
        M = S.block(everything, everything).double().numpy()
        W = NMF(k, init="nndsvda", max_iter=500).fit_transform(M)
        seeds = range(3)
        groups = {
            "symnmf": [sn.factorize(S, k, seed=s, n_init=5).labels() for s in seeds],
            "spectral": [
                SpectralClustering(k, affinity="precomputed", random_state=s).fit_predict(M)
                for s in seeds
            ],
            "Ward": [AgglomerativeClustering(k, linkage="ward").fit_predict(1 - M)],
            "NMF": [hard_labels(torch.from_numpy(W))[0]],
        }
        for method, found in groups.items():
            scores = [adjusted_rand_score(chosen, np.asarray(labels)) for labels in found]
            words = ", ".join(f"{score:.3f}" for score in scores)
            console.print(f"{name}: {S.n} stocks, {k} industries, {method}: ARI {words}")


def main(folder: Path) -> None:
    """Everything."""
    console = Console(width=140)
    returns = pd.read_parquet(folder / "us_rsr_logret_2013_2017.parquet").dropna(axis=1)
    table = pd.read_csv(folder / "us_rsr_industry.csv", keep_default_na=False)
    panel = sn.read_panel(returns, kind="returns")
    shrinkage(console, panel)
    fits(console, panel)
    windows(console, panel)
    industries(console, returns, table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
