"""The copies to the host that a step may make: where, how many at most, and why."""

from collections import Counter

#: Place in the package → most copies in one step of the problems of these tests, and the reason.
#: The problems have 24 rows or more, so that a copy for each row exceeds what is allowed.
ALLOWED = {
    "core/objective.py:objective": (8, "a line search compares values of the objective"),
    "numerics.py:inner64": (
        30, "a line search, conjugate gradients and BFGS decide by inner products"),
    "solvers/line_search.py:first_step": (1, "the first step length is a number; once a run"),
    "solvers/newton.py:direction": (1, "the damping is a number"),
    "solvers/multiplicative.py:step": (1, "the step size is a number"),
    "solvers/coordinate.py:hals_sweep": (1, "k norms, copied together"),
    "solvers/nnls.py:_pivot": (20, "active sets: which rows are left decides what is solved next"),
    # `sketched`, whose steps are those of its own schedule.
    "operators/gram.py:mean": (1, "scale of a random seed"),
    "operators/lowrank.py:sketch": (8, "whether the sketch has settled; once a run"),
    "operators/lowrank.py:frob_sq": (3, "‖T‖² of the surrogate, for the objective"),
    "core/kmeans.py:spread": (27, "k-means++ draws rows one after the other; a seed"),
    "core/kmeans.py:centres": (20, "empty groups are found; a seed"),
    "core/kmeans.py:_few_moved": (20, "whether K-means has settled; a seed"),
    "core/start.py:spectral_labels": (3, "rows without a direction; a seed"),
    "core/start.py:group_start": (9, "scale of a seed"),
    "core/start.py:<lambda>": (6, "sign of each column; the NNDSVD seed"),
    "core/start.py:nndsvd_start": (3, "scale of each column; the NNDSVD seed"),
    "core/spectrum.py:positive": (6, "number of eigenvectors that a seed uses"),
    "core/spectrum.py:floor": (6, "excess of each start"),
    "solvers/sketch_steps.py:of": (1, "margin of a start"),
    "solvers/sketch_state.py:with_start": (1, "margin of a start that is kept"),
    "solvers/column_exchange.py:exchange_column": (3, "which column is given up"),
    "solvers/column_exchange.py:_residual_direction": (2, "the direction that gains most"),
    "solvers/sketch_newton.py:active": (2, "which factors of the batch still gain"),
    "solvers/sketch_newton.py:_directions": (20, "whether conjugate gradients go on"),
    "solvers/sketch_newton.py:_search": (60, "whether the line search of the batch goes on"),
    "solvers/sketch_newton.py:newton_step": (1, "which factors of the batch take the step"),
    "solvers/sketch_newton.py:best": (1, "the best factor of the batch"),
    "solvers/sketch_phases.py:_leave": (1, "errors of the batch, copied together"),
}  # fmt: skip

#: Rows of the registry whose steps copy something; the steps of all others copy nothing.
COPYING = (
    "pgd", "pgd-momentum", "fista", "newton", "lbfgs", "pgncg",
    "pgd-log", "pgd-momentum-log", "fista-log", "newton-log", "lbfgs-log", "pgncg-log",
    "mu-trace", "exponentiated-gradient", "hals", "lai", "anls", "sketched",
)  # fmt: skip


def not_allowed(steps: list[Counter], row: str = "sketched") -> dict[str, int]:
    """The most copies of one step for each place that is not listed, or that makes more.

    Arguments:
        steps: copies of each step.
        row: row of the registry that made them.
    """
    most: Counter = Counter()
    for copies in steps:
        most |= copies
    limits = {place: limit for place, (limit, _) in ALLOWED.items()} if row in COPYING else {}
    return {place: number for place, number in most.items() if number > limits.get(place, 0)}
