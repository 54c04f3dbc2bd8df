"""Moves out of a poor fit: a column that adds little is spent on what the residual shows."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.operators import SymmetricOperator

#: Directions and passes with which the residual is searched.
PROBES, PASSES = 4, 8


def exchange_column(T: SymmetricOperator, H: Tensor, rng: torch.Generator) -> Tensor:  # (n, k)
    """H with its most redundant column merged into its twin and spent on the residual.

    An empty column is redundant; otherwise, of the two columns with the largest cosine, h_j is
    merged: h_i ← sqrt(h_i² + h_j²), which keeps h_i h_iᵀ + h_j h_jᵀ where they are parallel. The
    free column becomes the direction v ≥ 0 in which T − H Hᵀ is largest.

    Arguments:
        T: S or its surrogate; 9 products with 4 columns.
        H: the fit.
        rng: generator of the first directions.
    """
    H = H.clone()
    k = H.shape[1]
    norms = torch.linalg.vector_norm(H, dim=0)
    if k > 1:
        j = int(norms.argmin())
        if norms[j] > 1e-3 * norms.max():
            cosine = (H.T @ H) / torch.outer(norms, norms)
            cosine.fill_diagonal_(0)
            i, j = divmod(int(cosine.argmax()), k)
            H[:, i] = torch.hypot(H[:, i], H[:, j])
    else:
        j = 0
    H[:, j] = 0
    v, gain = _residual_direction(T, H, rng)
    H[:, j] = v * max(0.0, gain) ** 0.5
    return H


def _residual_direction(
    T: SymmetricOperator, H: Tensor, rng: torch.Generator
) -> tuple[Tensor, float]:
    """The unit v ≥ 0 with the largest vᵀ(T − H Hᵀ)v, by projected power steps."""
    V = torch.randn(T.n, PROBES, generator=rng, dtype=T.dtype, device=T.device)
    V = torch.linalg.qr(V).Q
    for step in range(PASSES):
        if step == PASSES // 2:  # the signed directions have settled: take their halves
            V = torch.cat([V.clamp(min=0), (-V).clamp(min=0)], dim=1)
        V = T.matmul(V).sub_(H @ (H.T @ V))
        if step < PASSES // 2:
            V = torch.linalg.qr(V).Q
        else:
            V = V.clamp_(min=0)
            V = V / torch.linalg.vector_norm(V, dim=0).clamp_(min=torch.finfo(V.dtype).tiny)
    gains = torch.linalg.vecdot(V, T.matmul(V).sub_(H @ (H.T @ V)), dim=0)
    best = int(gains.argmax())
    return V[:, best], float(gains[best])
