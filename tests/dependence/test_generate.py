"""Benchmark matrices on disk are those of memory, also when their writer is killed."""

import hashlib

import numpy as np
import pytest
import torch

import faults
import symnmf as sn
from symnmf.dependence.correlation_on_disk import write_abs_correlation
from symnmf.dependence.removal import standardize
from symnmf.dependence.synthetic.on_disk import generate
from symnmf.errors import InvalidFile
from symnmf.operators import DenseOperator, GramOperator
from symnmf.storage.matrix_format import read_stored_matrix

CODE = """
from symnmf.dependence.synthetic.on_disk import generate
generate({kind!r}, {n}, {folder!r}, seed=3, samples={samples}, dense={dense})
"""


def digest(folder):
    names = ("data.npy", "labels.npy", "permutation.npy", "manifest.json")
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


def test_the_tpdm_is_that_of_memory(tmp_path):
    b = sn.benchmark_matrix("tpdm", 1000, seed=3, samples=4000)
    told = []
    S = sn.open_matrix(
        generate("tpdm", 1000, tmp_path, seed=3, samples=4000, on_progress=told.append)
    )
    assert isinstance(S, GramOperator)
    assert torch.equal(S.B, b.operator.B)
    assert told == sorted(told)
    assert told[-1] >= 0.9
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), b.labels)
    np.testing.assert_array_equal(np.load(tmp_path / "permutation.npy"), b.permutation)
    S = sn.open_matrix(generate("tpdm", 300, tmp_path / "S", seed=3, samples=4000, dense=True))
    assert isinstance(S, DenseOperator)
    B = sn.benchmark_matrix("tpdm", 300, seed=3, samples=4000).operator.B.double()
    torch.testing.assert_close(S.S, (B @ B.T).float(), rtol=1e-6, atol=1e-7)
    assert torch.equal(S.S, S.S.T)


@pytest.mark.parametrize(
    "samples", [pytest.param(20_000, marks=pytest.mark.slow), 1000]
)  # without and with shrinkage
def test_the_correlation_is_that_of_memory(tmp_path, samples):
    b = sn.benchmark_matrix("corr", 1100, seed=3, samples=samples)
    S = sn.open_matrix(generate("corr", 1100, tmp_path, seed=3, samples=samples))
    assert torch.equal(S.S, b.operator.S)
    assert S.frob_sq() == pytest.approx(b.operator.frob_sq(), rel=1e-12)
    assert (read_stored_matrix(tmp_path).description["intensity"] > 0) == (samples == 1000)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        ".lock", "data.npy", "labels.npy", "manifest.json", "permutation.npy",
    ]  # fmt: skip


def test_a_factor_that_would_have_negative_entries_is_not_written(tmp_path):
    folder = generate("corr", 1300, tmp_path / "a", seed=3, samples=600)
    dense = sn.open_matrix(generate("corr", 1300, tmp_path / "b", seed=3, samples=600, dense=True))
    assert read_stored_matrix(folder).description["negative"] > 0
    assert read_stored_matrix(folder).form == "dense"
    assert torch.equal(sn.open_matrix(folder).S, dense.S)


@pytest.mark.parametrize("hedge", [False, True])
def test_a_factor_is_written_where_no_correlation_is_negative(tmp_path, hedge):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1, 100)) + 0.5 * rng.normal(size=(300, 100))
    if hedge:
        X[0] = 0.3 * X[0] - 0.7 * X[1]
    Z = standardize(torch.from_numpy(X))
    fourth = float(Z.square().sum(dim=0).square().sum())
    folder = write_abs_correlation(tmp_path, Z.float(), fourth, {"test": 1})
    S, expected = sn.open_matrix(folder), sn.abs_correlation(X.T)
    assert isinstance(S, DenseOperator if hedge else GramOperator)
    i = torch.arange(300)
    torch.testing.assert_close(S.block(i, i), expected.block(i, i), atol=1e-6, rtol=1e-5)
    assert S.frob_sq() == pytest.approx(expected.frob_sq(), rel=1e-6)


def test_scratch_of_another_matrix_is_not_used(tmp_path):
    first = generate("tpdm", 70, tmp_path / "a", seed=3, samples=2000, dense=True)
    generate("tpdm", 70, tmp_path / "b" / "scratch", seed=4, samples=2000)
    other = generate("tpdm", 70, tmp_path / "b", seed=3, samples=2000, dense=True)
    assert digest(other) == digest(first)


def test_a_finished_matrix_is_left_alone_and_another_refused(tmp_path):
    generate("tpdm", 64, tmp_path, seed=3, samples=2000)
    before = digest(tmp_path)
    generate("tpdm", 64, tmp_path, seed=3, samples=2000)
    assert digest(tmp_path) == before
    with pytest.raises(InvalidFile, match="holds another matrix"):
        generate("tpdm", 64, tmp_path, seed=4, samples=2000)


@pytest.mark.parametrize(
    ("kind", "kills"),
    [
        ("corr", 1),
        pytest.param("tpdm", 1, marks=pytest.mark.slow),
        pytest.param("corr", 10, marks=pytest.mark.slow),
        pytest.param("tpdm", 10, marks=pytest.mark.slow),
    ],
)
def test_killed_writers_go_on_to_the_same_bytes(tmp_path, kind, kills):
    options = {"kind": kind, "n": 1100, "samples": 400 if kind == "corr" else 2000, "dense": True}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    undisturbed = faults.nursery().run(code=CODE.format(folder=str(whole), **options))
    code = CODE.format(folder=str(killed), **options)
    done = sum(faults.run_killed_at(code, operation) for operation in range(4, 4 + 5 * kills, 5))
    moments = faults.random_moments(kills // 2, undisturbed["seconds"])
    done += sum(faults.run_killed_after(code, moment) for moment in moments)
    assert done >= max(1, kills // 2)
    faults.run_killed_at(code, 10**9)
    assert digest(killed) == digest(whole)
    assert not list(killed.glob(".*.tmp"))
