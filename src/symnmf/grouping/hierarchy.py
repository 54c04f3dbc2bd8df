"""The path over k as a tree: which groups split into which."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from symnmf.core.labels import group_numbers, indicator
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.factorization import run
from symnmf.fit_request import Request
from symnmf.grouping.naming import names_of
from symnmf.operators import as_operator
from symnmf.options import whole_number
from symnmf.resources import require_memory

#: Weight of the dependence itself in the distance, against the share of levels: it orders the
#: instruments that no level separates.
TIE_BREAK = 0.1


@dataclass(frozen=True, repr=False)
class Hierarchy(Brief):
    """Groups for several numbers of groups, and how they are related.

    Attributes:
        results: the factorizations, fewest groups first.
        parents: for each result after the first, (k,) column of the result before from which each
            group came: the one whose loadings overlap most.
        overlaps: for each result after the first, (k,) that overlap, the cosine of the loadings.
        linkage: (n − 1, 4) tree of the instruments in the form of :mod:`scipy.cluster.hierarchy`.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.eye(4), np.ones((3, 3))) + 0.1
        >>> tree = sn.hierarchy(S, [2, 4])
        >>> tree.labels(4).tolist()
        [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    """

    results: tuple[Result, ...]
    parents: tuple[np.ndarray, ...]
    overlaps: tuple[np.ndarray, ...]
    linkage: np.ndarray

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of groups, ascending."""
        return tuple(result.H.shape[1] for result in self.results)

    def labels(self, k: int) -> np.ndarray:  # (n,)
        """Nested groups: the tree cut into k, numbered from 1 in order of the instruments.

        Arguments:
            k: number of groups.
        """
        from scipy.cluster.hierarchy import fcluster

        found = fcluster(self.linkage, k, criterion="maxclust")
        order: dict[int, int] = {}
        return np.array([order.setdefault(int(label), len(order) + 1) for label in found])

    def splits(self) -> pd.DataFrame:
        """A row for each group of each level but the first, with the group that it came from.

        Groups have the numbers that people read.
        """
        rows = []
        for before, after, parent, overlap in zip(
            self.results, self.results[1:], self.parents, self.overlaps, strict=False
        ):
            labels = after.labels()
            for g in range(after.H.shape[1]):
                rows.append(
                    {
                        "k": after.H.shape[1],
                        "group": int(group_numbers(np.array(g))),
                        "size": int((labels == g).sum()),
                        "from k": before.H.shape[1],
                        "from group": int(group_numbers(parent[g])),
                        "overlap": float(overlap[g]),
                    }
                )
        return pd.DataFrame(rows)


def hierarchy(
    S: Any, ks: int | Sequence[int], *, seed: int = 0, known: Result | None = None
) -> Hierarchy:
    """Fit several numbers of groups, and relate the groups to a tree.

    The tree of the instruments is by average linkage of

        D_ij = share of the levels that separate i from j + 0.1 · (1 − S_ij / max S)

    so that its first cuts are the splits that most levels agree on.

    Arguments:
        S: matrix or operator, as for :func:`symnmf.factorize`.
        ks: numbers of groups; a single number stands for all from 2 to it.
        seed: seed of the fits.
        known: a result of S that stands for the fit of its number of groups.

    Raises:
        InvalidInput: there is no number of groups, or one is out of range.

    Example:
        >>> import symnmf as sn
        >>> from scipy.cluster.hierarchy import is_valid_linkage
        >>> tree = hierarchy(sn.benchmark_matrix("corr", n=100).operator, 4)
        >>> tree.numbers, is_valid_linkage(tree.linkage)
        ((2, 3, 4), True)
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    operator = as_operator(S)
    n = operator.n
    if not isinstance(ks, Sequence | np.ndarray):
        ks = range(2, whole_number("ks", ks, 2, n, f"from 2 to {n}") + 1)
    numbers = sorted({whole_number("ks", k, 1, n, f"from 1 to {n}") for k in ks})
    if not numbers:
        raise InvalidInput("ks", "got no number of groups", "Pass at least one")
    require_memory(16 * n * n, f"the distances of {n} instruments", "Use fewer instruments")
    results: list[Result] = []
    together = torch.zeros(n, n)
    for k in numbers:
        if known is not None and known.H.shape[1] == k:
            result = known
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a level is not reported by itself
                result = run(Problem(operator, k, seed), Request(n_init=2), handle_interrupt=False)
        results.append(result)
        member = indicator(result.labels().cpu(), k, torch.float32)
        together.addmm_(member, member.T, alpha=1 / len(numbers))
    dense = operator.to_dense().cpu().to(torch.float32)
    D = (1 - together) + TIE_BREAK * (1 - dense / dense.max())
    distance = ((D + D.T) / 2).fill_diagonal_(0).clamp_(min=0).to(torch.float64).numpy()
    tree = linkage(squareform(distance, checks=False), "average")
    related = [_related(a.H, b.H) for a, b in pairwise(results)]
    parents, overlaps = (tuple(pair[m] for pair in related) for m in (0, 1))
    return Hierarchy(tuple(results), parents, overlaps, tree)


def leaves(tree: Hierarchy) -> list[str]:
    """Names of the instruments in the order of the tree."""
    from scipy.cluster.hierarchy import leaves_list

    names = names_of(tree.results[0])
    return [names[i] for i in leaves_list(tree.linkage)]


def _related(before: Tensor, after: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Column of the factor before with which each later column overlaps most, and the cosine."""
    unit = [H / torch.linalg.vector_norm(H, dim=0).clamp(min=1e-30) for H in (before, after)]
    overlap = (unit[0].T @ unit[1]).cpu().numpy()
    parent = overlap.argmax(axis=0)
    return parent, overlap[parent, np.arange(overlap.shape[1])]
