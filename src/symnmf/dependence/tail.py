"""Tail dependence: which instruments have extremes together. One call, a family of estimators."""

from __future__ import annotations

from typing import Any

import torch

from symnmf.data.panel import Panel, read_panel
from symnmf.defaults import TAIL, TAIL_ESTIMATOR
from symnmf.dependence.tail_request import TailRequest
from symnmf.dependence.tail_shrinkage import SHRINKAGES, shrunk
from symnmf.operators import SymmetricOperator
from symnmf.options import choice


def tail_dependence(
    returns: Any,
    *,
    tail: str = TAIL,
    q: float | None = None,
    quantile: float | None = None,
    count: int | None = None,
    radius: float | None = None,
    margins: str = "frechet",
    alpha: float = 2.0,
    estimator: str = TAIL_ESTIMATOR,
    weight: str | None = None,
    decluster: int = 0,
    volatility: str = "none",
    shrinkage: str | float = "none",
    allow_few: bool = False,
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """Tail dependence of a table of returns, as an operator with named rows and unit diagonal.

    The estimators measure different things; the guide says which one answers which question.

    - ``"semicorrelation"``: the positive part of the correlation of the weights of ``"ramp"``: what
      ``"ramp"`` has above independence. It is dense.
    - ``"ramp"``: S = B Bᵀ, where row i of B holds the weights of the observations of instrument
      i, which grow from 0 at its own quantile 1 − q to the largest observation.
    - ``"chi"``: the same with the weight 1{u > 1 − q}: the share of their extremes that two
      instruments have on the same rows.
    - ``"pairwise"``: the TPDM with one radius for each pair, which is dense and not always
      positive semidefinite.
    - ``"global"``: the TPDM of the founding paper, with one radius for all instruments,
      S = D^{-1/2} Ωᵀ Ω D^{-1/2}, rows of Ω: x_t / ‖x_t‖ of the observations with ‖x_t‖ large.

    A Gram matrix B Bᵀ is never formed. ``operator.provenance`` records exceedances and steps.

    Arguments:
        returns: a :class:`symnmf.data.Panel`, or a table or path that
            :func:`symnmf.data.read_panel` accepts as returns. With missing numbers, every
            estimator but ``"global"`` takes each pair from the rows that both instruments have,
            ranked among these rows, and S is dense.
        tail: ``"lower"`` (losses) or ``"upper"`` (gains).
        q: fraction of the observations that is extreme, for the panel, for each pair or for each
            instrument. The default depends on the estimator (``symnmf.defaults.FRACTIONS``).
        quantile: sample quantile of the radii, or of each instrument, that exceedances are above.
        count: number of exceedances.
        radius: radius that exceedances are above, for ``"global"`` and ``"pairwise"``.
        margins, alpha: options of :func:`symnmf.dependence.margins.to_margins`, for ``"global"``
            and ``"pairwise"``; weights depend on ranks only.
        estimator: one of the names above, or ``"auto"``: ``"semicorrelation"`` up to 20 000
            instruments, ``"ramp"`` for more.
        weight: for ``"ramp"`` and ``"semicorrelation"``: ``"ramp"``, ``"indicator"`` or
            ``"exponential"``; see :func:`symnmf.dependence.tail_weights.tail_weights`.
        decluster: number of rows. ``"global"`` and ``"pairwise"``: exceedances with fewer rows
            between them are one event, of which only the largest is used. The others: of each
            block of so many rows only the largest observation of each instrument is used.
        volatility: ``"ewma"`` divides the returns by their exponentially weighted volatility
            first, so that extremes of quiet times count too.
        shrinkage: ``"none"``; ``"soft"`` or ``"adaptive"`` thresholding of the entries, the
            threshold being chosen by cross-validation in time; ``"baseline"``, which removes the
            dependence of independent instruments; or a threshold from 0 to 1 for ``"soft"``.
        allow_few: whether to accept fewer than 30 exceedances.
        dtype: type of the operator; estimates are computed in float64.

    Raises:
        InvalidInput: an option is invalid, there are too few exceedances, or an instrument has
            nothing that is extreme.
        InvalidTable: the returns have missing numbers and the estimator is ``"global"``.

    Example:
        >>> import numpy as np
        >>> losses = np.random.default_rng(0).standard_t(3, size=(2000, 4))
        >>> S = tail_dependence(losses, tail="upper", estimator="global")
        >>> S, len(S.provenance.exceedances)
        (GramOperator(n=4, dtype=float32), 100)
        >>> bool(tail_dependence(losses, estimator="chi", q=0.1).to_dense()[0, 1] < 0.2)
        True

    Reference: Cooley and Thibaud (2019), doi:10.1093/biomet/asz028.
    """
    panel = returns if isinstance(returns, Panel) else read_panel(returns, kind="returns")
    request = TailRequest.of(
        panel, tail=tail, q=q, quantile=quantile, count=count, radius=radius, margins=margins,
        alpha=alpha, estimator=estimator, weight=weight, decluster=decluster,
        volatility=volatility, allow_few=allow_few, dtype=dtype,
    )  # fmt: skip
    S = request.estimate()
    if shrinkage == "none":
        return S
    if isinstance(shrinkage, str):
        choice("shrinkage", shrinkage, SHRINKAGES)
    return shrunk(S, shrinkage, panel, request.of_rows)
