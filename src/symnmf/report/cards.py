"""What is shown of each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from symnmf.contract import Result
from symnmf.dependence.correlation import CorrelationEstimate
from symnmf.groups.naming import Group
from symnmf.operators import SymmetricOperator
from symnmf.plot.style import GROUPS

#: Up to so many instruments every member is listed; else this many rows over all groups.
ALL, ROWS = 600, 4000
#: Most and fewest members that are listed of a group.
MOST, FEWEST = 40, 5


@dataclass(frozen=True)
class Member:
    """A line of a card: name, loading against the leader's, lead over the second group, sign."""

    name: str
    loading: float
    margin: float
    sign: int


@dataclass(frozen=True)
class Card:
    """A group.

    Attributes:
        number: from 1 on; ``leader`` its strongest member; ``color`` where colours are used.
        size: all members; ``members`` the strongest of them.
        cohesion: mean dependence between members; None for one alone.
        margin: median lead over the second group.
        opposite: how many of the listed members move against the leader.
        nearest: the other group with most in common, and how much.
    """

    number: int
    leader: str
    color: str
    size: int
    cohesion: float | None
    margin: float
    members: tuple[Member, ...]
    opposite: int
    nearest: tuple[int, float] | None


def cards(
    found: list[Group], result: Result, S: SymmetricOperator, between: np.ndarray
) -> list[Card]:
    """The cards of the groups, largest group first.

    Arguments:
        found: of :func:`symnmf.groups.naming.groups`.
        result: the factorization.
        S: the operator, for the signs.
        between: (k, k) mean dependence.
    """
    n = len(result.H)
    most = n if n <= ALL else min(MOST, max(FEWEST, ROWS // max(1, len(found))))
    place = {name: i for i, name in enumerate(result.names or map(str, range(n)))}
    return [_card(g, most, place, S, between) for g in found]


def _card(
    group: Group, most: int, place: dict[str, int], S: SymmetricOperator, between: np.ndarray
) -> Card:
    g = group.number
    shown = group.members[:most]
    signs = [1] * len(shown)
    if isinstance(S.about, CorrelationEstimate):
        rows = torch.tensor([place[name] for name in shown])
        signs = [int(s) for s in S.about.signs(rows, rows[:1])[:, 0].sign()]
    top = float(group.loadings[0]) or 1.0
    members = tuple(
        Member(name, float(loading) / top, float(margin), sign)
        for name, loading, margin, sign in zip(
            shown, group.loadings[:most], group.margins[:most], signs, strict=True
        )
    )
    others = np.where(np.arange(len(between)) == g, -np.inf, np.nan_to_num(between[g], nan=-np.inf))
    near = int(others.argmax())
    return Card(
        number=g + 1,
        leader=group.leader,
        color=GROUPS[g % len(GROUPS)],
        size=len(group.members),
        cohesion=None if np.isnan(between[g, g]) else float(between[g, g]),
        margin=float(np.median(group.margins)),
        members=members,
        opposite=sum(s < 0 for s in signs),
        nearest=(near + 1, float(others[near])) if np.isfinite(others[near]) else None,
    )
