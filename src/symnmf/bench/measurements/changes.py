"""False alarms and power of the test of changed groups, in simulated histories.

``--sizes`` is the number of histories without a change of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.data import read_panel
from symnmf.grouping.break_search import named_movers
from symnmf.grouping.break_test import FALSE_ALARMS
from symnmf.grouping.window_changes import changes_of_windows

#: Histories without a change of each kind, and the share of them with one.
HISTORIES, CHANGED = 200, 0.05
#: Rows and instruments of a history, groups, rows of a window and of a step.
ROWS, INSTRUMENTS, GROUPS, WINDOW, STEP = 1200, 40, 4, 300, 30
#: Kinds of returns, and noise of an instrument relative to the factor of its group.
KINDS = ("normal", "t with 5 degrees", "GARCH", "slow volatility", "rising market")
#: Histories without a change: returns, dependence, noise.
PLAN = (
    ("normal", "correlation", 3.0),
    ("GARCH", "correlation", 3.0),
    ("GARCH", "tail", 3.0),
)
ALARMS = MeasuredTable(
    "changes-alarms",
    f"Share of histories without a change in which one is reported, at the level {FALSE_ALARMS:g}",
    ("returns", "dependence", "noise"),
    ("histories", "alarms", "standard error"),
    {"alarms": "higher"},
)
POWER = MeasuredTable(
    "changes-power",
    f"Share of histories in which some of {INSTRUMENTS} instruments change sides and it is found",
    ("movers", "dependence", "noise"),
    ("histories", "found", "rows off", "movers named", "wrongly named"),
    {"found": "lower"},
)


def simulated_history(
    kind: str, noise: float, movers: int, number: int, rows: int = ROWS
) -> np.ndarray:  # (rows, INSTRUMENTS)
    """Returns with a market, four groups and noise; some instruments change sides in the middle.

        x_ti = b_i m_t + g_{t, c_t(i)} + σ e_ti

    Arguments:
        kind: one of ``KINDS``; ``"slow volatility"`` has a common volatility that wanders by a
            factor of several, ``"rising market"`` a market that becomes twice as strong.
        noise: σ.
        movers: number of instruments that join the next group in the middle.
        number: number of the history, its seed.
        rows: number of rows.

    Example:
        >>> simulated_history("normal", 2.0, 0, 0).shape
        (1200, 40)
    """
    rng = np.random.default_rng([KINDS.index(kind), movers, number])
    early = np.arange(INSTRUMENTS) % GROUPS
    late = early.copy()
    late[:movers] = (late[:movers] + 1) % GROUPS
    market, groups, own = (_draws(rng, rows, m, kind) for m in (1, GROUPS, INSTRUMENTS))
    if kind == "rising market":
        market *= np.linspace(0.7, 1.4, rows)[:, None]
    first = (np.arange(rows) < rows // 2)[:, None]
    values = market * (1 + 0.3 * rng.uniform(-1, 1, INSTRUMENTS)) + noise * own
    values += np.where(first, groups[:, early], groups[:, late])
    if kind == "slow volatility":
        values *= np.exp(0.03 * np.cumsum(rng.standard_normal(rows)))[:, None]
    return values


def _draws(rng: np.random.Generator, rows: int, m: int, kind: str) -> np.ndarray:
    z = rng.standard_normal((rows, m))
    if kind == "t with 5 degrees":
        z = rng.standard_t(5, (rows, m)) * np.sqrt(3 / 5)
    if kind == "GARCH":
        variance = np.ones(m)
        for t in range(rows):
            z[t] *= np.sqrt(variance)
            variance = 0.05 + 0.1 * np.square(z[t]) + 0.85 * variance
    return z


def found_break(
    kind: str, dependence: str, noise: float, movers: int, number: int
) -> tuple[list[int], set[str]]:
    """First rows of the windows that break, and the instruments named at the largest break."""
    panel = read_panel(simulated_history(kind, noise, movers, number), kind="returns")
    begins = np.arange(0, ROWS - WINDOW + 1, STEP)
    tested = changes_of_windows(panel, begins, WINDOW, GROUPS, dependence, {}, seed=number)
    assert tested is not None
    if not tested.breaks:
        return [], set()
    best = max(tested.breaks, key=lambda found: float(found.test.statistic[0]))
    return (
        [int(begins[found.window]) for found in tested.breaks],
        {panel.names[tested.columns[i]] for i in named_movers(best.test, 0)},
    )


def alarms(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of histories without a change."""
    count = choices.size(HISTORIES)
    for kind, dependence, noise in PLAN:
        hits = 0
        for number in range(count):
            hits += bool(found_break(kind, dependence, noise, 0, number)[0])
        rate = hits / count
        error = float(np.sqrt(max(rate * (1 - rate), 0.01) / count))
        choices.note(f"{kind}, {dependence}: {hits} of {count}")
        yield ALARMS.row(kind, dependence, noise, count, rate, error)


def power(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of histories in which some instruments change sides in the middle."""
    count = max(2, round(CHANGED * choices.size(HISTORIES)))
    for movers in (1, 2, 4, 8):
        for dependence, noise in (("correlation", 2.0), ("correlation", 3.0), ("tail", 2.0)):
            off, named, wrong = [], [], []
            truth = {str(i) for i in range(movers)}
            for number in range(count):
                places, names = found_break("GARCH", dependence, noise, movers, number)
                if places:
                    off.append(min(abs(place - ROWS // 2) for place in places))
                    named.append(len(names & truth) / movers)
                    wrong.append(len(names - truth))
            choices.note(f"{movers} movers, {dependence}, {noise}: {len(off)} of {count}")
            means = (float(np.mean(x)) if x else np.nan for x in (off, named, wrong))
            yield POWER.row(movers, dependence, noise, count, len(off) / count, *means)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """All rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from alarms(choices)
        yield from power(choices)


MEASUREMENT = Measurement(
    "changes",
    "Whether a reported change of the groups is real",
    (ALARMS, POWER),
    ("sizes",),
    measure,
)
