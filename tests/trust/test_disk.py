"""Faults of the disk: full, read-only, forbidden, damaged, replaced, shared."""

import errno
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

import faults
import symnmf as sn
from symnmf import storage
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.errors import FolderBusy, InvalidFile, NotEnough, NotWritable
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.solvers.registry import make_solver
from symnmf.storage import atomic_files, locking
from symnmf.storage.checkpoint import Checkpoint
from trust.tally import FULL, count, trial

S = sn.benchmark_matrix("corr", 60, seed=7, samples=4000).operator.S
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def result():
    return sn.factorize(S, 5, "admm")


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own, for who may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = (
        ROOT
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True
        ).returncode
    )
    if not made:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_old_result(disk, result):
    with trial("full disk"):
        sn.save(result, disk / "r")
        filler = disk / "filler"
        room = os.statvfs(disk)
        filler.write_bytes(bytes((room.f_bavail - 2) * room.f_frsize))
        large = sn.factorize(sn.benchmark_matrix("corr", 900, samples=2000).operator, 30, "admm")
        with pytest.raises(NotEnough, match="the disk is full"):
            sn.save(large, disk / "r", force=True)
        assert torch.equal(sn.load(disk / "r").H, result.H)
        with pytest.raises(NotEnough, match="of disk"):
            write_matrix(disk / "S", np.eye(300), form="dense")
        filler.unlink()
        sn.save(result, disk / "r", force=True)


def test_a_read_only_disk_is_said(disk, result):
    with trial("read-only folder"):
        sn.save(result, disk / "r")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for write in (
            lambda: sn.save(result, disk / "r", force=True),
            lambda: sn.save(result, disk / "new"),
            lambda: sn.factorize(S, 5, checkpoint=disk / "c"),
            lambda: sn.generate("tpdm", 64, disk / "g", samples=4000),
        ):
            with pytest.raises(NotWritable, match="cannot be written.*Choose another folder"):
                write()
        assert torch.equal(sn.load(disk / "r").H, result.H)


@contextmanager
def forbidden(place):
    """A folder may be read and not written; who may write everywhere is someone else meanwhile."""
    place.chmod(0o555)
    before = os.geteuid()
    os.seteuid(65534 if ROOT else before)
    try:
        yield
    finally:
        os.seteuid(before)
        place.chmod(0o700)


def test_a_forbidden_folder_is_said(result):
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for write in (
            lambda: sn.save(result, place / "r"),
            lambda: sn.save(result, place, force=True),
            lambda: sn.factorize(S, 5, checkpoint=place / "c"),
            lambda: sn.generate("tpdm", 64, place / "g", samples=4000),
            lambda: sn.write_matrix(place, np.eye(3), form="dense"),
        ):
            with (
                trial("permission denied"),
                forbidden(place),
                pytest.raises(NotWritable, match="cannot be written .Permission den.*Choose anoth"),
            ):
                write()


@pytest.mark.slow
def test_files_that_may_not_grow_are_a_full_disk(tmp_path, result):
    """The limit of a file's size reaches the writers of all formats, without a mount."""
    sn.save(result, tmp_path / "r")
    code = (
        "import resource, symnmf as sn\n"
        "from symnmf.errors import NotEnough\n"
        f"old = sn.load({str(tmp_path / 'r')!r})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "try:\n"
        f"    sn.save(old, {str(tmp_path / 'r')!r}, force=True)\n"
        "except NotEnough as full:\n"
        "    print(full)\n"
    )
    with trial("full disk"):
        said = subprocess.run(
            [sys.executable, "-c", code], env=faults.ENVIRONMENT, capture_output=True, text=True
        )
        assert "the disk is full" in said.stdout, said.stderr
        assert torch.equal(sn.load(tmp_path / "r").H, result.H)
        assert not list((tmp_path / "r").glob(".*.tmp"))


class Broken:
    """File operations that fail from the n-th on, as a disk does that filled up."""

    def __init__(self, at, code):
        self.at, self.code, self.seen = at, code, []

    def __call__(self, operation):
        self.seen.append(operation)
        if len(self.seen) >= self.at:
            raise OSError(self.code, os.strerror(self.code))


CODES = {errno.ENOSPC: NotEnough, errno.EDQUOT: NotEnough, errno.EROFS: NotWritable}
CODES |= {errno.EACCES: NotWritable, errno.EIO: NotWritable}


def windows(seed, **options):
    X = np.random.default_rng(seed).normal(size=(60, 6))
    X += np.repeat(X[:, [0, 3]], 3, axis=1)
    return sn.rolling(X, 30, 30, 2, "correlation", **options)


