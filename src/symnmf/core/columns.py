"""How many columns of a factor are used and differ from each other."""

from __future__ import annotations

import torch
from torch import Tensor

#: A column shorter than this fraction of the longest one is unused.
UNUSED = 1e-3


def distinct_columns(H: Tensor, coincide: float) -> int:  # (n, k)
    """Number of columns of H that are used and do not coincide with a longer column.

    Columns i and j coincide if 1 − cos(h_i, h_j) is at most ``coincide``.

    Arguments:
        H: factor.
        coincide: largest 1 − cosine of two columns that count as one.

    Example:
        >>> H = torch.tensor([[1.0, 2.0, 0.0, 0.0], [1.0, 2.0, 3.0, 0.0]])
        >>> distinct_columns(H, 0.01)
        2
    """
    norms = torch.linalg.vector_norm(H, dim=0, dtype=torch.float64)
    used = (norms > UNUSED * norms.max()).nonzero()[:, 0]
    used = used[norms[used].argsort(descending=True, stable=True)]
    unit = H[:, used].to(torch.float64) / norms[used]
    near = ((1 - unit.T @ unit) <= coincide).tolist()
    distinct: list[int] = []
    for j in range(len(used)):
        if not any(near[j][i] for i in distinct):
            distinct.append(j)
    return len(distinct)
