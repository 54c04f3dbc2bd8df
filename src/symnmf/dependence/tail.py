"""The tail pairwise dependence matrix (TPDM): who crashes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel, read_panel
from symnmf.dependence.margins import to_margins
from symnmf.errors import InvalidInput, InvalidMatrix, InvalidTable
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator

TAILS = ("lower", "upper")
ESTIMATORS = ("global", "pairwise")
#: The fraction of observations taken as extreme unless the caller says otherwise.
FRACTION = 0.05
#: Fewer exceedances than this make no estimate.
FEWEST = 30


@dataclass(frozen=True)
class TailEstimate:
    """How a TPDM was estimated; kept as ``operator.about``.

    Attributes:
        tail, margins, alpha, estimator: as asked for.
        exceedances: rows of the panel that are extreme, in order of time.
        dates: theirs, as words; row numbers where the panel has no dates.
        radii: theirs; ``threshold`` what they are above.
        scales: (n,) diagonal of the TPDM before it was scaled to one.
        declustered: exceedances left out because a larger one was near.
        steps: sentences for people.
    """

    tail: str
    margins: str
    alpha: float
    estimator: str
    exceedances: np.ndarray
    dates: tuple[str, ...]
    radii: np.ndarray
    threshold: float
    scales: np.ndarray
    declustered: int
    steps: tuple[str, ...]


def tail_dependence(
    returns: Any,
    *,
    tail: str = "lower",
    q: float | None = None,
    quantile: float | None = None,
    count: int | None = None,
    radius: float | None = None,
    margins: str = "frechet",
    alpha: float = 2.0,
    estimator: str = "global",
    decluster: int = 0,
    few: bool = False,
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """The TPDM of a table of returns, as an operator with named rows.

        S = D^{-1/2} Ωᵀ Ω D^{-1/2},   rows of Ω: x_t / ‖x_t‖ of the observations with ‖x_t‖ large

    Every instrument is brought to the same heavy-tailed margin first. S = B Bᵀ is never formed.
    ``operator.about`` tells which dates are the exceedances and what the scales were.

    Arguments:
        returns: a :class:`symnmf.data.Panel`, or a table or path that
            :func:`symnmf.data.read_panel` takes as returns.
        tail: ``"lower"`` (losses) or ``"upper"``.
        q: take the ⌊q·T⌋ largest radii; 0.05 unless another threshold is given.
        quantile: take radii above this sample quantile.
        count: take so many.
        radius: take radii above this number.
        margins, alpha: see :func:`symnmf.dependence.margins.to_margins`.
        estimator: ``"global"``, one radius for all; ``"pairwise"``, one for each pair: dense, and
            not always positive semidefinite.
        decluster: exceedances with fewer than so many rows between them are one event, of which
            the largest is kept.
        few: accept fewer than 30 exceedances.
        dtype: of the operator; estimates are made in float64.

    Example:
        >>> losses = np.random.default_rng(0).standard_t(3, size=(2000, 4))
        >>> S = tail_dependence(losses, tail="upper")
        >>> S, len(S.about.exceedances)
        (GramOperator(n=4, dtype=float32), 100)
    """
    if estimator not in ESTIMATORS:
        raise InvalidInput("estimator", f"got {estimator!r}", f"Choose {' or '.join(ESTIMATORS)}")
    if estimator == "pairwise" and decluster:
        raise InvalidInput(
            "decluster", f"got {decluster} with estimator='pairwise'", "It goes with 'global' only"
        )
    panel = returns if isinstance(returns, Panel) else read_panel(returns, kind="returns")
    rule = Threshold.of(q=q, quantile=quantile, count=count, radius=radius)
    X = to_margins(signed_for(panel, tail), margins, alpha)
    radii = np.sqrt(np.einsum("ti,ti->t", X, X))
    chosen, threshold = rule.exceedances(radii)
    kept = keep_largest(chosen, radii, decluster)
    if len(kept) < (1 if few else FEWEST):
        raise InvalidInput(
            rule.name,
            f"{rule.value:g} leaves {len(kept)} exceedances of {len(radii)} observations",
            f"At least {FEWEST} are needed: lower the threshold, or pass few=True for fewer",
        )
    steps = [
        f"{'losses' if tail == 'lower' else 'gains'} on {margins} margins with index {alpha:g}",
        f"{len(chosen)} of {len(radii)} observations with a radius above {threshold:.4g} "
        f"({rule.name} = {rule.value:g})",
    ]
    if len(kept) < len(chosen):
        steps.append(f"{len(chosen) - len(kept)} of them left out: a larger one was near")
    S: SymmetricOperator
    if estimator == "global":
        angles = torch.from_numpy((X[kept] / radii[kept, None]).T.copy())
        scales = (angles.square().sum(dim=1) * (len(angles) / len(kept))).numpy()
        S = unit_diagonal_gram(angles, dtype)
    else:
        matrix, scales = pairwise_tpdm(X, rule), np.ones(X.shape[1])
        S = DenseOperator(torch.from_numpy(matrix).to(dtype))
        steps.append("one radius for each pair: the matrix may be indefinite")
    S.names = panel.names
    S.about = TailEstimate(
        tail=tail,
        margins=margins,
        alpha=alpha,
        estimator=estimator,
        exceedances=kept,
        dates=tuple(panel.date_words(kept)),
        radii=radii[kept],
        threshold=threshold,
        scales=scales,
        declustered=len(chosen) - len(kept),
        steps=tuple(steps),
    )
    return S


def signed_for(panel: Panel, tail: str) -> np.ndarray:  # (T, n)
    """Returns with the tail in question upwards; whole rows only."""
    if tail not in TAILS:
        raise InvalidInput("tail", f"got {tail!r}", f"Choose {' or '.join(TAILS)}")
    if np.isnan(panel.values).any():
        raise InvalidTable(
            "returns",
            f"{int(np.isnan(panel.values).sum())} numbers are missing",
            "Tails need whole rows: read the panel with missing='drop-columns' or 'drop-rows'",
        )
    return -panel.values if tail == "lower" else panel.values


@dataclass(frozen=True)
class Threshold:
    """Which radii are extreme, by exactly one of four rules."""

    name: str
    value: float

    @classmethod
    def of(cls, **rules: float | None) -> Threshold:
        """The one rule that is given; q = 0.05 when none is."""
        given = {name: value for name, value in rules.items() if value is not None}
        if len(given) > 1:
            raise InvalidInput(
                " and ".join(given), "were given together", "Pass exactly one threshold"
            )
        name, value = next(iter(given.items()), ("q", FRACTION))
        number = isinstance(value, int | float | np.number)
        good = number and (
            (value >= 1 and value == int(value))
            if name == "count"
            else value > 0
            if name == "radius"
            else 0 < value < 1
        )
        if not good:
            words = {"count": "a whole number from 1 on", "radius": "a positive number"}
            remedy = words.get(name, "a number between 0 and 1")
            raise InvalidInput(name, f"got {value!r}", f"Pass {remedy}")
        return cls(name, float(value))

    def exceedances(self, radii: np.ndarray) -> tuple[np.ndarray, float]:
        """Places of the extreme radii in order of time, and the number they are above."""
        if self.name in ("q", "count"):
            count = int(self.value * len(radii) + 1e-9) if self.name == "q" else int(self.value)
            count = min(count, len(radii))
            order = np.argsort(-radii, kind="stable")
            below = radii[order[count]] if count < len(radii) else 0.0
            return np.sort(order[:count]), float(below)
        cut = self.value if self.name == "radius" else float(np.quantile(radii, self.value))
        return np.flatnonzero(radii > cut), cut


def keep_largest(chosen: np.ndarray, radii: np.ndarray, gap: int) -> np.ndarray:
    """Runs declustering: of exceedances with fewer than ``gap`` rows between them, the largest.

    Example:
        >>> keep_largest(np.array([0, 1, 5]), np.array([3.0, 4, 0, 0, 0, 2]), gap=2)
        array([1, 5])
    """
    if gap <= 0 or len(chosen) == 0:
        return chosen
    cluster = np.cumsum(np.diff(chosen, prepend=chosen[0]) > gap)
    order = np.lexsort((-radii[chosen], cluster))
    first = np.unique(cluster[order], return_index=True)[1]
    return np.sort(chosen[order[first]])


def pairwise_tpdm(X: np.ndarray, rule: Threshold) -> np.ndarray:  # (n, n)
    """2·mean of w_i w_j over the observations with (x_i² + x_j²)^{1/2} large, for each pair.

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


