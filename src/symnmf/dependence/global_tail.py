"""The TPDM with one radius for all instruments, as a Gram matrix.

What it measures: how the days that are extreme for the whole panel are shared among the
instruments. Cost: one sort of the table. Form: a Gram matrix of q·T columns that is never formed.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from symnmf.errors import InvalidMatrix
from symnmf.operators import GramOperator
from symnmf.provenance import Provenance


def unit_diagonal_gram(
    angles: Tensor,
    dtype: torch.dtype,
    names: Sequence[str] | None = None,
    provenance: Provenance | None = None,
) -> GramOperator:
    """The unit-diagonal TPDM of the angles of the exceedances, as a Gram operator.

        S = D^{-1/2} Ωᵀ Ω D^{-1/2},   D = diag(Ωᵀ Ω)

    so S = B Bᵀ, the rows of B being the columns of Ω scaled to length one; the factor n/n_exc
    of the raw estimate cancels. S itself is never formed.

    Arguments:
        angles: (n, n_exc) columns x_t / ‖x_t‖ of the exceedances; not negative.
        dtype: type of the operator.
        names: names of the rows.
        provenance: origin of S.

    Raises:
        InvalidMatrix: an instrument is zero at every exceedance.

    Reference: Cooley and Thibaud (2019), doi:10.1093/biomet/asz028.
    """
    norms = torch.linalg.vector_norm(angles, dim=1, keepdim=True)
    empty = ~(norms[:, 0] > 0)  # NaN where no observation of any instrument is in the tail
    if bool(empty.any()):
        row = int(empty.nonzero()[0, 0])
        raise InvalidMatrix(
            "angles",
            f"instrument {row} is zero at every exceedance",
            "Remove it, or use more exceedances",
        )
    return GramOperator((angles / norms).to(dtype), names=names, provenance=provenance)
