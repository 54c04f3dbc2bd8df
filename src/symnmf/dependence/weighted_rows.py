"""Dependence with a weight for each row: recent days count more than old ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from symnmf.data.panel import Panel
from symnmf.defaults import FRACTIONS, TAIL_ESTIMATOR
from symnmf.dependence.correlation import abs_from_tiles
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.dependence.tail_weights import tail_weights
from symnmf.dependence.tiles import upper_places
from symnmf.errors import InvalidInput, spelled
from symnmf.operators import DenseOperator, SymmetricOperator

#: Options of the estimators that have a weighted form.
TAKEN = {"correlation": (), "tail": ("tail", "q", "estimator")}


def exponential_weights(rows: int, half_life: float) -> np.ndarray:  # (rows,)
    """Weights that halve every ``half_life`` rows into the past, with mean one.

        w_t ∝ 2^{−(T − 1 − t) / half_life}

    Example:
        >>> exponential_weights(3, 1.0).round(3).tolist()
        [0.429, 0.857, 1.714]
    """
    if not half_life > 0:
        raise InvalidInput("half_life", f"got {half_life!r}", "Pass a number of rows above 0")
    weights = np.exp2((np.arange(rows) - (rows - 1)) / half_life)
    return np.asarray(weights * (rows / weights.sum()))


def effective_rows(weights: np.ndarray) -> float:
    """Number of rows of equal weight that vary as much: (Σ w)² / Σ w² (Kish, 1965).

    Example:
        >>> effective_rows(np.array([1.0, 1.0, 0.0, 0.0]))
        2.0
    """
    return float(weights.sum() ** 2 / np.square(weights).sum())


def weighted_dependence(
    dependence: str, panel: Panel, weights: np.ndarray, options: Mapping[str, Any]
) -> SymmetricOperator:
    """Absolute correlation, or semicorrelation of a tail, with a weight for each row.

    Means, variances and ranks are weighted: the rank of an observation is the weight of the
    smaller ones, and half its own.

    Arguments:
        dependence: ``"correlation"`` or ``"tail"``.
        panel: returns without missing numbers.
        weights: (T,) weights.
        options: options of the estimator; ``tail``, ``q`` and the estimators ``"auto"`` and
            ``"semicorrelation"`` are possible.

    Raises:
        InvalidInput: an option has no weighted form, or a number is missing.
    """
    odd = next((name for name in options if name not in TAKEN[dependence]), None)
    estimator = options.get("estimator", TAIL_ESTIMATOR)
    if odd is not None or estimator not in ("auto", "semicorrelation"):
        name = odd or "estimator"
        raise InvalidInput(
            name, f"cannot be combined with {spelled('half_life')}", "Leave out one of the two"
        )
    if np.isnan(panel.values).any():
        raise InvalidInput(
            "half_life",
            "cannot be combined with missing numbers",
            f"Pass {spelled('missing', 'drop-columns')} or {spelled('missing', 'drop-rows')}",
        )
    share = weights / weights.sum()
    if dependence == "correlation":
        X = panel.values - share @ panel.values
        X = X * np.sqrt(share * len(share))[:, None]
        R = torch.from_numpy(_correlation(X))
        tiles = ((*place, R[place]) for place in upper_places(len(R)))
        return abs_from_tiles(tiles, _rows(X), panel.names)
    lower = options.get("tail", "lower") == "lower"
    q = float(options.get("q") or FRACTIONS["semicorrelation"])
    W = tail_weights(weighted_ranks(-panel.values if lower else panel.values, share), q)
    X = (W - share @ W) * np.sqrt(share)[:, None]
    if not (np.square(X).sum(axis=0) > 0).all():
        name = panel.names[int((np.square(X).sum(axis=0) == 0).argmax())]
        raise InvalidInput("returns", f"{name!r} has no extremes in a window", "Leave it out")
    R = np.clip(_correlation(X), 0, 1)
    np.fill_diagonal(R, 1.0)
    rows, T = np.arange(len(W)), len(W)
    sizes = np.sqrt(np.square(X).sum(axis=1))
    about = TailEstimate(
        tail="lower" if lower else "upper", margins="frechet", alpha=2.0,
        estimator="semicorrelation", exceedances=rows, dates=tuple(panel.date_words(rows)),
        radii=sizes, threshold=float(sizes.mean()), scales=np.ones(W.shape[1]), declustered=0,
        steps=(f"weights of {effective_rows(weights):.0f} rows of {T}: recent ones count more",),
        weight="ramp", q=q, volatility="none", rows_a_block=1,
    )  # fmt: skip
    return DenseOperator(torch.from_numpy(R).to(torch.float32), panel.names, provenance=about)


def weighted_ranks(X: np.ndarray, share: np.ndarray) -> np.ndarray:  # (T, n)
    """Weight of the smaller observations of the same column, and half of that of equal ones.

    Arguments:
        X: (T, n) observations.
        share: (T,) weights with sum one.

    Example:
        >>> weighted_ranks(np.array([[3.0], [1.0]]), np.array([0.75, 0.25]))[:, 0].tolist()
        [0.625, 0.125]
    """
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    running = np.vstack([np.zeros(X.shape[1]), np.cumsum(share[order], axis=0)])
    out = np.empty_like(X, dtype=np.float64)
    for j in range(X.shape[1]):
        low = np.searchsorted(ordered[:, j], X[:, j], side="left")
        high = np.searchsorted(ordered[:, j], X[:, j], side="right")
        out[:, j] = (running[low, j] + running[high, j]) / 2
    return out


def _correlation(X: np.ndarray) -> np.ndarray:  # (n, n)
    size = np.maximum(np.sqrt(np.square(X).sum(axis=0)), np.finfo(float).tiny)
    Z = X / size
    return np.asarray(Z.T @ Z)


def _rows(X: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(X.T))
