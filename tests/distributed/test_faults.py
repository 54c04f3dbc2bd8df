"""Killed processes under torchrun: it starts them again, and the answer has the same bits."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import symnmf as sn
from symnmf.operators.stored import open_matrix, write_matrix

RESTARTS = 30
resumed: list[int] = []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("matrix") / "corr"
    S = sn.benchmark_matrix("corr", 600, seed=7, samples=5000).operator
    return write_matrix(path, S.S, form="dense")


def launch(folder, out, *agent, **environment):
    """A fit that saves itself all the time."""
    words = f"-m symnmf fit --matrix {folder} --k 24 --solver adagrad --save-every 0.2 --out {out}"
    return subprocess.Popen(
        [sys.executable, *agent, *words.split(), "--max-iter", "1000", "--no-report"],
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def torchrun(folder, out):
    """The same in two processes that are started again when one dies."""
    words = f"-m torch.distributed.run --nproc-per-node 2 --max-restarts {RESTARTS} --standalone"
    return launch(folder, out, *words.split(), TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1")


def alone(folder, out):
    """The same in a group of one process."""
    place = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    return launch(folder, out, **place)


def workers(agent):
    """Processes that torchrun started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = [x for x in status.read_text().splitlines() if x.startswith("PPid:")]
        except OSError:
            continue
        if parent and int(parent[0].split()[1]) == agent.pid:
            found.append(int(status.parent.name))
    return sorted(found)


def digest(out):
    result = sn.load(out)
    again = [note for note in result.notes if "resumed at iteration" in note]
    if again:
        resumed.append(int(again[0].split()[-1]))
    return result.iterations, hashlib.sha256(result.H.numpy().tobytes()).hexdigest()


def finished(agent, out):
    _, words = agent.communicate(timeout=300)
    assert agent.returncode == 0, words[-3000:]
    return digest(out)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, 20])
def test_killed_processes_recover_to_the_same_bits(folder, tmp_path, kills):
    undisturbed = finished(alone(folder, tmp_path / "whole"), tmp_path / "whole")
    rng = random.Random(kills)
    done = 0
    for run in range(kills):
        out = tmp_path / f"killed{run}"
        agent = torchrun(folder, out)
        saved = out / "checkpoint" / "manifest.json"
        since = 0
        while agent.poll() is None and done < kills:
            time.sleep(0.02)
            if not saved.exists() or saved.stat().st_mtime_ns <= since:
                continue  # nothing new to lose yet
            time.sleep(rng.uniform(0.0, 0.5))
            alive = workers(agent)
            if len(alive) == 2 and agent.poll() is None:
                os.kill(rng.choice(alive), signal.SIGKILL)
                done += 1
                since = saved.stat().st_mtime_ns
        assert finished(agent, out) == undisturbed
        if done == kills:
            break
    assert done == kills
    assert any(iteration > 0 for iteration in resumed)  # not from the beginning


@pytest.mark.slow
def test_a_refusal_ends_all_processes_and_replaces_nothing(folder, tmp_path):
    out = tmp_path / "there"
    sn.save(sn.factorize(open_matrix(folder), 3, n_init=1), out)
    before = (out / "manifest.json").read_bytes()
    agent = torchrun(folder, out)
    _, words = agent.communicate(timeout=120)
    assert agent.returncode == 0, words[-3000:]  # no fault, so nothing was started again
    assert words.count("already holds a result") == 1
    assert (out / "manifest.json").read_bytes() == before
