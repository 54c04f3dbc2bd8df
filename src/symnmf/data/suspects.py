"""Returns that are probably errors: splits, wrong figures that are put right, stale stretches."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
        if not max(np.nanmax(values, initial=0), -np.nanmin(values, initial=0)) > 0.9 * JUMP * unit:
            return []
    r = values if logs else _as_logs(values / unit)
    jumps = np.abs(r) > JUMP
    if not jumps.any():
        return []
    rows = np.flatnonzero(jumps.any(axis=1))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        scale = 1.4826 * _moving_size(r)
        large = jumps & (np.abs(r) > DEVIATIONS * scale)
        crowd = np.full(T, np.inf)
        crowd[rows] = np.nanmedian(np.abs(r[rows]) / scale, axis=1)
    ordinary = (crowd < ORDINARY) & (large.sum(axis=1) <= max(1, TOGETHER * n))
    found, used = [], np.zeros_like(large)
    for j in np.flatnonzero(large.any(axis=0)):
        rows = np.flatnonzero(large[:, j] & ordinary)
        for t in rows:
            if used[t, j]:
                continue
            usual = _usual(r[:, j], int(t))
            if abs(r[t, j]) < DEVIATIONS * usual:
                continue
            back = _back(r[:, j], int(t), rows, usual)
            if back is not None:
                used[t : back + 1, j] = True
                words = f"×{np.exp(r[t, j]):.3g} and back after {counted(back - int(t), 'row')}"
                found.append((int(t), int(j), back - int(t) + 1, "jump and back", words))
            elif (ratio := _ratio(float(r[t, j]), usual)) and _calm(r[:, j], int(t), usual):
                found.append((int(t), int(j), 1, "split", ratio))
    return sorted(found)


def _moving_size(r: np.ndarray) -> np.ndarray:  # (T, n) -> (n,)
    """Median size of the returns of each instrument that are not zero."""
    size = np.abs(r)
    if not np.isnan(r).any() and (r != 0).all():
        return np.asarray(np.median(size, axis=0))
    size[size == 0] = np.nan
    return np.asarray(np.nanmedian(size, axis=0))


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


def find_stale(values: np.ndarray) -> list[tuple[int, int, int]]:
    """Stretches of returns of exactly zero.

    Arguments:
        values: (T, n) returns.

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
    zero = np.zeros((T + 2, n), dtype=np.int8)
    zero[1:-1] = values == 0
    zero[1:-1][filled_rows(values)] = 0
    change = np.diff(zero, axis=0)
    found = []
    for j in np.flatnonzero((change == 1).any(axis=0)):
        starts, ends = np.flatnonzero(change[:, j] == 1), np.flatnonzero(change[:, j] == -1)
        long = ends - starts >= STALE_ROWS
        found += [
            (int(s), int(j), int(e - s)) for s, e in zip(starts[long], ends[long], strict=True)
        ]
    return sorted(found)


def filled_rows(values: np.ndarray) -> np.ndarray:  # (T, n) -> (T,)
    """Rows in which nearly no instrument moves, such as holidays that were filled."""
    if values.shape[1] < MIN_COLUMNS:
        return np.zeros(len(values), dtype=bool)
    out: np.ndarray = (values == 0).mean(axis=1) >= FILLED
    return out
