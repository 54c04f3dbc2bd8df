"""Test suite for solvers, on a small matrix with five groups."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.core.solver import Check, Solver, State
from symnmf.engine import solve
from symnmf.errors import InvalidInput
from symnmf.numerics import torch_stream
from symnmf.operators import GramOperator, SymmetricOperator, as_operator, unwrap
from symnmf.options import constraints, whole_number
from symnmf.storage.checkpoint import Checkpoint
from symnmf.testing.expectations import calling, difference, expect
from symnmf.testing.observed import ObservedSolver

#: Number of rows of S, of columns of the factor that S is the product of, and of columns of H.
N, M, K = 60, 12, 5
SEED = 3
#: Largest error after a short run, relative to the error at the start.
LEFT = 0.9
#: Allowed difference of S @ H in a state from the product, relative to its norm.
DRIFT = {torch.float32: 1e-4, torch.float64: 1e-9}
#: Iterations and tolerance of the runs on permuted rows.
PERMUTED_ITERATIONS, PERMUTED = 20, 1e-8
#: Number of runs with and without permutation for a solver that draws: two samples of this size
#: from one distribution do not overlap with probability 2 · 12!² / 24! = 7·10⁻⁷.
DRAWS = 12
#: S is multiplied by these powers of four, with this tolerance. Beyond 2²⁰ the problem itself
#: rescales S.
SCALES, SCALED = (2.0**18, 2.0**-18), 1e-9


def check_solver(solver: Solver[Any], *, iterations: int = 60) -> None:
    """Test a solver against its contract, in short runs on a small matrix.

    1. The solver is a frozen dataclass and rejects values that its options do not allow.
    2. The first state does not share memory with the start factor.
    3. H is finite and non-negative after every step, and S @ H is correct where the state holds it.
    4. The error falls by a tenth, in float32 and float64, on a dense and on a Gram matrix.
    5. The same seed gives the same bits; another seed does not.
    6. A run resumed from a checkpoint gives the same bits as an uninterrupted run.
    7. Permuting the rows of S permutes H; in distribution where steps draw.
    8. c² · S gives c · H.

    Arguments:
        solver: a solver with the options to test.
        iterations: number of iterations of a short run, at least 20; a slow method needs more.

    Raises:
        AssertionError: a requirement fails; names it with the expected and the actual value.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Backwards(Solver[State]):
        ...     def init_state(self, problem):
        ...         return State(problem.H0.clone(), None)
        ...     def step(self, problem, state, rng):
        ...         return State(state.H - problem.entry_scale, None)
        >>> try:
        ...     check_solver(Backwards())
        ... except AssertionError as wrong:
        ...     print(str(wrong)[:71])
        Backwards.step, iteration 1: expected H of at least 0, got an entry of
    """
    if not isinstance(solver, Solver):
        raise InvalidInput(
            "solver", f"is a {type(solver).__name__}", "Pass a symnmf.solvers.Solver object"
        )
    whole_number("iterations", iterations, 20)
    _check_options(solver)
    _check_start(solver)
    _check_runs(solver, iterations)
    _check_seeds(solver, iterations)
    _check_resume(solver, iterations)
    _check_permutation(solver)
    _check_scale(solver, iterations)


@cache
def _factor() -> Tensor:  # (N, M)
    """B of S = B Bᵀ with a unit diagonal: five groups, a common factor, and noise."""
    rng = torch_stream(0, "solver suite")
    B = 0.3 * torch.rand(N, M, generator=rng, dtype=torch.float64)
    B[:, -1] += 0.5
    group = torch.arange(N) % K
    B[torch.arange(N), group] += 0.5 + torch.rand(N, generator=rng, dtype=torch.float64)
    return B.div_(torch.linalg.vector_norm(B, dim=1, keepdim=True))


def _operator(form: str, dtype: torch.dtype) -> SymmetricOperator:
    B = _factor()
    return GramOperator(B.to(dtype)) if form == "gram" else as_operator((B @ B.T).to(dtype))


def _run(
    solver: Solver[Any],
    S: SymmetricOperator,
    max_iter: int,
    *,
    seed: int = SEED,
    start: str | Tensor = "random",
    **rest: Any,
) -> Result:
    with calling(type(solver).__name__, "a run"):
        return solve(Problem(S, K, seed, start), solver, max_iter=max_iter, **rest)


def _expect_same(
    came: Tensor, expected: Tensor, called: str, what: str, tolerance: float = 0.0
) -> None:
    size = float(expected.abs().max())
    wrong = difference(came, expected, tolerance, tolerance * size)
    expect(wrong is None, called, what, wrong)


# ---- options ----


def _check_options(solver: Solver[Any]) -> None:
    name = type(solver).__name__
    params = getattr(type(solver), "__dataclass_params__", None)  # dataclasses has no other way
    frozen = params is not None and params.frozen
    expect(frozen, name, "a frozen dataclass: @dataclass(frozen=True)", "a class that is not one")
    again = _fresh(solver)
    expect(
        repr(again) == repr(solver),
        f"{name}.__repr__()",
        "the same text for the same options: a checkpoint is known by it",
        f"{solver!r} and {again!r}",
    )
    for part in _parts(solver):
        for option, constraint in constraints(part).items():
            for wrong in constraint.wrong_values():
                _check_refused(part, option, wrong)


def _fresh(solver: Any) -> Any:
    """A new object with the same options and no state that the old object may have stored."""
    return dataclasses.replace(solver)


def _parts(owner: Any) -> Iterator[Any]:
    """A dataclass and the dataclasses that it is composed of."""
    if isinstance(owner, tuple):
        for part in owner:
            yield from _parts(part)
    elif dataclasses.is_dataclass(owner):
        yield owner
        for field in dataclasses.fields(owner):
            yield from _parts(getattr(owner, field.name))


def _check_refused(part: Any, option: str, wrong: Any) -> None:
    called = f"{type(part).__name__}({option}={wrong!r})"
    expected = f"an InvalidInput that names {option}"
    try:
        made = dataclasses.replace(part, **{option: wrong})
    except InvalidInput as error:
        expect(option in error.argument, called, expected, error)
        return
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{called}: expected {expected}, got {came}") from error
    expect(False, called, expected, repr(made))


# ---- runs ----


class _FixedStart(Problem):
    """A problem that returns the same start factor each time, to detect changes in place."""

    @property
    def H0(self) -> Tensor:  # (n, k)
        assert isinstance(self.start, Tensor)
        return self.start


def _check_start(solver: Solver[Any]) -> None:
    """The first state does not share memory with H0, and a run does not change H0."""
    S = _operator("gram", torch.float32)
    H0 = Problem(S, K, SEED).H0
    before, called = H0.clone(), f"{type(solver).__name__}.init_state"
    problem = _FixedStart(S, K, SEED, H0)
    with calling(called, "a State"):
        state = solver.init_state(problem)
    _check_state(called, problem, state)
    shared = state.H.untyped_storage().data_ptr() == H0.untyped_storage().data_ptr()
    expect(not shared, called, "an H with its own memory", "the memory of problem.H0")
    with calling(type(solver).__name__, "a run"):
        solve(problem, ObservedSolver(solver, _each_state(type(solver).__name__)), max_iter=20)
    expect(torch.equal(H0, before), called, "problem.H0 unchanged", "a run that changed it")


def _check_state(called: str, problem: Problem, state: Any) -> None:
    """H is feasible, and S @ H agrees with the state."""
    expect(isinstance(state, State), called, "a State", f"a {type(state).__name__}")
    S, H, shape = problem.S, state.H, (problem.S.n, problem.k)
    expect(H.shape == shape, called, f"H of shape {shape}", tuple(H.shape))
    expect(H.dtype == S.dtype, called, f"H of {S.dtype}", H.dtype)
    expect(bool(torch.isfinite(H).all()), called, "a finite H", "NaN or infinity in it")
    expect(bool((H >= 0).all()), called, "H of at least 0", f"an entry of {float(H.min()):.6g}")
    if state.SH is None:
        return
    product = unwrap(S).matmul(H)
    tolerance = DRIFT[S.dtype] * float(product.norm())
    off = float((state.SH - product).norm())
    expect(off <= tolerance, called, "SH = S @ H, or None", f"an SH that is {off:.3g} away from it")


def _check_runs(solver: Solver[Any], iterations: int) -> None:
    name = type(solver).__name__
    for form in ("dense", "gram"):
        for dtype in (torch.float32, torch.float64):
            S = _operator(form, dtype)
            result = _run(ObservedSolver(solver, _each_state(name)), S, iterations)
            first, last = result.history[0].error, result.history[-1].error
            expect(
                last <= LEFT * first,
                f"{name}, {iterations} iterations on a {form} matrix of {dtype}",
                f"an error of at most {LEFT} of that at the start, {first:.6g}",
                f"{last:.6g}",
            )
            H = result.H.to(torch.float64)
            explicit = float((S.to_dense().to(torch.float64) - H @ H.T).square().sum())
            explicit /= S.frob_sq()
            expect(
                abs(result.certificate.error - explicit) <= 1e-6,
                f"{name}, error on a {form} matrix of {dtype}",
                f"that of the factor, {explicit:.9g}",
                f"{result.certificate.error:.9g}",
            )


def _each_state(name: str) -> Any:
    """An observer that checks the state after every step of a run."""
    iteration = 0

    def observe(problem: Problem, state: Any) -> None:
        nonlocal iteration
        iteration += 1
        _check_state(f"{name}.step, iteration {iteration}", problem, state)

    return observe


def _check_seeds(solver: Solver[Any], iterations: int) -> None:
    S, name = _operator("gram", torch.float32), type(solver).__name__
    once = _run(solver, S, iterations)
    again = _run(_fresh(solver), S, iterations)
    _expect_same(again.H, once.H, f"{name}, seed {SEED} twice", "the same bits")
    other = _run(solver, S, iterations, seed=SEED + 1)
    differs = not torch.equal(other.H, once.H)
    expect(differs, f"{name}, seeds {SEED} and {SEED + 1}", "two factors", "the same bits")


def _check_resume(solver: Solver[Any], iterations: int) -> None:
    """Compare a run that was saved and resumed by a new object with an uninterrupted run."""
    S, name = _operator("gram", torch.float32), type(solver).__name__
    longer = iterations + iterations // 3
    whole = _run(solver, S, longer)
    part = min(2 * iterations // 3, whole.iterations // 2)
    steps = 0

    def count(problem: Problem, state: Any) -> None:
        nonlocal steps
        steps += 1

    with tempfile.TemporaryDirectory() as folder:
        place = Checkpoint(Path(folder), every_seconds=0)
        first = ObservedSolver(solver, lambda problem, state: None)
        with calling(f"{name}, a checkpoint", "a state of tensors, numbers, texts and tuples"):
            solve(Problem(S, K, SEED), first, max_iter=part, checkpoint=place)
        fresh = ObservedSolver(_fresh(solver), count)
        with calling(f"{name}, a checkpoint", "a run that resumes from it"):
            resumed = solve(
                Problem(S, K, SEED), fresh, max_iter=longer, checkpoint=place, resume=True
            )
    called = f"{name}, resumed at iteration {part}"
    rest = whole.iterations - part
    expect(steps == rest, called, f"{rest} steps", f"{steps}")
    _expect_same(resumed.H, whole.H, called, "the bits of an uninterrupted run")
    expect(
        _untimed(resumed) == _untimed(whole),
        called,
        "the checks of an uninterrupted run",
        f"other errors, from {whole.history[-1].error:.9g} to {resumed.history[-1].error:.9g}",
    )
    for what in ("iterations", "products"):
        expected, came = getattr(whole, what), getattr(resumed, what)
        expect(came == expected, called, f"{expected} {what}", came)


def _untimed(result: Result) -> list[Check]:
    return [dataclasses.replace(check, seconds=0.0) for check in result.history]


# ---- equivariance ----


def _check_permutation(solver: Solver[Any]) -> None:
    """The order of the rows does not matter."""
    S = _operator("dense", torch.float64).to_dense()
    rng = torch_stream(1, "solver suite")
    order = torch.randperm(N, generator=rng)
    H0 = torch.rand(N, K, generator=rng, dtype=torch.float64)
    run = partial(_run, solver, max_iter=PERMUTED_ITERATIONS)
    plain = partial(run, as_operator(S), start=H0)
    moved = partial(run, as_operator(S[order][:, order]), start=H0[order])
    called = f"{type(solver).__name__}, rows of S permuted"
    one, other = plain(seed=SEED).H, plain(seed=SEED + 1).H
    if difference(other, one, PERMUTED, PERMUTED * float(one.max())) is None:  # nothing is drawn
        expected = one[order]
        _expect_same(moved(seed=SEED).H, expected, called, "the rows of H permuted", PERMUTED)
        return
    errors = torch.stack([_row_errors(S, plain(seed=s).H) for s in range(DRAWS)])
    permuted = torch.stack(
        [_row_errors(S, moved(seed=DRAWS + s).H[order.argsort()]) for s in range(DRAWS)]
    )
    tolerance = PERMUTED * float(errors.max())
    below = errors.amax(dim=0) + tolerance < permuted.amin(dim=0)
    above = permuted.amax(dim=0) + tolerance < errors.amin(dim=0)
    apart = (below | above).nonzero()[:, 0].tolist()
    expect(
        not apart,
        called,
        f"errors of each row that are distributed as before, over {DRAWS} seeds",
        f"errors without overlap in {len(apart)} of {N} rows, such as row {apart[:1]}",
    )


def _row_errors(S: Tensor, H: Tensor) -> Tensor:  # (n,)
    errors: Tensor = torch.linalg.vector_norm(S - H @ H.T, dim=1)
    return errors


def _check_scale(solver: Solver[Any], iterations: int) -> None:
    S = _operator("dense", torch.float64).to_dense()
    plain = _run(solver, as_operator(S), iterations)
    for scale in SCALES:
        called = f"{type(solver).__name__}, S multiplied by {scale:g}"
        scaled = _run(solver, as_operator(S * scale), iterations)
        expected = plain.H * scale**0.5
        _expect_same(scaled.H, expected, called, f"H multiplied by {scale**0.5:g}", SCALED)
        kkt, same = scaled.certificate.kkt, plain.certificate.kkt
        expect(abs(kkt - same) <= 1e-6 * same, called, f"a scaled gradient of {same:.9g}", kkt)
