"""Fits and groups of real US stocks; ``--data`` names the folder of the table."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
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

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.timing import fastest
from symnmf.bench.us_stocks import RETURNS, in_large_industries, read_industries, read_returns
from symnmf.core.labels import hard_labels
from symnmf.data import Panel, read_panel
from symnmf.dependence.correlation import abs_correlation
from symnmf.dependence.removal import standardize
from symnmf.dependence.shrinkage import ledoit_wolf
from symnmf.dependence.tail import tail_dependence
from symnmf.factorization import factorize
from symnmf.grouping.rolling import rolling

#: Memory that the libraries take is not that of the command.
IMPORTS = "import symnmf, symnmf.cli, symnmf.plot, pandas, pyarrow, sklearn.cluster"
SEEDS = (0, 1, 2)

COMMAND = MeasuredTable(
    "stocks-command",
    "symnmf fit --returns, k = 25: the whole command, in its own process",
    ("dependence",),
    ("seconds", "GB above the imported libraries"),
    {"seconds": "higher", "GB above the imported libraries": "higher"},
)
SHRINKAGE = MeasuredTable(
    "stocks-shrinkage",
    "The Ledoit–Wolf intensity",
    ("against",),
    ("times as fast", "gap"),
    {"times as fast": "lower"},
)
FITS = MeasuredTable(
    "stocks-fits",
    "US stocks, the default solver",
    ("dependence", "k", "starts"),
    ("status", "excess", "agreement", "products", "time in dense products"),
    {"excess": "higher", "products": "higher"},
)
WINDOWS = MeasuredTable(
    "stocks-windows",
    "Windows of 500 days, 21 days apart, k = 25",
    ("dependence", "start"),
    ("windows", "converged", "products"),
    {"converged": "lower", "products": "higher"},
)
INDUSTRIES = MeasuredTable(
    "stocks-industries",
    "US stocks: ARI of the groups with the industries",
    ("dependence", "method"),
    tuple(f"seed {seed}" for seed in SEEDS),
    {f"seed {seed}": "lower" for seed in SEEDS},
)


def whole_command(choices: Choices) -> Iterator[MeasuredRow]:
    """Seconds and memory of ``symnmf fit`` from the file to the results.

    It comes first: the peak of a process is at least the memory of the one that started it.
    """
    libraries = _child(IMPORTS)[1]
    for dependence in ("tail", "correlation"):
        with tempfile.TemporaryDirectory() as folder:
            table = choices.file(RETURNS)
            if choices.sizes:
                table = Path(folder) / "returns.parquet"
                read_returns(choices).to_parquet(table)
            words = f"fit --missing drop-columns --k 25 --dependence {dependence}".split()
            words += ["--returns", str(table), "--out", f"{folder}/groups"]
            code = f"import sys; sys.argv[1:] = {words!r}; from symnmf.cli import main; main()"
            seconds, memory = _child(code)
        yield COMMAND.row(dependence, seconds, (memory - libraries) / 1e9)


def _child(code: str) -> tuple[float, float]:
    """Seconds and peak bytes of a Python process."""
    began = perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"ended with status {status}: {code}")
    return perf_counter() - began, usage.ru_maxrss * 1024.0


def shrinkage(panel: Panel) -> Iterator[MeasuredRow]:
    """The Ledoit–Wolf intensity of z-scores against that of scikit-learn."""
    Z = standardize(torch.from_numpy(panel.values.T.copy()))
    table = np.ascontiguousarray(Z.T.numpy())
    ours = fastest(lambda: ledoit_wolf(Z))
    other = fastest(lambda: sklearn_ledoit_wolf(table, assume_centered=True))
    gap = abs(ledoit_wolf(Z) - sklearn_ledoit_wolf(table, assume_centered=True)[1])
    yield SHRINKAGE.row("scikit-learn", other / ours, gap)


def fits(panel: Panel) -> Iterator[MeasuredRow]:
    """Excess and agreement of the default solver, and its time in dense products S H."""
    correlation = abs_correlation(panel)
    cases = (
        ("tail", tail_dependence(panel), (5, 11, 25)),
        ("correlation", correlation, (5, 11, 25, 60)),
    )
    for name, S, sizes in cases:
        for k in sizes:
            X = torch.rand(S.n, k)
            product = fastest(lambda X=X: correlation.matmul(X))  # type: ignore[misc]
            for starts in (1, 5):
                result = factorize(S, k, n_init=starts)
                yield FITS.row(
                    name,
                    k,
                    starts,
                    result.status.name,
                    result.certificate.excess,
                    result.certificate.agreement,
                    result.products,
                    result.seconds / product,
                )


def windows(panel: Panel) -> Iterator[MeasuredRow]:
    """Products of windows that start from the one before, and of independent ones."""
    cases: tuple[tuple[str, dict[str, Any]], ...] = (("correlation", {}), ("tail", {"q": 0.1}))
    for dependence, options in cases:
        for warm in (False, True):
            found = rolling(panel, 500, 21, 25, dependence, warm=warm, **options)
            good = sum(w.result.status.good for w in found.windows)
            start = "carried over" if warm else "independent"
            yield WINDOWS.row(dependence, start, len(found.windows), good, found.products)


def industries(returns: pd.DataFrame, table: pd.DataFrame) -> Iterator[MeasuredRow]:
    """ARI with the industries, of symnmf and of three methods of scikit-learn."""
    chosen = in_large_industries(returns, table)
    k = chosen.nunique()
    if k < 2:  # too few stocks were chosen
        return
    panel = read_panel(returns[chosen.index], kind="returns")
    for name, S in (("corr", abs_correlation(panel)), ("tail", tail_dependence(panel))):
        everything = torch.arange(S.n)
        M = S.block(everything, everything).double().numpy()
        W = NMF(k, init="nndsvda", max_iter=500).fit_transform(M)
        groups = {
            "symnmf": [factorize(S, k, seed=seed, n_init=5).labels() for seed in SEEDS],
            "spectral": [
                SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(M)
                for seed in SEEDS
            ],
            "Ward": [AgglomerativeClustering(k, linkage="ward").fit_predict(1 - M)],
            "NMF": [hard_labels(torch.from_numpy(W))[0]],
        }
        for method, found in groups.items():
            scores = [adjusted_rand_score(chosen, np.asarray(labels)) for labels in found]
            yield INDUSTRIES.row(name, method, *scores, *[None] * (len(SEEDS) - len(scores)))


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows of the five tables."""
    table = read_industries(choices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from whole_command(choices)
        returns = read_returns(choices)
        panel = read_panel(returns, kind="returns")
        yield from shrinkage(panel)
        yield from fits(panel)
        yield from windows(panel)
        yield from industries(returns, table)


MEASUREMENT = Measurement(
    "stocks",
    "Fits and groups of US stocks",
    (COMMAND, SHRINKAGE, FITS, WINDOWS, INDUSTRIES),
    ("sizes", "data"),
    measure,
)
