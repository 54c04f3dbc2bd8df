"""Comparison of two factorizations, and of groups with the classes of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from symnmf.core.result import Result
from symnmf.errors import InvalidInput
from symnmf.grouping.naming import UNASSIGNED, classes_by_name, group_of, groups

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


@dataclass(frozen=True)
class Comparison:
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
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

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
        float(adjusted_rand_score(class_column, group_column)),
        float(normalized_mutual_info_score(class_column, group_column)),
        tuple(name for name in found if name not in classes),
    )
