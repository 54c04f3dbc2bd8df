"""The objective f(H) = ‖S − H Hᵀ‖²_F and its derivatives: the only module with these formulas.

Everything is computed from the products ``S @ H`` and ``HᵀH``: with the trace identity

    ‖S − H Hᵀ‖² = ‖S‖² − 2·tr(HᵀS H) + ‖HᵀH‖²

no n×n matrix is ever formed. Reductions to a number are computed in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from symnmf.numerics import WIDE_ENTRIES, gram64, inner64, inner64_on_device, row_chunks

if TYPE_CHECKING:
    from symnmf.operators import SymmetricOperator


def objective(H: Tensor, SH: Tensor) -> float:
    """f(H) − ‖S‖² = ‖HᵀH‖² − 2⟨H, S H⟩, for line searches: without constant and clamp."""
    return float(gram64(H).square().sum() - 2.0 * inner64_on_device(H, SH))


def error(H: Tensor, SH: Tensor, frob_sq: float) -> float:
    """Relative squared error ‖S − H Hᵀ‖² / ‖S‖², never below zero.

    Example:
        >>> H = torch.ones(2, 1)
        >>> error(H, torch.ones(2, 2) @ H, frob_sq=4.0)
        0.0
    """
    value = 1.0 + objective(H, SH) / frob_sq
    return 0.0 if value < 0 else value  # NaN stays NaN


def error_by_definition(S: Tensor, H: Tensor) -> float:
    """The relative squared error in float64 from the n×n residual, to test the trace identity."""
    wide = H.to(torch.float64)
    full = S.to(torch.float64)
    return float((full - wide @ wide.T).square().sum() / full.square().sum())


def best_scale(H: Tensor, SH: Tensor) -> float:
    """The c ≥ 0 for which c·H has the least error: c² = ⟨H, S H⟩ / ‖HᵀH‖²."""
    return float((max(0.0, inner64(H, SH)) / float(gram64(H).square().sum())) ** 0.5)


def gradient(H: Tensor, SH: Tensor, out: Tensor | None = None) -> Tensor:  # (n, k)
    """∇f(H) = 4 (H (HᵀH) − S H)."""
    return torch.matmul(H, H.T @ H, out=out).sub_(SH).mul_(4.0)


def projected_norm(H: Tensor, grad: Tensor, floor: float = 0.0) -> float:
    """‖∇_proj f‖_F: the gradient where H > 0, its negative part where H = 0 (Lin, 2007).

    Arguments:
        H, grad: factor and ∇f.
        floor: least entry that H can have, which takes the place of 0.
    """
    total = torch.zeros((), dtype=torch.float64, device=H.device)
    for part in row_chunks(len(H), H.shape[1], WIDE_ENTRIES):
        g = grad[part].to(torch.float64)
        total += torch.where(H[part] > floor, g, g.clamp(max=0)).square_().sum()
    return float(total.sqrt())


def gradient_resolution(H: Tensor, SH: Tensor) -> float:
    """Size of ‖∇f‖ that rounding causes if the exact gradient is zero: 4·ε·‖S H‖_F."""
    return float(4.0 * torch.finfo(H.dtype).eps * inner64(SH, SH) ** 0.5)


def error_resolution(dtype: torch.dtype) -> float:
    """The smallest error that the trace identity can distinguish from zero.

    It is the precision of the terms, and at least that of their sums in float64.
    """
    return max(torch.finfo(dtype).eps, 64 * torch.finfo(torch.float64).eps)


def row_gradient(H: Tensor, rows: Tensor, SH: Tensor) -> Tensor:  # (|I|, k)
    """∇f on the rows I, from S[I] H."""
    return (H[rows] @ (H.T @ H)).sub_(SH).mul_(4.0)


def entry_gradient(H: Tensor, i: Tensor, j: Tensor, S_ij: Tensor, out: Tensor) -> Tensor:  # (n, k)
    """Add the gradient of Σ_m (S_{i_m j_m} − ⟨h_{i_m}, h_{j_m}⟩)² to ``out``.

    g_i += 2 r h_j and g_j += 2 r h_i with r = ⟨h_i, h_j⟩ − S_ij: over all n² pairs this is ∇f.
    """
    left, right = H[i], H[j]
    r = (torch.linalg.vecdot(left, right) - S_ij).mul_(2.0)[:, None]
    return out.index_add_(0, i, r * right).index_add_(0, j, r * left)


def block_gradient(
    H: Tensor, i: Tensor, j: Tensor, SH_ij: Tensor, SH_ji: Tensor, out: Tensor
) -> Tensor:  # (n, k)
    """Add the gradient of ‖S[I, J] − H_I H_Jᵀ‖² to ``out``, from S[I, J] H_J and S[J, I] H_I.

    g_I += 2 R H_J and g_J += 2 Rᵀ H_I with R = H_I H_Jᵀ − S[I, J], which is never formed.
    """
    left, right = H[i], H[j]
    out.index_add_(0, i, (left @ (right.T @ right)).sub_(SH_ij).mul_(2.0))
    return out.index_add_(0, j, (right @ (left.T @ left)).sub_(SH_ji).mul_(2.0))


def hessian_diagonal(H: Tensor, diag: Tensor) -> Tensor:  # (n, k)
    """∂²f / ∂H_ij² = 4 ((HᵀH)_jj + ‖h_i‖² + H_ij² − S_ii)."""
    columns = torch.linalg.vecdot(H, H, dim=0)
    rows = torch.linalg.vecdot(H, H, dim=1) - diag
    return H.square().add_(columns).add_(rows[:, None]).mul_(4.0)


def gauss_newton(H: Tensor, D: Tensor) -> Tensor:  # (n, k)
    """2 JᵀJ D = 4 (D HᵀH + H DᵀH), J the derivative of H Hᵀ: the Hessian without its residual."""
    return (D @ (H.T @ H)).addmm_(H, D.T @ H).mul_(4.0)


def off_diagonal_fit(S: SymmetricOperator, H: Tensor) -> float:
    """Share of the entries of S beside the diagonal that H Hᵀ explains.

        1 − Σ_{i≠j} (S − H Hᵀ)²_ij / Σ_{i≠j} S²_ij

    Arguments:
        S: the matrix, which need not be the one that H was fitted to.
        H: (n, k) factor.

    Example:
        >>> from symnmf.operators import as_operator
        >>> off_diagonal_fit(as_operator(torch.ones(3, 3)), torch.ones(3, 1))
        1.0
    """
    H = H.to(dtype=S.dtype, device=S.device)
    diagonal = S.diag().to(torch.float64)
    own = torch.linalg.vecdot(H, H, dim=1).to(torch.float64)
    total = S.frob_sq() + objective(H, S.matmul(H))
    error_off = total - float((diagonal - own).square().sum())
    return 1.0 - max(0.0, error_off) / max(S.frob_sq() - float(diagonal.square().sum()), 1e-300)
