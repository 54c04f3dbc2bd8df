"""The phases of the sketched solver: their order, their length, their states in a checkpoint."""

import dataclasses
import json
from types import SimpleNamespace

import pytest
import torch

import symnmf as sn
from helpers import blocks, market
from symnmf.core.bounds import ErrorBounds
from symnmf.core.objective import error
from symnmf.core.problem import Problem
from symnmf.core.start import group_start, group_starts, spectral_labels
from symnmf.engine import solve
from symnmf.errors import AmbiguousWarning, InvalidInput
from symnmf.numerics import torch_stream
from symnmf.solvers.registry import make_solver
from symnmf.solvers.sketch_phases import (
    TRANSITIONS,
    ColumnExchange,
    CorrectedFit,
    CorrectedNewton,
    ExactNewton,
    Finish,
    FirstCheck,
    MoreSeeds,
    Phase,
    SeedRace,
    SurrogateFit,
    SurrogatePolish,
)
from symnmf.solvers.sketch_schedule import Schedule
from symnmf.solvers.sketch_seeds import seed_batch, seeds_of_start
from symnmf.solvers.sketch_state import Starts
from symnmf.solvers.sketched import Sketched
from symnmf.storage.checkpoint import Checkpoint
from symnmf.storage.checkpointable import flatten, unflatten


def walk(S, k, *, start="random", steps=2000, improve=(), **options):
    """The phases of a run in which every check is stagnant, each with its state after it.

    ``improve`` are the phases in which a check meets the criterion, far from the floor.
    """
    problem, solver = Problem(sn.as_operator(S), k, 0, start), Sketched(**options)
    state, since = solver.init_state(problem), 0
    for step in range(steps):
        yield state
        ended = ExactNewton not in improve or getattr(state.phase, "finished", False)
        if isinstance(state.phase, ExactNewton) and ended:
            return
        state = solver.step(problem, state, torch.Generator().manual_seed(step))
        since += 1
        if solver.may_stop(state) and solver.should_check(state, since):
            state.SH, since = state.product(problem.S), 0
            before = state
            if type(state.phase) in improve:
                state = solver.improve(problem, state, SimpleNamespace(error=1e9))
            if state is before:
                state = solver.react(problem, state, None)
    raise AssertionError("the last phase was not reached")


#: Options with which every phase takes part in one of two runs.
POOR = Schedule(rough_excess=-1.0, poor_excess=-1.0)
BOTH = (
    {"precision": "fast", "schedule": POOR},
    {"schedule": dataclasses.replace(POOR, finish_excess=-1.0)},
)


@pytest.mark.parametrize("share", [0.014, 0.04, 0.4, 0.75, 0.98])
def test_resume_in_every_phase(share, tmp_path):
    b = market("corr", 100)
    solver = Sketched(n_init=3)
    whole = solve(Problem(b.operator, b.k), solver)
    place = Checkpoint(tmp_path, every_seconds=0)
    part = round(share * whole.iterations)
    assert 0 < part < whole.iterations
    solve(Problem(b.operator, b.k), solver, max_iter=part, checkpoint=place)
    resumed = solve(Problem(b.operator, b.k), solver, checkpoint=place, resume=True)
    assert torch.equal(resumed.H, whole.H)
    assert resumed.iterations == whole.iterations
    assert resumed.certificate == whole.certificate


def test_the_phases_keep_the_factor_feasible():
    """Through all of them."""
    S, _ = blocks([300, 300, *[10] * 8], 0.1)
    seen = set()
    for options in BOTH:
        for state in walk(S, 10, n_init=2, **options):
            seen.add(type(state.phase))
            assert torch.isfinite(state.H).all()
            assert (state.H >= 0).all()
    assert seen == set(TRANSITIONS)


