"""``make bench-stocks DATA=FOLDER``: fits and groups of real US stocks.

FOLDER holds us_rsr_logret_2013_2017.parquet (log returns, a column each) and us_rsr_industry.csv
(ticker, industry).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from benchmarks.sheet import Sheet
from symnmf.data import Panel
from symnmf.dependence.correlation import standardize
from symnmf.dependence.shrinkage import ledoit_wolf
from symnmf.groups.rolling import rolling
from symnmf.labels import hard_labels

PANEL = "us_rsr_logret_2013_2017.parquet"
#: Industries with fewer stocks than this are left out of the comparison of groups.
FEWEST = 20


def fits(panel: Panel) -> None:
    """Excess and agreement of the default solver, and its time in dense products S H."""
    sheet = Sheet(
        "stocks-fits",
        f"{panel.values.shape[1]} US stocks, the default solver",
        ["dependence", "k", "starts", "status", "excess", "agreement", "products",
         "time in dense products"],
        {"excess": "higher", "products": "higher"},
        labels=3,
    )  # fmt: skip
    correlation = sn.abs_correlation(panel)
    cases = (
        ("tail", sn.tail_dependence(panel), (5, 11, 25)),
        ("correlation", correlation, (5, 11, 25, 60)),
    )
    for name, S, sizes in cases:
        for k in sizes:
            bare = _seconds(correlation.matmul, torch.rand(S.n, k))
            for starts in (1, 5):
                result = sn.factorize(S, k, n_init=starts)
                c, dense = result.certificate, result.seconds / bare
                status = result.status.name
                sheet.add(name, k, starts, status, c.excess, c.agreement, result.products, dense)
    sheet.show()


def whole_command(folder: Path) -> None:
    """Seconds and memory of ``symnmf fit`` from the file to the results."""
    sheet = Sheet(
        "stocks-command",
        "symnmf fit --returns, k = 25: the whole command, in a process of its own",
        ["dependence", "seconds", "GB above the imported libraries"],
        {"seconds": "higher", "GB above the imported libraries": "higher"},
    )
    empty = _child("import symnmf, symnmf.cli, symnmf.plot, pandas, pyarrow, sklearn.cluster")[1]
    for dependence in ("tail", "correlation"):
        with tempfile.TemporaryDirectory() as out:
            words = f"fit --missing drop-columns --k 25 --dependence {dependence}".split()
            words += ["--returns", str(folder / PANEL), "--out", f"{out}/groups"]
            code = f"import sys; sys.argv[1:] = {words!r}; from symnmf.cli import main; main()"
            seconds, memory = _child(code)
        sheet.add(dependence, seconds, (memory - empty) / 1e9)
    sheet.show()


def _child(code: str) -> tuple[float, float]:
    """Seconds and peak bytes of a python process."""
    began = perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, code
    return perf_counter() - began, usage.ru_maxrss * 1024.0


def shrinkage(panel: Panel) -> None:
    """The Ledoit–Wolf intensity against scikit-learn's, on z-scores."""
    Z = standardize(torch.from_numpy(panel.values.T.copy()))
    table = np.ascontiguousarray(Z.T.numpy())
    ours = _seconds(ledoit_wolf, Z)
    theirs = _seconds(lambda X: sklearn_ledoit_wolf(X, assume_centered=True), table)
    gap = abs(ledoit_wolf(Z) - sklearn_ledoit_wolf(table, assume_centered=True)[1])
    sheet = Sheet(
        "stocks-shrinkage",
        "the Ledoit–Wolf intensity",
        ["against", "times as fast", "gap"],
        {"times as fast": "lower"},
    )
    sheet.add("scikit-learn", theirs / ours, gap)
    sheet.show()


def _seconds(call: Callable[[Any], Any], argument: Any) -> float:
    """The fastest of five."""
    times = []
    for _ in range(5):
        began = perf_counter()
        call(argument)
        times.append(perf_counter() - began)
    return min(times)


def windows(panel: Panel) -> None:
    """Products of windows that carry over, and of independent ones."""
    sheet = Sheet(
        "stocks-windows",
        "windows of 500 days, 21 days apart, k = 25",
        ["dependence", "start", "windows", "converged", "products"],
        {"converged": "lower", "products": "higher"},
        labels=2,
    )
    for dependence, options in (("correlation", {}), ("tail", {"q": 0.1})):
        for warm in (False, True):
            found = rolling(panel, 500, 21, 25, dependence, warm=warm, **options)
            good = sum(w.result.status.good for w in found.windows)
            start = "carried over" if warm else "independent"
            sheet.add(dependence, start, len(found.windows), good, found.products)
    sheet.show()


def in_large_industries(returns: pd.DataFrame, table: pd.DataFrame) -> pd.Series:
    """Industry of each stock in those that have enough of them."""
    known = dict(zip(table["ticker"], table["industry"], strict=True))
    label = pd.Series({c: known.get(c, "n/a") for c in returns.columns})
    sizes = label[label != "n/a"].value_counts()
    return label[label.isin(sizes[sizes >= FEWEST].index)]


def industries(returns: pd.DataFrame, table: pd.DataFrame) -> None:
    """ARI against the industries, of ours and of three methods of scikit-learn."""
    chosen = in_large_industries(returns, table)
    k = chosen.nunique()
    sheet = Sheet(
        "stocks-industries",
        f"{len(chosen)} US stocks in {k} industries: ARI of the groups with the industries",
        ["dependence", "method", "seed 0", "seed 1", "seed 2"],
        {"seed 0": "lower", "seed 1": "lower", "seed 2": "lower"},
        labels=2,
    )
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
            sheet.add(name, method, *scores, *[None] * (3 - len(scores)))
    sheet.show()


def main(folder: Path) -> None:
    """Everything."""
    warnings.simplefilter("ignore")
    whole_command(folder)
    returns = pd.read_parquet(folder / PANEL).dropna(axis=1)
    table = pd.read_csv(folder / "us_rsr_industry.csv", keep_default_na=False)
    panel = sn.read_panel(returns, kind="returns")
    shrinkage(panel)
    fits(panel)
    windows(panel)
    industries(returns, table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
