"""The TPDM with one radius for each pair of instruments."""

from __future__ import annotations

import numpy as np

from symnmf.dependence.threshold import Threshold
from symnmf.errors import InvalidInput


def pairwise_tpdm(X: np.ndarray, rule: Threshold) -> np.ndarray:  # (n, n)
    """2·mean of w_i w_j over the observations with (x_i² + x_j²)^{1/2} large, for each pair.

    Arguments:
        X: (T, n) observations on heavy-tailed margins.
        rule: threshold for the radii of a pair.

    Reference: Jiang, Cooley and Wehner (2020), doi:10.1175/JCLI-D-19-0413.1.
    """
    n = X.shape[1]
    out = np.eye(n)
    for i in range(n):
        for j in range(i + 1, n):
            radii = np.hypot(X[:, i], X[:, j])
            at = rule.exceedances(radii)[0]
            if not len(at):
                raise InvalidInput(
                    rule.name,
                    f"leaves the pair {i}, {j} without exceedances",
                    "Lower the threshold",
                )
            weights = X[at, i] * X[at, j] / radii[at] ** 2
            out[i, j] = out[j, i] = 2 * weights.mean()
    return out
