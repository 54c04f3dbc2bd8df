"""Tail dependence of independent instruments, for every estimator.

In finite samples independent instruments do not have zero tail dependence. For weights by rank the
level has a closed form; otherwise the blocks of every series are rearranged in time, which removes
the dependence between instruments and keeps the dependence of each on its recent past.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symnmf.data.panel import Panel
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.dependence.tail_request import TailRequest
from symnmf.dependence.tail_weights import INDEPENDENCE
from symnmf.errors import InvalidInput
from symnmf.numerics import average_ranks, numpy_stream
from symnmf.operators import SymmetricOperator

#: Rearrangements behind a level without closed form, and least rows of a block.
REARRANGEMENTS, LEAST_BLOCK = 10, 21
#: Instruments of which a level without closed form is estimated.
MAX_INSTRUMENTS = 200


def rearranged(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # (T, n)
    """Every column rotated by a random amount and its blocks of about √T rows put in random order.

    A rotation alone would leave two columns dependent that happen to move by the same amount,
    which is frequent with many columns.

    Example:
        >>> X = np.tile(np.arange(100), (2, 1)).T
        >>> Y = rearranged(X, np.random.default_rng(0))
        >>> bool((np.sort(Y, axis=0) == X).all()), int((np.diff(Y[:, 0]) % 100 == 1).sum()) >= 90
        (True, True)
    """
    T, n = values.shape
    block = min(T, max(LEAST_BLOCK, int(np.sqrt(T))))
    begins = np.arange(0, T, block)
    lengths = np.minimum(begins + block, T) - begins
    shift = rng.integers(T, size=(n, 1))
    order = rng.permuted(np.tile(np.arange(len(begins)), (n, 1)), axis=1)  # (n, blocks)
    lengths = lengths[order]
    moved = begins[order] - (np.cumsum(lengths, axis=1) - lengths)  # from where each block comes
    rows = np.repeat(moved.ravel(), lengths.ravel()).reshape(n, T) + np.arange(T)
    return np.take_along_axis(values, ((rows - shift) % T).T, axis=0)


def recorded_options(about: TailEstimate) -> dict[str, Any]:
    """The arguments of :func:`symnmf.tail_dependence` that an estimate records."""
    options: dict[str, Any] = {
        "tail": about.tail,
        "margins": about.margins,
        "alpha": about.alpha,
        "estimator": about.estimator,
        "volatility": about.volatility,
        "allow_few": True,
    }
    if about.weight:
        options |= {"q": about.q, "decluster": about.rows_a_block if about.rows_a_block > 1 else 0}
        if about.estimator != "chi":
            options["weight"] = about.weight
    elif about.estimator == "global":
        options["count"] = len(about.exceedances)
    else:
        options["q"] = about.q
    return options


def estimate_again(about: TailEstimate, panel: Panel, **changes: Any) -> SymmetricOperator:
    """The estimate that an existing one describes, from another panel, without shrinkage.

    Arguments:
        about: how the existing matrix was estimated.
        panel: panel of returns.
        changes: arguments of :func:`symnmf.tail_dependence` that differ.
    """
    from symnmf.dependence.tail import tail_dependence

    return tail_dependence(panel, **{**recorded_options(about), **changes})


def independence_baseline(
    panel: Panel, S: SymmetricOperator, draws: int = 20, seed: int = 0
) -> np.ndarray:  # (draws,)
    """Mean off-diagonal entries of the estimate for instruments rearranged in time.

    An estimate must be compared with this baseline. Each series keeps its own dependence on the
    past, such as volatility that comes in clusters.

    Arguments:
        panel: panel of returns.
        S: tail dependence matrix of the panel; it is estimated in the same way again.
        draws: number of rearrangements.
        seed: seed of the rearrangements.

    Raises:
        InvalidInput: S is not a tail dependence matrix.
    """
    about = S.provenance
    if not isinstance(about, TailEstimate):
        raise InvalidInput(
            "S", "is not a TPDM of tail_dependence", "Pass the result of tail_dependence"
        )
    return _rearranged_means(panel, about, draws, seed, "independence")


def independence_level(panel: Panel, about: TailEstimate, seed: int = 0) -> float:
    """Expected entry of S for independent instruments.

        weights: q · (1, 3/4 or 1/2 for indicator, ramp and exponential)

    It is the mean over rearrangements in time for the other estimators, of at most 200 instruments
    unless the radius is global.

    Arguments:
        panel: panel of returns.
        about: how S was estimated.
        seed: seed of the rearrangements.

    Example:
        >>> import symnmf as sn
        >>> panel = sn.read_panel(np.random.default_rng(0).normal(size=(500, 3)), kind="returns")
        >>> S = sn.tail_dependence(panel, estimator="ramp", q=0.4)
        >>> round(independence_level(panel, S.provenance), 6)
        0.3
    """
    if about.weight and about.estimator != "semicorrelation":
        return about.q * INDEPENDENCE[about.weight]
    some = panel
    if about.estimator != "global" and panel.values.shape[1] > MAX_INSTRUMENTS:
        chosen = np.sort(
            numpy_stream(seed, "level").permutation(panel.values.shape[1])[:MAX_INSTRUMENTS]
        )
        some = replace(
            panel, values=panel.values[:, chosen], names=tuple(panel.names[c] for c in chosen)
        )
    return float(_rearranged_means(some, about, REARRANGEMENTS, seed, "level").mean())


def _rearranged_means(
    panel: Panel, about: TailEstimate, draws: int, seed: int, place: str
) -> np.ndarray:  # (draws,)
    """Mean entries of the estimate for some rearrangements.

    The ranks of a rearranged series are its ranks, rearranged: where they determine the estimate,
    the panel is ranked once.
    """
    from symnmf.dependence.tail import tail_dependence

    every = {**(tail_dependence.__kwdefaults__ or {}), **recorded_options(about)}
    request = TailRequest.of(panel, **every)
    scores = average_ranks(panel.values) / (len(panel.values) + 1) if request.by_ranks else None
    found = []
    for draw in range(draws):
        rng = numpy_stream(seed, place, draw)
        if scores is None:
            S = estimate_again(about, panel.with_values(rearranged(panel.values, rng)))
        else:
            S = request.from_scores(panel, np.ascontiguousarray(rearranged(scores, rng).T))
        found.append(mean_entry(S))
    return np.array(found)


def mean_entry(S: SymmetricOperator) -> float:
    """Mean off-diagonal entry."""
    n = S.n
    return (S.mean() * n**2 - S.trace()) / (n * (n - 1)) if n > 1 else 0.0
