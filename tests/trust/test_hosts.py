"""Runs over several hosts, with faults: the same bits, or one sentence that names the host."""

import hashlib
import os
import signal
import time
from pathlib import Path

import pytest

import symnmf as sn
from symnmf.operators.stored import write_matrix
from trust.hosts import NAMESPACES, Hosts, orphans
from trust.tally import count, trial

pytestmark = pytest.mark.slow
#: Seconds that a process waits for another, and what a message may take beyond them.
TIMEOUT, PATIENCE = 10, 5
needs_network = pytest.mark.skipif(not NAMESPACES, reason="needs root, ip and tc")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A dense and a Gram matrix, and copies that differ in one entry."""
    place = tmp_path_factory.mktemp("hosts")
    for kind, form in (("tpdm", "gram"), ("corr", "dense")):
        whole = sn.benchmark_matrix(kind, 260, seed=7, samples=4000).operator.rows.whole.clone()
        write_matrix(place / form, whole, form=form)
        whole[17, 3] *= 1.001
        if form == "dense":
            whole[3, 17] = whole[17, 3]
        write_matrix(place / f"{form}-other", whole, form=form)
    return place


def argv(matrix, out, *more, steps=600):
    words = f"fit --matrix {matrix} --k 7 --solver adagrad --starts 1 --max-iter {steps}"
    words += f" --save-every 0.2 --timeout {TIMEOUT} --out {out} --no-report"
    return [*words.split(), *more]


def answer(out):
    return hashlib.sha256(sn.load(out).H.numpy().tobytes()).hexdigest()


@pytest.fixture(scope="module")
def alone(place):
    """What one process of a group finds, for each form."""
    found = {}
    for form in ("dense", "gram"):
        with Hosts(1, "a") as hosts:
            process = hosts.start(0, argv(place / form, place / f"alone-{form}"), 0, 1)
            _, words = process.communicate(timeout=300)
            assert process.returncode == 0, words
        found[form] = answer(place / f"alone-{form}")
    return found


def run(hosts, count, words, skew=0):
    return [hosts.start(h, words, h, count, skew * h) for h in range(count)]


def ended(processes, seconds=300):
    """Exit codes and words of processes, all of which must end."""
    until = time.monotonic() + seconds
    said = [p.communicate(timeout=max(1, until - time.monotonic()))[1] for p in processes]
    return [p.returncode for p in processes], said


def saved(out, after=0):
    """Wait for a checkpoint that is newer than some time."""
    manifest = Path(out) / "checkpoint" / "manifest.json"
    for _ in range(2400):
        if manifest.exists() and manifest.stat().st_mtime_ns > after:
            return
        time.sleep(0.05)
    raise AssertionError("no checkpoint")


def lines(words):
    return [line for line in words.splitlines() if line and "Warning" not in line]


@pytest.mark.parametrize("form", ["dense", "gram"])
@pytest.mark.parametrize("size", [2, 3])
def test_hosts_find_the_same_bits(place, alone, tmp_path, form, size):
    with trial("hosts: the same bits as one process"), Hosts(size) as hosts:
        codes, said = ended(run(hosts, size, argv(place / form, tmp_path / "o")))
        assert codes == [0] * size, said
        assert answer(tmp_path / "o") == alone[form]
        assert all("socket.cpp" not in words for words in said)


@pytest.mark.parametrize("form", ["dense", "gram"])
def test_a_host_whose_matrix_differs_is_refused_by_all(place, tmp_path, form):
    with trial("hosts: a copy that differs in one entry"), Hosts(3) as hosts:
        processes = [
            hosts.start(h, argv(place / (f"{form}-other" if h == 1 else form), tmp_path), h, 3)
            for h in range(3)
        ]
        codes, said = ended(processes)
        assert codes == [0, 0, 0]  # under torchrun, wrong input is not started again
        for words in said:
            assert len(lines(words)) == 1, words
            assert "process 1 of 3" in words
            assert "holds another copy than process 0" in words
            assert not NAMESPACES or "(host host1)" in words
        assert not list(tmp_path.glob("*.csv"))


@needs_network
@pytest.mark.parametrize("form", ["dense", "gram"])
@pytest.mark.parametrize(
    ("fault", "loser"), [("worker killed", 1), ("host killed", 0), ("link cut", 1)]
)
def test_a_lost_host_is_named_and_the_run_goes_on(place, alone, tmp_path, form, fault, loser):
    """The survivors end in time with one sentence; two processes or one go on to the same bits."""
    for attempt in range(count(1, 5)):
        out = tmp_path / f"o{attempt}"
        with trial(f"hosts: {fault}, then resumed"):
            with Hosts(3) as hosts:
                processes = run(hosts, 3, argv(place / form, out))
                saved(out)
                began = time.monotonic()
                hosts.cut(loser) if fault == "link cut" else hosts.kill(loser)
                others = [p for h, p in enumerate(processes) if h != loser]
                codes, said = ended(others, TIMEOUT + PATIENCE + 30)
                seconds = time.monotonic() - began
                if set(codes) != {0}:  # it had not ended before
                    assert codes == [3, 3], said
                    assert seconds < TIMEOUT + PATIENCE + 5, seconds
                    for words in said:
                        assert len(lines(words)) == 1, words
                        assert "did not respond" in words
                        assert "(host host" in words
            assert not orphans(str(out))
            size = 1 + attempt % 2
            with Hosts(size) as hosts:
                codes, said = ended(run(hosts, size, argv(place / form, out, "--resume")))
                assert set(codes) == {0}, said
            assert answer(out) == alone[form]


@needs_network
def test_a_link_that_is_cut_for_some_seconds(place, alone, tmp_path):
    with trial("hosts: link cut for 5 s"), Hosts(2) as hosts:
        processes = run(hosts, 2, argv(place / "gram", tmp_path / "o"))
        saved(tmp_path / "o")
        hosts.cut(1)
        time.sleep(5)
        hosts.cut(1, mended=True)
        codes, said = ended(processes)
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["gram"]


@needs_network
@pytest.mark.parametrize("words", ["delay 10ms", "delay 2ms loss 1%"])
def test_a_slow_and_lossy_link(place, alone, tmp_path, words):
    with trial(f"hosts: {words}"), Hosts(2) as hosts:
        for host in range(2):
            hosts.shape(host, words)
        codes, said = ended(run(hosts, 2, argv(place / "gram", tmp_path / "o")))
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["gram"]


@needs_network
def test_clocks_that_differ_by_a_day(place, alone, tmp_path):
    with trial("hosts: clocks that differ by a day"), Hosts(2) as hosts:
        codes, said = ended(run(hosts, 2, argv(place / "dense", tmp_path / "o"), skew=86400))
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["dense"]


def test_a_stop_of_one_host_saves_and_ends_all(place, alone, tmp_path):
    """A host that is drained (SIGTERM to its process alone) stops the run, which goes on later."""
    with trial("hosts: one of them is told to stop"):
        with Hosts(2) as hosts:
            processes = run(hosts, 2, argv(place / "gram", tmp_path / "o"))
            saved(tmp_path / "o")
            os.kill(processes[1].pid, signal.SIGTERM)
            codes, said = ended(processes, 60)
            assert codes == [0, 0], said
            assert (tmp_path / "o" / "loadings.csv").exists() or "Stopped by SIGTERM" in said[0]
        with Hosts(1) as hosts:
            ended(run(hosts, 1, argv(place / "gram", tmp_path / "o", "--resume")))
        assert answer(tmp_path / "o") == alone["gram"]


def test_a_table_that_differs_in_one_cell(tmp_path):
    import numpy as np

    table = np.random.default_rng(0).standard_normal((120, 8))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / "r.csv", table, delimiter=",", header="a,b,c,d,e,f,g,h",
                   comments="")  # fmt: skip
        table[60, 2] += 1e-6
    with trial("hosts: a table that differs in one cell"), Hosts(2) as hosts:
        processes = [
            hosts.start(h, ["fit", "--returns", tmp_path / "ab"[h] / "r.csv", "--k", "2",
                            "--out", tmp_path / "o", "--no-report"], h, 2)
            for h in range(2)
        ]  # fmt: skip
        codes, said = ended(processes)
        assert codes == [0, 0]
        for words in said:
            assert "process 1 of 2" in words, words
            assert "another copy" in words
