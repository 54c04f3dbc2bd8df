"""Whether a matrix is a similarity: distances, covariances and signed correlations are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from symnmf.errors import InvalidMatrix, spelled
from symnmf.options import choice

#: What to do with the diagonal of a matrix.
DIAGONALS = ("keep", "unit")
#: Rows that are examined, at most.
EXAMINED_ROWS = 300
#: Share of rows whose diagonal entry is their smallest from which on entries are distances.
MOST_ROWS = 0.9
#: Ratio of the largest to the smallest diagonal entry from which on a matrix is a covariance.
COVARIANCE_SPREAD = 4.0
#: Rounding of entries of a correlation.
ROUNDING = 1e-6
#: Largest difference of the two halves that counts as rounding, in terms of the largest entry.
UNEQUAL_HALVES = 1e-3
#: Rows up to which the halves of a matrix are compared here.
SMALL = 5000


def sensible_matrix(S: Any, diagonal: str | None = None) -> tuple[Any, list[str]]:
    """Check that a matrix of the caller is a similarity, and put right what is certain.

    Arguments:
        S: a data frame, an array, or anything else that is returned as it is.
        diagonal: ``"unit"`` scales S to a unit diagonal, ``"keep"`` takes S as it is without a
            check; None checks.

    Returns:
        The matrix, and what was done.

    Raises:
        InvalidMatrix: the entries are distances or covariances, or one is missing.

    Example:
        >>> sensible_matrix(np.array([[1.0, -0.5], [-0.5, 1.0]]))[1]
        ['absolute values of 2 negative correlations taken']
    """
    if diagonal is not None:
        choice("diagonal", diagonal, DIAGONALS)
    if diagonal == "keep" or not isinstance(S, pd.DataFrame | np.ndarray):
        return S, []
    values = S.to_numpy() if isinstance(S, pd.DataFrame) else S
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        return S, []
    if values.dtype.kind not in "fiu":
        return S, []
    names = [str(c) for c in S.columns] if isinstance(S, pd.DataFrame) else None
    notes: list[str] = []
    values, notes = _put_right(values)
    diag = np.asarray(np.diagonal(values), dtype=np.float64)
    rows = np.unique(np.linspace(0, len(values) - 1, EXAMINED_ROWS).astype(int))
    some = np.asarray(values[rows], dtype=np.float64)
    _check_missing(some, rows, names)
    if diagonal == "unit":
        values = _unit(values, diag)
        notes.append("scaled to a unit diagonal")
        diag, some = np.ones(len(diag)), np.asarray(values[rows], dtype=np.float64)
    if not isinstance(values, np.memmap) and (some < 0).any():
        values, notes = _absolute(values, diag, notes)
        some = np.abs(some)
    _check_distances(some, rows, diag)
    if diagonal is None:
        _check_covariance(some, rows, diag)
        notes += _odd_diagonal(some, rows, diag)
    if isinstance(S, pd.DataFrame) and notes:
        return pd.DataFrame(values, S.index, S.columns), notes
    return (values if notes else S), notes


def _put_right(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Fill an empty diagonal of correlations, and end differences of two halves by rounding."""
    if isinstance(values, np.memmap) or values.dtype.kind != "f" or len(values) > SMALL:
        return values, []
    notes = []
    empty = np.isnan(values)
    if empty.any() and (empty == np.eye(len(values), dtype=bool)).all():
        off = np.abs(values[~empty])
        if off.max() <= 1.0:
            values = np.where(empty, 1.0, values)
            notes.append("the empty diagonal filled with 1, as of a correlation")
    gap = np.abs(values - values.T)
    size = np.abs(values).max()
    if np.isfinite(size) and ROUNDING * size < gap.max() <= UNEQUAL_HALVES * size:
        values = (values + values.T) / 2
        notes.append(f"the two halves differ by at most {gap.max():.1g}: their mean taken")
    return values, notes


def _odd_diagonal(some: np.ndarray, rows: np.ndarray, diag: np.ndarray) -> list[str]:
    """What a person should know about a diagonal that is not that of a correlation."""
    if not (diag > 0).all():
        return []
    notes = []
    if diag.max() > (1 + 1e-3) * diag.min():
        notes.append(
            f"the diagonal goes from {diag.min():.3g} to {diag.max():.3g}: no correlation; "
            f"{spelled('diagonal', 'unit')} scales it"
        )
    over = int((some > np.maximum(diag[rows][:, None], diag[None, :]) * (1 + 1e-4)).sum())
    if over:
        notes.append(
            f"{over} entries are larger than the diagonal, which those of similarities are not"
        )
    return notes


def _check_missing(some: np.ndarray, rows: np.ndarray, names: list[str] | None) -> None:
    bad = np.argwhere(np.isnan(some))
    if not len(bad):
        return
    i, j = int(rows[bad[0][0]]), int(bad[0][1])
    pair = f"[{i}, {j}]" if names is None else f"of {names[i]!r} and {names[j]!r}"
    raise InvalidMatrix(
        "S",
        f"the entry {pair} is missing ({len(bad)} such entries)",
        "Leave out the instruments without an entry, or fill it in",
    )


def _unit(values: np.ndarray, diag: np.ndarray) -> np.ndarray:
    if not (diag > 0).all():
        raise InvalidMatrix(
            "S", f"the diagonal has the entry {diag.min():g}", "A covariance has positive variances"
        )
    root = np.sqrt(diag)
    out: np.ndarray = values / np.outer(root, root)
    np.fill_diagonal(out, 1.0)
    return out


def _absolute(
    values: np.ndarray, diag: np.ndarray, notes: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Absolute values of correlations; other matrices with negative entries are refused later."""
    size = float(diag.mean())
    is_correlation = size > 0 and np.allclose(diag, size, rtol=1e-6)
    if not is_correlation or np.abs(values).max() > size * (1 + ROUNDING):
        return values, notes
    count = int((values < -ROUNDING * size).sum())
    words = f"absolute values of {count} negative correlations taken"
    return np.abs(values), [*notes, words] if count else notes


def _check_distances(some: np.ndarray, rows: np.ndarray, diag: np.ndarray) -> None:
    """Raise an error if the diagonal entries are the smallest of their rows."""
    off = some.copy()
    off[np.arange(len(rows)), rows] = np.inf
    smallest = (diag[rows] < off.min(axis=1)).mean()
    if smallest < MOST_ROWS:
        return
    usual = float(np.median(off[np.isfinite(off)]))
    raise InvalidMatrix(
        "S",
        f"the diagonal is about {np.median(diag):.3g} and the other entries about {usual:.3g}: "
        "these are distances, and S holds similarities, which are largest on the diagonal",
        "Pass similarities, such as 1 − d²/2 for the correlation distance d; "
        f"{spelled('diagonal', 'keep')} takes the matrix as it is",
    )


def _check_covariance(some: np.ndarray, rows: np.ndarray, diag: np.ndarray) -> None:
    """Raise an error if the diagonal is uneven and bounds the other entries as variances do."""
    if not (diag > 0).all() or diag.max() < COVARIANCE_SPREAD * diag.min():
        return
    bound = np.sqrt(np.outer(diag[rows], diag))
    if (np.abs(some) <= bound * (1 + 1e-4)).all():
        raise InvalidMatrix(
            "S",
            f"the diagonal goes from {diag.min():.3g} to {diag.max():.3g}, as that of a "
            "covariance: the instruments with the largest variances would make the groups",
            f"Pass {spelled('diagonal', 'unit')} for the correlation, or "
            f"{spelled('diagonal', 'keep')} to take the matrix as it is",
        )
