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
    "solvers/quartic.py:along": (4, "coefficients of f along a line"),
    "solvers/column_descent.py:column_share": (3, "the share of the way of each of 3 columns"),
    "solvers/column_descent.py:_bounded_move": (60, "whether the bound of each of 3 columns holds"),
    "solvers/leverage.py:leverage_sample": (4, "how many rows are certain, and which are drawn"),
    "solvers/leverage.py:leverage_shares": (2, "directions that W has"),
    # `sketched`, whose steps are those of its own schedule.
    "operators/gram.py:mean": (2, "scale of the random seed and of that of NNDSVD"),
    "operators/lowrank.py:sketch": (8, "whether the sketch has settled; once a run"),
    "operators/lowrank.py:frob_sq": (3, "‖T‖² of the surrogate, for the objective"),
    "core/kmeans.py:spread": (27, "k-means++ draws rows one after the other; a seed"),
    "core/kmeans.py:centres": (20, "empty groups are found; a seed"),
    "core/kmeans.py:_few_moved": (20, "whether K-means has settled; a seed"),
    "core/start.py:spectral_labels": (3, "rows without a direction; a seed"),
    "core/start.py:group_start": (9, "scale of a seed"),
    "core/start.py:<lambda>": (6, "sign of each column; the NNDSVD seed"),
    "core/start.py:nndsvd_start": (3, "scale of each column; the NNDSVD seed"),
    "core/kmeans.py:_spread_batch": (1, "whether every set has k directions; a batch of seeds"),
    "core/kmeans.py:kmeans_batch": (40, "which sets have not settled, and empty groups; a batch"),
    "core/start.py:group_starts": (2, "the common factor of a batch of seeds"),
    "core/spectrum.py:positive": (10, "number of eigenvectors that each seed of a batch uses"),
    "core/spectrum.py:floor": (12, "excess of each seed of a batch"),
    "solvers/sketch_seeds.py:<genexpr>": (4, "rows without a direction; a batch of seeds"),
    "solvers/sketch_steps.py:trials": (1, "errors of a batch of seeds, copied together"),
    "solvers/sketch_steps.py:of": (6, "margin of each seed of a batch"),
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
    "mu-trace", "exponentiated-gradient", "hals", "lai", "anls", "spg", "ccd", "bsum",
    "lvs", "sketched",
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
