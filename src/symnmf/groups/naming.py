"""Groups with an order, names and members; two factorizations side by side; the user's classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from symnmf.contract import Result
from symnmf.errors import InvalidInput
from symnmf.labels import hard_labels

if TYPE_CHECKING:
    import pandas as pd

#: Name of the group of instruments that are in none.
UNASSIGNED = "unassigned"


@dataclass(frozen=True)
class Group:
    """A group for people.

    Attributes:
        number: from 0 on, largest group first.
        name: number from 1 on and leader, like ``"1 XOM"``.
        leader: the member with the largest loading on the column of unit length.
        members: their names, largest loading first.
        loadings: (size,) of the members.
        margins: (size,) how far this group leads each member's second one.
    """

    number: int
    name: str
    leader: str
    members: tuple[str, ...]
    loadings: np.ndarray
    margins: np.ndarray


def ordered(result: Result) -> Result:
    """The same factorization with its columns in order: largest group first, then by leader.

    Columns without members come last. The order does not depend on the solver or its seed.
    """
    return replace(result, H=result.H[:, _order(result.H)])


def _order(H: Tensor) -> Tensor:  # (k,)
    labels, _ = hard_labels(H)
    sizes = torch.bincount(labels[labels >= 0], minlength=H.shape[1])
    leader = H.argmax(dim=0)
    return torch.from_numpy(np.lexsort((leader.cpu().numpy(), -sizes.cpu().numpy()))).to(H.device)


def groups(result: Result) -> list[Group]:
    """The groups of a factorization that have members, largest first.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> [(g.name, g.members) for g in groups(sn.factorize(S, k=2))]
        [('1 0', ('0', '1', '2')), ('2 3', ('3', '4'))]
    """
    result = ordered(result)
    H = result.H / torch.linalg.vector_norm(result.H, dim=0).clamp(min=1e-30)
    labels, margins = (x.cpu().numpy() for x in hard_labels(result.H))
    loadings, names = H.cpu().numpy(), names_of(result)
    found = []
    for number in range(H.shape[1]):
        members = np.flatnonzero(labels == number)
        if not len(members):
            continue
        members = members[np.argsort(-loadings[members, number], kind="stable")]
        leader = names[members[0]]
        found.append(
            Group(
                number,
                f"{number + 1} {leader}",
                leader,
                tuple(names[i] for i in members),
                loadings[members, number],
                margins[members],
            )
        )
    return found


def names_of(result: Result) -> list[str]:
    """Names of the rows; numbers where there are none."""
    return [str(name) for name in result.names or range(len(result.H))]


def by_name(values: Any) -> Any:
    """A pandas Series as a mapping from names; everything else as it is."""
    if hasattr(values, "to_dict") and hasattr(values, "index"):
        return {str(name): value for name, value in values.to_dict().items()}
    return values


def group_of(result: Result) -> dict[str, str]:
    """Name of the group of every instrument.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> group_of(sn.factorize(S, k=2))
        {'0': '1 0', '1': '1 0', '2': '1 0', '3': '2 3', '4': '2 3'}
    """
    found = dict.fromkeys(names_of(result), UNASSIGNED)
    found |= {member: group.name for group in groups(result) for member in group.members}
    return found


def as_skfolio(result: Result) -> dict[str, list[str]]:
    """Instrument → list of its groups, as the ``groups`` of skfolio's optimizers take it."""
    return {name: [group] for name, group in group_of(result).items()}


def as_riskfolio(result: Result) -> pd.DataFrame:
    """Table of assets and their class, as the constraints of Riskfolio-Lib take it."""
    import pandas as pd

    found = group_of(result)
    return pd.DataFrame({"Assets": list(found), "Class": list(found.values())})


def align(H: Tensor, reference: Tensor) -> Tensor:  # (n, k), (n, l) -> (k,)
    """The order of the columns of H that fits those of a reference best.

    Column ``align(H, R)[j]`` of H goes with column j of the reference; columns of H that have no
    partner fill the places that are left, in their order.

    Example:
        >>> A = torch.eye(3)
        >>> align(A[:, [2, 0, 1]], A)
        tensor([1, 2, 0])
    """
    from scipy.optimize import linear_sum_assignment

    if len(H) != len(reference):
        raise InvalidInput(
            "reference", f"has {len(reference)} rows, H has {len(H)}", "Align factors of equal rows"
        )
    scaled = [
        (X / torch.linalg.vector_norm(X, dim=0).clamp(min=1e-30)).to(torch.float64)
        for X in (reference, H)
    ]
    theirs, ours = linear_sum_assignment(-(scaled[0].T @ scaled[1]).cpu().numpy())
    k = H.shape[1]
    order = [-1] * k
    for place, column in zip(theirs.tolist(), ours.tolist(), strict=True):
        if place < k:
            order[place] = column
    rest = iter(j for j in range(k) if j not in set(order))
    return torch.tensor([j if j >= 0 else next(rest) for j in order], device=H.device)


@dataclass(frozen=True)
class Comparison:
    """Groups against classes that the user has.

    Attributes:
        table: counts, a row for each group, a column for each class.
        ari, nmi: adjusted Rand index and normalized mutual information, of scikit-learn.
        missing: names without a class; they are left out.
    """

    table: pd.DataFrame
    ari: float
    nmi: float
    missing: tuple[str, ...]


def compare(result: Result, classes: Any) -> Comparison:
    """The groups of a factorization against classes, such as sectors.

    Arguments:
        result: a factorization.
        classes: class of each name (a mapping or a pandas Series), or one for each row.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> found = compare(sn.factorize(S, k=2), ["oil", "oil", "oil", "banks", "banks"])
        >>> found.ari, found.table.loc["1 0", "oil"].item()
        (1.0, 3)
    """
    import pandas as pd
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    found = group_of(result)
    classes = by_name(classes)
    if not isinstance(classes, Mapping):
        if len(classes) != len(found):
            raise InvalidInput(
                "classes", f"{len(classes)} for {len(found)} rows", "Pass one for each row"
            )
        classes = dict(zip(found, classes, strict=True))
    both = [(group, str(classes[name])) for name, group in found.items() if name in classes]
    if not both:
        raise InvalidInput(
            "classes", "none of the names has one", "Check how the names are written"
        )
    ours, theirs = (list(x) for x in zip(*both, strict=True))
    order = [g.name for g in groups(result)]
    table = pd.crosstab(pd.Series(ours, name="group"), pd.Series(theirs, name="class"))
    table = table.reindex([g for g in [*order, UNASSIGNED] if g in table.index])
    return Comparison(
        table,
        float(adjusted_rand_score(theirs, ours)),
        float(normalized_mutual_info_score(theirs, ours)),
        tuple(name for name in found if name not in classes),
    )
