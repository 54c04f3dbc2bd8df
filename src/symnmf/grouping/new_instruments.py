"""Loadings of instruments that were not in the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.errors import InvalidInput
from symnmf.solvers.nnls import nnls_rows


def loadings_for(result: Result, dependence: Any) -> np.ndarray:  # (m, n) -> (m, k)
    """Loadings of instruments that were not in the fit, from their dependence on those of the fit.

        h = argmin_{x ≥ 0} ‖H x − s‖

    The group of a new instrument is that of its largest loading after a division by the norms of
    the columns of H, as for the instruments of the fit.

    Arguments:
        result: a factorization.
        dependence: (n,) or (m, n) non-negative entries of the new rows of S.

    Returns:
        (k,) or (m, k) loadings.

    Raises:
        InvalidInput: the shape is wrong, or an entry is negative or not finite.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> new = loadings_for(sn.factorize(S, 2), S[0])
        >>> bool(np.allclose(new, sn.factorize(S, 2).H[0]))
        True
    """
    rows = torch.as_tensor(np.atleast_2d(np.asarray(dependence, dtype=np.float64)))
    n, k = result.H.shape
    if rows.shape[1] != n or not bool(torch.isfinite(rows).all()) or bool((rows < 0).any()):
        raise InvalidInput(
            "dependence",
            f"has shape {tuple(rows.shape)}, or entries that are negative or not finite",
            f"Pass the {n} dependences of each new instrument on the instruments of the fit",
        )
    H = result.H.to(torch.float64).cpu()
    gram = H.T @ H
    gram += 1e-12 * torch.eye(k, dtype=torch.float64) * float(gram.diagonal().max())
    F = rows @ H
    found: np.ndarray = nnls_rows(gram, F, torch.ones_like(F)).numpy()
    return found if np.ndim(dependence) > 1 else found[0]
