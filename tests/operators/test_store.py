"""Matrices on disk: what is refused, what survives, what fits."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import market
from symnmf.errors import InvalidFile, InvalidMatrix, NotEnough
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.storage.matrix_writer import MatrixWriter


@pytest.fixture
def folder(tmp_path):
    return write_matrix(tmp_path / "S", market("corr", 100).operator.S, form="dense")


def test_a_mapped_matrix_gives_the_answer_of_memory(folder):
    S = market("corr", 100).operator
    here, there = sn.factorize(S, 10, seed=1), sn.factorize(open_matrix(folder), 10, seed=1)
    assert there.status == here.status
    assert torch.equal(there.labels(), here.labels())
    torch.testing.assert_close(there.H, here.H, rtol=1e-4, atol=1e-4)
    tiles = open_matrix(folder, tile_bytes=4000)
    assert len(tiles.rows.pieces) == 10
    torch.testing.assert_close(tiles.matmul(here.H), S.matmul(here.H))
    assert tiles.frob_sq() == pytest.approx(S.frob_sq(), rel=1e-12)
    assert tiles.mean() == pytest.approx(S.mean(), rel=1e-12)


def damage(path: Path, at: int, value: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(value)


def test_what_is_not_the_file_of_its_manifest_is_refused(folder):
    data = folder / "data.npy"
    good = data.read_bytes()
    damage(data, 20_000, b"\x01")
    with pytest.raises(InvalidFile, match=r"checksum of rows 48 to 49 is wrong"):
        open_matrix(folder)
    data.write_bytes(good[:-4])
    with pytest.raises(InvalidFile, match=r"has 40124 bytes instead of 40128"):
        open_matrix(folder)
    np.save(data, np.eye(100))
    with pytest.raises(InvalidFile, match=r"holds float64 \(100, 100\), not float32"):
        open_matrix(folder)
    data.write_text("not an array")
    with pytest.raises(InvalidFile, match=r"is not a \.npy file"):
        open_matrix(folder)
    data.unlink()
    with pytest.raises(InvalidFile, match="is missing"):
        open_matrix(folder)
    data.write_bytes(good)
    assert open_matrix(folder).n == 100


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("form", "sparse"),
        ("shape", [100]),
        ("shape", [0, 0]),
        ("dtype", "object"),
        ("dtype", ">f4"),
        ("chunks", []),
        ("total", "x"),
        ("frob_sq", -1.0),
        ("frob_sq", float("nan")),
        ("smallest", -5.0),
        ("shift", -1.0),
    ],
)
def test_foreign_manifests_are_refused(folder, key, value):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["content"][key] = value
    del manifest["seal"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(InvalidFile):
        open_matrix(folder)


def test_folders_without_a_matrix(tmp_path):
    with pytest.raises(InvalidFile, match="contains no matrix"):
        open_matrix(tmp_path)
    MatrixWriter(tmp_path, (4, 4), "float32", {})
    with pytest.raises(InvalidFile, match="contains an unfinished matrix.*same command again"):
        open_matrix(tmp_path)


def test_a_writer_goes_on_where_it_was_killed(tmp_path):
    first = MatrixWriter(tmp_path, (8, 8), "float64", {"seed": 1})
    first.array[:4] = 1.0
    first.note("upper", {"sum": 32})
    first.array[4:] = 7.0  # not noted
    with (tmp_path / "progress.jsonl").open("a") as notes:
        notes.write('{"unit": "low')  # cut off
    with pytest.raises(InvalidFile, match="another unfinished matrix"):
        MatrixWriter(tmp_path, (8, 8), "float64", {"seed": 2})
    second = MatrixWriter(tmp_path, (8, 8), "float64", {"seed": 1})
    assert second.done == {"upper": {"sum": 32}}
    second.array[4:] = 1.0
    second.note("lower")
    third = MatrixWriter(tmp_path, (8, 8), "float64", {"seed": 1})
    assert set(third.done) == {"upper", "lower"}
    assert open_matrix(third.finish("dense")).frob_sq() == 64.0
    with pytest.raises(InvalidFile, match="already holds a matrix"):
        MatrixWriter(tmp_path, (8, 8), "float64", {"seed": 1})


def test_what_is_no_dependence_matrix_is_not_written(tmp_path):
    with pytest.raises(InvalidMatrix):
        write_matrix(tmp_path / "a", -np.eye(4), form="dense")
    writer = MatrixWriter(tmp_path / "b", (4, 4), "float64", {})
    writer.array[:] = np.nan
    with pytest.raises(InvalidMatrix, match="finite"):
        writer.finish("dense")


@pytest.fixture(params=["posix_fallocate", "zeros"])
def reserving(request, monkeypatch):
    """Both ways to reserve disk space; macOS has only the second."""
    if request.param == "zeros":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
        monkeypatch.setattr("symnmf.storage.matrix_writer.ZEROS", 1000)


def test_space_is_reserved_before_anything_is_written(tmp_path, reserving):
    writer = MatrixWriter(tmp_path, (100, 200), "float64", {})
    found = (tmp_path / "data.npy.part").stat()
    assert found.st_size == 128 + 160_000
    assert 512 * found.st_blocks >= found.st_size  # no hole
    assert not writer.array.any()
    writer.array[:] = 1.0
    assert np.load(writer.finish("gram") / "data.npy").sum() == 20_000
    S = open_matrix(write_matrix(tmp_path / "S", market("corr", 100).operator.S, form="dense"))
    assert torch.equal(S.S, market("corr", 100).operator.S)


def test_a_full_disk_is_a_clean_error(tmp_path, reserving):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        with pytest.raises(NotEnough, match=r"needs 0\.04 GB of disk space and .* are free"):
            MatrixWriter(tmp_path / "S", (100_00, 1000), "float32", {})
        assert list((tmp_path / "S").iterdir()) == []
        write_matrix(tmp_path / "T", np.eye(8), form="dense")
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.eye(4, dtype=int), "is int64"),
        (np.ones(4), "two dimensions"),
        (np.eye(4)[:, ::-1] * -1, "negative"),
    ],
)
def test_what_cannot_be_read_again_is_not_written(tmp_path, array, words):
    with pytest.raises(InvalidMatrix, match=words):
        write_matrix(tmp_path / "S", array, form="dense")
    with pytest.raises(InvalidMatrix, match="names: 3 names for 4 rows"):
        write_matrix(tmp_path / "S", np.eye(4), form="dense", names=["a", "b", "c"])
    rounded = np.eye(4) - 1e-12 * (1 - np.eye(4))
    assert open_matrix(write_matrix(tmp_path / "S", rounded, form="dense")).frob_sq() == 4


def test_names_are_not_trusted(tmp_path):
    folder = write_matrix(tmp_path / "S", np.eye(4), form="dense", names=list("abcd"))
    (folder / "names.json").write_text("[1, 2, 3, 4]")
    with pytest.raises(InvalidFile, match="damaged"):
        open_matrix(folder)
    (folder / "names.json").unlink()
    with pytest.raises(InvalidFile, match="missing"):
        open_matrix(folder)


def test_names_come_back(tmp_path):
    names = [f"s{i}" for i in range(4)]
    folder = write_matrix(tmp_path / "S", np.eye(4), form="dense", names=names)
    assert list(open_matrix(folder).names) == names


def test_an_unfinished_array_that_is_not_ours_is_refused(tmp_path):
    """Also one whose header is no Python."""
    for content in (b"\x93NUMPY\x01\x00\x10\x00{'descr': (((((((\n", b"", b"x" * 200):
        writer = MatrixWriter(tmp_path / "a", (4, 4), "float64", {"a": 1})
        del writer.array
        (tmp_path / "a" / "data.npy.part").write_bytes(content)
        with pytest.raises(InvalidFile, match="is not a .npy file"):
            MatrixWriter(tmp_path / "a", (4, 4), "float64", {"a": 1})
        np.save(tmp_path / "other.npy", np.eye(3))
        (tmp_path / "other.npy").rename(tmp_path / "a" / "data.npy.part")
        with pytest.raises(InvalidFile, match=r"has shape \(3, 3\)"):
            MatrixWriter(tmp_path / "a", (4, 4), "float64", {"a": 1})
        (tmp_path / "a" / "data.npy.part").unlink()
