"""The objective f(H) = ‖S − H Hᵀ‖²_F and its gradient: the only place with these formulas.

Everything comes from the products ``S @ H`` and ``HᵀH``: with the trace identity

    ‖S − H Hᵀ‖² = ‖S‖² − 2·tr(HᵀS H) + ‖HᵀH‖²

no n×n matrix is ever formed. Sums to a number are made in float64.
"""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.operators.base import WIDE_ENTRIES, row_chunks


def gram64(X: Tensor) -> Tensor:  # (n, c) -> (c, c)
    """``XᵀX`` in float64, summed over row chunks."""
    total = torch.zeros(X.shape[1], X.shape[1], dtype=torch.float64, device=X.device)
    for part in row_chunks(len(X), X.shape[1], WIDE_ENTRIES):
        rows = X[part].to(torch.float64)
        total.addmm_(rows.T, rows)
    return total


def inner64(X: Tensor, Y: Tensor) -> float:
    """⟨X, Y⟩ in float64, summed over row chunks."""
    total = 0.0
    for part in row_chunks(len(X), X.shape[1], WIDE_ENTRIES):
        total += float((X[part].to(torch.float64) * Y[part]).sum())
    return total


def objective(H: Tensor, SH: Tensor) -> float:
    """f(H) − ‖S‖² = ‖HᵀH‖² − 2⟨H, S H⟩, for line searches: no constant, no clamp."""
    return float(gram64(H).square().sum()) - 2.0 * inner64(H, SH)


def error(H: Tensor, SH: Tensor, frob_sq: float) -> float:
    """Relative squared error ‖S − H Hᵀ‖² / ‖S‖², for people: never below zero.

    Example:
        >>> H = torch.ones(2, 1)
        >>> error(H, torch.ones(2, 2) @ H, frob_sq=4.0)
        0.0
    """
    value = 1.0 + objective(H, SH) / frob_sq
    return 0.0 if value < 0 else value  # NaN stays NaN


def gradient(H: Tensor, SH: Tensor, out: Tensor | None = None) -> Tensor:  # (n, k)
    """∇f(H) = 4 (H (HᵀH) − S H)."""
    return torch.matmul(H, H.T @ H, out=out).sub_(SH).mul_(4.0)


def projected_norm(H: Tensor, grad: Tensor) -> float:
    """‖∇_proj f‖_F: the gradient where H > 0, its negative part where H = 0 (Lin, 2007)."""
    total = 0.0
    for part in row_chunks(len(H), H.shape[1], WIDE_ENTRIES):
        g = grad[part].to(torch.float64)
        total += float(torch.where(H[part] > 0, g, g.clamp(max=0)).square_().sum())
    return float(total**0.5)


def gradient_resolution(H: Tensor, SH: Tensor) -> float:
    """What rounding leaves of ‖∇f‖ when the true gradient is zero: 4·ε·‖S H‖_F."""
    return float(4.0 * torch.finfo(H.dtype).eps * inner64(SH, SH) ** 0.5)


def error_resolution(dtype: torch.dtype) -> float:
    """The smallest error the trace identity can tell from zero: the precision of its terms."""
    return torch.finfo(dtype).eps
