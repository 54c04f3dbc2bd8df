"""Panels of the study of prediction: the bundled one, simulated ones, and tables of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from symnmf.bench.max_linear_panels import MaxLinearPanel
from symnmf.bench.measurement import Choices
from symnmf.bench.us_stocks import (
    INDUSTRIES,
    RETURNS,
    in_large_industries,
    read_industries,
    read_returns,
)
from symnmf.data import Panel, read_panel
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidInput, SymnmfError
from symnmf.numerics import numpy_stream

#: File of the portfolios, and their name in the tables.
PORTFOLIOS = "ff30_daily_returns_pct.parquet"
#: Ending of a file of classes that belongs to a table: ``NAME.classes.csv`` to ``NAME.csv``.
CLASSES = ".classes.csv"
#: Number of groups of a panel without classes: about one for five instruments, from 3 to 12.
GROUP_SIZE, FEWEST, MOST = 5, 3, 12
#: Most rows of a window, and its share of the table; rows ahead as a share of the window.
MAX_WINDOW, WINDOW_SHARE, AHEAD_SHARE = 1000, 0.4, 0.25
#: Most windows of a panel; longer tables use every second, third, … of them.
MAX_WINDOWS = 30
#: Instruments from which a panel is large, so that some scores are left out.
LARGE = 500
#: Simulated panels: instruments, groups and rows; loadings on the own factor, so weak that not all
#: groups are found, and on the other factors together.
SIMULATED, SIMULATED_GROUPS, SIMULATED_ROWS = 40, 5, 3000
OWN, SHARED = (0.2, 0.5), 0.3


@dataclass(frozen=True)
class PredictionPanel:
    """A panel with its windows.

    Attributes:
        name: name in the tables.
        panel: returns; losses are extreme for ``"lower"``.
        classes: (n,) class of each instrument, −1 for none; None without classes.
        k: number of groups.
        window, ahead: rows to fit, and rows after them in which crashes are counted.
        simulated: whether the panel was drawn from a model; such panels are left out of the mean.
    """

    name: str
    panel: Panel
    classes: np.ndarray | None
    k: int
    window: int
    ahead: int
    simulated: bool = False

    @property
    def large(self) -> bool:
        """Whether some scores are left out because of the size of the panel."""
        return len(self.panel.names) > LARGE

    @property
    def begins(self) -> list[int]:
        """First rows of the windows, spread over the whole table."""
        last = len(self.panel.values) - self.window - self.ahead
        every = list(range(0, last + 1, self.ahead))
        step = -(-len(every) // MAX_WINDOWS)
        return every[::step]

    @classmethod
    def of(
        cls,
        name: str,
        panel: Panel,
        classes: np.ndarray | None = None,
        k: int | None = None,
        simulated: bool = False,
    ) -> PredictionPanel:
        """A panel with windows and a number of groups that suit its size."""
        T, n = panel.values.shape
        window = int(min(MAX_WINDOW, WINDOW_SHARE * T))
        if k is None:
            k = (
                int(np.clip(n // GROUP_SIZE, FEWEST, MOST))
                if classes is None
                else len(np.unique(classes[classes >= 0]))
            )
        return cls(name, panel, classes, k, window, int(AHEAD_SHARE * window), simulated)


def find_panels(choices: Choices) -> Iterator[PredictionPanel]:
    """The bundled stocks, simulated panels, then the tables of the folder.

    Known files are the portfolios and the US stocks with their industries. Every other .csv or
    .parquet file is a table of returns, or of prices if its name contains "prices"; classes of
    ``NAME.csv`` are in ``NAME.classes.csv``, a name and a class in each row.

    Arguments:
        choices: folder of the data, and the number of US stocks.
    """
    bundled = read_panel(sp500_prices(), kind="prices")
    yield PredictionPanel.of("20 bundled stocks", bundled)
    yield from _simulated()
    folder = choices.data
    if folder is None:
        return
    if not folder.is_dir():
        raise InvalidInput("--data", f"{folder} is not a folder", "Pass a folder with tables")
    if (folder / PORTFOLIOS).is_file():
        table = read_panel(folder / PORTFOLIOS, kind="returns")
        yield PredictionPanel.of(f"{table.values.shape[1]} industry portfolios", table, k=6)
    for path in sorted(folder.iterdir()):
        known = path.name in (PORTFOLIOS, RETURNS, INDUSTRIES) or path.name.endswith(CLASSES)
        if path.suffix in (".csv", ".parquet") and not known:
            yield from _other(path, choices)
    if (folder / RETURNS).is_file() and (folder / INDUSTRIES).is_file():
        yield from _us_stocks(choices)


def _simulated() -> Iterator[PredictionPanel]:
    """Groups that share their extremes (max-linear), and groups that share returns of all sizes."""
    labels = np.arange(SIMULATED) % SIMULATED_GROUPS
    rng = numpy_stream(0, "predicted panels")
    loadings = np.full((SIMULATED, SIMULATED_GROUPS), SHARED / SIMULATED_GROUPS**0.5)
    loadings[np.arange(SIMULATED), labels] = rng.uniform(*OWN, SIMULATED)
    ones = np.ones(SIMULATED)
    model = MaxLinearPanel(loadings, ones, ones, labels)
    extremes = -model.draw(SIMULATED_ROWS, clustered=True, rng=rng)
    factors = rng.standard_t(3, (SIMULATED_ROWS, SIMULATED_GROUPS + 1))
    own = rng.standard_t(3, (SIMULATED_ROWS, SIMULATED))
    returns = loadings.max(axis=1) * factors[:, labels] + SHARED * factors[:, -1:] + own
    for name, values in (("max-linear", extremes), ("factors of t(3)", returns)):
        panel = read_panel(values, kind="returns")
        yield PredictionPanel.of(f"simulated: {name}", panel, labels, simulated=True)


def _us_stocks(choices: Choices) -> Iterator[PredictionPanel]:
    returns = read_returns(choices)
    industries = in_large_industries(returns, read_industries(choices))
    if industries.nunique() < 2:
        choices.note("US stocks: too few were chosen for two industries")
        return
    panel = read_panel(returns[industries.index], kind="returns")
    codes = pd.factorize(industries)[0]
    yield PredictionPanel.of(f"{len(industries)} US stocks", panel, codes)


def _other(path: Path, choices: Choices) -> Iterator[PredictionPanel]:
    kind = "prices" if "prices" in path.stem.lower() else "returns"
    try:
        panel = read_panel(path, kind=kind, missing="drop-columns", max_missing=0.05)
    except SymnmfError as wrong:
        choices.note(f"{path.name} was left out: {wrong}")
        return
    classes = None
    sidecar = path.with_name(path.stem + CLASSES)
    if sidecar.is_file():
        from symnmf.data.classes import read_classes

        known = dict(read_classes(sidecar))
        words = pd.Series([known.get(name) for name in panel.names])
        classes = pd.factorize(words)[0]
    yield PredictionPanel.of(path.stem, panel, classes)
