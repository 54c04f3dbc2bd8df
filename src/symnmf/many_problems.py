"""Factorization of many small matrices: draws of a bootstrap, windows, halves, a path over k."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from torch import Tensor

from symnmf.core.labels import in_group_order
from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.solver import Solver
from symnmf.defaults import SEED, SOLVER
from symnmf.engine.criterion import Monitor
from symnmf.errors import InvalidInput
from symnmf.factorization import run
from symnmf.fit_request import Request
from symnmf.numerics import SMALL_PRODUCT
from symnmf.operators import as_operator
from symnmf.solvers.sketch_many import FITTED, fitted_starts
from symnmf.solvers.sketched import Sketched
from symnmf.worker_threads import in_order


def factorize_many(
    matrices: Iterable[Any],
    k: int | Sequence[int],
    solver: str | Solver[Any] = SOLVER,
    *,
    seed: int = SEED,
    n_init: int | None = None,
    max_iter: int | None = None,
    **options: Any,
) -> list[Result]:
    """Factorize many matrices, several at a time; each result is that of :func:`factorize`.

    Small matrices, whose operations are too short to be shared by threads, are fitted one on each
    thread of torch. Larger ones follow one another, each on all threads.

    Arguments:
        matrices: the matrices, as for :func:`factorize`; a generator makes them as they are needed.
        k: number of columns, the same for all matrices, or one for each.
        solver: solver of all matrices.
        seed: seed of every fit.
        n_init: number of starts of every fit.
        max_iter: maximum number of iterations of every fit.
        options: hyper-parameters of the solver.

    Returns:
        The results in the order of the matrices, each with its own history. Warnings of one kind
        are issued once, with the number of fits that they are about.

    Raises:
        InvalidInput: a matrix, its k, the solver or one of its options cannot be used.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(3), np.ones((4, 4)))
        >>> [result.H.shape[1] for result in factorize_many([S, S], k=[2, 3])]
        [2, 3]
    """
    request = Request.of(solver, n_init, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problems = _problems(matrices, k, seed, request)
        first = next(problems, None)
        if first is None:
            return []
        small = first.S.cost() * first.k <= SMALL_PRODUCT
        jobs: Iterator[Callable[[], Result]] = (
            partial(run, problem, request, max_iter=max_iter, handle_interrupt=False)
            for problem in chain([first], problems)
        )
        found = list(in_order(jobs, None if small else 1))
    for kind in dict.fromkeys(warning.category for warning in caught):
        same = [str(warning.message) for warning in caught if warning.category is kind]
        number = f"{len(same)} of {len(found)} factorizations; the first: "
        warnings.warn(number + same[0], kind, stacklevel=2)
    return found


def similar_factors(problems: Sequence[Problem]) -> list[Tensor]:  # (n, k) each
    """Factors of problems of one size, each fitted from its warm start and from fresh seeds.

    They are made in one batch (:func:`symnmf.solvers.sketch_many.fitted_starts`). One that does not
    meet the criterion on its own matrix is the start of a run that ends where it does. Problems
    that cannot be batched are fitted one after the other. Nothing is certified.

    Arguments:
        problems: the problems, such as samples of one panel.

    Example:
        >>> import numpy as np
        >>> S = as_operator(np.kron(np.eye(3), np.ones((4, 4))) + 0.1)
        >>> [tuple(H.shape) for H in similar_factors([Problem(S, 2), Problem(S, 2, 1)])]
        [(12, 2), (12, 2)]
    """
    fitted = fitted_starts(problems)
    if fitted is None:
        request = Request(n_init=1, options={"precision": "fast"})
        return [run(problem, request, handle_interrupt=False).H for problem in problems]
    pairs = zip(problems, fitted, strict=True)
    return [_finished_factor(problem, H, SH) for problem, (H, SH) in pairs]


def _finished_factor(problem: Problem, H: Tensor, SH: Tensor) -> Tensor:  # (n, k)
    """A fitted factor as a result would have it, after the steps that the criterion still asks."""
    if Monitor().begin(problem).holds_at(H, SH):
        return in_group_order(problem.to_input_scale(H).to(problem.home))
    request = Request.of(Sketched(precision="fast", schedule=FITTED))
    return run(problem.begun_at(H), request, handle_interrupt=False).H


def _problems(
    matrices: Iterable[Any], k: int | Sequence[int], seed: int, request: Request
) -> Iterator[Problem]:
    """A problem for each matrix."""
    made = 0
    for made, matrix in enumerate(matrices, start=1):
        if not isinstance(k, Sequence):
            one = k
        elif made <= len(k):
            one = k[made - 1]
        else:
            raise _numbers(k, f"at least {made}")
        yield Problem(as_operator(matrix), one, seed, request.start)
    if isinstance(k, Sequence) and made < len(k):
        raise _numbers(k, str(made))


def _numbers(k: Sequence[int], matrices: str) -> InvalidInput:
    return InvalidInput(
        "k", f"has {len(k)} numbers for {matrices} matrices", "Pass one number, or one for each"
    )
