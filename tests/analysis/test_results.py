"""Result folders: written whole, read back, refused when damaged."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

import faults
import symnmf as sn
from symnmf.core.labels import group_numbers
from symnmf.errors import InvalidFile

NAMES = ["plain", "=cmd|'/c calc'!A0", "@x", "</script>"]


@pytest.fixture
def result():
    S = pd.DataFrame(np.kron(np.eye(2), np.ones((2, 2))), index=NAMES, columns=NAMES)
    return sn.factorize(S, 2, seed=3)


def test_round_trip(result, tmp_path):
    back = sn.load(sn.save(result, tmp_path / "out"))
    assert torch.equal(back.H, result.H)
    assert back.certificate == result.certificate
    assert back.history == result.history
    assert torch.equal(back.eigenvalues, result.eigenvalues)
    assert (back.status, back.solver, back.names) == (result.status, result.solver, tuple(NAMES))


def test_tables(result, tmp_path):
    sn.save(result, tmp_path)
    loadings = pd.read_parquet(tmp_path / "loadings.parquet")
    assert list(loadings.index) == NAMES
    np.testing.assert_array_equal(loadings.to_numpy(), result.H.numpy())
    labels = pd.read_csv(tmp_path / "labels.csv", index_col=0)
    np.testing.assert_array_equal(labels["group"], group_numbers(result.labels()))
    assert list(labels.index) == ["plain", "'=cmd|'/c calc'!A0", "'@x", "</script>"]
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["converged"] is True
    assert len(pd.read_csv(tmp_path / "history.csv")) == len(result.history)


def test_never_overwrites_unless_told_to(result, tmp_path):
    sn.save(result, tmp_path)
    with pytest.raises(InvalidFile, match="already holds a result.*force"):
        sn.save(result, tmp_path)
    sn.save(result, tmp_path, force=True)


def test_a_file_of_someone_else_is_not_replaced(result, tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(InvalidFile, match="labels.csv: already exists"):
        sn.save(result, tmp_path)
    assert (tmp_path / "labels.csv").read_text() == "mine"


def test_a_matrix_is_not_replaced_by_a_result(result, tmp_path):
    """Not even by force: its manifest would be gone."""
    sn.write_matrix(tmp_path, np.eye(4), form="dense")
    with pytest.raises(InvalidFile, match="already holds a matrix\\. Choose another folder\\.$"):
        sn.save(result, tmp_path, force=True)
    assert sn.open_matrix(tmp_path).n == 4
    (tmp_path / "manifest.json").write_text("{")  # nobody's any more
    sn.save(result, tmp_path, force=True)


SAVE = """
import torch, symnmf as sn
S = torch.kron(torch.eye(2), torch.ones(2, 2))
sn.save(sn.factorize(S, 2, seed={seed}), {folder!r}, force=True)
"""


@pytest.mark.parametrize("operation", [pytest.param(1, marks=pytest.mark.slow), 2, 3, 5, 7, 12, 20])
def test_a_killed_save_leaves_the_old_result_or_the_new(tmp_path, operation):
    folder = str(tmp_path)
    S = torch.kron(torch.eye(2), torch.ones(2, 2))
    old, new = (sn.factorize(S, 2, seed=seed) for seed in (1, 2))
    sn.save(old, folder)
    assert faults.run_killed_at(SAVE.format(folder=folder, seed=2), operation)
    found = sn.load(folder)
    assert found.seed in (1, 2)
    assert torch.equal(found.H, old.H if found.seed == 1 else new.H)
    assert sn.load(sn.save(new, folder, force=True)).seed == 2


def test_strange_numbers_survive(tmp_path):
    with pytest.warns(UserWarning, match="DIVERGED|COLLAPSED|MAX_ITER"):
        broken = sn.factorize(
            np.eye(4, dtype=np.float32) + 1, 2, "adagrad", start=np.full((4, 2), 1e15), max_iter=20
        )
    back = sn.load(sn.save(broken, tmp_path))
    assert back.status is broken.status


def test_damaged_and_missing(result, tmp_path):
    sn.save(result, tmp_path)
    (model,) = tmp_path.glob("model-*")
    with model.open("ab") as file:
        file.write(b"x")
    with pytest.raises(InvalidFile, match="checksum"):
        sn.load(tmp_path)
    with pytest.raises(InvalidFile, match="does not exist"):
        sn.load(tmp_path / "nothing")
