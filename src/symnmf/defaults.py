"""Defaults and choices that several functions, the estimators and the command line share."""

from __future__ import annotations

#: Seed of the start and of every draw.
SEED = 0
#: Name of the solver; ``"auto"`` follows :func:`symnmf.recommend`.
SOLVER = "auto"
#: Names of the start factors.
STARTS = ("random", "uniform", "nndsvd")
#: Starts of the default solver, whose groups are compared; a solver chosen by name makes one run.
N_INIT = 5
#: Maximum iterations, and additional iterations for each start after the first.
MAX_ITER, ITERATIONS_A_START = 10_000, 1_000
#: Resampled histories behind an interval, and those of them, the first, that are fitted anew.
RESAMPLES, FITTED_RESAMPLES = 50, 20
#: Seconds between two checkpoints.
SAVE_EVERY = 60.0
#: Seconds that a process waits for another.
TIMEOUT = 300.0
#: Kinds of dependence, tails, and policies for missing numbers.
DEPENDENCES = ("tail", "correlation")
TAILS = ("lower", "upper")
MISSING_POLICIES = ("error", "drop-columns", "drop-rows", "pairwise")
#: Kind of dependence, and its tail.
DEPENDENCE, TAIL = "tail", "lower"
#: Estimators of tail dependence, each with the fraction of observations that it takes as extreme
#: unless stated otherwise, and the default: no other is better by more than the noise of
#: `symnmf bench predict`, and it costs one matrix product.
FRACTIONS = {
    "semicorrelation": 0.5,
    "ramp": 0.5,
    "chi": 0.2,
    "pairwise": 0.1,
    "global": 0.05,
}
TAIL_ESTIMATORS, TAIL_ESTIMATOR = ("auto", *FRACTIONS), "auto"
#: Instruments up to which ``"auto"`` is the semicorrelation, which is dense; above, the ramp.
MAX_SEMICORRELATION = 20_000
#: Minimum of extreme events per group: with more groups, factors turn into single events.
EVENTS_A_GROUP = 5
#: Policy for missing numbers, and the fraction that ``"drop-columns"`` tolerates in a column.
MISSING, MAX_MISSING = "error", 0.0


def default_starts(solver: object) -> int:
    """Starts unless the caller asks for another number: several for the default solver, else one.

    Example:
        >>> default_starts("auto"), default_starts("admm")
        (5, 1)
    """
    return N_INIT if solver == SOLVER else 1


def max_iterations(n_init: int) -> int:
    """Maximum iterations of a run with ``n_init`` starts.

    Example:
        >>> max_iterations(1), max_iterations(5)
        (10000, 14000)
    """
    return MAX_ITER + ITERATIONS_A_START * (n_init - 1)


#: Numbers of a table (days times instruments) up to which the number of groups that the data
#: suggest is found also where the user chose one.
EXAMINED_NUMBERS = 1_000_000
