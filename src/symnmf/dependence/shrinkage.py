"""Ledoit–Wolf shrinkage of a correlation matrix."""

from __future__ import annotations

from torch import Tensor

#: The paper shrinks the sample correlation if n / T is above this number (its appendix B).
SHRINKAGE_RATIO = 0.1


#: Rows of a Gram matrix that are computed at a time.
STRIP = 256


def ledoit_wolf_intensity(frob_sq: float, fourth: float, n: int, samples: int) -> float:
    """Shrinkage intensity towards the identity for z-scored observations.

        α = min(β², δ²) / δ²,   δ² = ‖R − I‖²_F,   β² = (Σ_t ‖x_t‖⁴ / T − ‖R‖²_F) / T

    Arguments:
        frob_sq: ‖R‖²_F of the sample correlation R = Σ_t x_t x_tᵀ / T.
        fourth: Σ_t ‖x_t‖⁴.
        n: number of instruments.
        samples: number of observations T.

    Reference: Ledoit and Wolf (2004), doi:10.1016/S0047-259X(03)00096-4.

    Example:
        >>> ledoit_wolf_intensity(frob_sq=2.0, fourth=40.0, n=2, samples=10)
        0.0
    """
    delta = frob_sq - n
    beta = (fourth / samples - frob_sq) / samples
    return max(0.0, min(beta, delta) / delta) if delta > 0 else 0.0


def ledoit_wolf(scores: Tensor) -> float:
    """Shrinkage intensity of z-scores, from the smaller of the two Gram matrices.

    ‖R‖² is the same for Z Zᵀ / T and ZᵀZ / T, and the diagonal of ZᵀZ consists of the ‖x_t‖².

    Arguments:
        scores: (n, T) z-scores: rows of mean zero and mean square one.
    """
    n, samples = scores.shape
    side = scores if n <= samples else scores.T
    total = 0.0
    for a in range(0, len(side), STRIP):
        strip = side[a : a + STRIP] @ side[a:].T  # from the diagonal on: the matrix is symmetric
        total += 2 * float(strip.square().sum()) - float(strip[:, : len(strip)].square().sum())
    frob_sq = total / samples**2
    fourth = float(scores.square().sum(dim=0).square().sum())
    return ledoit_wolf_intensity(frob_sq, fourth, n, samples)
