"""The seeds of the sketched solver: factors from which a fit on the surrogate may begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from torch import Tensor

from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.core.start import group_start, nndsvd_start, random_start, spectral_labels
from symnmf.numerics import torch_stream

#: Makes a factor (n, k) when it is called.
Seed = Callable[[], Tensor]

#: Embeddings of the rows, as (with the leading direction, whitened).
EMBEDDINGS = ((False, True), (False, False), (True, True), (True, False))


def seeds_of_start(problem: Problem, start: int, n_init: int, draws: int) -> list[Seed]:
    """The seeds of a start: all of them for the first, then one each, in turn.

    NNDSVD is the same every time, and therefore a seed of the first start only. The factor of a
    warm start is the only seed of one additional start, which comes last.

    Arguments:
        problem: S, k, seed and spectrum.
        start: number of the start, from 0.
        n_init: number of starts without the warm start.
        draws: number of k-means draws for each embedding.
    """
    warm_start = problem.warm_start
    if warm_start is not None and start == n_init:
        return [warm_start.H.clone]
    groups = [partial(_group_seed, problem, start, *chosen, draws) for chosen in EMBEDDINGS]
    drawn = partial(random_start, problem.S, problem.k, problem.seed + start)
    if start == 0:
        return [*groups, partial(nndsvd_start, problem.S, problem.k, problem.spectrum), drawn]
    return [[*groups, drawn][(start - 1) % (len(groups) + 1)]]


def _group_seed(
    problem: Problem, start: int, leading: bool, white: bool, draws: int
) -> Tensor:  # (n, k)
    """Groups of an embedding: of some draws of k-means, those with the least error."""
    T, k, spectrum = problem.surrogate, problem.k, problem.spectrum
    best, least = None, inf
    for draw in range(draws):
        rng = torch_stream(problem.seed, "embedding", start, leading, white, draw)
        labels = spectral_labels(spectrum, k, rng, leading=leading, white=white)
        H = group_start(T, k, spectrum, labels)
        value = error(H, T.matmul(H), problem.S.frob_sq())
        if best is None or value < least:
            best, least = H, value
    assert best is not None
    return best