def factors(folder):
    """Every H of a result or of windows."""
    if storage.held(folder) == "symnmf result":
        return [sn.load(folder).H]
    return [window.result.H for window in sn.load_rolling(folder).windows]


#: What is written, how, and two of it.
SETS = {
    "result": (sn.save, lambda: [sn.factorize(S, 5, "admm", seed=seed) for seed in (0, 1)]),
    "windows": (sn.save_rolling, lambda: [windows(seed) for seed in (0, 1)]),
}


@pytest.mark.parametrize("what", SETS)
@pytest.mark.parametrize(
    "code",
    [errno.ENOSPC, *(pytest.param(code, marks=pytest.mark.slow) for code in list(CODES)[1:])],
    ids=[errno.errorcode[code] for code in CODES],
)
def test_every_file_operation_may_fail(tmp_path, monkeypatch, code, what):
    """A set is replaced: at every operation the error is ours and the old or the new is whole."""
    save, make = SETS[what]
    old, new = make()
    folder, known = tmp_path / "r", []
    for found in (new, old):
        save(found, folder, force=True)
        known.append(factors(folder))
    tables = {path.name for path in folder.glob("[!.m]*")}
    assert len(tables) >= 3
    operations = Broken(10**9, code)
    monkeypatch.setattr(atomic_files, "on_operation", operations)
    save(old, folder, force=True)
    most = len(operations.seen)
    assert operations.seen[-1] == "clean up"
    for at in range(1, most + 1) if FULL else (1, 3, 6, most - 1, most):
        with trial("file operations that fail"):
            monkeypatch.setattr(atomic_files, "on_operation", Broken(at, code))
            # an old model that cannot be removed does no harm to a new one that is written
            harm = operations.seen[at - 1] != "clean up"
            with pytest.raises(CODES[code]) if harm else nullcontext():
                save(new, folder, force=True)
            monkeypatch.setattr(atomic_files, "on_operation", None)
            now = factors(folder)
            assert any(
                len(now) == len(one) and all(map(torch.equal, now, one))
                for one in (known if harm else known[:1])
            )
            if "remove" not in operations.seen[: at - 1]:  # then the old is whole with its tables
                assert {path.name for path in folder.glob("[!.m]*")} == tables
            assert not list(folder.glob(".*.tmp"))
            save(old, folder, force=True)


def test_a_window_that_cannot_be_kept_is_said(tmp_path, monkeypatch):
    for at in (1, 3, 6):
        with trial("file operations that fail"):
            monkeypatch.setattr(atomic_files, "on_operation", Broken(at, errno.ENOSPC))
            with pytest.raises(NotEnough, match="the disk is full"):
                windows(0, folder=tmp_path)
            monkeypatch.setattr(atomic_files, "on_operation", None)
    assert (windows(0, folder=tmp_path).labels() == windows(0).labels()).all()


def test_a_run_whose_disk_is_full_can_go_on(tmp_path, monkeypatch):
    whole = solve(Problem(S_operator(), 5), make_solver("adagrad"), max_iter=80)
    for at in (5, 20, 33) if not FULL else range(1, 60, 2):
        folder = tmp_path / str(at)
        with trial("file operations that fail"):
            place = Checkpoint(folder, every_seconds=0)
            monkeypatch.setattr(atomic_files, "on_operation", Broken(at, errno.ENOSPC))
            with pytest.raises(NotEnough):
                solve(Problem(S_operator(), 5), make_solver("adagrad"), max_iter=80,
                      checkpoint=place)  # fmt: skip
            monkeypatch.setattr(atomic_files, "on_operation", None)
            again = solve(Problem(S_operator(), 5), make_solver("adagrad"), max_iter=80,
                          checkpoint=place, resume=True)  # fmt: skip
            assert torch.equal(again.H, whole.H)


def S_operator():
    return sn.as_operator(S)


def damaged(path, rng, kind):
    content = bytearray(path.read_bytes())
    if kind == "cut":
        del content[rng.randrange(len(content)) :]
    else:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["flip", "cut"])
