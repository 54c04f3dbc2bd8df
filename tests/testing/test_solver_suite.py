"""The suite of a solver finds what is wrong: one broken solver for each demand."""

import inspect
from dataclasses import dataclass, field

import pytest
import torch

import symnmf as sn
from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Solver, State
from symnmf.engine import solve
from symnmf.errors import InvalidInput, UnknownName
from symnmf.operators import as_operator
from symnmf.options import option
from symnmf.testing import check_solver
from symnmf.testing.observed import ObservedSolver


@dataclass(frozen=True)
class Descent(Solver[State]):
    """A right solver; each test breaks one part of it."""

    step_size: float = option(0.05, above=0)

    def init_state(self, problem):
        return State(problem.H0.clone(), None)

    def step(self, problem, state, rng):
        return State(self.moved(problem, state), None)

    def moved(self, problem, state):
        eta = self.step_size / (problem.S.n * problem.S.scale())
        slope = gradient(state.H, state.product(problem.S))
        return (state.H - eta * slope).clamp_(min=0)


@dataclass(frozen=True)
class Drawn(Descent):
    """A right solver that draws: a random half of the rows moves."""

    def step(self, problem, state, rng):
        moves = torch.rand(problem.S.n, generator=rng) < 0.5
        return State(torch.where(moves[:, None], self.moved(problem, state), state.H), None)


def test_right_solvers_pass():
    check_solver(Descent())
    check_solver(Descent(0.1), iterations=20)
    check_solver(Drawn())


# ---- steps ----


class Negative(Descent):
    def step(self, problem, state, rng):
        return State(self.moved(problem, state) - problem.entry_scale, None)


class Infinite(Descent):
    def step(self, problem, state, rng):
        return State(self.moved(problem, state) / 0, None)


class LateNegative(Descent):
    """One step, between two checks, that the next one repairs."""

    def step(self, problem, state, rng):
        H = self.moved(problem, state)
        if torch.randint(4, (), generator=rng) == 0:
            H[0, 0] = -1.0
        return State(H, None)


class Wide(Descent):
    def step(self, problem, state, rng):
        return State(self.moved(problem, state).double(), None)


class OneColumn(Descent):
    def step(self, problem, state, rng):
        return State(self.moved(problem, state)[:, :1], None)


class NoState(Descent):
    def step(self, problem, state, rng):
        return self.moved(problem, state)


class StaleProduct(Descent):
    def step(self, problem, state, rng):
        return State(self.moved(problem, state), state.product(problem.S))


class Upwards(Descent):
    def step(self, problem, state, rng):
        return State(state.H * 1.2, None)


class Idle(Descent):
    def step(self, problem, state, rng):
        return State(state.H.clone(), None)


class Failing(Descent):
    def step(self, problem, state, rng):
        raise ZeroDivisionError("no step")


# ---- the start ----


class Aliasing(Descent):
    def init_state(self, problem):
        return State(problem.H0, None)


class AliasingView(Descent):
    def init_state(self, problem):
        return State(problem.H0[:, :], None)


@dataclass
class WithStart(State):
    H0: torch.Tensor


class ChangedStart(Descent):
    """H has memory of its own, but the state works in that of the start factor."""

    def init_state(self, problem):
        return WithStart(problem.H0.clone(), None, problem.H0)

    def step(self, problem, state, rng):
        H = self.moved(problem, state)
        state.H0.copy_(H)
        return WithStart(H, None, state.H0)


class NoFirstState(Descent):
    def init_state(self, problem):
        return None


# ---- seeds and checkpoints ----


class Global(Descent):
    """Draws from the generator of the process."""

    def step(self, problem, state, rng):
        H = self.moved(problem, state)
        return State(H * (1 + 1e-3 * torch.rand_like(H)), None)


CALLS = []


class Remembering(Descent):
    """Its steps get shorter from run to run."""

    def step(self, problem, state, rng):
        CALLS.append(1)
        H = self.moved(problem, state)
        return State(H.lerp(state.H, 1e-4 * (len(CALLS) % 97)), None)


