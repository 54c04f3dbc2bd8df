"""Names of groups from the classes of the user, where a class fits a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.grouping.comparison import Comparison
from symnmf.grouping.naming import Group, group_names, groups

if TYPE_CHECKING:
    import pandas as pd

#: Least share of the members that have the class of the name, and least ratio of
#: that share to the share of the class among all instruments.
NAME_SHARE, NAME_LIFT = 0.5, 1.5
#: Words for an unknown class, which are no name.
UNKNOWN = frozenset({"", "n/a", "na", "nan", "none", "unknown", "other", "others", "-", "?"})


def fitting_classes(
    found: Comparison | None, groups: Sequence[Group]
) -> dict[str, tuple[str, int, int]]:
    """Class, number of its members and number of all members of each group with a fitting class.

    A class fits a group if at least half of its members have it, at least two of them, and it is
    at least 1.5 times as frequent in the group as among all instruments.

    Arguments:
        found: comparison of the groups with the classes of the user; None without classes.
        groups: the groups.

    Returns:
        Name of the group → class and the two numbers; groups without a fitting class are left
        out.
    """
    if found is None:
        return {}
    sizes = {group.name: len(group.members) for group in groups}
    table: pd.DataFrame = found.table
    overall = table.sum(axis=0) / max(1, int(table.to_numpy().sum()))
    names = {}
    for group, counts in table.iterrows():
        total = sizes.get(str(group), 0)
        if not total or not int(counts.sum()):
            continue
        best = str(counts.idxmax())
        inside = int(counts[best])
        fits = inside >= 2 and inside >= NAME_SHARE * total
        if (
            fits
            and inside / total >= NAME_LIFT * float(overall[best])
            and best.strip().casefold() not in UNKNOWN
        ):
            names[str(group)] = (best, inside, total)
    return names


def page_names(result: Result, found: Comparison | None) -> list[str]:
    """Number and fitting class of each column of H; number and leader where no class fits.

    Arguments:
        result: the factorization.
        found: comparison with the classes of the user; None without classes.
    """
    fitting = fitting_classes(found, groups(result))
    numbers = group_numbers(np.arange(result.H.shape[1])).tolist()
    return [
        f"{number} {fitting[name][0]}" if name in fitting else name
        for number, name in zip(numbers, group_names(result), strict=True)
    ]
