"""f along a line and in one entry is a quartic polynomial: its minimizers in closed form."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from symnmf.numerics import cross64, gram64, inner64


def along(H: Tensor, D: Tensor, SH: Tensor, SD: Tensor) -> np.ndarray:  # (n, k) × 4 -> (5,)
    """Coefficients c of f(H + λD) − f(H) = Σ_m c_m λᵐ, with c_0 = 0.

    From the k×k products alone: with B = HᵀD + DᵀH,

        c_1 = 2⟨HᵀH, B⟩ − 4⟨D, S H⟩,   c_2 = ‖B‖² + 2⟨HᵀH, DᵀD⟩ − 2⟨D, S D⟩,
        c_3 = 2⟨B, DᵀD⟩,   c_4 = ‖DᵀD‖²

    Arguments:
        H, D: factor and direction.
        SH, SD: their products with S.

    Example:
        >>> one = torch.ones(1, 1)
        >>> along(one, one, one, one).tolist()  # (1 − (1 + λ)²)²
        [0.0, 0.0, 4.0, 4.0, 1.0]
    """
    A, C, cross = gram64(H), gram64(D), cross64(H, D)
    B = cross + cross.T
    return np.array(
        [
            0.0,
            2 * float((A * B).sum()) - 4 * inner64(D, SH),
            float((B * B).sum() + 2 * (A * C).sum()) - 2 * inner64(D, SD),
            2 * float((B * C).sum()),
            float((C * C).sum()),
        ]
    )


def line_minimum(c: np.ndarray, most: float = 1.0) -> float:
    """The λ between 0 and ``most`` at which Σ_m c_m λᵐ is least.

    Example:
        >>> round(line_minimum(np.array([0.0, -2.0, 2.0, 0.0, 0.0])), 12)
        0.5
    """
    slope = c[1:] * np.arange(1, len(c))
    size = float(np.abs(slope).max())
    if not np.isfinite(size) or size == 0:
        return 0.0
    roots = np.roots((slope / size)[::-1])
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < most)]
    places = np.array([0.0, most, *inside])
    return float(places[np.polyval(c[::-1], places).argmin()])


def entry_minimum(a: Tensor, b: Tensor) -> Tensor:
    """argmin_{x ≥ 0} x⁴ / 4 + a x² / 2 + b x of each entry, by the roots of x³ + a x + b.

    The largest real root is the only candidate beside zero. It is written with sinh, cos and cosh
    of a third of an angle, which do not cancel as the formula with cube roots does.

    Example:
        >>> x = entry_minimum(torch.tensor([1.0, -4.0, 1.0]), torch.tensor([-2.0, 0.0, 1.0]))
        >>> [round(v, 3) for v in x.tolist()]
        [1.0, 2.0, 0.0]
    """
    kind = torch.finfo(a.dtype)
    least = b.abs().pow_(1 / 3).mul_(kind.eps**0.5).clamp_(min=kind.tiny ** (1 / 3))
    radius = torch.maximum((a.abs() / 3).sqrt_(), least)  # a smaller a changes no digit
    angle = -b / (2 * radius**3)
    single = torch.where(a < 0, torch.acosh(angle.clamp(min=1)).div_(3).cosh_(),
                         torch.asinh(angle).div_(3).sinh_())  # fmt: skip
    triple = torch.acos(angle.clamp(-1, 1)).div_(3).cos_()
    x = torch.where((a < 0) & (angle < 1), triple, single).mul_(2 * radius).clamp_(min=0)
    return torch.where((b < 0) | (x * (x * x / 4 + a / 2) + b < 0), x, 0)
