"""Groups with numbers, names and members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from symnmf.core.labels import group_numbers, hard_labels
from symnmf.core.result import Result
from symnmf.display import Brief

#: Name used for the group of an instrument without a group.
UNASSIGNED = "unassigned"


@dataclass(frozen=True, repr=False)
class Group(Brief):
    """A group of a factorization.

    Attributes:
        number: number for people, from 1; the largest group is 1.
        column: column of H and label in ``result.labels()``, from 0.
        name: number and leader, such as ``"1 XOM"``.
        leader: member with the largest loading on the column of unit length.
        members: names of the members, largest loading first.
        loadings: (size,) loadings of the members on the column of unit length.
        margins: (size,) lead of this group over the second-best group of each member.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> first = sn.groups(sn.factorize(S, k=2))[0]
        >>> first.number, first.column, first.name, first.members
        (1, 0, '1 0', ('0', '1', '2'))
    """

    number: int
    column: int
    name: str
    leader: str
    members: tuple[str, ...]
    loadings: np.ndarray
    margins: np.ndarray


def groups(result: Result) -> list[Group]:
    """The groups of a factorization that have members, in the order of the columns of H.

    Arguments:
        result: what :func:`symnmf.factorize` returned.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> [(g.name, g.members) for g in groups(sn.factorize(S, k=2))]
        [('1 0', ('0', '1', '2')), ('2 3', ('3', '4'))]
    """
    H = result.H / torch.linalg.vector_norm(result.H, dim=0).clamp(min=1e-30)
    labels, margins = (x.cpu().numpy() for x in hard_labels(result.H))
    numbers = group_numbers(np.arange(H.shape[1])).tolist()
    loadings, names = H.cpu().numpy(), names_of(result)
    found = []
    for column, number in enumerate(numbers):
        members = np.flatnonzero(labels == column)
        if not len(members):
            continue
        members = members[np.argsort(-loadings[members, column], kind="stable")]
        leader = names[members[0]]
        found.append(
            Group(
                number,
                column,
                f"{number} {leader}",
                leader,
                tuple(names[i] for i in members),
                loadings[members, column],
                margins[members],
            )
        )
    return found


def group_names(result: Result) -> list[str]:
    """Number and leader of each column of H; the number alone for a column without members.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> group_names(sn.factorize(S, k=2))
        ['1 0', '2 3']
    """
    names = [str(number) for number in group_numbers(np.arange(result.H.shape[1]))]
    for group in groups(result):
        names[group.column] = group.name
    return names


def names_of(result: Result) -> list[str]:
    """Names of the rows; their numbers as text where the rows have no names."""
    return [str(name) for name in result.names or range(len(result.H))]


def by_name(values: Any) -> Any:
    """A pandas Series as a mapping from names; any other value unchanged."""
    if hasattr(values, "to_dict") and hasattr(values, "index"):
        return {str(name): value for name, value in values.to_dict().items()}
    return values


def classes_by_name(result: Result, classes: Any) -> Mapping[str, Any]:
    """Classes as a mapping from names, from a mapping, a Series, or one class for each row."""
    from symnmf.errors import InvalidInput

    classes, names = by_name(classes), names_of(result)
    if isinstance(classes, Mapping):
        return classes
    if len(classes) != len(names):
        raise InvalidInput(
            "classes",
            f"got {len(classes)} classes for {len(names)} rows",
            "Pass one class for each row",
        )
    return dict(zip(names, classes, strict=True))


def group_of(result: Result) -> dict[str, str]:
    """Name of the group of every instrument; ``"unassigned"`` for one without a group.

    Arguments:
        result: what :func:`symnmf.factorize` returned.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.diag([1.0, 0.9]), np.ones((3, 3)))[:5, :5]
        >>> group_of(sn.factorize(S, k=2))
        {'0': '1 0', '1': '1 0', '2': '1 0', '3': '2 3', '4': '2 3'}
    """
    found = dict.fromkeys(names_of(result), UNASSIGNED)
    found |= {member: group.name for group in groups(result) for member in group.members}
    return found