def test_every_phase_is_in_the_table_and_the_table_is_what_happens():
    assert set(TRANSITIONS) == set(Phase.__subclasses__())
    hard, _ = blocks([300, 300, *[10] * 8], 0.1)
    easy, _ = blocks([30] * 4, 0.05)
    never_rough = Schedule(rough_excess=1.0)
    always_rough = Schedule(rough_excess=-1.0, poor_excess=1.0)
    few = Schedule(refine_max_steps=4)
    later = Schedule(finish_excess=100.0, refine_max_steps=51)
    runs = [
        *(walk(hard, 10, n_init=2, **options) for options in BOTH),
        *(
            walk(easy, 4, improve=(phase,), schedule=later)
            for phase in (CorrectedFit, CorrectedNewton, ExactNewton)
        ),
        walk(easy, 4, n_init=2, schedule=dataclasses.replace(never_rough, refine_max_steps=20)),
        walk(easy, 4, n_init=2, schedule=always_rough),
        walk(easy, 4, n_init=2, schedule=dataclasses.replace(always_rough, pool_entries=1)),
        walk(easy, 4, n_init=1, schedule=few),
    ]
    seen = {phase: set() for phase in TRANSITIONS}
    for run in runs:
        before = None
        for state in run:
            now = type(state.phase)
            if before not in (None, now):
                seen[before].add(now)
            before = now
    assert seen == {phase: set(after) for phase, after in TRANSITIONS.items()}


def test_every_phase_survives_a_checkpoint():
    """The state read back makes the same next step, bit for bit."""
    S, _ = blocks([300, 300, *[10] * 8], 0.1)
    problem, seen = Problem(sn.as_operator(S), 10), set()
    for options in BOTH:
        solver, expected = Sketched(n_init=2, **options), None
        for step, state in enumerate(walk(S, 10, n_init=2, **options)):
            if expected is not None:
                assert torch.equal(expected, state.H)
            tensors = {}
            text = json.dumps(flatten(state, tensors))
            copied = unflatten(json.loads(text), {name: t.clone() for name, t in tensors.items()})
            assert type(copied.phase) is type(state.phase)
            seen.add(type(copied.phase))
            expected = solver.step(problem, copied, torch.Generator().manual_seed(step)).H
    assert seen == set(TRANSITIONS)


def test_an_unlisted_transition_is_refused():
    b = market("corr", 100)
    state = Sketched().init_state(Problem(b.operator, b.k))
    with pytest.raises(AssertionError, match="ExactNewton.* cannot follow .*SeedRace"):
        state.enter(ExactNewton())


def test_a_given_factor_is_fitted_without_a_race():
    b = market("corr", 100)
    start = torch.rand(100, b.k, generator=torch.Generator().manual_seed(0))
    state = Sketched().init_state(Problem(b.operator, b.k, 0, start))
    assert isinstance(state.phase, SurrogateFit)
    assert torch.equal(state.H, start)


def test_the_schedule_sets_the_length_of_the_phases():
    S, _ = blocks([300, 300, *[10] * 8], 0.1)
    short = Schedule(
        admm_max_steps=10,
        admm_min_gain=0.0,
        admm_min_gain_share=0.0,
        exchange_max_moves=1,
        polish_max_steps=3,
        polish_min_gain=0.0,
        refine_max_steps=5,
        newton_stagnant_checks=2,
    )
    count = {phase: 0 for phase in TRANSITIONS}
    for state in walk(S, 10, schedule=short, precision="fast"):
        count[type(state.phase)] += 1
    assert count[SeedRace] == 1  # four embeddings, NNDSVD and the random start in one batch
    assert count[SurrogateFit] == 10 + 1  # the last one measures and leaves
    assert count[ColumnExchange] == 1
    assert count[MoreSeeds] == 1  # there is no further start
    assert count[SurrogatePolish] == 3 + 1
    assert count[Finish] == 0  # precision="fast"
    assert count[FirstCheck] == 1
    assert count[CorrectedFit] == 5 - 1  # the first step leaves FirstCheck, the last one the phase
    assert count[CorrectedNewton] == 3  # a check is made as it begins, and after three steps


def test_the_schedule_is_not_an_option_of_the_registry():
    with pytest.raises(InvalidInput, match="schedule: is not an option of 'sketched'"):
        make_solver("sketched", schedule=Schedule())


