"""Exchange of centres in spherical K-means: two groups become one, a third one becomes two.

Lloyd's passes move centres a little. Where two first centres fell into one group and none into
another, no pass mends it; an exchange does, and its gain is known before it is made.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from symnmf.core.kmeans import Directions, Partition
from symnmf.core.labels import indicator


class SummedDirections(Directions, Protocol):
    """Directions whose centres are sums of unit rows, of any length."""

    def sums(self, weights: Tensor) -> Tensor:  # (n, c) -> (d, c)
        """Weighted sums of the rows."""


def exchange_centres(
    rows: SummedDirections, found: Partition, k: int
) -> tuple[Tensor, int]:  # (d, k)
    """The centres after all exchanges that raise Σ ‖s_j‖, s_j the sum of the rows of a group.

    A group is split between its centre and the row that fits it worst. The gain of a split and the
    loss ‖s_a‖ + ‖s_b‖ − ‖s_a + s_b‖ of a merger are exact; the largest gain is paired with the
    least loss, and no group takes part twice. It costs two products.

    Arguments:
        rows: directions to cluster.
        found: partition after a pass of Lloyd's, with the sums of its groups as centres.
        k: number of groups.

    Returns:
        Centres, and the number of exchanges.
    """
    member = indicator(found.labels, k, found.fit.dtype)  # (n, k)
    sums, split = found.centres, _splits(rows, found, member)
    norms = torch.linalg.vector_norm(sums, dim=0).to(torch.float64)
    parts = [
        torch.linalg.vector_norm(part, dim=0).to(torch.float64) for part in (split, sums - split)
    ]
    gains = parts[0] + parts[1] - norms
    centres, taken = sums.clone(), set[int]()
    mergers = _mergers(sums, norms)
    for g in gains.argsort(descending=True).tolist():
        if g in taken:
            continue
        free = (m for m in mergers if not taken & {m[1], m[2]} and g not in m[1:])
        loss, a, b = next(free, (torch.inf, g, g))
        if not float(gains[g]) > loss:
            break
        taken |= {a, b, g}
        centres[:, a] += sums[:, b]
        centres[:, b] = split[:, g]
        centres[:, g] -= split[:, g]
    return centres, len(taken) // 3


def _splits(rows: SummedDirections, found: Partition, member: Tensor) -> Tensor:  # (d, k)
    """Sums of the rows of each group that are nearer to its worst row than to its centre."""
    worst = torch.where(member > 0, found.fit[:, None], 2).argmin(dim=0)
    known = found.labels >= 0
    cosine = 1 - rows.distances(worst).gather(1, found.labels.clamp(min=0)[:, None])[:, 0]
    nearer = known & (cosine > found.fit)
    return rows.sums(member * nearer[:, None])


def _mergers(sums: Tensor, norms: Tensor) -> list[tuple[float, int, int]]:
    """What it costs to merge two groups, from the cheapest pair on."""
    inner = (sums.T @ sums).to(torch.float64)
    squares = norms.square()
    together = (squares[:, None] + squares + 2 * inner).clamp_(min=0).sqrt_()
    loss = norms[:, None] + norms - together
    a, b = torch.tril_indices(len(norms), len(norms), offset=-1)
    order = loss[a, b].argsort()
    return list(zip(loss[a, b][order].tolist(), a[order].tolist(), b[order].tolist(), strict=True))
