"""Recommendation of a solver, with reasons: rules from the form of S and its spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symnmf.core.problem import Problem
from symnmf.core.spectrum import Diagnostics, diagnostics
from symnmf.defaults import EVENTS_A_GROUP
from symnmf.errors import UnknownName
from symnmf.operators import GramOperator, as_operator, unwrap
from symnmf.planning.exact import ExactFactor, exact_factor

GOALS = ("fit", "labels")


#: Mean squared sine of the angle between rows of S and the leading eigenvector, below which they
#: have one direction. On the paper's matrices silhouettes hold at n = 10⁵, where it is 0.0014, and
#: vanish at 10⁶ (its section 6).
ONE_DIRECTION = 5e-4


#: Effective rank up to which the rows of S have one direction whatever that sine is.
NEARLY_RANK_ONE = 1.05


#: Effective rank that separates the paper's two kinds of spectra: 1.1–1.9 and 3.6–4.2 (Table 3).
CORRELATION_TYPE = 2.5


#: Number of rows from which the paper's runs are long, and the range of sizes around its n = 10⁵,
#: where they are short and resets are fastest (its section 5.3).
LARGE_N, RESETS_PAY = 1_000_000, range(31_623, 316_228)


@dataclass(frozen=True)
class Recommendation:
    """A solver, its options, and the reasons in words.

    Attributes:
        solver: name of a solver; ``"exact"`` when the best factor is known;
            ``"spherical-kmeans"`` when only hard labels are wanted.
        options: hyper-parameters to pass to the solver.
        reasons: sentences, the deciding one first.
        exact: best factor, where it is known.
    """

    solver: str
    options: dict[str, Any] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    exact: ExactFactor | None = field(default=None, repr=False)


def recommend(
    S: Any,
    k: int,
    goal: str = "fit",
    *,
    full_matrix: bool = False,
    short: bool = False,
    seed: int = 0,
) -> Recommendation:
    """Recommend a solver for S ≈ H Hᵀ with k columns.

    Arguments:
        S: matrix or operator, as for :func:`symnmf.factorize`.
        k: number of groups.
        goal: ``"fit"`` for the factor, ``"labels"`` when only hard labels are wanted.
        full_matrix: whether to ask for a solver that multiplies with S itself in every step; the
            rules of the founding paper then apply.
        short: whether the run is to be short; only used with ``full_matrix``. The paper's choice is
            then Piecewise AdaGrad near n = 10⁵ and AdaGrad elsewhere.
        seed: seed of the sketch.

    Returns:
        The solver with its options and the reasons, the deciding reason first.

    Raises:
        UnknownName: ``goal`` is not one of the two goals.

    Example:
        >>> import symnmf as sn
        >>> b = sn.benchmark_matrix("corr", n=100)
        >>> sn.recommend(b.operator, b.k).solver
        'sketched'
        >>> sn.recommend(b.operator, b.k, full_matrix=True).solver
        'adagrad'
    """
    return advise(Problem(as_operator(S), k, seed), goal, full_matrix=full_matrix, short=short)


def advise(
    problem: Problem,
    goal: str = "fit",
    *,
    full_matrix: bool = False,
    short: bool = False,
    try_exact: bool = True,
) -> Recommendation:
    """:func:`recommend` for a problem, whose spectrum is reused.

    Arguments:
        problem: S, k, seed and start.
        goal, full_matrix, short: as for :func:`recommend`.
        try_exact: whether to try the cases whose best factor is known.
    """
    if goal not in GOALS:
        raise UnknownName("goal", f"unknown goal {goal!r}", f"Choose {' or '.join(GOALS)}")
    exact = exact_factor(problem) if try_exact else None
    if exact is not None:
        return Recommendation("exact", reasons=(exact.reason,), exact=exact)
    shape = diagnostics(problem.spectrum, problem.k)
    reasons: list[str] = []
    if goal == "labels":
        left, right = angular_collapse(problem)
        bound = f"(‖S‖² − λ₁²) / ‖S‖² = {left:.2g}"
        if left <= right:  # always so for a positive semidefinite S
            bound += f" ≤ (r_eff − 1)² = {right:.2g}"
        if not one_direction(problem):
            reason = f"only labels are wanted, and the rows of S have several directions: {bound}"
            return Recommendation("spherical-kmeans", reasons=(reason,))
        reasons.append(
            f"the rows of S have nearly one direction, where hard angular clustering degenerates: "
            f"{bound}; the soft factorization still fits"
        )
    if full_matrix:
        name, why = _paper_rule(problem, shape.r_eff, _gap(problem, shape), short)
        return Recommendation(name, reasons=(*reasons, why, *_remarks(problem)))
    reasons.append(_about_the_sketch(problem, shape.var_k, _gap(problem, shape)))
    return Recommendation("sketched", reasons=(*reasons, *_remarks(problem)))


def angular_collapse(problem: Problem) -> tuple[float, float]:
    """Both sides of the paper's inequality (section 6) for the directions of the rows of S.

        (‖S‖² − λ₁²) / ‖S‖² ≤ (r_eff − 1)²,   r_eff = tr S / λ₁,   for a positive semidefinite S

    The left side is the mean of sin² of the angle between a row and the leading eigenvector,
    weighted by squared length.
    """
    spectrum = problem.spectrum
    r_eff = spectrum.trace / float(spectrum.values[0])
    return spectrum.rank_one, (r_eff - 1) ** 2


def one_direction(problem: Problem) -> bool:
    """Whether the rows of S are so nearly parallel that partitions by angle are meaningless."""
    left, right = angular_collapse(problem)
    return left < ONE_DIRECTION or right**0.5 <= NEARLY_RANK_ONE - 1


def _gap(problem: Problem, shape: Diagnostics) -> str:
    """The gap below rank k + 1, in words."""
    spectrum, m = problem.spectrum, problem.k + 2
    if len(spectrum.values) < m or spectrum.positive(m) < m:
        return f"no positive eigenvalue below rank {problem.k + 1}"
    about = "" if spectrum.exact else "about "
    return f"gap below rank k + 1 {about}{shape.gamma_k1:.3g}"


def _paper_rule(problem: Problem, r_eff: float, gap: str, short: bool) -> tuple[str, str]:
    n = problem.S.n
    shape = f"effective rank {r_eff:.2g}, {gap}"
    if short and n in RESETS_PAY:
        return "piecewise-adagrad", f"a short run is wanted and n = {n}: resets pay ({shape})"
    if short:
        return "adagrad", f"a short run is wanted: the simplest method of its family ({shape})"
    if r_eff >= CORRELATION_TYPE:
        return "adagrad", f"the spectrum is of the correlation type ({shape}): full batches win"
    if n >= LARGE_N:
        why = f"the spectrum is of the tail-dependence type ({shape}) and n = {n} is large: "
        return "block-svrg-adaptgrow", why + "cheap blocks that grow pay over a long run"
    return "adagrad", f"the spectrum is of the tail-dependence type ({shape}), and n is moderate"


def _about_the_sketch(problem: Problem, share: float, gap: str) -> str:
    if problem.surrogate is problem.S:
        return "products with S are as cheap as with a sketch: seeded and fitted on S itself"
    width = problem.spectrum.vectors.shape[1]
    held = f"k eigenvalues hold {share:.3g} % of the trace, " if share <= 100 else ""
    return (
        f"a sketch of rank {width} replaces S ({held}{gap}); the fit is corrected and checked on S"
    )


def _remarks(problem: Problem) -> list[str]:
    """Further remarks for the caller."""
    S = unwrap(problem.S)
    remarks = []
    if isinstance(S, GramOperator) and problem.k > S.m / EVENTS_A_GROUP:
        remarks.append(
            f"k = {problem.k} is more than a fifth of the {S.m} exceedances: factors tend to "
            f"single events; below {max(2, S.m // EVENTS_A_GROUP)} they are groups"
        )
    return remarks
