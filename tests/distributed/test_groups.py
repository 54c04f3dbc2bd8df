"""Processes that share the rows give the same answer, bit for bit, whatever their number."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import symnmf as sn
from symnmf.operators.stored import write_matrix

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both benchmark matrices with n = 1 003, as folders."""
    path = tmp_path_factory.mktemp("matrices")
    for kind, form in (("tpdm", "gram"), ("corr", "dense")):
        S = sn.benchmark_matrix(kind, 1003, seed=7, samples=10_000).operator
        write_matrix(path / kind, S.rows.whole, form=form)
    return path


def worker(*words, **environment):
    """A process; without an agent that starts it again."""
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, words)],
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def rendezvous(size):
    """Where the processes of a group meet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size)}


def start(size, *words, **environment):
    """Processes of one group, each started by itself."""
    common = rendezvous(size) | environment
    return [worker(*words, **common, RANK=str(rank)) for rank in range(size)]


def run(size, *words):
    """The answer of a group whose processes are forks of one."""
    process = worker(*words, **rendezvous(size))
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    return json.loads(said)


@pytest.fixture(scope="module")
def alone(folder):
    """What one process finds."""
    return run(1, "factors", folder)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(2, marks=pytest.mark.slow),
        pytest.param(3, marks=pytest.mark.slow),
        pytest.param(4, marks=pytest.mark.slow),
    ],
)
def test_every_number_of_processes_gives_the_same_bits(folder, alone, size):
    assert len(alone) == 14
    assert run(size, "factors", folder) == alone


@pytest.mark.slow
def test_a_share_acts_like_the_whole(folder):
    for answer in run(3, "contract", folder).values():
        assert answer.pop("same")
        assert not answer.pop("different")
        assert answer.pop("agree") == [1.0, True]
        assert max(answer.values()) < 1e-6


@pytest.mark.slow
def test_processes_without_rows_take_part(folder):
    norms, product, _ = run(3, "small", folder)
    assert max(norms, product) < 1e-6


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs /proc")
def test_each_process_holds_its_share(folder):
    shares = run(4, "held", folder)
    assert len(shares) == 4
    assert max(shares) <= 1.2 / 4
    assert min(shares) > 0.5 / 4


@pytest.mark.slow
def test_a_hung_process_is_named(folder):
    first, second = start(2, "hang", folder, TIMEOUT="2")
    _, words = first.communicate(timeout=60)
    second.kill()
    second.communicate()
    assert first.returncode != 0
    host = socket.gethostname()
    assert f"PeerLost: process 1 of 2 (host {host}) did not respond" in words


def test_copies_that_differ_are_refused_by_every_process(folder, tmp_path):
    """One number differs in process 1: no product is made of a mixture of two matrices."""
    where = f"process 1 of 3 (host {socket.gethostname()}) holds another copy than process 0 of 3"
    found = run(3, "differing", folder, tmp_path)
    assert sorted(found) == [
        "a factor B", "a folder of a factor", "a folder of a matrix", "a mapped matrix", "a matrix",
        "a missing folder", "a table", "diagonal", "names", "rank",
    ]  # fmt: skip
    missing = found.pop("a missing folder")
    assert missing[0] == missing[2]
    assert "process 1 of 3" in missing[0]
    for case, words in found.items():
        assert len(words) == 3
        assert len(set(words)) == 1, case  # every process says the same
        assert where in words[0], words[0]
    assert "rows 77 to 78 differs" in found["a factor B"][0] or "rows" in found["a factor B"][0]
    assert "k differs (4, 3)" in found["rank"][0]


@pytest.mark.slow
def test_a_file_changed_in_one_process_ends_all_of_them(folder, tmp_path):
    words = run(2, "replaced", folder, tmp_path)
    assert "was modified while it was in use" in words[1]
    assert words[0].startswith("process 1 of 2")
