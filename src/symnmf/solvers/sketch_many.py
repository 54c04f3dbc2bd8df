"""Start factors of many similar problems, fitted on their surrogates in one batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from symnmf.core.kmeans import SAMPLE_SIZE, kmeans_batch
from symnmf.core.problem import Problem
from symnmf.core.start import embedding, group_starts
from symnmf.numerics import torch_stream
from symnmf.solvers.sketch_newton import Operators, Pool, objectives, products
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_seeds import EMBEDDINGS
from symnmf.solvers.sketch_state import PATIENCE
from symnmf.solvers.sketches import Matrices, Sketches, SmallMatrices, surrogates
from symnmf.solvers.splitting import ADMM, consensus_rows

#: Fresh seeds of each problem that get Newton steps. With one, samples of a bootstrap stay nearer
#: to the warm start than fits from all seeds do.
FRESH_SEEDS = 2
#: Schedule of a run that begins at a factor that is fitted to the surrogate: no step on it.
FITTED = Schedule(admm_max_steps=0, poor_excess=float("inf"), polish_max_steps=0)


def fitted_starts(
    problems: Sequence[Problem], penalty: float = 2.0, schedule: Schedule | None = None
) -> list[tuple[Tensor, Tensor]] | None:
    """A factor for each of several problems of one size, fitted to its surrogate.

    Each problem has its warm start, if it has one, and two fresh seeds: of one draw of k-means in
    each embedding, those with the least errors after a trial. Newton steps on the surrogates
    follow, of all factors in one batch, and on S from the best factor of each problem.

    Arguments:
        problems: S, k, seed and warm start; n and k are those of the first.
        penalty: penalty of ADMM in the trials.
        schedule: constants of the trials and of the Newton steps.

    Returns:
        The factors (n, k), each with its product with S; None where they cannot be made together:
        k is 1, n is large, a surrogate is a large S itself, or a row has no direction in an
        embedding.
    """
    schedule = schedule or Schedule()
    n, k = problems[0].S.n, problems[0].k
    if k == 1 or n > SAMPLE_SIZE:
        return None
    T = surrogates(problems)
    seeds = None if T is None else _group_seeds(problems)
    if T is None or seeds is None:
        return None
    frob_sq = torch.tensor([p.S.frob_sq() for p in problems], dtype=torch.float64).to(seeds.device)
    H = _best_after_trial(problems, T, seeds, penalty, schedule)  # (b, f, k, n)
    warm = [problem.warm_start for problem in problems]
    known = [start.H.T for start in warm if start is not None]
    if len(known) == len(problems):
        H = torch.cat([H, torch.stack(known)[:, None].to(H)], dim=1)
    every = T.repeated(H.shape[1])
    pool = Pool.of_rows(every, H.flatten(0, 1))
    pool = _polished(pool, every, every, frob_sq, schedule)
    errors = pool.value.view(len(problems), -1)
    best = errors.argmin(dim=1) + errors.shape[1] * torch.arange(len(problems)).to(errors.device)
    pool = pool.only(best)
    if isinstance(T, Sketches):
        S = Matrices(tuple(problem.S for problem in problems))
        pool = _polished(Pool.of_rows(S, pool.H), S, T, frob_sq, schedule)
    return [(pool.factor(m), pool.product(m)) for m in range(len(problems))]


def _polished(pool: Pool, S: Operators, T: Operators, frob_sq: Tensor, schedule: Schedule) -> Pool:
    """Newton steps on S, with the curvature of T, of the factors that still gain."""
    each = len(pool.value) // len(frob_sq)
    for _ in range(schedule.polish_max_steps):
        active = pool.active(PATIENCE, len(frob_sq))
        if not len(active):
            break
        errors = (pool.value + frob_sq.repeat_interleave(each)).clamp(min=0)
        least = schedule.polish_min_gain * errors
        pool = pool.stepped(S, T, schedule.polish_cg_iters, active, least)
    return pool


def _group_seeds(problems: Sequence[Problem]) -> Tensor | None:  # (b, e, k, n)
    """Groups of each embedding of each problem, by k-means of all of them in one batch."""
    k = problems[0].k
    sets, rngs = [], []
    for problem in problems:
        for leading, white in EMBEDDINGS:
            X, known = embedding(problem.spectrum, k, leading=leading, white=white)
            if not bool(known.all()):
                return None
            sets.append(X.T)
            rngs.append(torch_stream(problem.seed, "embedding", 0, leading, white, 0))
    width = max(len(X) for X in sets)
    batch = torch.zeros(len(sets), width, sets[0].shape[1], dtype=sets[0].dtype)
    batch = batch.to(sets[0].device)
    for m, X in enumerate(sets):
        batch[m, : len(X)] = X
    labels = kmeans_batch(batch, k, rngs)
    if labels is None:
        return None
    each = labels.view(len(problems), len(EMBEDDINGS), -1)
    made = zip(problems, each, strict=True)
    return torch.stack([group_starts(p.surrogate, k, p.spectrum, some) for p, some in made])


def _best_after_trial(
    problems: Sequence[Problem],
    T: Sketches | SmallMatrices,
    seeds: Tensor,
    penalty: float,
    schedule: Schedule,
) -> Tensor:  # (b, f, k, n)
    """The seeds of each problem with the least errors after a few steps of ADMM."""
    each = seeds.shape[1]
    T, H = T.repeated(each), seeds.flatten(0, 1)
    admm = ADMM(penalty=penalty)
    rho = torch.tensor([admm.rho_of(p) for p in problems], dtype=H.dtype, device=H.device)
    rho = rho.repeat_interleave(each)[:, None, None]
    U = torch.zeros_like(H)
    for _ in range(schedule.trial_steps):
        H, U = consensus_rows(H, products(T, H), U, rho)
    errors = objectives(H, products(T, H)).view(-1, each)
    best = errors.topk(FRESH_SEEDS, dim=1, largest=False).indices  # (b, f)
    return torch.stack(
        [some[places] for some, places in zip(H.view(seeds.shape), best, strict=True)]
    )
