"""Panels with known groups: easy and hard ones, and ones without groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symnmf.data import Panel, read_panel

#: Kinds of panels. ``tight`` has the groups of ``easy`` and heavy tails, so that its crashes show.
#: ``nested`` and ``many`` have unequal groups and a volatility common to all.
KINDS = ("easy", "hard", "noise", "one factor", "tight", "nested", "many")


@dataclass(frozen=True)
class SimulatedPanel:
    """Returns with known groups.

    Attributes:
        kind: one of ``KINDS``.
        panel: the returns.
        labels: (n,) true groups; None where there are none.
        k: number of groups; 1 where there are none.
    """

    kind: str
    panel: Panel
    labels: np.ndarray | None
    k: int


def simulate(kind: str, number: int) -> SimulatedPanel:
    """A panel of a kind; the number is its seed.

        x_ti = b_i f_t + l_i g_{t,g(i)} + σ e_ti

    Sizes, numbers of groups, noise, the spread of the b_i, tails (normal or t with 5 degrees of
    freedom) and volatility (constant or GARCH) are drawn. Groups of easy panels have equal sizes
    and strengths; those of hard panels have sizes that differ by a factor of four, strengths l that
    differ by a factor of two or four, and often fewer rows than instruments. For nested panels and
    those of many groups see :func:`_stocks`.

    Arguments:
        kind: one of ``KINDS``.
        number: number of the panel.

    Example:
        >>> made = simulate("easy", 0)
        >>> made.panel.values.shape[1] == len(made.labels), len(set(made.labels)) == made.k
        (True, True)
    """
    rng = np.random.default_rng([KINDS.index(kind), number])
    if kind in ("nested", "many"):
        return _stocks(kind, rng)
    n = int(rng.choice([60, 100, 200, 300, 452]))
    T = int(rng.choice([250, 500, 1000, 2000]))
    degrees = 5.0 if rng.random() < 0.5 else np.inf
    garch = bool(rng.random() < 0.3)
    if kind in ("noise", "one factor"):
        values = _draw(rng, T, n, degrees, garch)
        if kind == "one factor":
            values = values + _draw(rng, T, 1, degrees, garch) * rng.uniform(0.4, 1.6, n)
        return SimulatedPanel(kind, read_panel(values, kind="returns"), None, 1)
    hard = kind == "hard"
    k = int(rng.integers(4 if hard else 3, min(20, n // (10 if hard else 8)) + 1))
    noise = float(rng.choice([1.0, 1.5] if hard else [1.0, 1.5, 2.5]))
    market, spread = float(rng.choice([0.5, 1.0, 1.5])), float(rng.choice([0.3, 0.6, 0.9]))
    sizes, strengths = np.full(k, n / k), np.ones(k)
    if hard:
        steps, ratio = np.linspace(0, 1, k), float(rng.choice([2.0, 4.0]))
        sizes, strengths = rng.permutation(4.0**steps), rng.permutation(ratio ** (steps - 0.5))
    else:
        T = max(T, 500)
        noise = min(noise, 1.5) if n / k < 15 else noise
    if kind == "tight":
        degrees, noise, T, market = 3.0, 0.7, 2000, 0.5
    labels = _labels(sizes, n)
    beta = market * (1 + spread * rng.uniform(-1, 1, n))
    own = strengths[labels] * (1 + (0.3 if hard else 0.2) * rng.uniform(-1, 1, n))
    values = _draw(rng, T, 1, degrees, garch) * beta
    values = values + _draw(rng, T, k, degrees, garch)[:, labels] * own
    values = values + noise * _draw(rng, T, n, degrees, garch)
    return SimulatedPanel(kind, read_panel(values, kind="returns"), labels, k)


def simulated(kind: str, count: int) -> Iterator[SimulatedPanel]:
    """The first panels of a kind."""
    for number in range(count):
        yield simulate(kind, number)


def _stocks(kind: str, rng: np.random.Generator) -> SimulatedPanel:
    """A panel like one of stocks, with 5 years of days.

        x_ti = h_t (b_i f_t + s_i q_t + l_i g_{t,g(i)} + r l_i w_{t,u(i)} + e_ti)

    h is a GARCH volatility common to all, and s_i has both signs. Nested panels have 11 groups of
    452 instruments, whose sizes differ by a factor of four; groups u of about a dozen within them,
    with r = 0.4 or 0.7; and ten pairs with dependent e. Panels of many groups have 40 groups of
    1 133 instruments, without groups within them and pairs.
    """
    nested = kind == "nested"
    n, k, T = (452, 11, 1250) if nested else (1133, 40, 1250)
    labels = _labels(4.0 ** rng.permutation(np.linspace(0, 1, k)), n)
    strength = 0.55 * rng.choice([0.6, 1.0], k, p=[0.3, 0.7])
    own = strength[labels] * (1 + 0.4 * rng.uniform(-1, 1, n))
    values = _draw(rng, T, 1, 5.0, False) * 0.6 * (1 + 0.5 * rng.uniform(-1, 1, n))
    values += _draw(rng, T, 1, 5.0, False) * 0.2 * rng.standard_normal(n)
    values += _draw(rng, T, k, 5.0, False)[:, labels] * own
    rest = _draw(rng, T, n, 5.0, False)
    if nested:
        within = np.arange(n) // 12 + n * labels  # a new one where a group begins
        within = np.unique(within, return_inverse=True)[1]
        inner = float(rng.choice([0.4, 0.7])) * own
        values += _draw(rng, T, int(within.max()) + 1, 5.0, False)[:, within] * inner
        one, other = rng.permutation(n)[:20].reshape(2, 10)
        rest[:, other] = 0.8 * rest[:, one] + 0.6 * rest[:, other]
    volatility = np.abs(_draw(rng, T, 1, np.inf, True))
    values = (values + rest) * _smooth(volatility)
    return SimulatedPanel(kind, read_panel(values, kind="returns"), labels, k)


def _smooth(size: np.ndarray) -> np.ndarray:  # (T, 1)
    """A volatility from sizes of single days: a mean with weights that fall by a tenth a day."""
    found = np.ones_like(size)
    for t in range(1, len(size)):
        found[t] = np.sqrt(0.9 * found[t - 1] ** 2 + 0.1 * size[t - 1] ** 2)
    return found


def _labels(sizes: np.ndarray, n: int) -> np.ndarray:
    """Groups of about these relative sizes, at least three instruments each."""
    edges = np.cumsum(np.maximum(3, sizes / sizes.sum() * n))
    return np.searchsorted(edges / edges[-1] * n, np.arange(n) + 0.5)


def _draw(rng: np.random.Generator, T: int, m: int, degrees: float, garch: bool) -> np.ndarray:
    """(T, m) independent series of variance one, with constant or clustering volatility."""
    z = rng.standard_normal((T, m))
    if np.isfinite(degrees):
        z = rng.standard_t(degrees, (T, m)) / np.sqrt(degrees / (degrees - 2))
    if garch:
        variance = np.ones(m)
        for t in range(T):
            z[t] *= np.sqrt(variance)
            variance = 0.05 + 0.1 * np.square(z[t]) + 0.85 * variance
    return z
