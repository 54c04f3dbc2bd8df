"""Start factors: the same one per seed for every solver."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.errors import InvalidFactor, UnknownName
from symnmf.operators import SymmetricOperator
from symnmf.seeds import torch_stream
from symnmf.spectrum import Spectrum

STARTS = ("random", "nndsvd")


def random_start(S: SymmetricOperator, k: int, seed: int) -> Tensor:  # (n, k)
    """Entries uniform in [0, sqrt(mean(S) / k)], as in the paper's section 4.4."""
    H = torch.rand(S.n, k, generator=torch_stream(seed, "start"), dtype=S.dtype)
    return H.mul_((S.mean() / k) ** 0.5).to(S.device)


def nndsvd_start(S: SymmetricOperator, k: int, spectrum: Spectrum, fill: float = 0.01) -> Tensor:
    """Non-negative parts of the leading eigenvectors (Boutsidis and Gallopoulos, 2008).

    Column j is sqrt(λ_j)·m·v/‖v‖, v the part of u_j (positive or negative) with the larger norm
    m. Zeros are lifted to ``fill`` × sqrt(mean(S) / k), because a multiplicative update never
    leaves a zero; columns without a positive eigenvalue are filled the same way.
    """
    H = torch.zeros(S.n, k, dtype=S.dtype, device=S.device)
    usable = min(k, spectrum.positive(k), spectrum.vectors.shape[1])
    for j in range(usable):
        u = spectrum.vectors[:, j]
        parts = (u.clamp(min=0), (-u).clamp(min=0))
        H[:, j] = max(parts, key=lambda v: float(v.norm())) * float(spectrum.values[j]) ** 0.5
    return H.clamp_(min=fill * (S.mean() / k) ** 0.5)


def given_start(H0: Tensor, S: SymmetricOperator, k: int) -> Tensor:  # (n, k)
    """The caller's own factor, checked and copied."""
    if tuple(H0.shape) != (S.n, k):
        raise InvalidFactor("H0", f"has shape {tuple(H0.shape)}", f"Pass shape ({S.n}, {k})")
    H = H0.detach().to(dtype=S.dtype, device=S.device, copy=True).contiguous()
    for bad, what in ((~torch.isfinite(H), "not finite"), (H < 0, "negative")):
        if bool(bad.any()):
            row, column = bad.nonzero()[0].tolist()
            raise InvalidFactor(
                "H0",
                f"entry [{row}, {column}] is {what} ({float(H[row, column]):.6g})",
                "Every entry must be finite and at least zero",
            )
    if not bool(H.any()):
        raise InvalidFactor("H0", "every entry is zero", "Zero is a stationary point: start off it")
    return H


def check_start(start: str | Tensor, S: SymmetricOperator, k: int) -> None:
    """Refuse a start that is not known, or a factor that cannot be one."""
    if isinstance(start, Tensor):
        given_start(start, S, k)
    elif start not in STARTS:
        remedy = f"Choose {' or '.join(STARTS)}, or pass a factor"
        raise UnknownName("start", f"unknown start {start!r}", remedy)
