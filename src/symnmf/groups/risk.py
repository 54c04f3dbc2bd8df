"""Which group would hurt a portfolio: tail scale and variance, and where they come from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from symnmf.contract import Result
from symnmf.data.panel import Panel
from symnmf.dependence.correlation import CorrelationEstimate
from symnmf.dependence.margins import hill
from symnmf.dependence.tail import TailEstimate, signed_for
from symnmf.errors import InvalidInput, MarginWarning
from symnmf.groups.naming import by_name, names_of
from symnmf.operators import SymmetricOperator
from symnmf.operators.base import row_chunks
from symnmf.operators.store import Stored
from symnmf.solvers.nnls import nnls_rows

#: The index of tails for which the formulas hold, and how far Hill's estimate may be from it.
INDEX, FAR = 2.0, 0.5
#: Share of the observations that make a tail.
TAIL = 0.05


@dataclass(frozen=True)
class Risk:
    """The risk of a portfolio and what it is made of.

    Attributes:
        total: tail scale (P(loss > x) ≈ (total / x)² far out) or standard deviation.
        factors: (k,) share of each column of H in total²; with ``left_out`` they sum to 1. For a
            variance, shares of bound²: H knows sizes of correlations, not their signs.
        left_out: share that H Hᵀ does not have; negative where it has too much.
        instruments: (n,) share of each instrument in total²; they sum to 1.
        marginal: (n,) change of total with each weight.
        bound: an upper bound of total, where signs were left out of S; else total.
    """

    total: float
    factors: np.ndarray
    left_out: float
    instruments: np.ndarray
    marginal: np.ndarray
    bound: float


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

    Arguments:
        result: a factorization of S.
        weights: (n,) amounts, or by name; not negative.
        scales: (n,) tail scales s of the instruments, or by name.
        S: the TPDM.
        panel: to estimate the scales from, where they are not given; warns when Hill's estimate of
            an index is far from 2.

    Example:
        >>> import symnmf as sn
        >>> S = sn.as_operator(np.eye(2))
        >>> tail_risk(sn.factorize(S, 2), [3.0, 4.0], [1.0, 1.0], S=S).total
        5.0
    """
    about = S.about
    if about is not None and not isinstance(about, TailEstimate | Stored):
        raise InvalidInput("S", "is no tail dependence", "Pass the TPDM, or use variance_risk")
    if isinstance(about, TailEstimate) and about.alpha != INDEX:
        raise InvalidInput("S", f"has index {about.alpha:g}", "The formula is for alpha = 2")
    w = _numbers("weights", weights, result, missing=0.0)
    if (w < 0).any():
        row = int(np.flatnonzero(w < 0)[0])
        raise InvalidInput(
            "weights",
            f"that of {names_of(result)[row]!r} is {w[row]:g}",
            "The formula is for portfolios without short positions",
        )
    if scales is None and panel is None:
        raise InvalidInput(
            "scales", "are missing", "Pass the tail scales of the instruments, or panel="
        )
    if scales is None:
        assert panel is not None
        check_panel(panel, result)
        s = tail_scales(panel, tail=getattr(about, "tail", "lower"))
    else:
        s = _numbers("scales", scales, result)
    if (s < 0).any():
        raise InvalidInput("scales", "are negative", "Pass positive scales")
    v = torch.from_numpy(w * s)
    image = _times(S, v)
    return _risk(result, v, image, s)