def population_tpdm(A: np.ndarray, alpha: float = 2.0) -> np.ndarray:  # (n, k) -> (n, n)
    """The TPDM of A Z with independent factors of index α: Σ_j ‖a_j‖^{α−2} a_j a_jᵀ.

    Example:
        >>> population_tpdm(np.array([[1.0, 0.0], [1.0, 1.0]]))
        array([[1., 1.],
               [1., 2.]])
    """
    weights = np.linalg.norm(A, axis=0) ** (alpha - 2)
    product: np.ndarray = (A * weights) @ A.T
    return product


def unit_diagonal_gram(angles: Tensor, dtype: torch.dtype) -> GramOperator:
    """The unit-diagonal TPDM of the angles of the exceedances, as a Gram operator.

        S = D^{-1/2} Ωᵀ Ω D^{-1/2},   D = diag(Ωᵀ Ω)

    so S = B Bᵀ, the rows of B being the columns of Ω scaled to length one; the factor n/n_exc
    of the raw estimate cancels. S itself is never formed.

    Arguments:
        angles: (n, n_exc), the columns x_t / ‖x_t‖ of the exceedances; not negative.
        dtype: of the operator.

    Reference: Cooley and Thibaud (2019), doi:10.1093/biomet/asz028.
    """
    norms = torch.linalg.vector_norm(angles, dim=1, keepdim=True)
    if not bool((norms > 0).all()):
        row = int((norms[:, 0] == 0).nonzero()[0, 0])
        raise InvalidMatrix(
            "angles",
            f"instrument {row} is zero at every exceedance",
            "Remove it, or take more exceedances",
        )
    return GramOperator((angles / norms).to(dtype))
