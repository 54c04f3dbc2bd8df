"""The constants of the sketched solver: how long each phase lasts, and which fit is good."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """When the phases of :class:`symnmf.solvers.sketched.Sketched` end, and how fits compare.

    An excess is measured on the surrogate and is 0 at the floor of the error; a gain is the
    decrease of an excess between two measurements. The values were found on the matrices of the
    benchmark and on daily returns of stocks, and are not meant to be tuned by callers.

    Example:
        >>> Schedule().admm_max_steps
        300
    """

    kmeans_draws: int = 3
    """Draws of k-means for each embedding; the one with the least error becomes the seed."""

    trial_steps: int = 6
    """ADMM steps that a seed or a moved factor gets before it is compared with others."""

    race_excess: float = 0.05
    """Seeds whose excess differs by less are compared by how sharp their groups are."""

    admm_max_steps: int = 300
    """Maximum number of ADMM steps of a fit on the surrogate."""

    admm_measure_every: int = 10
    """ADMM steps between two measurements of the excess."""

    admm_min_gain: float = 1e-4
    """A fit by ADMM ends when the gain between two measurements is smaller than this."""

    admm_min_gain_share: float = 0.2
    """A fit by ADMM also ends when the gain is smaller than this share of the excess."""

    rough_excess: float = 5e-4
    """A fit above it gets Newton steps, which gain more where ADMM has become slow."""

    poor_excess: float = 2e-3
    """A fit above it is offered exchanges of columns first."""

    exchange_max_moves: int = 4
    """Maximum number of columns that are exchanged in one fit."""

    exchange_min_gain: float = 1e-4
    """An exchange with a smaller gain is undone, and no other one follows."""

    pool_entries: int = 1_000_000
    """Maximum of the entries n·k·b of the b factors that are polished at the same time."""

    pool_size: int = 6
    """The first start, and the seeds that lost its race and are polished with it, at most."""

    pool_draws: int = 1
    """Draws of k-means for each seed of the starts after the first, where they join a pool."""

    polish_cg_iters: int = 20
    """Maximum steps of conjugate gradients in a Newton step on the surrogate."""

    polish_max_steps: int = 60
    """Maximum number of Newton steps on the surrogate."""

    polish_min_gain: float = 1e-3
    """Newton steps of a factor end when two in a row gain less than this fraction of its error."""

    tie_excess: float = 1e-3
    """Starts below it are near the floor; if their excess differs by less, sharper groups win."""

    agreement_excess: float = 1e-2
    """Starts whose excess is at most this much above the best count for the agreement."""

    agreement_starts: int = 3
    """Starts that count for the agreement before it may be enough."""

    agreement_enough: float = 0.95
    """Near the floor no further start begins where the agreement is at least this."""

    surrogate_check_every: int = 300
    """Iterations between checks on S while the work is on the surrogate."""

    refine_check_every: int = 10
    """Iterations between checks on S during ADMM with the corrected surrogate."""

    refine_max_steps: int = 60
    """Maximum number of ADMM steps with the corrected surrogate."""

    newton_check_every: int = 3
    """Iterations between checks on S during Gauss–Newton with the corrected surrogate."""

    newton_stagnant_checks: int = 3
    """Stagnant checks after which Gauss–Newton changes from the corrected surrogate to S."""

    exact_check_every: int = 10
    """Iterations between checks on S during Gauss–Newton with S."""

    finish_excess: float = 5e-4
    """Excess on S above which Newton steps on S follow a check that meets the criterion."""

    finish_max_rows: int = 10_000
    """Rows of S from which on the gate of the gradient is tight, and the criterion ends the run."""

    finish_cg_iters: int = 20
    """Maximum steps of conjugate gradients in a Newton step on S."""

    finish_max_steps: int = 100
    """Maximum number of Newton steps on S."""

    finish_min_gain: float = 2e-5
    """Newton steps on S end when two in a row lower the error by less than this fraction of it."""

    finish_min_gain_best: float = 1e-6
    """The same with ``precision="best"``."""

    finish_starts: int = 3
    """Maximum number of factors that are finished on S; the one with the least error is the fit."""

    finish_within: float = 0.02
    """A factor is finished if its error on the surrogate is within this fraction of the least."""

    finish_check_every: int = 10
    """Newton steps on S between two checks."""
