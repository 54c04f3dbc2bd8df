"""The strongest links: the maximum spanning tree of S, and places to draw it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.display import Brief
from symnmf.grouping.naming import names_of
from symnmf.operators import SymmetricOperator

#: Instruments up to which the tree has them all; beyond it, the strongest members of each group.
MAX_LINKED = 500
#: Rounds of the placement (stress majorization), and the distance of two instruments that touch.
ROUNDS = 40


@dataclass(frozen=True, repr=False)
class SpanningTree(Brief):
    """The maximum spanning tree of S.

    Attributes:
        rows: (m,) rows of S that the tree connects.
        names: their names.
        labels: (m,) their groups, from 0; −1 for none.
        links: (m − 1, 2) linked instruments, as places in ``rows``.
        strengths: (m − 1,) entry of S of each link.
        places: (m, 2) where to draw them.
        everyone: whether every instrument is in the tree.
    """

    rows: np.ndarray
    names: tuple[str, ...]
    labels: np.ndarray
    links: np.ndarray
    strengths: np.ndarray
    places: np.ndarray
    everyone: bool

    @property
    def inside(self) -> float:
        """Share of the links that connect members of one group."""
        if not len(self.links):
            return float("nan")
        a, b = self.labels[self.links].T
        return float(((a == b) & (a >= 0)).mean())


def spanning_tree(S: SymmetricOperator, result: Result, most: int = MAX_LINKED) -> SpanningTree:
    """The tree of the strongest links.

    Of all trees that connect the instruments, it is the one whose entries of S have the largest
    sum. Where there are more than ``most`` instruments, the strongest members of each group are
    connected, as many of each as its size allows. Where processes share the rows of S, all of
    them call this function.

    Arguments:
        S: the matrix that was factorized.
        result: its factorization.
        most: maximum number of instruments.

    Example:
        >>> import symnmf as sn
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((3, 3))) * 0.8 + 0.1)
        >>> tree = spanning_tree(S, sn.factorize(S, k=2))
        >>> len(tree.links), tree.inside
        (5, 0.8)

    Reference: Mantegna (1999), doi:10.1007/s100510050929; Prim (1957),
    doi:10.1002/j.1538-7305.1957.tb01515.x.
    """
    labels = result.labels().cpu().numpy()
    rows = _chosen(result, labels, most)
    index = torch.as_tensor(rows, device=S.device)
    block = S.block(index, index).detach().cpu().to(torch.float64).numpy()
    block = np.nan_to_num((block + block.T) / 2)
    links, hops = _strongest_links(block)
    names = names_of(result)
    return SpanningTree(
        rows,
        tuple(names[i] for i in rows),
        labels[rows],
        links,
        block[links[:, 0], links[:, 1]] if len(links) else np.empty(0),
        _places(hops, links),
        len(rows) == len(labels),
    )


def _strongest_links(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # (m − 1, 2), (m, m)
    """Links of the maximum spanning tree, and the number of links between each two instruments.

    By hand, because to import the graphs of scipy takes longer than the tree.
    """
    m = len(block)
    links, hops = np.empty((m - 1, 2), dtype=np.int64), np.zeros((m, m))
    outside = np.ones(m, dtype=bool)
    outside[0] = False
    strongest, partner = block[0].copy(), np.zeros(m, dtype=np.int64)
    for step in range(m - 1):
        new = int(np.where(outside, strongest, -np.inf).argmax())
        old = int(partner[new])
        links[step] = old, new
        hops[new, ~outside] = hops[~outside, new] = hops[old, ~outside] + 1
        outside[new] = False
        better = block[new] > strongest
        strongest[better], partner[better] = block[new, better], new
    return links, hops


def _chosen(result: Result, labels: np.ndarray, most: int) -> np.ndarray:
    """All rows, or the strongest members of each group."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    H = result.H.cpu().numpy()
    strength = H[np.arange(n), np.maximum(labels, 0)]
    rows: list[int] = []
    for g in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == g)
        wanted = max(1, int(most * len(members) / n))
        rows += members[np.argsort(-strength[members], kind="stable")[:wanted]].tolist()
    return np.sort(np.array(rows[:most] if len(rows) > most else rows))


def _places(hops: np.ndarray, links: np.ndarray) -> np.ndarray:  # (m, 2)
    """Places whose distances follow the numbers of links between instruments.

    A radial drawing of the tree, in which no links cross, then a few rounds of stress
    majorization: Gansner, Koren and North (2004), doi:10.1007/978-3-540-31843-9_25.
    """
    m = len(hops)
    if m < 3:
        return np.column_stack([np.arange(m, dtype=float), np.zeros(m)])
    X = _radial(hops, links)
    weight = 1.0 / np.maximum(hops, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    solve = np.linalg.inv(laplacian + 1.0 / m)
    pull = -weight * hops
    gaps, other = np.empty((2, m, m))
    for _ in range(ROUNDS):
        np.subtract.outer(X[:, 0], X[:, 0], out=gaps)
        np.subtract.outer(X[:, 1], X[:, 1], out=other)
        np.square(gaps, out=gaps)
        gaps += np.square(other, out=other)
        np.maximum(np.sqrt(gaps, out=gaps), 1e-9, out=gaps)
        ratio = np.divide(pull, gaps, out=other)  # the diagonal of pull is zero
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        X = solve @ (ratio @ X)
    centred: np.ndarray = X - X.mean(axis=0)
    return centred


def _radial(hops: np.ndarray, links: np.ndarray) -> np.ndarray:  # (m, 2)
    """The tree around its middle: each branch has a sector as wide as it has leaves."""
    m = len(hops)
    root = int(hops.max(axis=1).argmin())
    near: list[list[int]] = [[] for _ in range(m)]
    for a, b in links.tolist():
        near[a].append(b)
        near[b].append(a)
    order, parent = [root], {root: -1}
    for node in order:
        for other in near[node]:
            if other not in parent:
                parent[other] = node
                order.append(other)
    leaves = np.ones(m)
    for node in reversed(order):
        children = [c for c in near[node] if parent.get(c) == node]
        if children:
            leaves[node] = leaves[children].sum()
    begin = {root: 0.0}
    angle = np.zeros(m)
    for node in order:
        at = begin[node]
        angle[node] = at + leaves[node] / 2
        for child in (c for c in near[node] if parent.get(c) == node):
            begin[child] = at
            at += leaves[child]
    turn = 2 * np.pi * angle / leaves[root]
    places: np.ndarray = hops[root][:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return places
