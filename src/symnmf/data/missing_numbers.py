"""Policies for missing numbers, which lose as little as they can and say how much."""

from __future__ import annotations

import numpy as np

from symnmf.data.table_model import Table
from symnmf.display import counted
from symnmf.errors import InvalidTable, spelled

#: Share of the numbers of a table from which on a loss is a caution.
LARGE_LOSS = 0.1
#: Names that a sentence lists.
LISTED = 5


def drop_empty(work: Table) -> None:
    """Leave out rows and columns without any number.

    Arguments:
        work: the table; it is changed.
    """
    if not work.values.size:
        return
    drop_columns(work, np.isnan(np.fmax.reduce(work.values, axis=0)), "without any number")
    empty = np.isnan(work.values[:, 0]) if work.values.shape[1] else np.ones(len(work.values), bool)
    empty[empty] = np.isnan(work.values[empty]).all(axis=1)
    if empty.any() and not empty.all():
        work.keep_rows(~empty)
        work.steps.append(f"{counted(int(empty.sum()), 'row')} without any number left out")


def drop_columns(work: Table, which: np.ndarray, words: str) -> None:
    """Leave out some columns, and say so.

    Arguments:
        work: the table; it is changed.
        which: (n,) mask of the columns.
        words: what these columns have in common.
    """
    if not which.any():
        return
    gone = [name for name, out in zip(work.names, which, strict=True) if out]
    work.dropped += gone
    work.names = [name for name, out in zip(work.names, which, strict=True) if not out]
    work.values = work.values[:, ~which]
    shown = ", ".join(gone[:LISTED]) + (", …" if len(gone) > LISTED else "")
    work.steps.append(f"{counted(len(gone), 'column')} {words} left out: {shown}")


def check_complete(work: Table) -> None:
    """Raise an error if a number is missing.

    Raises:
        InvalidTable: a number is missing; the message says where, and what each policy would lose.
    """
    holes = np.isnan(work.values)
    if not holes.any():
        return
    columns = np.flatnonzero(holes.any(axis=0))
    worst = int(holes.sum(axis=0).argmax())
    i = int(np.flatnonzero(holes[:, columns[0]])[0])
    rows = int(holes.any(axis=1).sum())
    marks = [step for step in work.steps if step.endswith("taken as missing")]
    why = f" ({'; '.join(marks)})" if marks else ""
    raise InvalidTable(
        "table",
        f"{int(holes.sum())} of {holes.size} numbers are missing{why}, in "
        f"{counted(len(columns), 'column')}; the first is {work.row_words(i)}, "
        f"column {work.names[columns[0]]!r}; most ({int(holes[:, worst].sum())}) are in "
        f"{work.names[worst]!r}",
        f"Pass {spelled('missing', 'drop-columns')} (leaves out {len(columns)} of {holes.shape[1]} "
        f"columns, or fewer with {spelled('max_missing', 0.05)}), or the policy drop-rows (leaves "
        f"out {rows} of {holes.shape[0]} rows) or pairwise (loses nothing)",
    )


def apply_policy(work: Table, policy: str, tolerated: float) -> float:
    """Treat the missing numbers of a table.

    Arguments:
        work: the table; it is changed.
        policy: ``"drop-columns"``, ``"drop-rows"`` or ``"pairwise"``.
        tolerated: fraction of missing numbers that ``"drop-columns"`` accepts in a column.

    Returns:
        Share of the numbers that were lost.
    """
    holes = np.isnan(work.values)
    present = int((~holes).sum())
    if not holes.any() or not present:
        return 0.0
    if policy == "pairwise":
        work.steps.append(
            f"{counted(int(holes.sum()), 'missing number')} left for pairwise estimates"
        )
        return 0.0
    if policy == "drop-columns":
        words = f"with more than {100 * tolerated:g} % missing"
        drop_columns(work, holes.mean(axis=0) > tolerated, words)
        _drop_fewest(work)
    full = ~np.isnan(work.values).any(axis=1)
    if not full.all():
        work.keep_rows(full)
        work.steps.append(f"{counted(int((~full).sum()), 'row')} with missing numbers left out")
    lost = 1.0 - work.values.size / present
    if lost > LARGE_LOSS:
        work.cautions.append(
            f"{100 * lost:.0f} % of the numbers were left out because others are missing "
            f"({spelled('missing', policy)}); {spelled('missing', 'pairwise')} loses none"
        )
    return max(0.0, lost)


def _drop_fewest(work: Table) -> None:
    """Leave out the rows and columns with the largest shares of missing numbers, until none is."""
    holes = np.isnan(work.values)
    if not holes.any():
        return
    rows, columns = np.ones(holes.shape[0], bool), np.ones(holes.shape[1], bool)
    by_row, by_column = holes.sum(axis=1), holes.sum(axis=0)
    while by_row.any():
        i, j = int(by_row.argmax()), int(by_column.argmax())
        if by_row[i] / columns.sum() >= by_column[j] / rows.sum():
            rows[i] = False
            by_column = by_column - (holes[i] & columns)
            by_row[i] = 0
        else:
            columns[j] = False
            by_row = by_row - (holes[:, j] & rows)
            by_column[j] = 0
    if not columns.all():
        drop_columns(work, ~columns, "whose gaps would cost more rows")
    if not rows.all():
        work.keep_rows(rows)
        work.steps.append(f"{counted(int((~rows).sum()), 'row')} with missing numbers left out")
