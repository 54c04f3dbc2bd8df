"""Risk of a portfolio: tail scale and variance, and the share of each group and instrument."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.dependence.margins import hill
from symnmf.dependence.tail import tail_dependence
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.dependence.tail_request import signed_for
from symnmf.display import html_table
from symnmf.errors import DataWarning, InvalidInput, MarginWarning
from symnmf.grouping.naming import by_name, names_of
from symnmf.grouping.tail_factors import continued_loadings
from symnmf.operators import SymmetricOperator
from symnmf.storage.matrix_format import StoredMatrix

#: Tail index for which the formulas hold, and the relative difference of Hill's estimate that
#: leads to a warning.
TAIL_INDEX, INDEX_TOLERANCE = 2.0, 0.5


#: Share of the observations that form the tail.
TAIL_SHARE = 0.05
#: Names of positions in money, which has no returns; codes of currencies stand for it too.
CASH = re.compile(
    r"(.*\W)?cash(\W.*)?|(USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|HKD|SGD|CNY)( .*)?|liquidität|"
    r"liquidités|money market( .*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Risk:
    """The risk of a portfolio and its composition.

    Attributes:
        total: tail scale (P(loss > x) ≈ (total / x)² far out) or standard deviation.
        factors: (k,) share of each column of H in total²; with ``left_out`` they sum to 1. For a
            variance, shares of bound²: H holds the sizes of correlations, not their signs. Where S
            has weights by rank, the columns are those of the TPDM, which begin as those of H.
        left_out: share that H Hᵀ does not explain; negative where it explains too much.
        instruments: (n,) share of each instrument in total²; they sum to 1.
        groups: (k,) sum of these shares over the members of each group.
        marginal: (n,) derivative of total with respect to each weight.
        bound: an upper bound of total where S has no signs; otherwise total.
    """

    total: float
    factors: np.ndarray
    left_out: float
    instruments: np.ndarray
    groups: np.ndarray
    marginal: np.ndarray
    bound: float

    def __repr__(self) -> str:
        n, k = len(self.instruments), len(self.factors)
        return f"Risk(total={self.total:.4g}, {k} groups, {n} instruments)"

    def _repr_html_(self) -> str:
        rows = [("total", f"{self.total:.4g}")]
        rows += [(f"factor {g}", f"{100 * v:.1f} %") for g, v in enumerate(self.factors, 1)]
        rows.append(("left out", f"{100 * self.left_out:.1f} %"))
        return html_table("Risk of a portfolio", rows)


def tail_risk(
    result: Result,
    weights: Any,
    scales: Any = None,
    *,
    S: SymmetricOperator,
    panel: Panel | None = None,
) -> Risk:
    """Tail scale of a portfolio of losses with index 2: sqrt((w∘s)ᵀ S (w∘s)).

    Far out, P(wᵀX > x) ≈ (total / x)² when P(X_i > x) ≈ (s_i / x)² and S is the unit-diagonal TPDM.
    Estimates with weights by rank (the default of :func:`symnmf.tail_dependence`) find groups but
    are no TPDM; with a panel, the pairwise TPDM of the same tail is estimated from it and takes
    the place of S, and the loadings are continued to it.

    Arguments:
        result: a factorization of S.
        weights: (n,) non-negative amounts, or a mapping from names.
        scales: (n,) tail scales s of the instruments, or a mapping from names.
        S: the TPDM.
        panel: returns from which the scales are estimated where ``scales`` is not given; a warning
            names instruments whose Hill estimate of the tail index is far from 2.

    Raises:
        InvalidInput: S is not a TPDM with index 2, a weight or scale is negative or missing.

    Example:
        >>> import symnmf as sn
        >>> S = sn.as_operator(np.eye(2))
        >>> tail_risk(sn.factorize(S, 2), [3.0, 4.0], [1.0, 1.0], S=S).total
        5.0
    """
    about = S.provenance
    if about is not None and not (about.is_tail or isinstance(about, StoredMatrix)):
        raise InvalidInput(
            "S", "is not a tail dependence matrix", "Pass the TPDM, or use variance_risk"
        )
    H = result.H.to(torch.float64).cpu().numpy()
    if isinstance(about, TailEstimate) and about.weight:
        if panel is None:
            raise InvalidInput(
                "S",
                f"is the estimate {about.estimator!r}, not a TPDM",
                "Pass panel=, of which the TPDM of the same tail is estimated, or estimate S with "
                "estimator='pairwise'",
            )
        check_panel(panel, result)
        S = tail_dependence(
            panel, tail=about.tail, estimator="pairwise", allow_few=True, dtype=torch.float64
        )
        H = continued_loadings(S.to_dense().cpu().numpy(), H)
    if isinstance(about, TailEstimate) and about.alpha != TAIL_INDEX:
        raise InvalidInput(
            "S", f"has tail index {about.alpha:g}", "Estimate it with alpha=2, as the formula needs"
        )
    w = numbers_of("weights", weights, result, missing=0.0)
    if (w < 0).any():
        row = int(np.flatnonzero(w < 0)[0])
        raise InvalidInput(
            "weights",
            f"the weight of {names_of(result)[row]!r} is {w[row]:g}",
            "Pass weights of at least 0: the formula does not hold for short positions",
        )
    if scales is None and panel is None:
        raise InvalidInput(
            "scales",
            "were not given",
            "Pass the tail scales of the instruments, or a panel to estimate them",
        )
    if scales is None:
        assert panel is not None
        check_panel(panel, result)
        s = tail_scales(panel, tail=getattr(about, "tail", "lower"))
    else:
        s = numbers_of("scales", scales, result)
    if (s < 0).any():
        raise InvalidInput("scales", "contain a negative number", "Pass scales of at least 0")
    v = torch.from_numpy(w * s)
    image = _times(S, v)
    return _risk(result, H, v, image, s)


def tail_scales(panel: Panel, tail: str = "lower", q: float = TAIL_SHARE) -> np.ndarray:  # (n,)
    """s_i with P(X_i > x) ≈ (s_i / x)² in the tail: s = x_(m) · (m / T)^{1/2}, m = ⌊q·T⌋.

    A warning names instruments whose Hill estimate of the tail index is far from 2.

    Arguments:
        panel: returns.
        tail: ``"lower"`` (losses) or ``"upper"`` (gains).
        q: share of the observations that form the tail.

    Raises:
        InvalidInput: an instrument has too few observations with the sign of the tail.

    Example:
        >>> import symnmf as sn
        >>> u = np.random.default_rng(0).uniform(size=(10_000, 2))
        >>> pareto = sn.read_panel([3.0, 5.0] / np.sqrt(u), kind="returns")  # P(X > x) = (s / x)²
        >>> tail_scales(pareto, tail="upper").round()
        array([3., 5.])
    """
    X = signed_for(panel, tail)
    m = max(2, int(q * len(X)))
    top = np.sort(X, axis=0)[-m]
    if (top <= 0).any():
        name = panel.names[int(np.flatnonzero(top <= 0)[0])]
        sign = "losses" if tail == "lower" else "gains"
        raise InvalidInput(
            "panel",
            f"{name!r} has fewer than {m} {sign}",
            "Pass scales to tail_risk, or leave it out",
        )
    index = np.array([hill(X[:, j], m) for j in range(X.shape[1])])
    far = np.abs(index - TAIL_INDEX) > INDEX_TOLERANCE * TAIL_INDEX
    if far.any():
        worst = int(np.abs(index - TAIL_INDEX).argmax())
        warnings.warn(
            f"Hill's estimate of the tail index is far from 2 for {int(far.sum())} of {len(index)} "
            f"instruments ({panel.names[worst]!r}: {index[worst]:.2g}): tail scales assume 2 and "
            "are unreliable for them",
            MarginWarning,
            stacklevel=2,
        )
    scales: np.ndarray = top * (m / len(X)) ** (1 / TAIL_INDEX)
    return scales


def variance_risk(result: Result, weights: Any, volatilities: Any, *, S: SymmetricOperator) -> Risk:
    """Standard deviation of a portfolio from the signed correlations, and an upper bound from S.

    Arguments:
        result: a factorization of S.
        weights: (n,) amounts, or a mapping from names; they may be negative.
        volatilities: (n,) standard deviations, or a mapping from names.
        S: dependence matrix of :func:`symnmf.abs_correlation`, which stores the signs.

    Raises:
        InvalidInput: S has no signs, or a number is missing or not finite.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.abs_correlation(panel)
        >>> risk = variance_risk(sn.factorize(S, k=3), [0.05] * 20, panel.values.std(axis=0), S=S)
        >>> bool(np.isclose(risk.total, (panel.values @ np.full(20, 0.05)).std()))
        True
    """
    about = S.provenance
    if not isinstance(about, CorrelationEstimate):
        raise InvalidInput(
            "S", "has no signs of correlations", "Pass the matrix that abs_correlation returned"
        )
    w = numbers_of("weights", weights, result, missing=0.0)
    s = numbers_of("volatilities", volatilities, result)
    v = torch.from_numpy(w * s)
    size = v.abs()
    image = about.signed_product(S, v)
    H = result.H.to(torch.float64).cpu().numpy()
    bound = _risk(result, H, size, _times(S, size), s)
    risk = _risk(result, H, v, image, s)
    return replace(
        risk, factors=bound.factors, left_out=bound.left_out, bound=max(bound.total, risk.total)
    )


def _risk(
    result: Result, H: np.ndarray, v: torch.Tensor, image: torch.Tensor, s: np.ndarray
) -> Risk:
    """Shares of vᵀ(S v), given S v; NaN where the risk is zero."""
    square = max(0.0, float(v @ image))
    total = square**0.5
    loads = np.square(H.T @ v.numpy())
    scale = square or float("nan")
    instruments = (v * image).numpy() / scale
    return Risk(
        total=total,
        factors=loads / scale,
        left_out=1 - float(loads.sum()) / scale,
        instruments=instruments,
        groups=by_group(instruments, result.labels().cpu().numpy(), H.shape[1]),
        marginal=s * image.numpy() / (total or float("nan")),
        bound=total,
    )


def by_group(values: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:  # (…, n) -> (…, k)
    """Sums over the members of each group; instruments without a group count for none.

    Example:
        >>> by_group(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), 2)
        array([2., 5.])
    """
    member = (labels[:, None] == np.arange(k)).astype(np.float64)
    sums: np.ndarray = values @ member
    return sums


def _times(S: SymmetricOperator, v: torch.Tensor) -> torch.Tensor:
    image = S.matmul(v[:, None].to(dtype=S.dtype, device=S.device))
    return image[:, 0].to(torch.float64).cpu()


def check_known(
    argument: str, values: Mapping[str, Any], names: Sequence[str], where: str, remedy: str
) -> list[str]:
    """Raise an error for names that are not known; of weights, those of cash are returned.

    Arguments:
        argument: what holds the values.
        values: a number for each name.
        names: the known names.
        where: where these are, for the message.
        remedy: what to do.
    """
    known = set(names)
    unknown = [str(name) for name in values if name not in known]
    cash = [name for name in unknown if argument == "weights" and CASH.fullmatch(name)]
    unknown = [name for name in unknown if name not in cash]
    if unknown:
        written = {name.lower(): name for name in names}
        other = next((name for name in unknown if name.lower() in written), None)
        if other is not None:
            remedy = f"Is it {written[other.lower()]!r}? Write the names in the same way"
        listed = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        words = "was" if len(unknown) == 1 else "were"
        raise InvalidInput(argument, f"{listed} {words} not {where}", remedy)
    return cash


def numbers_of(
    argument: str, values: Any, result: Result, missing: float | None = None
) -> np.ndarray:
    """One number for each row, from a sequence or a mapping; ``missing`` for absent names."""
    names = names_of(result)
    values = by_name(values)
    if isinstance(values, Mapping):
        cash = check_known(argument, values, names, "in the fit", "Pass names of the fit")
        if cash:
            words = ", ".join(map(repr, cash[:5]))
            warnings.warn(
                f"{words} left out: cash carries no risk of the instruments",
                DataWarning,
                stacklevel=2,
            )
        without = [name for name in names if name not in values]
        if without and missing is None:
            raise InvalidInput(
                argument, f"there is no number for {without[0]!r}", "Pass one for every name"
            )
        values = [values.get(name, missing) for name in names]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as wrong:
        raise InvalidInput(
            argument, "are no numbers", "Pass a number for each name, or a mapping from names"
        ) from wrong
    if array.shape != (len(names),):
        raise InvalidInput(argument, f"has shape {array.shape}", f"Pass {len(names)} numbers")
    if not np.isfinite(array).all():
        name = names[int(np.flatnonzero(~np.isfinite(array))[0])]
        raise InvalidInput(argument, f"the number of {name!r} is not finite", "Pass finite numbers")
    return array


def check_panel(panel: Panel, result: Result) -> None:
    """Raise InvalidInput unless the columns of a panel are the rows of a factorization."""
    names = names_of(result) if result.names is not None else list(panel.names)
    if len(panel.names) != len(result.H) or list(panel.names) != names:
        raise InvalidInput(
            "panel",
            f"has {len(panel.names)} columns that are not the {len(result.H)} rows of the result",
            "Pass the panel from which the result was computed",
        )
