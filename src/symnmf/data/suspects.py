"""Returns that are probably errors: splits, wrong figures that are put right, stale stretches."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symnmf.data.column_medians import column_medians
from symnmf.display import counted

if TYPE_CHECKING:
    import pandas as pd

    from symnmf.data.panel import Panel

#: What to do with suspect jumps.
JUMPS = ("keep", "mask", "error")
#: Table sizes from which suspects are sought.
MIN_ROWS, MIN_COLUMNS = 30, 3
#: A jump is at least this large, and this many robust standard deviations of its instrument.
JUMP, DEVIATIONS = 0.18, 10.0
#: Ratios of splits and of reverse splits.
FORWARD = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 50, 100)
REVERSE = (3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 100)
#: Largest deviation of a logarithm from that of a ratio: in itself, and in deviations of the
#: instrument around that day.
RATIO_TOLERANCE, FINE_TOLERANCE, FINE_RATIO, NEAR_RATIO = 0.1, 0.03, 1.5, 4.0
#: Rows around a day that show how an instrument usually moves; the rows after a split, and their
#: largest usual size in deviations: after a crash it is larger.
AROUND, AFTER, CALM = 60, 5, 1.4
#: A jump that goes back within so many rows (the next row unless it is large), up to a share of
#: its size and to so many deviations of the instrument (if it is large, or to a small part of its
#: size), is a wrong figure.
BACK_ROWS, LARGE_JUMP, BACK_SHARE, BACK_NEAR, BACK_PART = 5, 0.4, 0.25, 3.0, 0.05
#: On an ordinary day the median instrument moves less than this many deviations, and at most this
#: share of the instruments jumps.
ORDINARY, TOGETHER = 3.0, 0.05
#: Rows without a change from which on a stretch is called stale.
STALE_ROWS = 10
#: Share of unchanged instruments from which on a row is called filled.
FILLED = 0.9


@dataclass(frozen=True)
class Suspect:
    """Returns of an instrument that are probably errors.

    Attributes:
        name: the instrument.
        row: first row of the panel.
        date: date of the row, or its number.
        rows: number of rows.
        kind: ``"split"``, ``"jump and back"`` or ``"stale"``.
        words: description, such as ``"2:1"``.
        value: the return; 0 for a stale stretch.
    """

    name: str
    row: int
    date: str
    rows: int
    kind: str
    words: str
    value: float


def suspects_table(panel: Panel) -> pd.DataFrame:
    """The suspects of a panel as a table, one row for each."""
    import pandas as pd

    rows = [(s.name, s.date, s.rows, s.kind, s.words, s.value) for s in panel.summary.suspects]
    columns = ["name", "date", "rows", "kind", "description", "return"]
    return pd.DataFrame(rows, columns=columns).set_index("name")


def find_jumps(values: np.ndarray, logs: bool) -> list[tuple[int, int, int, str, str]]:
    """Jumps that match a split or go back, and stand alone among the instruments.

    Arguments:
        values: (T, n) returns.
        logs: whether they are known to be logarithms.

    Returns:
        Row, column, number of rows, kind and description of each.

    Example:
        >>> r = np.random.default_rng(0).normal(0, 0.01, size=(100, 5))
        >>> r[50, 2] -= np.log(2)
        >>> find_jumps(r, True)
        [(50, 2, 1, 'split', '2:1')]
    """
    T, n = values.shape
    if T < MIN_ROWS or n < MIN_COLUMNS:
        return []
    unit = 1.0 if logs else _unit(values)
    with np.errstate(all="ignore"):
        least, most = (f.reduce(values, axis=None, initial=0.0) for f in (np.fmin, np.fmax))
        if not max(most, -least) > 0.9 * JUMP * unit:
            return []
    r = values if logs else _as_logs(values / unit)
    size = np.abs(r)
    places = np.flatnonzero(np.asfortranarray(size > JUMP).T)
    if not len(places):
        return []
    columns, days = np.divmod(places, T)  # in the order of the columns, then of the days
    np.copyto(size, np.nan, where=size == 0)
    scale = 1.4826 * column_medians(size)
    large = size[days, columns] > DEVIATIONS * scale[columns]
    days, columns = days[large], columns[large]
    alone = np.bincount(days, minlength=T) <= max(1, TOGETHER * n)
    days, columns = days[alone[days]], columns[alone[days]]
    needed = _may_be_errors(r[days, columns], days, columns)
    days, columns = days[needed], columns[needed]
    rows = np.unique(days)
    with np.errstate(all="ignore"):
        crowd = column_medians((np.abs(r[rows]) / scale).T)
    ordinary = np.isin(days, rows[crowd < ORDINARY])
    days, columns = days[ordinary], columns[ordinary]
    found = []
    for j in np.unique(columns).tolist():
        found += _errors_of(r[:, j], j, days[columns == j])
    return sorted(found)


def _may_be_errors(jumps: np.ndarray, days: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Which jumps are near the ratio of a split, or near one of the other direction."""
    out = np.zeros(len(jumps), dtype=bool)
    for ratios, side in ((FORWARD, jumps < 0), (REVERSE, jumps > 0)):
        apart = np.abs(np.log(ratios)[:, None] - np.abs(jumps[side])).min(axis=0)
        out[side] = apart <= RATIO_TOLERANCE
    for step in range(1, BACK_ROWS + 1):
        one, other = slice(None, -step), slice(step, None)
        pair = (columns[one] == columns[other]) & (days[other] - days[one] <= BACK_ROWS)
        pair &= (jumps[one] < 0) != (jumps[other] < 0)
        out[one] |= pair
        out[other] |= pair
    return out


