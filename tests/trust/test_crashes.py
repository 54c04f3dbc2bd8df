"""Killed or interrupted anywhere, a folder is old or new, and going on gives the same bits."""

import hashlib
import json
import signal

import numpy as np
import pandas as pd
import pytest

import faults
import symnmf as sn
from symnmf import storage
from symnmf.core.labels import group_numbers
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.storage.kinds import CHECKPOINT
from trust.tally import count, trial


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Inputs of all commands."""
    place = tmp_path_factory.mktemp("crashes")
    S = sn.benchmark_matrix("corr", 60, seed=7, samples=4000).operator.S
    write_matrix(place / "S", S, form="dense")
    (place / "small.toml").write_text(faults.STUDY)
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3), 4, axis=0)
    returns = rng.standard_t(4, (400, 3)) @ groups.T + 0.3 * rng.standard_t(4, (400, 12))
    table = pd.DataFrame(returns, columns=[f"N{j}" for j in range(12)])
    table.to_csv(place / "returns.csv", index=False)
    return place


@pytest.fixture(scope="module")
def nursery(place):
    nursery = faults.Nursery(place)
    yield nursery
    nursery.close()


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Fit:
    """A fit that saves itself at every look; an old result is there to be replaced."""

    def argv(self, place, out, again=False, seed=3):
        words = f"fit --matrix {place / 'S'} --k 5 --solver adagrad --starts 1 --save-every 0"
        words += f" --seed {seed} --max-iter 60 --out {out}"
        return [*words.split(), "--resume" if again else "--force"]

    def prepare(self, nursery, place, out):
        nursery.run(argv=self.argv(place, out, seed=8))

    def answer(self, out):
        return sha_of(sn.load(out).H)

    def whole(self, out, old, new):
        if (out / "checkpoint" / storage.MANIFEST).exists():
            storage.read_manifest(out / "checkpoint", CHECKPOINT.name)
        assert self.answer(out) in (old, new)
        if (out / "labels.csv").exists():
            table = pd.read_csv(out / "labels.csv")
            assert list(table["group"]) == group_numbers(sn.load(out).labels()).tolist()


class Generate:
    """A matrix written piece by piece; there is nothing before it."""

    def argv(self, place, out, again=False):
        return f"generate corr --n 300 --samples 300 --seed 3 --dense --out {out}".split()

    def prepare(self, nursery, place, out):
        pass

    def answer(self, out):
        if not (out / storage.MANIFEST).exists():
            return None
        names = ("data.npy", "labels.npy", "permutation.npy", storage.MANIFEST)
        return [sha(out / name) for name in names]

    def whole(self, out, old, new):
        assert self.answer(out) in (old, new)
        if (out / storage.MANIFEST).exists():
            open_matrix(out)


class Bench:
    """A study whose results are lines."""

    def argv(self, place, out, again=False):
        return f"bench {place / 'small.toml'} --out {out}".split()

    def prepare(self, nursery, place, out):
        pass

    def answer(self, out):
        path = out / "small.jsonl"
        lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
        return [strip(json.loads(line)) for line in lines[:-1]]

    def whole(self, out, old, new):
        found = self.answer(out)
        assert found == new[: len(found)]  # what is there is right, and what comes is appended


class Roll:
    """Windows through time, kept as they come; old ones are there to be replaced."""

    def argv(self, place, out, again=False, seed=3):
        words = f"roll --returns {place / 'returns.csv'} --window 200 --step 100 --k 3"
        return [*f"{words} --seed {seed} --dependence correlation --out {out}".split(), "--force"]

    def prepare(self, nursery, place, out):
        nursery.run(argv=self.argv(place, out, seed=8))

    def answer(self, out):
        return [sha_of(w.result.H) for w in sn.load_rolling(out).windows]

    def whole(self, out, old, new):
        assert self.answer(out) in (old, new)
        found = sn.load_rolling(out)
        if (out / "labels.csv").exists():
            table = pd.read_csv(out / "labels.csv", index_col=0)
            assert (table.to_numpy() == group_numbers(found.labels())).all()
        if (out / "windows.csv").exists():
            table = pd.read_csv(out / "windows.csv")
            assert list(table["moved"]) == [len(w.moved) for w in found.windows]


def names(folder):
    """Files of a folder that have fixed names."""
    return {p.name for p in folder.iterdir() if not p.name.startswith((".", "model-"))}


def sha_of(H):
    return hashlib.sha256(H.numpy().tobytes()).hexdigest()


def strip(record):
    """A result of a study without its clocks."""
    figures = ("status", "error", "excess", "factors_explained", "ari", "iterations", "products")
    return record["key"], {name: record["found"][name] for name in figures}


JOBS = {"fit": Fit(), "generate": Generate(), "bench": Bench(), "roll": Roll()}


SLOW = pytest.mark.slow
SOME = ["fit", pytest.param("generate", marks=SLOW), pytest.param("bench", marks=SLOW), "roll"]


def chosen(operations, few, many):
    """Which file operations to disturb: all of them, or some in their midst."""
    most = count(few, many)
    return sorted({round(x) for x in np.linspace(1, operations, min(most, operations))})


def disturb(nursery, place, out, name, job, row, disturbances, expected):
    """Old state, a disturbance, a look, and the command again until it is done."""
    reference = place / f"{out.name}-whole"
    job.prepare(nursery, place, reference)
    old = job.answer(reference) if reference.exists() else ([] if name == "bench" else None)
    whole = nursery.run(argv=job.argv(place, reference))
    assert whole["code"] in (0, 1), whole["said"]
    new = job.answer(reference)
    for m, options in enumerate(disturbances(whole)):
        folder = out / str(m)
        with trial(row.format(name)):
            job.prepare(nursery, place, folder)
            cut = nursery.run(argv=job.argv(place, folder), **options)
            assert cut["code"] in expected, (options, cut)
            if options.get("fault") == "interrupt":  # within the command, which has a word for it
                assert cut["code"] in (0, 1, 130), cut
                assert cut["code"] != 130 or "Interrupted. " in cut["said"], cut
            if folder.exists() and (name in ("generate", "bench") or any(folder.iterdir())):
                job.whole(folder, old, new)
            again = nursery.run(argv=job.argv(place, folder, again=True))
            if "holds another run" in again["said"]:  # it had not begun: the old one is there
                again = nursery.run(argv=job.argv(place, folder))
            assert again["code"] in (0, 1), again["said"]
            assert job.answer(folder) == new
            job.whole(folder, new, new)
            assert names(folder) >= names(reference), "something is missing"


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_killed_at_file_operations(nursery, place, tmp_path, name):

    def at_operations(whole):
        return [{"at": at} for at in chosen(whole["operations"], 2, 1000)]

    row = "kills at a file operation of {}"
    disturb(nursery, place, tmp_path, name, JOBS[name], row, at_operations, (-signal.SIGKILL,))


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_killed_at_any_moment(nursery, place, tmp_path, name):

    def in_time(whole):
        return [{"after": t} for t in faults.random_moments(count(1, 16), whole["seconds"])]

    row = "kills at a random moment of {}"
    disturb(nursery, place, tmp_path, name, JOBS[name], row, in_time, (-signal.SIGKILL, 0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_interrupted_at_any_moment(nursery, place, tmp_path, name):
    """Ctrl-C: the command ends with a word, the folder is as after a kill or better."""

    def in_time(whole):
        moments = faults.random_moments(count(1, 8), whole["seconds"], seed=1)
        at = chosen(whole["operations"], 1, 12)
        return [{"after": t, "signal": int(signal.SIGINT)} for t in moments] + [
            {"at": a, "fault": "interrupt"} for a in at
        ]

    work = StoppedFit() if name == "fit" else JOBS[name]
    row = "Ctrl-C during {}"
    disturb(nursery, place, tmp_path, name, work, row, in_time, (0, 1, 70, 130, -signal.SIGINT))


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_stopped_by_a_batch_system_at_any_moment(nursery, place, tmp_path, name):
    """SIGTERM and SIGUSR1: the state is as after a kill, and the code says "run me again"."""

    def in_time(whole):
        moments = faults.random_moments(count(1, 10), whole["seconds"], seed=2)
        signals = (signal.SIGTERM, signal.SIGUSR1)
        return [{"after": t, "signal": int(signals[m % 2])} for m, t in enumerate(moments)]

    codes = (0, 1, 70, 75, -signal.SIGTERM, -signal.SIGUSR1)  # before the command had begun
    row = "SIGTERM or SIGUSR1 during {}"
    disturb(nursery, place, tmp_path, name, JOBS[name], row, in_time, codes)


class StoppedFit(Fit):
    """A fit that was stopped writes the best factor so far: neither old nor new, but whole."""

    def whole(self, out, old, new):
        if (out / "checkpoint" / storage.MANIFEST).exists():
            storage.read_manifest(out / "checkpoint", CHECKPOINT.name)
        result = sn.load(out)
        assert result.status.name == "STOPPED" or self.answer(out) in (old, new)
