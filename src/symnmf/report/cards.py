"""Cards of the report: what is shown of each group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.grouping.comparison import Comparison
from symnmf.grouping.naming import Group
from symnmf.grouping.stability import Stability
from symnmf.plot.style import GROUP_COLORS
from symnmf.report.class_names import fitting_classes

#: Number of instruments up to which every member is listed, and the number of rows over all groups
#: beyond it.
ALL_LISTED, LISTED_ROWS = 600, 4000
#: Maximum and minimum number of members listed per group.
MAX_MEMBERS, MIN_MEMBERS = 40, 5


@dataclass(frozen=True)
class Member:
    """A row of a card.

    Attributes:
        name: name of the instrument.
        loading: loading relative to that of the leader.
        margin: lead of the group over the second-best group.
        sign: −1 for a member that moves against the leader, else 1.
        confidence: share of resampled histories that join it with the group; None if unknown.
    """

    name: str
    loading: float
    margin: float
    sign: int
    confidence: float | None = None


@dataclass(frozen=True)
class Card:
    """A group.

    Attributes:
        number: number of the group, from 1.
        leader: name of the strongest member.
        color: colour of the group.
        size: number of members.
        cohesion: mean dependence between members; None for a single member.
        margin: median lead over the second-best group.
        members: the strongest members.
        opposite: number of listed members that move against the leader.
        nearest: number of the group with the largest mean dependence on this one, and the mean.
        confidence: mean share of resampled histories that join two members; None if unknown.
        named: class of the user that fits the group, such as ``"Energy, 18 of 20"``; or empty.
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
    confidence: float | None = None
    named: str = ""

    @property
    def heading(self) -> str:
        """What the group is called: the fitting class, or its leader."""
        return self.named or self.leader


def cards(
    found: list[Group],
    result: Result,
    signs: np.ndarray,
    between: np.ndarray,
    stability: Stability | None = None,
    comparison: Comparison | None = None,
) -> list[Card]:
    """The cards of the groups, largest group first.

    Arguments:
        found: groups of :func:`symnmf.grouping.naming.groups`.
        result: the factorization.
        signs: (n,) −1 for members that move against the leader of their group, else 1.
        between: (k, k) mean dependence between groups.
        stability: how the groups hold in resampled histories, if it is known.
        comparison: comparison with the classes of the user, for the names of the groups.
    """
    n = len(result.H)
    most = (
        n
        if n <= ALL_LISTED
        else min(MAX_MEMBERS, max(MIN_MEMBERS, LISTED_ROWS // max(1, len(found))))
    )
    place = {name: i for i, name in enumerate(result.names or map(str, range(n)))}
    classes = {
        group: f"{name}, {inside} of {total}"
        for group, (name, inside, total) in fitting_classes(comparison, found).items()
    }
    return [
        replace(_card(g, most, place, signs, between, stability), named=classes.get(g.name, ""))
        for g in found
    ]


def _card(
    group: Group,
    most: int,
    place: dict[str, int],
    signs: np.ndarray,
    between: np.ndarray,
    stability: Stability | None,
) -> Card:
    g = group.column
    shown = group.members[:most]
    own = [int(signs[place[name]]) for name in shown]
    top = float(group.loadings[0]) or 1.0
    members = tuple(
        Member(name, float(loading) / top, float(margin), sign, _share(stability, place[name]))
        for name, loading, margin, sign in zip(
            shown, group.loadings[:most], group.margins[:most], own, strict=True
        )
    )
    others = np.where(np.arange(len(between)) == g, -np.inf, np.nan_to_num(between[g], nan=-np.inf))
    near = int(others.argmax())
    return Card(
        number=group.number,
        leader=group.leader,
        color=GROUP_COLORS[g % len(GROUP_COLORS)],
        size=len(group.members),
        cohesion=None if np.isnan(between[g, g]) else float(between[g, g]),
        margin=float(np.median(group.margins)),
        members=members,
        opposite=sum(s < 0 for s in own),
        nearest=(int(group_numbers(np.array(near))), float(others[near]))
        if np.isfinite(others[near])
        else None,
        confidence=None
        if stability is None or np.isnan(stability.groups[g])
        else float(stability.groups[g]),
    )


def _share(stability: Stability | None, row: int) -> float | None:
    if stability is None or np.isnan(stability.members[row]):
        return None
    return float(stability.members[row])
