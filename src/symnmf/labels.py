"""From a factor to hard labels."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor


def hard_labels(H: Tensor) -> tuple[Tensor, Tensor]:  # (n, k) -> (n,), (n,)
    """Group of each row, and how clear it is.

    The label is the argmax of H with columns scaled to unit norm: the raw argmax follows the
    largest column. The margin is (first − second) / first, 0 for a tie and 1 when the row
    loads on one column alone. A row of zeros gets label −1 and margin 0; rows and columns that
    rounding cannot tell from zero count as zero.

    Example:
        >>> hard_labels(torch.tensor([[9.0, 0.0], [9.0, 1.0], [0.0, 0.0]]))[0]
        tensor([ 0,  1, -1])
    """
    norms = torch.linalg.vector_norm(H, dim=0)
    rounding = 10 * torch.finfo(H.dtype).eps
    scaled = H / torch.where(norms > rounding * norms.max(), norms, torch.inf)
    if H.shape[1] == 1:
        first, second = scaled[:, 0], torch.zeros_like(scaled[:, 0])
        label = torch.zeros(len(H), dtype=torch.int64, device=H.device)
    else:
        top, place = scaled.topk(2, dim=1)
        first, second, label = top[:, 0], top[:, 1], place[:, 0]
    empty = first <= rounding * first.max()
    margin = torch.where(empty, 0, (first - second) / torch.where(empty, 1, first))
    return torch.where(empty, -1, label), margin


def indicator(labels: Tensor, k: int, dtype: torch.dtype) -> Tensor:  # (n,) -> (n, k)
    """1 where a row is in a group; −1 is in none."""
    known = (labels >= 0).nonzero()[:, 0]
    out = torch.zeros(len(labels), k, dtype=dtype, device=labels.device)
    out[known, labels[known]] = 1
    return out


def agreement(labels: Tensor) -> float:  # (m, n)
    """Mean pairwise adjusted Rand index of m labelings; 1.0 for a single one.

    Example:
        >>> agreement(torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]]))
        1.0
    """
    from sklearn.metrics import adjusted_rand_score

    rows = [row.cpu().numpy() for row in labels]
    pairs = [adjusted_rand_score(a, b) for a, b in combinations(rows, 2)]
    return float(sum(pairs) / len(pairs)) if pairs else 1.0
