"""The seeds of the sketched solver: factors from which a fit on the surrogate may begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import TypeGuard

import torch
from torch import Tensor

from symnmf.core.kmeans import kmeans_batch
from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.core.start import (
    embedding,
    group_start,
    group_starts,
    nndsvd_start,
    random_start,
    spectral_labels,
)
from symnmf.numerics import torch_stream
from symnmf.solvers.sketch_newton import objectives, products

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


def seed_batch(
    problem: Problem, starts: Sequence[int], n_init: int, draws: int
) -> Tensor | None:  # (m, k, n)
    """The seeds of some starts as rows, their groups by k-means of all embeddings in one batch.

    They are those of :func:`seeds_of_start`, in their order and with the same draws.

    Arguments:
        problem: S, k, seed and spectrum.
        starts: numbers of the starts.
        n_init: number of starts without the warm start.
        draws: number of k-means draws for each embedding.

    Returns:
        The seeds; None where k is 1, or where a row has no direction in an embedding or rows have
        fewer than k of them.
    """
    k, T, spectrum = problem.k, problem.surrogate, problem.spectrum
    places = {chosen: embedding(spectrum, k, leading=chosen[0], white=chosen[1])
              for chosen in EMBEDDINGS}  # fmt: skip
    if k == 1 or not all(bool(known.all()) for _, known in places.values()):
        return None
    wanted = [seeds_of_start(problem, start, n_init, draws) for start in starts]
    arguments = [seed.args for seeds in wanted for seed in seeds if _is_group(seed)]
    groups = [(start, leading, white) for _, start, leading, white, _ in arguments]
    found: list[Tensor] = []
    if groups:
        width = max(X.shape[1] for X, _ in places.values())
        sets = torch.zeros(len(groups) * draws, width, problem.S.n, dtype=T.dtype, device=T.device)
        for m, (_, leading, white) in enumerate(groups):
            X = places[leading, white][0]
            sets[m * draws : (m + 1) * draws, : X.shape[1]] = X.T
        rngs = [_draw(problem, *group, draw) for group in groups for draw in range(draws)]
        labels = kmeans_batch(sets, k, rngs)
        if labels is None:
            return None
        H = group_starts(T, k, spectrum, labels)
        values = objectives(H, products(T, H)).view(-1, draws)
        best = values.argmin(dim=1) + draws * torch.arange(len(groups), device=values.device)
        found = list(H[best])
    made = iter(found)
    return torch.stack(
        [next(made) if _is_group(seed) else seed().T for seeds in wanted for seed in seeds]
    )


def _is_group(seed: Seed) -> TypeGuard[partial[Tensor]]:
    """Whether a seed comes from groups of an embedding."""
    return isinstance(seed, partial) and seed.func is _group_seed


def _group_seed(
    problem: Problem, start: int, leading: bool, white: bool, draws: int
) -> Tensor:  # (n, k)
    """Groups of an embedding: of some draws of k-means, those with the least error."""
    T, k, spectrum = problem.surrogate, problem.k, problem.spectrum
    best, least = None, inf
    for draw in range(draws):
        rng = _draw(problem, start, leading, white, draw)
        labels = spectral_labels(spectrum, k, rng, leading=leading, white=white)
        H = group_start(T, k, spectrum, labels)
        value = error(H, T.matmul(H), problem.S.frob_sq())
        if best is None or value < least:
            best, least = H, value
    assert best is not None
    return best


def _draw(problem: Problem, start: int, leading: bool, white: bool, draw: int) -> torch.Generator:
    """The generator of one draw of k-means."""
    return torch_stream(problem.seed, "embedding", start, leading, white, draw)