class Constant(Descent):
    """Leaves out the start, and with it the seed."""

    def init_state(self, problem):
        H = torch.linspace(0, 1, problem.S.n * problem.k, dtype=problem.S.dtype)
        H = H.reshape(problem.k, problem.S.n).T.contiguous()
        return State(H.mul_(problem.entry_scale), None)


@dataclass
class WithTable(State):
    table: dict


class Unsaved(Descent):
    """A state that a checkpoint cannot hold."""

    def init_state(self, problem):
        return WithTable(problem.H0.clone(), None, {"steps": 0})

    def step(self, problem, state, rng):
        return WithTable(self.moved(problem, state), None, state.table)


@dataclass(frozen=True)
class Forgetful(Descent):
    """Momentum that is stored on the solver, not in its state."""

    last: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def init_state(self, problem):
        self.last.clear()
        return super().init_state(problem)

    def step(self, problem, state, rng):
        H = self.moved(problem, state)
        push = self.last.get("H", H)
        self.last["H"] = H
        return State((H + 0.5 * (H - push)).clamp_(min=0), None)


# ---- order and scale of the rows ----


class Ordered(Descent):
    """The first half of the rows moves faster."""

    def step(self, problem, state, rng):
        H = self.moved(problem, state)
        half = problem.S.n // 2
        H[half:] = H[half:].lerp(state.H[half:], 0.5)
        return State(H, None)


class DrawnInOrder(Descent):
    """Steps draw rows, the first ones more often."""

    def step(self, problem, state, rng):
        chance = torch.linspace(1, 0, problem.S.n)
        moves = torch.rand(problem.S.n, generator=rng) < chance
        return State(torch.where(moves[:, None], self.moved(problem, state), state.H), None)


class Absolute(Descent):
    """A step that does not follow the scale of S."""

    def step(self, problem, state, rng):
        eta = self.step_size / problem.S.n
        H = state.H - eta * gradient(state.H, state.product(problem.S))
        return State(H.clamp_(min=0, max=problem.entry_scale * 10), None)


class Guarded(Descent):
    """A guard that is absolute, however small."""

    def step(self, problem, state, rng):
        return State(self.moved(problem, state) + 1e-9, None)


# ---- options ----


class Thawed(Solver[State]):
    init_state, step, moved = Descent.init_state, Descent.step, Descent.moved
    step_size = 0.05


@dataclass(frozen=True)
class Unchecked(Descent):
    sweeps: int = option(1, whole=True, at_least=1)

    def __post_init__(self):
        pass


@dataclass(frozen=True)
class HalfChecked(Descent):
    """Takes fractions where a whole number is needed."""

    sweeps: int = option(1, whole=True, at_least=1)

    def __post_init__(self):
        for name in ("step_size", "sweeps"):
            value = getattr(self, name)
            if not (type(value) in (int, float) and 0 < value < float("inf")):
                raise InvalidInput(f"HalfChecked.{name}", f"got {value!r}", "Pass a number")


@dataclass(frozen=True)
class Raw(Descent):
    def __post_init__(self):
        self.step_size + 1.0


@dataclass(frozen=True)
class Nameless(Descent):
    def __post_init__(self):
        if not (type(self.step_size) is float and 0 < self.step_size < float("inf")):
            raise InvalidInput("value", f"got {self.step_size!r}", "Pass another")


@dataclass(frozen=True)
class Part:
    rate: float = option(0.5, above=0, below=1)


@dataclass(frozen=True)
class Composed(Descent):
    parts: tuple[Part, ...] = (Part(),)


@dataclass(frozen=True, repr=False)
class Anonymous(Descent):
    def __repr__(self):
        return object.__repr__(self)


