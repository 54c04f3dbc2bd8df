"""Loadings and groups of instruments that were not in the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.core.labels import column_sizes
from symnmf.core.result import Result
from symnmf.errors import InvalidInput
from symnmf.grouping.naming import UNASSIGNED, group_names, names_of
from symnmf.solvers.nnls import nnls_rows


def loadings_for(result: Result, dependence: Any) -> np.ndarray:  # (m, n) -> (m, k)
    """Loadings of instruments that were not in the fit, from their dependence on those of the fit.

        h = argmin_{x ≥ 0} ‖H x − s‖

    :func:`symnmf.group_for` gives the groups that belong to them.

    Arguments:
        result: a factorization.
        dependence: (n,) or (m, n) non-negative entries of the new rows of S, or a Series or data
            frame of them, whose names may be in another order.

    Returns:
        (k,) or (m, k) loadings.

    Raises:
        InvalidInput: the shape is wrong, a name is missing, or an entry is negative or not finite.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> new = loadings_for(sn.factorize(S, 2), S[0])
        >>> bool(np.allclose(new, sn.factorize(S, 2).H[0]))
        True
    """
    rows = _numbers(result, dependence)
    n, k = result.H.shape
    if (
        rows.ndim != 2
        or rows.shape[1] != n
        or not bool(torch.isfinite(rows).all())
        or bool((rows < 0).any())
    ):
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


def _numbers(result: Result, dependence: Any) -> Tensor:  # (m, n)
    """The dependences as rows, those with names in the order of the fit."""
    if result.names is not None and hasattr(dependence, "reindex"):
        labels = dependence.columns if hasattr(dependence, "columns") else dependence.index
        names = [str(name) for name in labels]
        places = {name: place for place, name in enumerate(names)}
        absent = [name for name in names_of(result) if name not in places]
        if absent or len(places) < len(names):
            raise InvalidInput(
                "dependence",
                f"has no number for {absent[0]!r}" if absent else "has a name twice",
                "Pass one number for each instrument of the fit",
            )
        order = [places[name] for name in names_of(result)]
        dependence = np.asarray(dependence)[..., order]
    return torch.from_numpy(np.array(dependence, dtype=np.float64, ndmin=2))


def labels_for(result: Result, dependence: Any) -> np.ndarray:  # (m, n) -> (m,)
    """Labels of instruments that were not in the fit, as ``result.labels()`` has them.

    The label is the column of the largest loading after a division by the norms of the columns of
    H, as for the instruments of the fit; -1 where no loading is positive.

    Arguments:
        result: a factorization.
        dependence: as for :func:`symnmf.loadings_for`.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> labels_for(sn.factorize(S, 2), [S[4], 0 * S[4]])
        array([ 1, -1])
    """
    sizes = column_sizes(result.H).to(torch.float64).cpu()
    loadings = loadings_for(result, dependence) / sizes.numpy()
    labels: np.ndarray = np.where(loadings.any(axis=-1), loadings.argmax(axis=-1), -1)
    return labels


def group_for(result: Result, dependence: Any) -> Any:  # (m, n) -> list of m
    """Group of instruments that were not in the fit, from their dependence on those of the fit.

    Arguments:
        result: a factorization.
        dependence: as for :func:`symnmf.loadings_for`.

    Returns:
        The name of the group, as :func:`symnmf.group_of` has it; a list of names for several
        instruments.

    Raises:
        InvalidInput: as for :func:`symnmf.loadings_for`.

    Example:
        >>> import symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> group_for(sn.factorize(S, 2), S[4])
        '2 3'
    """
    names = [*group_names(result), UNASSIGNED]  # label -1 is the last of them
    labels = labels_for(result, dependence)
    return [names[label] for label in labels] if labels.ndim else names[int(labels)]