def _errors_of(
    column: np.ndarray, j: int, rows: np.ndarray
) -> list[tuple[int, int, int, str, str]]:
    """The jumps of an instrument that go back or match a split, among those of ordinary days."""
    found, last = [], -1
    for t in rows.tolist():
        if t <= last:
            continue
        jump = float(column[t])
        usual = _usual(column, t)
        if abs(jump) < DEVIATIONS * usual:
            continue
        back = _back(column, t, rows, usual)
        if back is not None:
            last = back
            words = f"×{np.exp(jump):.3g} for {counted(back - t, 'row')}"
            found.append((t, j, back - t + 1, "jump and back", words))
        elif (ratio := _ratio(jump, usual)) and _calm(column, t, usual):
            found.append((t, j, 1, "split", ratio))
    return found


def _unit(values: np.ndarray) -> float:
    """100 for returns in percent, else 1."""
    some = values[:: max(1, len(values) // 500)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 100.0 if np.nanmedian(np.abs(some)) > 0.1 else 1.0


def _as_logs(values: np.ndarray) -> np.ndarray:
    """Returns as logarithms."""
    with np.errstate(all="ignore"):
        return np.where(values > -0.99, np.log1p(np.maximum(values, -0.99)), values)


def _back(column: np.ndarray, t: int, rows: np.ndarray, usual: float) -> int | None:
    """The row at which a jump goes back, as exactly as the instrument moves; None if none."""
    size = abs(column[t])
    for s in rows[(rows > t) & (rows <= t + (BACK_ROWS if size > LARGE_JUMP else 1))]:
        apart = abs(column[t : s + 1].sum())
        near = (BACK_NEAR if size > LARGE_JUMP else BACK_NEAR / 2) * usual * (s - t) ** 0.5
        near = max(near, BACK_PART * size) if size > LARGE_JUMP else near
        if (column[t] < 0) != (column[s] < 0) and apart < min(BACK_SHARE * size, near):
            return int(s)
    return None


def _usual(column: np.ndarray, t: int) -> float:
    """Robust standard deviation of an instrument around a day, without that day."""
    around = np.abs(np.r_[column[max(0, t - AROUND) : t], column[t + 1 : t + 1 + AROUND]])
    around = around[np.isfinite(around) & (around > 0)]
    return 1.4826 * float(np.median(around)) if len(around) >= AROUND // 3 else np.inf


def _calm(column: np.ndarray, t: int, usual: float) -> bool:
    """Whether an instrument moves as usual after a day."""
    after = np.abs(column[t + 1 : t + 1 + AFTER])
    after = after[np.isfinite(after)]
    return not len(after) or float(np.median(after)) < CALM * usual


def _ratio(r: float, usual: float) -> str | None:
    """The ratio of a split that explains a return, such as 2:1; None if none does."""
    ratios = FORWARD if r < 0 else REVERSE
    logs = np.log(np.array(ratios))
    near = int(np.argmin(np.abs(logs - abs(r))))
    most = FINE_TOLERANCE if ratios[near] <= FINE_RATIO else RATIO_TOLERANCE
    if abs(logs[near] - abs(r)) > min(most, NEAR_RATIO * usual):
        return None
    ratio = "3:2" if ratios[near] == FINE_RATIO else f"{ratios[near]:g}:1"
    return ratio if r < 0 else ":".join(reversed(ratio.split(":")))


def find_stale(values: np.ndarray, filled: np.ndarray | None = None) -> list[tuple[int, int, int]]:
    """Stretches of returns of exactly zero.

    Arguments:
        values: (T, n) returns.
        filled: (T,) rows of :func:`filled_rows`, where they are known.

    Returns:
        First row, column and number of rows of each stretch.

    Example:
        >>> r = np.random.default_rng(0).normal(size=(60, 3))
        >>> r[20:35, 1] = 0
        >>> find_stale(r)
        [(20, 1, 15)]
    """
    T, n = values.shape
    if T < MIN_ROWS or n < 1:
        return []
    some = values[:: STALE_ROWS // 2] == 0  # a stale stretch has two such rows, one after another
    columns = np.flatnonzero((some[1:] & some[:-1]).any(axis=0))
    if not len(columns):
        return []
    zero = np.zeros((T + 2, len(columns)), dtype=np.int8)
    zero[1:-1] = values[:, columns] == 0
    zero[1:-1][filled_rows(values) if filled is None else filled] = 0
    change = np.diff(zero, axis=0)
    (where, starts), (_, ends) = np.nonzero(change.T == 1), np.nonzero(change.T == -1)
    long = ends - starts >= STALE_ROWS
    stretches = zip(starts[long], columns[where[long]], (ends - starts)[long], strict=True)
    return sorted((int(t), int(j), int(count)) for t, j, count in stretches)


def filled_rows(values: np.ndarray) -> np.ndarray:  # (T, n) -> (T,)
    """Rows in which nearly no instrument moves, such as holidays that were filled."""
    if values.shape[1] < MIN_COLUMNS:
        return np.zeros(len(values), dtype=bool)
    out: np.ndarray = (values == 0).mean(axis=1) >= FILLED
    return out