BROKEN = {
    Negative: "Negative.step, iteration 1: expected H of at least 0, got an entry of -0.",
    LateNegative: "expected H of at least 0, got an entry of -1",
    Infinite: "Infinite.step, iteration 1: expected a finite H, got NaN or infinity in it",
    Wide: "Wide.step, iteration 1: expected H of torch.float32, got torch.float64",
    OneColumn: "OneColumn.step, iteration 1: expected H of shape (60, 5), got (60, 1)",
    NoState: "NoState.step, iteration 1: expected a State, got a Tensor",
    StaleProduct: "StaleProduct.step, iteration 1: expected SH = S @ H, or None",
    Upwards: "Upwards, 60 iterations on a dense matrix of torch.float32: expected an error of at",
    Idle: "Idle, 60 iterations on a dense matrix of torch.float32: expected an error of at most",
    Failing: "Failing.step: expected a State, got ZeroDivisionError: no step",
    Aliasing: "Aliasing.init_state: expected an H with its own memory, got the memory of",
    AliasingView: "AliasingView.init_state: expected an H with its own memory",
    ChangedStart: "ChangedStart.init_state: expected problem.H0 unchanged, got a run that",
    NoFirstState: "NoFirstState.init_state: expected a State, got a NoneType",
    Global: "Global, seed 3 twice: expected the same bits, got",
    Remembering: "Remembering, seed 3 twice: expected the same bits, got",
    Constant: "Constant, seeds 3 and 4: expected two factors, got the same bits",
    Unsaved: "Unsaved, a checkpoint: expected a state of tensors, numbers, texts and tuples, got",
    Forgetful: "Forgetful, resumed at iteration 40: expected the bits of an uninterrupted run",
    Ordered: "Ordered, rows of S permuted: expected the rows of H permuted, got",
    DrawnInOrder: "DrawnInOrder, rows of S permuted: expected errors of each row that are",
    Absolute: "Absolute, S multiplied by 262144: expected H multiplied by 512, got",
    Guarded: "Guarded, S multiplied by",
    Thawed: "Thawed: expected a frozen dataclass: @dataclass(frozen=True), got a class that is not",
    Unchecked: "Unchecked(step_size='nonsense'): expected an InvalidInput that names step_size",
    HalfChecked: "HalfChecked(sweeps=2.5): expected an InvalidInput that names sweeps, got",
    Raw: "Raw(step_size='nonsense'): expected an InvalidInput that names step_size, got TypeError",
    Nameless: "Nameless(step_size='nonsense'): expected an InvalidInput that names step_size, got",
    Composed: "Part(rate='nonsense'): expected an InvalidInput that names rate, got Part(",
    Anonymous: "Anonymous.__repr__(): expected the same text for the same options",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_solver_is_found(kind):
    with pytest.raises(AssertionError) as found:
        check_solver(kind())
    assert BROKEN[kind] in str(found.value)


# ---- the suite itself ----


def test_only_solvers_are_checked():
    with pytest.raises(InvalidInput, match="solver: is a str. Pass a symnmf.solvers.Solver"):
        sn.testing.check_solver("admm")
    with pytest.raises(InvalidInput, match="iterations: got 19. Pass a whole number of at least"):
        check_solver(Descent(), iterations=19)


def test_wrong_choices_are_unknown_names():
    @dataclass(frozen=True)
    class Chosen(Descent):
        side: str = option("left", choices=("left", "right"))

    check_solver(Chosen())
    with pytest.raises(UnknownName):
        Chosen(side="up")


def test_draws_leave_the_callers_generator_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    check_solver(Drawn(), iterations=20)
    assert torch.equal(torch.rand(3), expected)


def test_an_observed_run_is_the_same_run():
    S = as_operator(torch.eye(8) + 0.2)
    problem = Problem(S, 3, 1)
    plain = solve(problem, Descent(), max_iter=200)
    observed = solve(Problem(S, 3, 1), ObservedSolver(Descent(), lambda p, s: None), max_iter=200)
    assert torch.equal(plain.H, observed.H)
    assert plain.iterations == observed.iterations


def test_the_observer_passes_on_every_method_of_a_solver():
    """A method that a solver may have, and the observer has not, would change the run."""
    contract = {name for name, _ in inspect.getmembers(Solver, inspect.isfunction)}
    assert {name for name in contract if not name.startswith("_")} <= set(vars(ObservedSolver))

    class Rare(Descent):
        check_every = 7
        warm_up = 3

    observed = ObservedSolver(Rare(), lambda problem, state: None)
    assert (observed.check_every, observed.warm_up) == (7, 3)
