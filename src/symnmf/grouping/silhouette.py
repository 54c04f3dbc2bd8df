"""Silhouette of a partition of the rows of S by direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from symnmf.core.labels import indicator
from symnmf.display import Brief
from symnmf.errors import InvalidInput, UnknownName
from symnmf.grouping.spherical_kmeans import UnitRows
from symnmf.numerics import row_chunks, torch_stream
from symnmf.operators import as_operator
from symnmf.operators.base import SymmetricOperator

METRICS = ("cosine", "euclidean")
#: Default number of rows that are compared with all rows by Euclidean distance.
EUCLIDEAN_SAMPLE = 10_000


@dataclass(frozen=True, repr=False)
class Silhouette(Brief):
    """Mean silhouette of a partition.

    Attributes:
        mean: Σ (b_i − a_i) / max(a_i, b_i) / n; 1 for clear groups, 0 for none. A row that is
            alone in its group counts as 0.
        simplified: the same with distances to centroids instead of means of distances.
        values: (m,) silhouettes of the evaluated rows.
        standard_error: standard error of ``mean`` where it is from a sample; 0 where it is exact.
        metric: distance between rows of S at unit length.
    """

    mean: float
    simplified: float
    values: Tensor
    standard_error: float
    metric: str


def silhouette(
    S: Any, labels: Tensor, *, metric: str = "cosine", sample: int | None = None, seed: int = 0
) -> Silhouette:
    """The silhouette of a partition of the rows of S.

    For cosine distances the mean distance to a group is 1 − ⟨s̃_i, Σ_{j∈c} s̃_j⟩ / n_c: exact for any
    n, at two products of S. Euclidean distances need every pair: exact up to 10 000 rows, and from
    a sample with its standard error beyond.

    Arguments:
        S: matrix or operator.
        labels: (n,) groups from 0; rows with −1 are left out.
        metric: ``"cosine"`` or ``"euclidean"``, between rows at unit length.
        sample: number of rows to evaluate with Euclidean distances.
        seed: seed of the sample.

    Raises:
        InvalidInput: the metric is unknown, or the labels have another length or fewer than two
            groups.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> silhouette(S, torch.tensor([0, 0, 0, 1, 1, 1])).mean
        1.0
    """
    if metric not in METRICS:
        raise UnknownName("metric", f"unknown metric {metric!r}", f"Choose {' or '.join(METRICS)}")
    operator = as_operator(S)
    labels = torch.as_tensor(labels, device=operator.device)
    if labels.shape != (operator.n,):
        raise InvalidInput(
            "labels", f"has shape {tuple(labels.shape)}", f"Pass {operator.n} labels"
        )
    rows = UnitRows(operator)
    labels = torch.where(rows.known, labels, -1)
    k = int(labels.max()) + 1
    sizes = torch.bincount(labels[labels >= 0], minlength=max(k, 1)).to(torch.float64)
    if int((sizes > 0).sum()) < 2:
        raise InvalidInput(
            "labels", "hold fewer than two groups", "Pass labels of at least two groups"
        )
    member = indicator(labels, k, operator.dtype)
    sums = rows.sums(member)
    cosine = operator.matmul(sums) * rows.scale[:, None]  # (n, k): ⟨s̃_i, Σ s̃_j⟩
    norms = torch.linalg.vector_norm(sums, dim=0).to(torch.float64)
    to_centre = 1 - cosine.to(torch.float64) / norms.clamp(min=1e-300)
    at = (labels >= 0).nonzero()[:, 0]
    error = 0.0
    if metric == "cosine":
        mean_distance = 1 - cosine.to(torch.float64) / sizes.clamp(min=1)
        own = sizes - 1
        inside = (cosine.to(torch.float64) - 1) / own.clamp(min=1)
        values = _values(mean_distance[at], 1 - inside[at], labels[at], sizes)
    else:
        to_centre = (2 * to_centre.clamp(min=0)).sqrt()
        wanted = min(len(at), EUCLIDEAN_SAMPLE if sample is None else sample)
        if wanted < len(at):
            order = torch.randperm(len(at), generator=torch_stream(seed, "silhouette"))
            at = at[order[:wanted].to(at.device)].sort().values
        values = _euclidean(operator, rows, labels, member, sizes, at)
        if wanted < int((labels >= 0).sum()):
            error = float(values.std()) / wanted**0.5
    near = _values(to_centre, to_centre, labels, sizes)
    known = labels >= 0
    return Silhouette(float(values.mean()), float(near[known].mean()), values, error, metric)


def _values(distance: Tensor, inside: Tensor, labels: Tensor, sizes: Tensor) -> Tensor:
    """(b − a) / max(a, b) from (m, k) distances to groups and to the other members of the own."""
    place = labels.clamp(min=0)[:, None]
    a = inside.gather(1, place)[:, 0].clamp(min=0)  # rounding may give values below 0
    others = distance.masked_fill(sizes == 0, torch.inf).scatter(1, place, torch.inf)
    b = others.min(dim=1).values.clamp(min=0)
    most = torch.maximum(a, b)
    value = torch.where(most > 0, (b - a) / most.clamp(min=1e-300), 0)
    return torch.where(sizes[place[:, 0]] > 1, value, 0)


def _euclidean(
    S: SymmetricOperator, rows: UnitRows, labels: Tensor, member: Tensor, sizes: Tensor, at: Tensor
) -> Tensor:
    """Silhouettes from every pair: blocks of S² give the cosines, and these the distances."""
    out = torch.empty(len(at), dtype=torch.float64, device=S.device)
    everything = torch.arange(S.n, device=S.device)
    weights = member.to(torch.float64)
    for part in row_chunks(len(at), S.n, 1 << 22):
        some = at[part]
        cosine = S.matmul(S.block(everything, some) * rows.scale[some]) * rows.scale[:, None]
        distance = (2 - 2 * cosine.to(torch.float64)).clamp_(min=0).sqrt_()
        distance[some, torch.arange(len(some), device=S.device)] = 0  # rounding is not a distance
        total = distance.T @ weights  # (|part|, k)
        own = (sizes - 1).clamp(min=1)
        out[part] = _values(total / sizes.clamp(min=1), total / own, labels[some], sizes)
    return out
