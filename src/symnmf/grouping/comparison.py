"""Comparison of two factorizations, and of groups with the classes of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from symnmf.core.labels import adjusted_rand, mutual_information
from symnmf.core.result import Result
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.grouping.naming import UNASSIGNED, by_name, classes_by_name, group_of, groups

if TYPE_CHECKING:
    import pandas as pd


def align(H: Tensor, reference: Tensor) -> Tensor:  # (n, k), (n, l) -> (k,)
    """The order of the columns of H that matches the columns of a reference best.

    Column ``align(H, R)[j]`` of H is matched with column j of the reference; columns of H without
    a match fill the remaining places in their order.

    Arguments:
        H: (n, k) factor.
        reference: (n, l) factor to match.

    Returns:
        (k,) column numbers of H.

    Raises:
        InvalidInput: the two factors have different numbers of rows.

    Example:
        >>> A = torch.eye(3)
        >>> align(A[:, [2, 0, 1]], A)
        tensor([1, 2, 0])
    """
    from scipy.optimize import linear_sum_assignment

    if len(H) != len(reference):
        raise InvalidInput(
            "reference",
            f"has {len(reference)} rows, H has {len(H)}",
            "Pass two factors of the same instruments",
        )
    scaled = [
        (X / torch.linalg.vector_norm(X, dim=0).clamp(min=1e-30)).to(torch.float64)
        for X in (reference, H)
    ]
    places, columns = linear_sum_assignment(-(scaled[0].T @ scaled[1]).cpu().numpy())
    k = H.shape[1]
    order = [-1] * k
    for place, column in zip(places.tolist(), columns.tolist(), strict=True):
        if place < k:
            order[place] = column
    rest = iter(j for j in range(k) if j not in set(order))
    return torch.tensor([j if j >= 0 else next(rest) for j in order], device=H.device)


@dataclass(frozen=True, repr=False)
class Comparison(Brief):
    """Comparison of groups with classes of the user.

    Attributes:
        table: counts with a row for each group and a column for each class.
        ari, nmi: adjusted Rand index and normalized mutual information, as in scikit-learn.
        missing: names without a class, which are left out.
    """

    table: pd.DataFrame
    ari: float
    nmi: float
    missing: tuple[str, ...]


def check_class_names(names: Sequence[str] | None, classes: Any) -> None:
    """Raise an error before a fit if no instrument has a class.

    Arguments:
        names: names of the instruments; None where they have none.
        classes: class of each name (a mapping or a pandas Series), or one class for each row.

    Raises:
        InvalidInput: none of the names has a class; the message says why that may be.

    Example:
        >>> try:
        ...     check_class_names(["AAPL", "KO"], {"aapl": "tech", "ko": "food"})
        ... except InvalidInput as wrong:
        ...     print(wrong.problem)
        none of the names has a class: 'AAPL' is written 'aapl' there
    """
    known = by_name(classes)
    if not isinstance(known, Mapping) or names is None:
        return
    given = {str(name) for name in known}
    if any(name in given for name in names):
        return
    folded = {name.casefold().strip(): name for name in given}
    alike = next((name for name in names if name.casefold().strip() in folded), None)
    if alike is not None:
        words = f": {alike!r} is written {folded[alike.casefold().strip()]!r} there"
        raise InvalidInput(
            "classes", f"none of the names has a class{words}", "Write the names in the same way"
        )
    shown = ", ".join(repr(name) for name in sorted(given)[:3])
    raise InvalidInput(
        "classes",
        f"none of the names has a class: the data have {names[0]!r}, …, the classes {shown}, …",
        "Check that the names are written as in the data",
    )


def compare(result: Result, classes: Any) -> Comparison:
    """Compare the groups of a factorization with classes, such as sectors.

    Arguments:
        result: a factorization.
        classes: class of each name (a mapping or a pandas Series), or one class for each row.

    Raises:
        InvalidInput: none of the names has a class, or the number of classes is wrong.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> found = compare(sn.factorize(S, k=2), ["oil", "oil", "oil", "banks", "banks"])
        >>> found.ari, found.table.loc["1 0", "oil"].item()
        (1.0, 3)
    """
    import pandas as pd

    found = group_of(result)
    classes = classes_by_name(result, classes)
    both = [(group, str(classes[name])) for name, group in found.items() if name in classes]
    if not both:
        raise InvalidInput(
            "classes",
            "none of the names has a class",
            "Check that the names are written as in the data",
        )
    group_column, class_column = (list(x) for x in zip(*both, strict=True))
    order = [g.name for g in groups(result)]
    table = pd.crosstab(
        pd.Series(group_column, name="group"), pd.Series(class_column, name="class")
    )
    table = table.reindex([g for g in [*order, UNASSIGNED] if g in table.index])
    return Comparison(
        table,
        adjusted_rand(class_column, group_column),
        mutual_information(class_column, group_column),
        tuple(name for name in found if name not in classes),
    )


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement of two partitions of the same names.

    Attributes:
        ari, nmi: adjusted Rand index and normalized mutual information, as in scikit-learn.
        moved: names whose group does not match the group that they had before.
    """

    ari: float
    nmi: float
    moved: tuple[str, ...]


def agreement_of_groups(before: Mapping[str, str], after: Mapping[str, str]) -> GroupAgreement:
    """Compare two partitions; groups are matched so that as few names as possible move.

    Arguments:
        before, after: group of each name; both have the same names.

    Example:
        >>> old = {"a": "x", "b": "x", "c": "y", "d": "y"}
        >>> agreement_of_groups(old, {"a": "1", "b": "1", "c": "2", "d": "1"}).moved
        ('d',)
    """
    import pandas as pd
    from scipy.optimize import linear_sum_assignment

    names = list(after)
    old, new = [before[n] for n in names], [after[n] for n in names]
    counts = pd.crosstab(pd.Series(new), pd.Series(old))
    rows, columns = linear_sum_assignment(-counts.to_numpy())
    match = {counts.index[i]: counts.columns[j] for i, j in zip(rows, columns, strict=True)}
    return GroupAgreement(
        adjusted_rand(old, new),
        mutual_information(old, new),
        tuple(n for n in names if match.get(after[n]) != before[n]),
    )
