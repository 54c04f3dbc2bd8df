"""Groups of a factor: hard labels, the order of the columns, and group numbers for people."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


def hard_labels(H: Tensor) -> tuple[Tensor, Tensor]:  # (n, k) -> (n,), (n,)
    """Group of each row as a column of H, and its margin.

    The label is the argmax of H with columns scaled to unit norm, because the unscaled argmax
    favours the largest column. The margin is (first − second) / first: 0 for a tie and 1 if the
    row loads on one column alone. A row of zeros gets label −1 and margin 0; rows and columns that
    rounding cannot distinguish from zero count as zero.

    Example:
        >>> hard_labels(torch.tensor([[9.0, 0.0], [9.0, 1.0], [0.0, 0.0]]))[0]
        tensor([ 0,  1, -1])
    """
    rounding = 10 * torch.finfo(H.dtype).eps
    scaled = H / column_sizes(H)
    if H.shape[1] == 1:
        first, second = scaled[:, 0], torch.zeros_like(scaled[:, 0])
        label = torch.zeros(len(H), dtype=torch.int64, device=H.device)
    else:
        top, place = scaled.topk(2, dim=1)
        first, second, label = top[:, 0], top[:, 1], place[:, 0]
    empty = first <= rounding * first.max()
    margin = torch.where(empty, 0, (first - second) / torch.where(empty, 1, first))
    return torch.where(empty, -1, label), margin


def column_sizes(H: Tensor) -> Tensor:  # (n, k) -> (k,)
    """Norms of the columns; infinity for one that rounding cannot distinguish from zero.

    Example:
        >>> column_sizes(torch.tensor([[3.0, 0.0], [4.0, 0.0]]))
        tensor([5., inf])
    """
    norms = torch.linalg.vector_norm(H, dim=0)
    rounding = 10 * torch.finfo(H.dtype).eps
    return torch.where(norms > rounding * norms.max(), norms, torch.inf)


def in_group_order(H: Tensor) -> Tensor:  # (n, k)
    """H with its columns in order: the largest group first, then by leader.

    Columns without members come last, and columns of zeros after them. The order does not depend on
    the solver or its seed. Every result has this order; two factors are compared after alignment.

    Example:
        >>> in_group_order(torch.tensor([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))[0]
        tensor([1., 0.])
    """
    labels, _ = hard_labels(H)
    sizes = torch.bincount(labels[labels >= 0], minlength=H.shape[1]).cpu().numpy()
    leader = H.argmax(dim=0).cpu().numpy()
    empty = (~H.any(dim=0)).cpu().numpy()
    order = np.lexsort((leader, empty, -sizes))
    if (order == np.arange(len(order))).all():
        return H
    return H[:, torch.from_numpy(order).to(H.device)].contiguous()


def group_numbers(labels: Tensor | np.ndarray) -> np.ndarray:  # (…)
    """Group numbers for people: column 0 is group 1; 0 for a row without a group.

    Example:
        >>> group_numbers(torch.tensor([0, 2, -1])).tolist()
        [1, 3, 0]
    """
    columns = labels.cpu().numpy() if isinstance(labels, Tensor) else np.asarray(labels)
    numbers: np.ndarray = columns.astype(np.int64) + 1
    return numbers


def indicator(labels: Tensor, k: int, dtype: torch.dtype) -> Tensor:  # (n,) -> (n, k)
    """The 0/1 matrix of the groups; the row of a label −1 is zero."""
    assigned = (labels >= 0).nonzero()[:, 0]
    out = torch.zeros(len(labels), k, dtype=dtype, device=labels.device)
    out[assigned, labels[assigned]] = 1
    return out


def adjusted_rand(first: ArrayLike, second: ArrayLike) -> float:
    """The adjusted Rand index of two labelings: 1 for the same groups, about 0 by chance.

        (Σ C(n_ij, 2) − e) / ((a + b) / 2 − e),   e = a b / C(n, 2)

    where a = Σ C(n_i, 2) and b = Σ C(n_j, 2); n_i and n_j count the rows with a label in the first
    and in the second, n_ij those with both.

    Arguments:
        first, second: (n,) labels, numbers or words.

    Example:
        >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"]), adjusted_rand([0, 0, 1], [0, 0, 0])
        (1.0, 0.0)

    Reference: Hubert and Arabie (1985), doi:10.1007/BF01908075.
    """
    rows, columns = (np.unique(np.asarray(x), return_inverse=True)[1] for x in (first, second))
    counts = np.unique(rows * (columns.max(initial=0) + 1) + columns, return_counts=True)[1]
    both, a, b = (_pairs(c) for c in (counts, np.bincount(rows), np.bincount(columns)))
    expected = a * b / max(1, _pairs(np.array([len(rows)])))
    most = (a + b) / 2
    return 1.0 if most == expected else float((both - expected) / (most - expected))


def mutual_information(first: ArrayLike, second: ArrayLike) -> float:
    """The normalized mutual information of two labelings: 1 for the same groups.

        I / ((E_1 + E_2) / 2)

    for the mutual information I and the entropies E of the shares of the labels.

    Arguments:
        first, second: (n,) labels, numbers or words.

    Example:
        >>> mutual_information([0, 0, 1, 1], ["b", "b", "a", "a"])
        1.0
    """
    rows, columns = (np.unique(np.asarray(x), return_inverse=True)[1] for x in (first, second))
    both = rows * (columns.max(initial=0) + 1) + columns
    own, other, joint = (_entropy(x) for x in (rows, columns, both))
    return 1.0 if own == other == 0 else max(0.0, own + other - joint) / ((own + other) / 2)


def _entropy(labels: np.ndarray) -> float:
    """Entropy of the shares of the labels."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(shares * np.log(shares)).sum())


def _pairs(counts: np.ndarray) -> int:
    """Number of pairs within groups of these sizes."""
    return sum(c * (c - 1) // 2 for c in counts.tolist())


def agreement(labels: Tensor) -> float:  # (m, n)
    """Mean pairwise adjusted Rand index of m labelings; 1.0 for a single one.

    Example:
        >>> agreement(torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]]))
        1.0
    """
    rows = [row.cpu().numpy() for row in labels]
    pairs = [adjusted_rand(a, b) for a, b in combinations(rows, 2)]
    return float(sum(pairs) / len(pairs)) if pairs else 1.0