def tail_scales(panel: Panel, tail: str = "lower", q: float = TAIL) -> np.ndarray:  # (n,)
    """s_i with P(X_i > x) ≈ (s_i / x)² in the tail: s = x_(m) · (m / T)^{1/2}, m = ⌊q·T⌋.

    Warns when Hill's estimate of an index is far from 2.

    Arguments:
        panel: returns.
        tail: ``"lower"`` (losses) or ``"upper"``.
        q: share of the observations that make the tail.

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
        raise InvalidInput("panel", f"{name!r} has hardly any losses", "Pass scales for it")
    index = np.array([hill(X[:, j], m) for j in range(X.shape[1])])
    far = np.abs(index - INDEX) > FAR * INDEX
    if far.any():
        worst = int(np.abs(index - INDEX).argmax())
        warnings.warn(
            f"Hill's estimate of the tail index is far from 2 for {int(far.sum())} of {len(index)} "
            f"instruments ({panel.names[worst]!r}: {index[worst]:.2g}): tail scales that assume 2 "
            "say little about them",
            MarginWarning,
            stacklevel=2,
        )
    scales: np.ndarray = top * (m / len(X)) ** (1 / INDEX)
    return scales


def variance_risk(result: Result, weights: Any, volatilities: Any, *, S: SymmetricOperator) -> Risk:
    """Standard deviation of a portfolio by the signed correlation; that of S as a bound.

    Arguments:
        result: a factorization of S.
        weights: (n,) amounts, or by name; may be negative.
        volatilities: (n,) standard deviations, or by name.
        S: of :func:`symnmf.abs_correlation`, which kept the signs.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> S = sn.abs_correlation(panel)
        >>> risk = variance_risk(sn.factorize(S, k=3), [0.05] * 20, panel.values.std(axis=0), S=S)
        >>> bool(np.isclose(risk.total, (panel.values @ np.full(20, 0.05)).std()))
        True
    """
    about = S.about
    if not isinstance(about, CorrelationEstimate):
        raise InvalidInput("S", "has no signs", "Pass what abs_correlation returned")
    w = _numbers("weights", weights, result, missing=0.0)
    s = _numbers("volatilities", volatilities, result)
    v = torch.from_numpy(w * s)
    size = v.abs()
    image = _signed_times(S, about, v)
    bound = _risk(result, size, _times(S, size), s)
    risk = _risk(result, v, image, s)
    return replace(
        risk, factors=bound.factors, left_out=bound.left_out, bound=max(bound.total, risk.total)
    )


def _signed_times(
    S: SymmetricOperator, about: CorrelationEstimate, v: torch.Tensor
) -> torch.Tensor:
    """R v, R being S with its signs."""
    if about.below is None:
        Z = about.scores.to(torch.float64)
        return (1 - about.intensity) * (Z @ (Z.T @ v)) / Z.shape[1] + about.intensity * v
    everything = torch.arange(S.n)
    out = torch.empty(S.n, dtype=torch.float64)
    for part in row_chunks(S.n, S.n):
        rows = S.block(everything[part], everything).to(torch.float64)
        out[part] = (rows * about.signs(everything[part], everything)) @ v
    return out


def _risk(result: Result, v: torch.Tensor, image: torch.Tensor, s: np.ndarray) -> Risk:
    """Shares of vᵀ(S v), given S v; NaN where there is no risk to share."""
    square = max(0.0, float(v @ image))
    total = square**0.5
    loads = (result.H.to(torch.float64).cpu().T @ v).square().numpy()
    scale = square or float("nan")
    return Risk(
        total=total,
        factors=loads / scale,
        left_out=1 - float(loads.sum()) / scale,
        instruments=(v * image).numpy() / scale,
        marginal=s * image.numpy() / (total or float("nan")),
        bound=total,
    )


def _times(S: SymmetricOperator, v: torch.Tensor) -> torch.Tensor:
    image = S.matmul(v[:, None].to(dtype=S.dtype, device=S.device))
    return image[:, 0].to(torch.float64).cpu()


def _numbers(
    argument: str, values: Any, result: Result, missing: float | None = None
) -> np.ndarray:
    """One number for each row, from a list, or by name; ``missing`` for names that have none."""
    names = names_of(result)
    values = by_name(values)
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in set(names)]
        if unknown:
            raise InvalidInput(argument, f"{unknown[0]!r} was not in the fit", "Check the names")
        without = [name for name in names if name not in values]
        if without and missing is None:
            raise InvalidInput(argument, f"{without[0]!r} has none", "Pass one for every name")
        values = [values.get(name, missing) for name in names]
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(names),):
        raise InvalidInput(argument, f"has shape {array.shape}", f"Pass {len(names)} numbers")
    if not np.isfinite(array).all():
        name = names[int(np.flatnonzero(~np.isfinite(array))[0])]
        raise InvalidInput(argument, f"that of {name!r} is not finite", "Pass finite numbers")
    return array


def check_panel(panel: Panel, result: Result) -> None:
    """Refuse a panel whose columns are not the rows of the factorization."""
    names = names_of(result) if result.names is not None else list(panel.names)
    if len(panel.names) != len(result.H) or list(panel.names) != names:
        raise InvalidInput(
            "panel",
            f"has {len(panel.names)} columns that are not the {len(result.H)} rows of the result",
            "Pass the panel that the result came from",
        )


@dataclass(frozen=True)
class GroupReturns:
    """Returns of the groups, and how much of each instrument they explain.

    Attributes:
        series: (T, k) mean returns of the columns of H, weighted by loading.
        r_squared: (n,) share of the variance of each instrument that its group's series explains;
            NaN for an instrument without a group.
    """

    series: np.ndarray
    r_squared: np.ndarray


def group_returns(result: Result, panel: Panel, S: SymmetricOperator | None = None) -> GroupReturns:
    """Return series of the groups and R² of every instrument against its own.

    Arguments:
        result: a factorization of a dependence of the panel.
        panel: the returns; missing numbers do not count.
        S: of :func:`symnmf.abs_correlation`: a member that moves against the leader of its group
            then counts with its sign turned.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> made = group_returns(sn.factorize(sn.abs_correlation(panel), k=3), panel)
        >>> made.series.shape == (len(panel.values), 3), made.r_squared.shape
        (True, (20,))
    """
    check_panel(panel, result)
    H, X = result.H.to(torch.float64).cpu().numpy(), panel.values
    there = ~np.isnan(X)
    labels = result.labels().cpu().numpy()
    signs = _signs_in_groups(H, labels, S)
    filled = np.where(there, X, 0.0) * signs
    weights = there.astype(np.float64) @ H
    series = np.full_like(weights, np.nan)
    np.divide(filled @ H, weights, out=series, where=weights > 0)
    r_squared = np.full(X.shape[1], np.nan)
    for i, group in enumerate(labels):
        if group >= 0:
            both = there[:, i] & ~np.isnan(series[:, group])
            x, y = X[both, i], series[both, group]
            if x.std() > 0 and y.std() > 0:
                r_squared[i] = np.corrcoef(x, y)[0, 1] ** 2
    return GroupReturns(series, r_squared)


def _signs_in_groups(
    H: np.ndarray, labels: np.ndarray, S: SymmetricOperator | None
) -> np.ndarray:  # (n,)
    """−1 for members that move against the leader of their group."""
    signs = np.ones(len(H))
    about = None if S is None else S.about
    if isinstance(about, CorrelationEstimate):
        for group in np.unique(labels[labels >= 0]):
            members = np.flatnonzero(labels == group)
            leader = members[H[members, group].argmax()]
            row = about.signs(torch.tensor([leader]), torch.from_numpy(members))[0]
            signs[members] = np.where(row.numpy() < 0, -1.0, 1.0)
    return signs


def loadings_for(result: Result, dependence: Any) -> np.ndarray:  # (m, n) -> (m, k)
    """Loadings of instruments that were not in the fit, from their dependence on those that were.

        h = argmin_{x ≥ 0} ‖H x − s‖

    Arguments:
        result: a factorization.
        dependence: (n,) or (m, n) entries that the new rows of S would have, not negative.

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
            f"Pass the {n} dependences of each new instrument on those of the fit",
        )
    H = result.H.to(torch.float64).cpu()
    gram = H.T @ H
    gram += 1e-12 * torch.eye(k, dtype=torch.float64) * float(gram.diagonal().max())
    F = rows @ H
    found: np.ndarray = nnls_rows(gram, F, torch.ones_like(F)).numpy()
    return found if np.ndim(dependence) > 1 else found[0]


def crash_lift(
    crashes: np.ndarray, labels: Sequence[int] | np.ndarray
) -> float:  # (T, n) of truth values, (n,)
    """How much likelier two members of one group crash together than a random pair.

    Arguments:
        crashes: whether each instrument crashed on each day.
        labels: groups; −1 counts as in none.
    """
    hits = np.asarray(crashes, dtype=np.float64)
    labels = np.asarray(labels)
    joint = float((np.square(hits.sum(axis=1)) - hits.sum(axis=1)).sum())
    n = hits.shape[1]
    inside, pairs = 0.0, 0.0
    for group in np.unique(labels[labels >= 0]):
        members = hits[:, labels == group].sum(axis=1)
        size = int((labels == group).sum())
        inside += float((np.square(members) - members).sum())
        pairs += size * (size - 1)
    if joint == 0 or pairs == 0:
        return float("nan")
    return float((inside / pairs) / (joint / (n * (n - 1))))