def test_damaged_files_are_refused(tmp_path, result, kind):
    """Every bit of a result, a run and a matrix is under a checksum."""
    sn.save(result, tmp_path / "r")
    solve(Problem(S_operator(), 5), make_solver("mu"), max_iter=20,
          checkpoint=Checkpoint(tmp_path / "c"))  # fmt: skip
    write_matrix(tmp_path / "m", S, form="dense", names=[f"N{j}" for j in range(60)])
    whole = Problem(S_operator(), 5)

    def resume():
        return solve(whole, make_solver("mu"), checkpoint=Checkpoint(tmp_path / "c"), resume=True)

    sn.save_rolling(windows(0), tmp_path / "w")
    readers = {
        "w": (["manifest.json", "model-*"], lambda: sn.load_rolling(tmp_path / "w")),
        "r": (["manifest.json", "model-*"], lambda: sn.load(tmp_path / "r")),
        "c": (["manifest.json", "run-*"], resume),
        "m": (["manifest.json", "data.npy", "names.json"], lambda: open_matrix(tmp_path / "m")),
    }
    rng = random.Random(kind)
    for name, (patterns, read) in readers.items():
        for pattern in patterns:
            (path,) = (tmp_path / name).glob(pattern)
            good = path.read_bytes()
            for _ in range(count(5, 60)):
                damaged(path, rng, kind)
                with trial(f"damaged files ({kind})"):
                    if harmless(path, good):
                        read()
                    else:
                        with pytest.raises(InvalidFile):
                            read()
                path.write_bytes(good)


def harmless(path, good):
    """A manifest may change in its white space, or lose its seal and nothing else."""
    if path.name != storage.MANIFEST:
        return path.read_bytes() == good
    try:
        now = json.loads(path.read_bytes())
        parts = ("kind", "files", "content")
        return all(now[part] == json.loads(good)[part] for part in parts) and (
            now.get("seal", json.loads(good)["seal"]) == json.loads(good)["seal"]
        )
    except (ValueError, KeyError, TypeError):
        return False


@pytest.mark.parametrize("form", ["folder", "npy"])
def test_a_mapped_file_that_is_replaced_stays_and_one_written_over_is_noticed(tmp_path, form):
    folder = write_matrix(tmp_path / "S", S, form="dense")
    data = folder / "data.npy"

    def opened():
        return open_matrix(folder) if form == "folder" else np.load(data, mmap_mode="r")

    def fit(*callbacks):
        return solve(
            Problem(sn.as_operator(opened()), 5),
            make_solver("adagrad"),
            max_iter=100,
            callbacks=callbacks,
        )

    plain, seen = fit(), []

    def replace(check, H):
        if not seen:
            np.save(tmp_path / "other.npy", np.eye(60, dtype=np.float32))
            os.replace(tmp_path / "other.npy", data)
        seen.append(check.iteration)

    with trial("a mapped file replaced"):
        disturbed = fit(replace)
        assert torch.equal(disturbed.H, plain.H)
        assert len(seen) > 2
    np.save(data, S.numpy())

    def write_over(check, H):
        with data.open("r+b") as file:
            file.seek(1000)
            file.write(bytes(64))

    with trial("a mapped file written over"), pytest.raises(InvalidFile, match="while it was in"):
        fit(write_over)


HOLD = """
import os, sys, time
from pathlib import Path
from symnmf import storage
with storage.lock(Path({folder!r})):
    print(os.getpid(), flush=True)
    time.sleep(60)
"""


def holder(folder):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(folder=str(folder))],
        env=faults.ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    child.stdout.readline()
    return child


def test_two_writers_to_one_folder(tmp_path, result):
    child = holder(tmp_path)
    try:
        words = "Wait for it"
        with (
            trial("two writers"),
            pytest.raises(FolderBusy, match=rf"locked by process \d+ on .* for \d+ s\. {words}"),
        ):
            sn.save(result, tmp_path)
    finally:
        os.killpg(child.pid, 9)
        child.wait()
        child.stdout.close()
    with trial("two writers"):  # the lock of the dead is free, its file does no harm
        deadline = time.monotonic() + 10
        while True:
            try:
                sn.save(result, tmp_path)
                break
            except FolderBusy:
                assert time.monotonic() < deadline
        assert not (tmp_path / locking.OWNER).exists()


def test_a_lock_with_a_clock_set_back(tmp_path, result):
    """The age of a lock from the future is not negative."""
    with storage.lock(tmp_path):
        later = time.time() + 10**6
        os.utime(tmp_path / locking.OWNER, (later, later))
        with trial("two writers"), pytest.raises(FolderBusy, match="for 0 s"):
            sn.save(result, tmp_path)


def test_temporary_files_are_private(tmp_path):
    """Nobody else reads what is being written; what is done has the usual mode."""
    before = os.umask(0o022)
    try:
        with trial("private temporary files"):
            with storage.atomic(tmp_path / "a") as temporary:
                temporary.write_text("secret")
                assert temporary.stat().st_mode & 0o777 == 0o600
            assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
            trap = tmp_path / f".b.{os.getpid()}.tmp"
            (tmp_path / "victim").write_text("mine")
            trap.symlink_to(tmp_path / "victim")
            storage.write_text(tmp_path / "b", "ours")
            assert (tmp_path / "victim").read_text() == "mine"
            assert not Path(tmp_path / "b").is_symlink()
    finally:
        os.umask(before)
