"""Checkpoints: whole or absent, refused when foreign, and the end of a run clears them."""

from dataclasses import dataclass

import pytest
import torch

import faults
from helpers import market
from symnmf import storage
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.core.solver import State
from symnmf.engine import solve
from symnmf.errors import InvalidFile, InvalidInput
from symnmf.operators import GramOperator
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.solvers.registry import make_solver
from symnmf.storage.checkpoint import Checkpoint
from symnmf.storage.checkpointable import Checkpointable, flatten, unflatten


def problem(seed=7, k=10, start="random"):
    return Problem(market("tpdm", 100).operator, k, seed, start)


@dataclass
class Nested(Checkpointable):
    numbers: tuple
    inner: State
    shared: torch.Tensor
    note: str
    nothing: None
    worst: float


def test_flattening_keeps_everything_and_sharing():
    H = torch.rand(4, 2)
    inner = State(H, None)
    value = Nested((1, 2.5, torch.ones(3)), inner, H, "word", None, float("inf"))
    tensors = {}
    back = unflatten(flatten(value, tensors), tensors)
    assert back.shared is back.inner.H
    assert back.numbers[:2] == (1, 2.5)
    assert (back.note, back.nothing, back.worst) == ("word", None, float("inf"))
    assert len(tensors) == 2
    with pytest.raises(TypeError, match="cannot hold a list"):
        flatten(Nested((), inner, H, [], None, 0.0), {})


def test_unfinished_run_is_not_overwritten(tmp_path):
    place = Checkpoint(tmp_path)
    assert solve(problem(), make_solver("mu"), max_iter=30, checkpoint=place).iterations == 30
    with pytest.raises(InvalidInput, match="holds an unfinished run.*resume"):
        solve(problem(), make_solver("mu"), checkpoint=place)
    result = solve(problem(), make_solver("mu"), checkpoint=place, resume=True)
    assert result.status is Status.CONVERGED
    assert len(list(tmp_path.glob("run-*"))) == 1
    # The run is over: resumed, it is returned; begun anew, it may be replaced.
    again = solve(problem(), make_solver("mu"), checkpoint=place, resume=True)
    assert torch.equal(again.H, result.H)
    assert again.status is result.status
    assert (again.iterations, again.history) == (result.iterations, result.history)
    assert solve(problem(), make_solver("mu"), max_iter=20, checkpoint=place).iterations == 20
    forced = Checkpoint(tmp_path, overwrite=True)
    assert solve(problem(), make_solver("mu"), checkpoint=forced).status is Status.CONVERGED


def test_a_matrix_is_not_overwritten_by_a_run(tmp_path):
    write_matrix(tmp_path, torch.eye(4), form="dense")
    with pytest.raises(InvalidFile, match="already holds a matrix"):
        solve(problem(), make_solver("mu"), checkpoint=Checkpoint(tmp_path, overwrite=True))
    assert open_matrix(tmp_path).n == 4


def shuffled():
    """The same matrix with its rows in another order: the same norm, another run."""
    B = market("tpdm", 100).operator.B
    return GramOperator(B[torch.randperm(100, generator=torch.Generator().manual_seed(1))])


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (lambda: (problem(seed=8), "mu"), "seed"),
        (lambda: (problem(k=9), "mu"), "k"),
        (lambda: (problem(start="nndsvd"), "mu"), "start"),
        (lambda: (problem(), "admm"), "solver"),
        (lambda: (Problem(shuffled(), 10, 7, problem().H0), "mu"), "matrix"),
    ],
)
def test_another_run_is_refused(tmp_path, other, word):
    place = Checkpoint(tmp_path)
    solve(problem(), make_solver("mu"), max_iter=20, checkpoint=place)
    wrong, name = other()
    with pytest.raises(InvalidFile, match=f"holds another run: its {word} is"):
        solve(wrong, make_solver(name), checkpoint=place, resume=True)


def test_damaged_checkpoint_is_refused(tmp_path):
    place = Checkpoint(tmp_path)
    solve(problem(), make_solver("mu"), max_iter=20, checkpoint=place)
    (data,) = tmp_path.glob("run-*")
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    with pytest.raises(InvalidFile, match="checksum"):
        solve(problem(), make_solver("mu"), checkpoint=place, resume=True)


def test_resume_needs_a_folder_and_starts_fresh_without_a_run(tmp_path):
    with pytest.raises(InvalidInput, match="resume: got True without a checkpoint"):
        solve(problem(), make_solver("mu"), resume=True)
    place = Checkpoint(tmp_path)
    assert solve(problem(), make_solver("admm"), checkpoint=place, resume=True).status.good
    with pytest.raises(InvalidInput, match="every_seconds"):
        Checkpoint(tmp_path, every_seconds=-1)


RUN = """
import torch, warnings
torch.set_num_threads(1)
from symnmf import factorize, benchmark_matrix, Checkpoint
S = benchmark_matrix("tpdm", 100, seed=7, samples=4000).operator
place = Checkpoint({folder!r}, every_seconds=0)
warnings.simplefilter("ignore")
result = factorize(S, 10, "adagrad", seed=7, checkpoint=place, resume=True, max_iter=600)
import hashlib
with open({folder!r} + "/answer", "w") as file:
    file.write(hashlib.sha256(result.H.numpy().tobytes()).hexdigest())
"""


def answer(folder):
    """Digest of the factor of a run that nothing disturbs, and its seconds."""
    folder.mkdir(exist_ok=True)
    ended = faults.nursery().run(code=RUN.format(folder=str(folder)))
    assert ended["code"] == 0, ended["said"]
    return (folder / "answer").read_text(), ended["seconds"]


@pytest.mark.parametrize(
    "operations",
    [(2, 9, 40), pytest.param(tuple(range(1, 13)), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_killed_runs_resume_to_the_same_bits(tmp_path, operations):
    """Killed at file operations and at random moments, then resumed: the same factor."""
    whole, seconds = answer(tmp_path / "whole")
    code = RUN.format(folder=str(tmp_path / "disturbed"))
    for operation in operations:  # one run, disturbed again and again
        (tmp_path / "disturbed").mkdir(exist_ok=True)
        assert faults.run_killed_at(code, operation)
    for moment in faults.random_moments(len(operations) // 3, seconds):
        faults.run_killed_after(code, moment)
    assert answer(tmp_path / "disturbed")[0] == whole


def test_lock_keeps_a_second_writer_out(tmp_path):
    from symnmf.errors import FolderBusy

    with storage.lock(tmp_path), pytest.raises(FolderBusy, match="has been locked by process"):
        solve(problem(), make_solver("mu"), checkpoint=Checkpoint(tmp_path))
