"""The atomic writer, manifests and the lock."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

import faults
from symnmf import storage
from symnmf.errors import FolderBusy, InvalidFile
from symnmf.storage import atomic_files, locking
from symnmf.storage.tensors import read_tensors, write_tensors

WRITE_SET = """
from symnmf import storage
from pathlib import Path
folder = Path({folder!r})
for generation in (1, 2):
    name = f"data-{{generation}}"
    storage.write_text(folder / name, str(generation) * 1000)
    storage.write_manifest(folder, "test", {{"data": name}}, generation)
    storage.remove_all_but(folder, "data-", {{name}})
"""


@pytest.mark.slow
def test_a_set_killed_at_every_operation_is_old_or_new(tmp_path):
    seen, operation = [], 0
    while True:
        operation += 1
        folder = tmp_path / str(operation)
        folder.mkdir()
        killed = faults.run_killed_at(WRITE_SET.format(folder=str(folder)), operation)
        if (folder / storage.MANIFEST).exists():
            found, generation = storage.read_manifest(folder, "test")
            assert found["data"].read_text() == str(generation) * 1000
            seen.append(generation)
        else:
            seen.append(0)
        if not killed:
            break
    assert operation > 12
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2}


def test_failed_write_leaves_nothing(tmp_path):
    target = tmp_path / "a"

    def fail():
        with storage.atomic(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda f, m: (f / "data").write_text("other"), "damaged"),
        (lambda f, m: (f / "data").unlink(), "missing"),
        (lambda f, m: m["files"]["data"].update(name="../secret"), "be in the folder"),
        (lambda f, m: m.update(kind="else"), "is not the manifest"),
        (lambda f, m: m.pop("files"), "not a complete manifest"),
        (lambda f, m: m.update(files=[1]), "not a complete manifest"),
    ],
)
def test_foreign_and_damaged_sets_are_refused(tmp_path, change, problem):
    storage.write_text(tmp_path / "data", "x")
    storage.write_manifest(tmp_path, "test", {"data": "data"}, None)
    manifest = json.loads((tmp_path / storage.MANIFEST).read_text())
    change(tmp_path, manifest)
    storage.write_json(tmp_path / storage.MANIFEST, manifest)
    with pytest.raises(InvalidFile, match=problem):
        storage.read_manifest(tmp_path, "test")


def test_unreadable_json(tmp_path):
    for text in ("{", "[" * 100_000, "\xff"):
        (tmp_path / storage.MANIFEST).write_text(text, encoding="latin-1")
        with pytest.raises(InvalidFile, match="cannot be read"):
            storage.read_manifest(tmp_path, "test")


def test_lock_names_its_owner_and_ends_with_it(tmp_path):
    code = (
        "import sys; from pathlib import Path; from symnmf import storage\n"
        f"with storage.lock(Path({str(tmp_path)!r})):\n    print('held', flush=True); input()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline().strip() == "held"
        with pytest.raises(FolderBusy, match=f"process {child.pid}"), storage.lock(tmp_path):
            pass
    finally:
        child.kill()
        child.communicate()
    with storage.lock(tmp_path):
        assert str(os.getpid()) in (tmp_path / locking.OWNER).read_text()


def test_tensors_may_share_memory(tmp_path):
    H = torch.arange(6.0).reshape(2, 3)
    write_tensors(tmp_path / "t", {"a": H, "b": H, "row": H[1], "none": torch.empty(0)})
    found = read_tensors(tmp_path / "t")
    assert torch.equal(found["a"], H)
    assert torch.equal(found["b"], H)
    assert torch.equal(found["row"], H[1])


def test_writes_without_the_calls_of_posix(tmp_path, monkeypatch):
    """What Windows lacks: modes of descriptors, and folders that can be opened."""

    def no_folders(path, *rest, **more):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return os.open(path, *rest, **more)

    calls = {name: getattr(os, name) for name in dir(os) if name != "fchmod"}
    monkeypatch.setattr(atomic_files, "os", SimpleNamespace(**{**calls, "open": no_folders}))
    monkeypatch.setattr(atomic_files, "ON_WINDOWS", True)
    atomic_files.write_text(tmp_path / "a.txt", "whole")
    assert (tmp_path / "a.txt").read_text() == "whole"
    with storage.lock(tmp_path):
        atomic_files.write_text(tmp_path / "a.txt", "again")
    assert (tmp_path / "a.txt").read_text() == "again"
