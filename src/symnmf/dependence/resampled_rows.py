"""Dependence of samples of the rows of one panel, from counts of its rows.

A sample that has row t c_t times needs no sort and no product with repeated rows:

    rank of x_t = Σ_{x_s < x_t} c_s + (Σ_{x_s = x_t} c_s + 1) / 2,   R = Σ_t c_t z_t z_tᵀ / Σ_t c_t

Twice a rank is a whole number, so that a table has the weight of every rank. Weights and scores are
in float64; the products are in the precision of S, whose rounding is far below the noise of a
sample. All of it is done by torch: the threads of numpy's products would compete with those of a
caller that estimates one sample on each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel
from symnmf.dependence import estimate
from symnmf.dependence.correlation import abs_correlation, given_intensity
from symnmf.dependence.shrinkage import ledoit_wolf_intensity
from symnmf.dependence.tail import tail_dependence
from symnmf.dependence.tail_request import TailRequest
from symnmf.dependence.tail_weights import tail_weights
from symnmf.numerics import row_chunks
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator

#: Rows of S that are computed at a time.
STRIP = 128
#: The estimate from the distinct rows of a sample and how often each is in it; None if it has to
#: be made from the rows themselves.
Estimate = Callable[[np.ndarray, np.ndarray], SymmetricOperator | None]


class ResampledRows:
    """Estimates of a dependence from samples of the rows of a panel.

    Where ranks or moments determine the matrix, they are counted; otherwise the rows are taken
    from the panel and estimated anew. Both are the same up to the rounding of S.

    Arguments:
        panel: the returns.
        dependence: ``"tail"`` or ``"correlation"``.
        options: further arguments of the estimator.

    Example:
        >>> from symnmf.data.panel import read_panel
        >>> panel = read_panel(np.random.default_rng(0).normal(size=(60, 3)), kind="returns")
        >>> rows = np.arange(60) // 2
        >>> counted = ResampledRows(panel, "correlation", {})(rows).to_dense()
        >>> bool(torch.allclose(counted, abs_correlation(panel.at(rows)).to_dense()))
        True
    """

    def __init__(self, panel: Panel, dependence: str, options: Mapping[str, Any]):
        self.panel, self.dependence, self.options = panel, dependence, options
        self._counted: Estimate | None = None
        if not np.isnan(panel.values).any():
            self._counted = self._by_moments() if dependence == "correlation" else self._by_ranks()

    def __call__(self, rows: np.ndarray) -> SymmetricOperator:
        """The dependence matrix of a sample; the order of its rows does not matter."""
        if self._counted is not None and len(rows) == len(self.panel.values):
            days, counts = np.unique(rows, return_counts=True)
            found = self._counted(days, counts.astype(np.float64))
            if found is not None:
                return found
        return estimate(self.dependence, self.panel.at(np.sort(rows)), **self.options)

    def _by_moments(self) -> Estimate | None:
        """Absolute correlation."""
        defaults = abs_correlation.__kwdefaults__ or {}
        every = {**defaults, **self.options}
        T, n = self.panel.values.shape
        plain = len(every) == len(defaults) and every["remove"] == () and every["folder"] is None
        if not plain or n > 2 * T or every["negative"] not in ("absolute", "zero"):
            return None
        values = torch.from_numpy(np.ascontiguousarray(self.panel.values.T, np.float64))
        intensity, dtype = given_intensity(every["shrinkage"], n, T), every["dtype"]

        def counted(days: np.ndarray, counts: np.ndarray) -> SymmetricOperator | None:
            often = torch.from_numpy(counts)
            Z = _standardized(values.index_select(1, torch.from_numpy(days)), often)
            if Z is None:
                return None
            R = _products_of_rows(Z.to(dtype))
            alpha = intensity
            if alpha is None:  # columns of Z have the square roots of their counts
                fourth = float((Z.square().sum(dim=0).square() / often).sum()) * T**2
                frob_sq = float(R.square().sum(dtype=torch.float64))
                alpha = ledoit_wolf_intensity(frob_sq, fourth, n, T)
            R = R.clamp_(min=0) if every["negative"] == "zero" else R.abs_()
            return DenseOperator(R.mul_(1 - alpha).fill_diagonal_(1.0), self.panel.names)

        return counted

    def _by_ranks(self) -> Estimate | None:
        """Tail dependence from weights of ranks."""
        request = ranked_request(self.panel, self.options)
        if request is None:
            return None
        X = np.ascontiguousarray(self.panel.values.T)
        places = _Places.of(-X if request.tail == "lower" else X)
        T = X.shape[1]
        q, _ = request.share_of(T)
        each = torch.from_numpy(tail_weights(np.arange(2 * T + 1) / 2 / (T + 1), q, request.weight))

        def counted(days: np.ndarray, counts: np.ndarray) -> SymmetricOperator | None:
            often = torch.from_numpy(counts)
            twice = places.twice_ranks(torch.from_numpy(days), often)
            weights = each.index_select(0, twice.flatten()).view(twice.shape)
            if not bool(weights.any(dim=1).all()):
                return None  # the estimator reports an instrument without extremes
            if request.estimator == "semicorrelation":
                Z = _standardized(weights, often)
                if Z is None:
                    return None
                S = _products_of_rows(Z.to(request.dtype)).clamp_(0.0, 1.0).fill_diagonal_(1.0)
                return DenseOperator(S, self.panel.names)
            weights *= often.sqrt()
            B = weights / torch.linalg.vector_norm(weights, dim=1, keepdim=True)
            used = B[:, B.any(dim=0)].to(request.dtype)
            return GramOperator(used, names=self.panel.names)

        return counted


def ranked_request(panel: Panel, options: Mapping[str, Any]) -> TailRequest | None:
    """The estimate of tail dependence, if ranks determine it; otherwise None.

    Arguments:
        panel: the returns.
        options: options of :func:`symnmf.dependence.tail.tail_dependence`.
    """
    every = {**(tail_dependence.__kwdefaults__ or {}), **options}
    if every["shrinkage"] != "none":
        return None
    try:
        request = TailRequest.of(panel, **every)
    except TypeError:  # an unknown option, which the estimator itself reports
        return None
    return request if request.by_ranks else None


def _standardized(X: Tensor, counts: Tensor) -> Tensor | None:  # (n, D)
    """Rows of weighted mean zero and weighted length one, columns times sqrt(counts).

    None if a row is constant in the sample.
    """
    X = X - (X @ (counts / counts.sum()))[:, None]
    X *= counts.sqrt()
    sizes = torch.linalg.vector_norm(X, dim=1, keepdim=True)
    return X.div_(sizes) if bool((sizes > 0).all()) else None


def _products_of_rows(Z: Tensor) -> Tensor:  # (n, D) -> (n, n)
    """Z Zᵀ, of which only the strips up to the diagonal are computed."""
    n = len(Z)
    out = torch.empty(n, n, dtype=Z.dtype)
    for part in row_chunks(n, STRIP, STRIP**2):
        torch.mm(Z[part], Z[: part.stop].T, out=out[part, : part.stop])
        out[: part.start, part] = out[part, : part.start].T
    return out


@dataclass(frozen=True)
class _Places:
    """Where each observation lies in the sorted observations of its instrument.

    Attributes:
        order: (n·T,) the rows in ascending order, instrument after instrument.
        below, upto: (n, T) number of smaller observations, and of those up to the same value;
            ``upto`` is None where no two are equal.
    """

    order: Tensor
    below: Tensor
    upto: Tensor | None

    @classmethod
    def of(cls, X: np.ndarray) -> _Places:
        """The places of observations (n, T)."""
        T = X.shape[1]
        order = X.argsort(axis=1)
        ranked = np.take_along_axis(X, order, axis=1)
        new = np.diff(ranked, axis=1, prepend=-np.inf) != 0
        below, upto = np.empty_like(order), None
        first = np.maximum.accumulate(np.where(new, np.arange(T), 0), axis=1)
        np.put_along_axis(below, order, first, axis=1)
        if not new.all():
            ends = np.roll(new, -1, axis=1)  # a new value follows, or the end
            last = np.minimum.accumulate(np.where(ends, np.arange(T), T)[:, ::-1], axis=1)
            upto = np.empty_like(order)
            np.put_along_axis(upto, order, last[:, ::-1] + 1, axis=1)
        equal = None if upto is None else torch.from_numpy(upto)
        return cls(torch.from_numpy(order.astype(np.int32).ravel()), torch.from_numpy(below), equal)

    def twice_ranks(self, days: Tensor, counts: Tensor) -> Tensor:  # (n, D)
        """Twice the average ranks, in a sample that has each of these rows so many times."""
        n, T = self.below.shape
        often = counts.to(torch.int32)
        each = torch.zeros(T, dtype=torch.int32).index_copy_(0, days, often)
        total = torch.zeros(n, T + 1, dtype=torch.int32)
        found = each.index_select(0, self.order).view(n, T)
        torch.cumsum(found, dim=1, dtype=torch.int32, out=total[:, 1:])
        below = total.gather(1, self.below).index_select(1, days)
        if self.upto is None:
            return below.mul_(2).add_(often).add_(1)
        return total.gather(1, self.upto).index_select(1, days).add_(below).add_(1)
