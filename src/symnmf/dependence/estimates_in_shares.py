"""Tail dependence and correlation where each process reads and keeps its own columns only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.defaults import MAX_SEMICORRELATION, TAIL, TAIL_ESTIMATOR, TAILS
from symnmf.dependence.column_shares import (
    ColumnShares,
    CorrelationParts,
    dense_operator,
    dense_rows,
    gram_of_parts,
    gram_operator,
)
from symnmf.dependence.correlation import NEGATIVES, given_intensity, shrunk_words, signs_words
from symnmf.dependence.correlation_estimate import SharedCorrelationEstimate
from symnmf.dependence.margins import to_margins
from symnmf.dependence.removal import standardize
from symnmf.dependence.shrinkage import ledoit_wolf_intensity
from symnmf.dependence.tail_request import TailRequest
from symnmf.dependence.tail_weights import unit_weights
from symnmf.dependence.threshold import keep_largest
from symnmf.errors import InvalidMatrix
from symnmf.operators import SymmetricOperator
from symnmf.options import choice

#: Options of an estimate → the values with which it can be made in shares; () for any value.
SHAREABLE: dict[str, dict[str, tuple[Any, ...]]] = {
    "tail": {
        **dict.fromkeys(("tail", "q", "quantile", "count", "margins", "alpha", "weight"), ()),
        "allow_few": (),
        "dtype": (),
        "estimator": ("auto", "ramp", "chi", "semicorrelation", "global"),
        "decluster": (0, 1),
        "volatility": ("none",),
        "shrinkage": ("none",),
    },
    "correlation": {"shrinkage": (), "negative": (), "remove": ((),), "dtype": ()},
}
#: Defaults of :func:`symnmf.tail_dependence`.
TAIL_DEFAULTS: dict[str, Any] = {
    "tail": TAIL, "q": None, "quantile": None, "count": None, "radius": None, "margins": "frechet",
    "alpha": 2.0, "estimator": TAIL_ESTIMATOR, "weight": None, "decluster": 0, "volatility": "none",
    "allow_few": False, "dtype": torch.float32,
}  # fmt: skip


def can_be_shared(dependence: str, options: Mapping[str, Any]) -> bool:
    """Whether an estimate with these options can be made by processes with their own columns.

    Example:
        >>> can_be_shared("tail", {"estimator": "ramp"}), can_be_shared("tail", {"decluster": 5})
        (True, False)
    """
    known = SHAREABLE.get(dependence, {})
    return all(
        name in known and (not known[name] or value in known[name])
        for name, value in options.items()
        if value is not None
    )


def estimate_in_shares(
    dependence: str, shares: ColumnShares, panel: Panel, **options: Any
) -> SymmetricOperator:
    """Estimate a dependence matrix whose rows stay with the processes; collective.

    Arguments:
        dependence: ``"tail"`` or ``"correlation"``.
        shares: the columns.
        panel: the columns of any part, for the number of observations and their dates.
        options: options of the estimator for which :func:`can_be_shared` is true.

    Returns:
        A Gram or dense operator, distributed over the processes.
    """
    if dependence == "correlation":
        return _correlation(shares, **options)
    chosen = {**TAIL_DEFAULTS, **{k: v for k, v in options.items() if k != "shrinkage"}}
    if chosen["estimator"] == "auto":
        few = len(shares.names) <= MAX_SEMICORRELATION
        chosen["estimator"] = "semicorrelation" if few else "ramp"
    request = TailRequest.of(panel, **chosen)
    if request.estimator == "global":
        return _one_radius(shares, request)
    return _weights(shares, request)


def _upwards(X: np.ndarray, tail: str) -> np.ndarray:
    return -X if choice("tail", tail, TAILS) == "lower" else X


def _weights(shares: ColumnShares, request: TailRequest) -> SymmetricOperator:
    """Ramp, χ and the semicorrelation: a weight for each observation of each instrument."""
    q, steps = request.share_of(shares.samples)
    n = len(shares.names)

    def weights(X: np.ndarray, names: Sequence[str]) -> Tensor:
        up = _upwards(X, request.tail)
        return torch.from_numpy(unit_weights(up, q, request.weight, names))

    if request.estimator == "semicorrelation":

        def scores(X: np.ndarray, names: Sequence[str]) -> Tensor:
            B = weights(X, names)
            return standardize(B)

        data, _, negative = dense_rows(CorrelationParts(shares, scores), True, request.dtype)
        steps.append(
            f"correlation of the weights; {negative} of {n * (n - 1) // 2} are negative and count "
            "as zero"
        )
        days = np.arange(shares.samples)
        about = request.about(days, np.ones(len(days)), 1.0, np.ones(n), 0, steps, q)
        return dense_operator(shares, data, 1.0, about)
    data, sizes, used = gram_of_parts(shares, weights, request.dtype)
    typical = float(np.sqrt(n / len(used)))
    about = request.about(used, sizes[used], typical, np.ones(n), 0, steps, q)
    return gram_operator(shares, data, 0.0, about)


def _one_radius(shares: ColumnShares, request: TailRequest) -> SymmetricOperator:
    """The TPDM with one radius: first the radii of all columns together, then the angles."""

    def heavy(X: np.ndarray) -> np.ndarray:
        return to_margins(_upwards(X, request.tail), request.margins, request.alpha)

    def squares() -> Tensor:
        found = [np.square(heavy(shares.read(part))).sum(axis=1) for part in shares.own()]
        return torch.from_numpy(np.stack(found))

    first, mine = shares.own().start, shares.act(squares)
    radii = shares.total(lambda part: mine[part - first]).sqrt().numpy()
    chosen, threshold = request.rule.exceedances(radii)
    days = keep_largest(chosen, radii, request.decluster)
    request.enough(len(days), len(radii))
    steps = [
        f"{request.what} on {request.margins} margins with index {request.alpha:g}",
        f"{len(chosen)} of {len(radii)} observations with a radius above {threshold:.4g} "
        f"({request.rule.name} = {request.rule.value:g})",
    ]
    data = shares.room(len(days), request.dtype)
    begin = shares.rows_of(first).start

    def angles() -> Tensor:
        scales = []
        for part in shares.own():
            rows = shares.rows_of(part)
            part_angles = torch.from_numpy((heavy(shares.read(part))[days] / radii[days, None]).T)
            norms = torch.linalg.vector_norm(part_angles, dim=1, keepdim=True)
            if not bool((norms > 0).all()):
                zero = shares.names[rows.start + int((norms[:, 0] == 0).nonzero()[0, 0])]
                raise InvalidMatrix(
                    "angles",
                    f"instrument {zero!r} is zero at every exceedance",
                    "Remove it, or use more exceedances",
                )
            data[rows.start - begin : rows.stop - begin] = (part_angles / norms).to(request.dtype)
            scales.append(norms[:, 0].square())
        return torch.cat(scales)

    n = len(shares.names)
    scales = shares.gather(shares.act(angles)).numpy() * (n / len(days))
    about = request.about(days, radii[days], threshold, scales, len(chosen) - len(days), steps)
    return gram_operator(shares, data, 0.0, about)


def _correlation(
    shares: ColumnShares,
    shrinkage: str | float = "auto",
    negative: str = "absolute",
    remove: tuple[str, ...] = (),
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """|R| in blocks of rows, or the Gram matrix of the scores where no entry is negative."""
    n, samples = len(shares.names), shares.samples
    positive = choice("negative", negative, NEGATIVES) == "zero"

    def scores(X: np.ndarray, _: Sequence[str]) -> Tensor:
        return standardize(torch.from_numpy(X.T.copy()))

    parts = CorrelationParts(shares, scores)
    steps = [f"z-scores of {samples} observations"]
    given = given_intensity(shrinkage, n, samples)

    def intensity(frob_sq: float) -> float:
        if given is not None:
            return given
        return ledoit_wolf_intensity(frob_sq, parts.fourth(), n, samples)

    if 2 * samples < n:  # a product with the scores is cheaper
        frob_sq, below = parts.sums().tolist()
        if below == 0:
            alpha = intensity(frob_sq)
            said = "no correlation is negative: stored as a Gram matrix of the scores"
            about = SharedCorrelationEstimate(alpha, 0, (*steps, shrunk_words(alpha), said))
            data = parts.factor(((1 - alpha) / samples) ** 0.5, dtype)
            return gram_operator(shares, data, alpha, about)
    data, frob_sq, hedges = dense_rows(parts, positive, dtype)
    alpha = intensity(frob_sq)
    steps += [shrunk_words(alpha), signs_words(hedges, n, positive)]
    about = SharedCorrelationEstimate(alpha, hedges, tuple(steps))
    return dense_operator(shares, data, 1 - alpha, about)
