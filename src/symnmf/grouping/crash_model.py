"""From loadings to probabilities: a max-linear model of joint crashes with fitted tails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch

from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.defaults import RESAMPLES, TAIL
from symnmf.dependence.resampling import Resamples
from symnmf.dependence.tail_request import signed_for
from symnmf.errors import InvalidInput
from symnmf.grouping.crash_answers import JointCrash, ReturnLevel
from symnmf.grouping.fitted_tails import FittedTails
from symnmf.grouping.joint_probability import PRIOR_DAYS, scaled_to_data
from symnmf.grouping.joint_probability import at_least as probability_of
from symnmf.grouping.naming import names_of
from symnmf.grouping.portfolio_risk import check_panel, numbers_of
from symnmf.grouping.simulated_crashes import draw_scores
from symnmf.grouping.tail_factors import continued_loadings, joint_tail, max_linear_loadings
from symnmf.numerics import numpy_stream
from symnmf.options import whole_number

#: Share of the rows above which dependence is measured, and the fewest of them.
MODEL_SHARE, LEAST_EXCEEDANCES = 0.1, 30
#: Sweeps of the fit of a sample, which begins at the loadings of all rows.
SAMPLE_SWEEPS = 4
#: Draws of the common factors for the probability of a sample.
SAMPLE_DRAWS = 1000
#: Simulated days of a return level for each day of its period, the least of them, and numbers that
#: are drawn at a time.
DAYS_A_PERIOD, LEAST_DAYS, DRAWN_NUMBERS = 20, 20_000, 1_000_000
#: Coefficients of pairs of the samples that are fitted side by side.
FITTED_NUMBERS = 4_000_000


@dataclass(frozen=True)
class CrashSample:
    """The model of a resampled history.

    Attributes:
        loadings: (n, k) loadings.
        tails: distributions of the losses.
        rows: (T,) rows that were drawn.
    """

    loadings: np.ndarray
    tails: FittedTails
    rows: np.ndarray


@dataclass(frozen=True)
class CrashModel:
    """Max-linear model of the tails of a panel; see :func:`crash_model`.

    Attributes:
        names: names of the instruments.
        loadings: (n, k) loadings on common factors; no row is longer than one, and what it lacks
            belongs to the instrument alone.
        tails: distributions of the losses.
        losses: (T, n) the losses of the data.
        q: share of the rows above which dependence was measured.
        tail: ``"lower"`` or ``"upper"``.
        samples: the models of resampled histories.
        level: coverage of the intervals.
        seed: seed of the draws.
        histories: the resampled histories of ``samples``.
    """

    names: tuple[str, ...]
    loadings: np.ndarray
    tails: FittedTails
    losses: np.ndarray
    q: float
    tail: str
    samples: tuple[CrashSample, ...] = ()
    level: float = 0.9
    seed: int = 0
    result: Result | None = field(default=None, repr=False)
    histories: Resamples | None = None

    def __repr__(self) -> str:
        (T, n), k = self.losses.shape, self.loadings.shape[1]
        return f"CrashModel({n} instruments, {k} factors, {T} days, {len(self.samples)} samples)"

    def probability(
        self,
        of: Sequence[str] | None = None,
        at_least: int | None = None,
        *,
        level: float | None = None,
        loss: float | None = None,
    ) -> JointCrash:
        """Probability that at least so many of some instruments exceed a level on one day.

        Arguments:
            of: names of the instruments; all by default.
            at_least: how many of them; all by default.
            level: probability with which each exceeds its own level, such as 0.05 for the worst
                day in twenty of each; the default is 0.05, or the share of the model if smaller.
            loss: a loss in the unit of the returns that each exceeds, instead of ``level``.

        Raises:
            InvalidInput: a name is unknown, or the level is not in the tail that was measured or
                beyond the data: exceeded less than once in them.
        """
        places = self._places(of)
        n, T = len(places), len(self.losses)
        m = n if at_least is None else whole_number("at_least", at_least, 1, n)
        if loss is not None and level is not None:
            raise InvalidInput("level", "was given together with loss", "Pass one of them")
        tails = self.tails.at(places)
        if loss is None:
            p = np.full(n, min(0.05, self.q) if level is None else level)
            limit = np.quantile(self.losses[:, places], np.clip(1 - p[0], 0, 1), axis=0)
        else:
            limit = np.full(n, float(loss))
            p = tails.exceeded(limit)
        self._check("level" if loss is None else "loss", p, places)
        observed = int(((self.losses[:, places] > limit).sum(axis=1) >= m).sum())
        X = self.losses[:, places]
        value = float(
            scaled_to_data(self.loadings[None, places], p[None], m, [X], self.q, seed=self.seed)[0]
        )
        found = self._in_samples(places, p, m, None if loss is None else limit)
        low, high = self._ends(value, found)
        alone = probability_of(np.zeros((n, 1)), p, m)
        resolved = observed > 0 or value * T >= 1
        return JointCrash(value, low, high, observed, T, alone, resolved)

    def _in_samples(
        self, places: np.ndarray, p: np.ndarray, m: int, limit: np.ndarray | None
    ) -> list[float]:
        """The probability in each resampled history; of losses beyond a limit, where one is given.

        The models of the histories have the same random numbers.
        """
        if not self.samples:
            return []
        levels = np.stack(
            [
                p if limit is None else np.clip(s.tails.at(places).exceeded(limit), 1e-12, 0.5)
                for s in self.samples
            ]
        )
        A = np.stack([s.loadings[places] for s in self.samples])
        drawn = (self.losses[np.ix_(s.rows, places)] for s in self.samples)
        part = max(1, DRAWN_NUMBERS // (SAMPLE_DRAWS * len(places)))
        found: list[float] = []
        for begin in range(0, len(A), part):
            some = slice(begin, begin + part)
            rows = islice(drawn, len(A[some]))
            found += scaled_to_data(
                A[some], levels[some], m, rows, self.q, SAMPLE_DRAWS, self.seed
            ).tolist()
        return found

    def return_level(self, weights: Any, period: int) -> ReturnLevel:
        """Loss of a portfolio that is exceeded on one day in ``period``.

            model^(c / (N + c)) · sample^(N / (N + c)),   N = T / period,   c = 5 days

        The quantile of simulated days, drawn towards that of the portfolio's own losses as far as
        these have days beyond it: fitted tails are uncertain, and the simulated quantile alone is
        too low in heavy tails. The interval is symmetric in the ratio to the loss
        (:meth:`symnmf.dependence.resampling.Resamples.by_ratio`), and as wide as the largest of
        three spreads in resampled histories requires: that of the loss, of the simulated quantile
        and of the portfolio's own. Their mean hardly varies where one of them is small only
        because the history lacks large losses.

        Arguments:
            weights: (n,) positions of at least 0, or a mapping from names.
            period: number of days, at most those of the data.

        Raises:
            InvalidInput: a weight is negative, or the period is longer than the data.
        """
        T = len(self.losses)
        period = whole_number(
            "period", period, 2, T, f"from 2 to the {T} days of the data, which reach no further"
        )
        w = self._weights(weights)
        held = np.flatnonzero(w)
        days = max(LEAST_DAYS, DAYS_A_PERIOD * period)
        whole = CrashSample(self.loadings, self.tails, np.arange(T))
        own, answers = self.losses[:, held] @ w[held], []
        for s in (whole, *self.samples):
            drawn = self._portfolio(s.loadings[held], s.tails.at(held), w[held], days)
            model, sample = (float(np.quantile(x, 1 - 1 / period)) for x in (drawn, own[s.rows]))
            answers.append((_between(model, sample, T / period), model, sample))
        (value, _, observed), *others = answers
        low, high = float("nan"), float("nan")
        if others:
            assert self.histories is not None
            ends = self.histories.by_ratio(np.full(3, value), np.array(others), self.level)
            low, high = float(ends[0].min()), float(ends[1].max())
        return ReturnLevel(value, low, high, observed, period)

    def _portfolio(self, A: np.ndarray, tails: FittedTails, w: np.ndarray, days: int) -> np.ndarray:
        """Losses of a portfolio on simulated days; all samples share the random numbers."""
        rng = numpy_stream(self.seed, "return level")
        part = max(1, DRAWN_NUMBERS // max(1, len(A)))
        sizes = [min(part, days - begin) for begin in range(0, days, part)]
        return np.concatenate([tails.quantiles(draw_scores(A, size, rng)) @ w for size in sizes])

    def _weights(self, weights: Any) -> np.ndarray:
        assert self.result is not None
        w = numbers_of("weights", weights, self.result, missing=0.0)
        if (w < 0).any():
            name = self.names[int(np.flatnonzero(w < 0)[0])]
            raise InvalidInput(
                "weights",
                f"the position in {name!r} is short",
                "Pass weights of at least 0 for a return level: the model has one tail, and a "
                "short position loses in the other",
            )
        if not w.any():
            raise InvalidInput("weights", "are all zero", "Pass at least one position")
        return w

    def _places(self, of: Sequence[str] | None) -> np.ndarray:
        if of is None:
            return np.arange(len(self.names))
        place = {name: i for i, name in enumerate(self.names)}
        unknown = [name for name in of if name not in place]
        if unknown or not len(of):
            got = f"{unknown[0]!r} was not in the fit" if unknown else "is empty"
            raise InvalidInput("of", got, "Pass names of the fit")
        return np.array(list(dict.fromkeys(place[name] for name in of)))

    def _check(self, argument: str, p: np.ndarray, places: np.ndarray) -> None:
        T = len(self.losses)
        low, high = int(p.argmin()), int(p.argmax())
        if p[low] * T < 1:
            raise InvalidInput(
                argument,
                f"is beyond the data: {self.names[places[low]]!r} exceeds it less than once in "
                f"their {T} days",
                "Pass a level that is less extreme",
            )
        if p[high] > self.q * (1 + 1e-9):
            raise InvalidInput(
                argument,
                f"is no extreme: {self.names[places[high]]!r} exceeds it on {p[high]:.1%} of the "
                f"days, and dependence was measured on the worst {self.q:.1%}",
                "Pass a level that is more extreme",
            )

    def _ends(self, value: float, found: list[float]) -> tuple[float, float]:
        if not found:
            return float("nan"), float("nan")
        assert self.histories is not None
        low, high = self.histories.percentiles(np.array(value), np.array(found), self.level)
        return float(low), float(high)


def _between(model: float, sample: float, days: float) -> float:
    """A loss between those of the model and of the sample, which has so many days beyond it."""
    share = days / (days + PRIOR_DAYS)
    if min(model, sample) <= 0:
        return model + share * (sample - model)
    return float(model ** (1 - share) * sample**share)


def crash_model(
    result: Result,
    panel: Panel,
    *,
    tail: str = TAIL,
    q: float | None = None,
    draws: int = RESAMPLES,
    block: int | None = None,
    level: float = 0.9,
    seed: int = 0,
) -> CrashModel:
    """A max-linear model of joint crashes: loadings that continue a fit, and fitted tails.

        X_i = max(a_i1 Z_1, …, a_ik Z_k, d_i Z′_i),   d_i² = 1 − Σ_j a_ij²,   Z Fréchet(2)

    on a scale on which all instruments have one distribution; losses have the sample's
    distribution with a generalized Pareto tail. The loadings begin at those of the fit and are
    fitted to the coefficients of tail dependence of all pairs, Σ_j min(a_ij², a_lj²) = χ_il:
    loadings with A Aᵀ equal to the TPDM make joint crashes too probable. Probabilities are scaled
    to the counts of such days at the level 1 − q and at the level asked for.

    Arguments:
        result: the fit to continue.
        panel: the returns, without missing numbers.
        tail: ``"lower"`` (losses) or ``"upper"`` (gains).
        q: share of the rows above which dependence is measured; 0.1 by default, or what gives 30
            rows.
        draws: resampled histories for the intervals, the same as those of
            :func:`symnmf.bootstrap`; 0 for none.
        block: successive rows drawn together; a sixth of the rows by default.
        level: coverage of the intervals.
        seed: seed of the draws.

    Raises:
        InvalidInput: the panel is not that of the result, or it has too few rows.
        InvalidTable: a number is missing.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 2000)
        >>> model = crash_model(sn.factorize(sn.tail_dependence(panel), k=4), panel, draws=0)
        >>> found = model.probability(["CVX", "XOM"], level=0.05)
        >>> bool(abs(found.value - found.observed / found.days) < 0.01)
        True

    Reference: Janßen and Wan (2020), doi:10.1214/20-EJS1689, for max-linear models of extremes.
    """
    check_panel(panel, result)
    X = signed_for(panel, tail)
    T = len(X)
    share = max(MODEL_SHARE, LEAST_EXCEEDANCES / T) if q is None else float(q)
    if not 0 < share <= 0.5 or share * T < LEAST_EXCEEDANCES - 1e-6:
        raise InvalidInput(
            "q",
            f"{share:g} leaves {share * T:.0f} of {T} days",
            f"Pass a share of at most 0.5 that leaves at least {LEAST_EXCEEDANCES} days",
        )
    draws = whole_number("draws", draws, 0, 100_000)
    chi = joint_tail(X, share)
    start = continued_loadings(chi, result.H.to(torch.float64).cpu().numpy())
    A = max_linear_loadings(chi, start)
    histories = Resamples.of(T, max(1, draws), block, seed)
    samples = resampled_models(X, share, A, histories) if draws else ()
    names = tuple(names_of(result))
    tails = FittedTails.of(X)
    return CrashModel(names, A, tails, X, share, tail, samples, level, seed, result, histories)


def resampled_models(
    X: np.ndarray, q: float, A: np.ndarray, histories: Resamples
) -> tuple[CrashSample, ...]:
    """The models of resampled histories, whose loadings are fitted side by side."""
    every = list(histories)
    part = max(1, FITTED_NUMBERS // len(A) ** 2)
    loadings = [
        max_linear_loadings(
            np.stack([joint_tail(X[rows], q) for rows in every[begin : begin + part]]),
            A,
            SAMPLE_SWEEPS,
        )
        for begin in range(0, len(every), part)
    ]
    return tuple(
        CrashSample(fitted, FittedTails.of(X[rows]), rows)
        for fitted, rows in zip(np.concatenate(loadings), every, strict=True)
    )
