"""Groups for skfolio: as constraints, as a distance, and as a clustering inside its optimizers."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from symnmf.core.result import Result
from symnmf.errors import InvalidInput
from symnmf.grouping.naming import groups, names_of

if TYPE_CHECKING:
    from symnmf.integrations.skfolio_estimators import SymNMFClustering, TailDistance

__all__ = ["SymNMFClustering", "TailDistance", "as_skfolio", "group_limits"]

#: Name used for an instrument without a group.
NO_GROUP = "no_group"


def as_skfolio(result: Result) -> dict[str, list[str]]:
    """Instrument → list of its groups, in the form of the ``groups`` of skfolio's optimizers.

    The names of the groups, such as ``G1_XOM``, hold letters, digits and underscores only, so that
    they can stand in the equations of ``linear_constraints``.

    Arguments:
        result: a factorization.

    Returns:
        A dictionary with an entry for each instrument.

    Example:
        >>> import numpy as np, symnmf as sn
        >>> names = ["XOM", "CVX", "JPM", "C"]
        >>> S = sn.as_operator(np.kron(np.eye(2), np.ones((2, 2))), names=names)
        >>> found = as_skfolio(sn.factorize(S, k=2))
        >>> list(found), found["XOM"] == found["CVX"], found["XOM"] == found["JPM"]
        (['XOM', 'CVX', 'JPM', 'C'], True, False)
        >>> found["XOM"][0].isidentifier()
        True
    """
    names = names_of(result)
    found = dict.fromkeys(names, NO_GROUP)
    for group in groups(result):
        leader = re.sub(r"\W+", "_", group.leader, flags=re.ASCII).strip("_")
        word = f"G{group.number}_{leader}" if leader else f"G{group.number}"
        while word in names:  # an instrument may be called so
            word += "_"
        found |= dict.fromkeys(group.members, word)
    return {name: [word] for name, word in found.items()}


def group_limits(
    result: Result, most: float | list[float]
) -> tuple[np.ndarray, np.ndarray]:  # (k, n), (k,)
    """Limits on the weight of soft groups, as ``A w ≤ b``.

        A_gi = H_ig² / Σ_h H_ih²

    An instrument counts in each group by its share of it; the shares of an instrument sum to one.
    With hard groups, A is a matrix of zeros and ones.

    Arguments:
        result: a factorization.
        most: largest weight of each group, or one number for all.

    Returns:
        A and b: ``left_inequality`` and ``right_inequality`` of skfolio's ``MeanRisk``, or
        ``ainequality`` and ``binequality`` of Riskfolio's ``Portfolio``.

    Raises:
        InvalidInput: the number of limits is wrong.

    Example:
        >>> import symnmf as sn
        >>> result = sn.factorize(np.kron(np.diag([1.0, 0.9]), np.ones((2, 2))), k=2)
        >>> A, b = group_limits(result, 0.6)
        >>> A.round(3).tolist(), b.tolist()
        ([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], [0.6, 0.6])
    """
    H = result.H.cpu().numpy().astype(np.float64)
    k = H.shape[1]
    limits = np.full(k, most) if np.ndim(most) == 0 else np.asarray(most, dtype=np.float64)
    if limits.shape != (k,):
        raise InvalidInput("most", f"has {limits.size} limits", f"Pass one for each of {k} groups")
    square = (H / np.maximum(np.linalg.norm(H, axis=0), 1e-30)) ** 2
    shares = square / np.maximum(square.sum(axis=1, keepdims=True), 1e-30)
    return shares.T.copy(), limits


def __getattr__(name: str) -> Any:
    """The estimators, which need skfolio itself."""
    if name in ("SymNMFClustering", "TailDistance"):
        return getattr(import_module("symnmf.integrations.skfolio_estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
