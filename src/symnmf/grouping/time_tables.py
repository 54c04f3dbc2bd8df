"""Tables of the groups through time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from symnmf import storage
from symnmf.core.labels import group_numbers, hard_labels
from symnmf.grouping.naming import UNASSIGNED, group_names
from symnmf.grouping.windows import ABSENT, Rolling


def windows_table(found: Rolling) -> pd.DataFrame:
    """A row for each window: its certificate, dependence, moves and breaks.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
    """
    rows = []
    for w in found.windows:
        d = w.dependence
        rows.append(
            {
                "first": w.first,
                "last": w.last,
                "status": w.result.status.name,
                "excess": w.result.certificate.excess,
                "agreement": w.result.certificate.agreement,
                "products": w.result.products,
                "instruments": len(w.result.H) + len(w.placed),
                "within": None if d is None else d.within,
                "between": None if d is None else d.between,
                "crash_within": None if d is None else d.crash_within,
                "crash_any": None if d is None else d.crash_any,
                "ari_before": w.ari_before,
                "ari_width": w.ari_width,
                "moved": len(w.moved),
                "p_value": w.p_value,
                "broke": w.broke,
                "who": " ".join(w.moved),
            }
        )
    return pd.DataFrame(rows)


def labels_over_time(found: Rolling) -> pd.DataFrame:
    """A row for each window and a column for each instrument; empty where a window lacks it.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
    """
    labels = found.labels()
    numbers = group_numbers(labels)
    table = pd.DataFrame(numbers, index=pd.Index([w.last for w in found.windows], name="last"))
    if (labels == ABSENT).any():
        table = table.astype("Int64").mask(labels == ABSENT)
    table.columns = pd.Index([storage.safe_cell(name) for name in found.names])
    return table


def memberships(found: Rolling) -> pd.DataFrame:
    """A long table with a row for each window and instrument that it has.

    Columns: ``first`` and ``last`` date of the window, ``name``, number and name of the ``group``,
    ``clarity`` (lead over the second-best group), ``before`` (number of the group in the window
    before) and ``placed`` (whether a newcomer was placed by its loadings).

    Arguments:
        found: what :func:`symnmf.rolling` returned.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> long = memberships(sn.rolling(panel, 4000, 4000, 3, "correlation"))
        >>> len(long), list(long.columns[:5])
        (40, ['first', 'last', 'name', 'group', 'group_name'])
    """
    labels = group_numbers(found.labels())
    absent = found.labels() == ABSENT
    parts = []
    for at, w in enumerate(found.windows):
        here = np.flatnonzero(~absent[at])
        called = [UNASSIGNED, *group_names(w.result)]
        clarity = np.full(len(found.names), np.nan)
        fitted = slice(None) if w.fitted is None else list(w.fitted)
        clarity[fitted] = hard_labels(w.result.H)[1].cpu().numpy()
        before = np.where(absent[at - 1], -1, labels[at - 1]) if at else np.full(len(absent[0]), -1)
        parts.append(
            pd.DataFrame(
                {
                    "first": w.first,
                    "last": w.last,
                    "name": [found.names[i] for i in here],
                    "group": labels[at, here],
                    "group_name": [called[g] for g in labels[at, here]],
                    "clarity": clarity[here].round(4),
                    "before": pd.array(before[here], dtype="Int64"),
                    "placed": np.isnan(clarity[here]),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    table["before"] = table["before"].mask(table["before"] < 0)
    return table