def test_the_start_that_is_refined_brings_its_own_excess():
    b = market("tpdm", 1000)
    problem, solver = Problem(b.operator, b.k), Sketched(n_init=6)
    state = solver.init_state(problem)
    for step in range(3000):
        if solver.may_stop(state):
            break
        state = solver.step(problem, state, torch.Generator().manual_seed(step))
    T = problem.surrogate
    value = error(state.H, T.matmul(state.H), problem.S.frob_sq())
    bounds = ErrorBounds(problem.spectrum, b.k, torch.float32)
    assert isinstance(state.phase, FirstCheck)
    assert state.phase.excess == pytest.approx(bounds.excess(value), abs=1e-6)
    assert state.phase.excess <= min(state.starts.excesses) + solver.schedule.tie_excess


def test_near_the_floor_three_starts_that_agree_are_enough():
    b = market("corr", 300)
    found = sn.factorize(b.operator, b.k, solver="sketched", n_init=6)
    assert found.certificate.starts == 3
    assert found.certificate.agreement >= 0.95
    one = sn.factorize(b.operator, b.k, solver="sketched", n_init=1)
    assert torch.equal(found.H, one.H)  # the others serve the agreement alone


def test_far_from_the_floor_all_starts_are_tried():
    S = torch.rand(60, 60, generator=torch.Generator().manual_seed(3))
    with pytest.warns(AmbiguousWarning):
        found = sn.factorize(S @ S.T + S + S.T, 8, solver="sketched", n_init=6)
    assert found.certificate.starts == 6


def test_near_the_floor_starts_that_disagree_do_not_end_the_search():
    schedule, n = Schedule(), 40
    starts, rng = Starts.none(n, torch.device("cpu")), torch.Generator().manual_seed(0)
    for excess in (1e-4, 1e-3, 2e-3, 3e-3):
        starts = starts.with_start(torch.rand(n, 4, generator=rng), excess, schedule)
        assert starts.near_floor(schedule)
        assert not starts.agree(schedule)
    H = torch.eye(4).repeat_interleave(10, dim=0)
    same = Starts.none(n, torch.device("cpu"))
    for count, excess in enumerate((1e-4, 1e-3, 0.5, 2e-3)):  # the third is too poor to count
        same = same.with_start(H, excess, schedule)
        assert same.agree(schedule) == (count == 3)
    assert same.best is not None
    assert same.best.excess == 1e-4


@pytest.mark.parametrize("starts", [[0], [1, 2, 3, 4, 5]])
def test_a_batch_of_seeds_has_the_seeds_that_are_made_one_by_one(starts):
    made = Problem(sn.benchmark_matrix("corr", n=300).operator, 8, 3)
    work = Sketched().work(made)
    batch = work.trials(seed_batch(made, starts, 6, 3))
    single = [work.trial(seed()) for s in starts for seed in seeds_of_start(made, s, 6, 3)]
    assert len(batch) == len(single) == (6 if starts == [0] else 5)
    for one, other in zip(batch, single, strict=True):
        assert one.excess == pytest.approx(other.excess, abs=1e-4)
        # Draws that find the same groups in another order are as good as each other.
        torch.testing.assert_close(one.H @ one.H.T, other.H @ other.H.T, rtol=1e-3, atol=1e-4)


def test_the_groups_of_a_batch_become_the_same_seeds():
    made = Problem(sn.benchmark_matrix("tpdm", n=200).operator, 6)
    T, spectrum = made.surrogate, made.spectrum
    labels = torch.stack([spectral_labels(spectrum, 6, torch_stream(m, "seeds")) for m in range(4)])
    for rows, one in zip(group_starts(T, 6, spectrum, labels), labels, strict=True):
        torch.testing.assert_close(rows.T, group_start(T, 6, spectrum, one))


def test_fewer_directions_than_groups_are_not_batched():
    S = torch.block_diag(torch.ones(6, 6), torch.ones(4, 4), torch.eye(2))
    assert seed_batch(Problem(sn.as_operator(S), 6), [0], 1, 3) is None


def test_rows_without_a_direction_are_not_batched():
    S = torch.block_diag(torch.ones(6, 6), torch.ones(4, 4), torch.zeros(2, 2))
    assert seed_batch(Problem(sn.as_operator(S), 2), [0], 1, 3) is None
