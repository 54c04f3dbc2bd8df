"""Runs over several hosts, with faults: the same bits, or one sentence that names the host."""

import hashlib
import random
import signal
import time
from pathlib import Path

import pytest

import symnmf as sn
from symnmf.operators.stored import write_matrix
from trust.hosts import NAMESPACES, Hosts, orphans, stop
from trust.tally import count, note, trial

pytestmark = pytest.mark.slow
#: Seconds that a process waits for another, and what a message may take beyond them.
TIMEOUT, PATIENCE = 10, 5
needs_network = pytest.mark.skipif(not NAMESPACES, reason="needs root and ip")


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
        with Hosts(1) as hosts:
            process = hosts.start(0, argv(place / form, place / f"alone-{form}"), 0, 1)
            _, words = process.communicate(timeout=300)
            assert process.returncode == 0, words
        found[form] = answer(place / f"alone-{form}")
    return found


def run(hosts, count, words, skew=0):
    """A process on each host."""
    return [hosts.start(h, words, h, count, skew * h) for h in range(count)]


def pairs(hosts, words):
    """Two processes on each of two hosts."""
    return [hosts.start(p // 2, words, p, 4, local=p % 2) for p in range(4)]


def ended(processes, seconds=300):
    """Exit codes and words of processes, all of which must end."""
    until = time.monotonic() + seconds
    said = [p.communicate(timeout=max(1, until - time.monotonic()))[1] for p in processes]
    assert not orphans(processes)
    return [p.returncode for p in processes], said


def refused(processes, began):
    """Seconds from the start to the end of a run that was refused, and what it lost: nothing."""
    return max(p.ended_at for p in processes) - began, 0.0


def saved(out):
    """Wait for a checkpoint; its manifest."""
    manifest = Path(out) / "checkpoint" / "manifest.json"
    for _ in range(2400):
        if manifest.exists():
            return manifest
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
        began = time.time()
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
        note("a matrix that differs in one entry", *refused(processes, began))


def worker_killed(hosts, words, attempt):
    """One of four processes on two hosts; the system closes its connections."""
    processes = pairs(hosts, words)
    lost = 1 + attempt % 3
    return processes, lambda: stop(processes[lost], signal.SIGKILL), [lost]


def host_lost(hosts, words, attempt):
    """A whole host as by a loss of power: nothing is closed, nothing is answered."""
    lost = attempt % 3
    return run(hosts, 3, words), lambda: hosts.lose(lost), [lost]


def link_cut(hosts, words, attempt):
    """The link of a host, for good; its process lives and has to end too."""
    return run(hosts, 3, words), lambda: hosts.cut(attempt % 3), []


FAULTS = {"worker killed": worker_killed, "host lost": host_lost, "link cut for good": link_cut}


@needs_network
@pytest.mark.parametrize("form", ["dense", "gram"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_host_is_named_and_the_run_goes_on(place, alone, tmp_path, form, fault):
    """The survivors end in time with one sentence; another number of processes goes on."""
    moments = random.Random(f"{form} {fault}")
    for attempt in range(count(1, 5)):
        out, row = tmp_path / f"o{attempt}", f"hosts: {fault}, then resumed"
        with trial(row):
            with Hosts(3) as hosts:
                processes, strike, dead = FAULTS[fault](hosts, argv(place / form, out), attempt)
                checkpoint = saved(out)
                time.sleep(moments.uniform(0, 1))
                before, began = checkpoint.stat().st_mtime, time.time()
                strike()
                left = [p for m, p in enumerate(processes) if m not in dead]
                codes, said = ended(left, TIMEOUT + PATIENCE + 30)
                assert set(codes) == {3}, (codes, said)
                seconds = max(p.ended_at for p in left) - began
                assert seconds < TIMEOUT + PATIENCE, seconds
                for host in {h for h, p in hosts.processes if p in left}:
                    words = "".join(p.said("err") for h, p in hosts.processes if h == host)
                    assert len(lines(words)) == 1, words
                    assert "did not respond" in words
                    assert "(host host" in words
            size = 1 + attempt % 3
            with Hosts(size) as hosts:
                codes, said = ended(run(hosts, size, argv(place / form, out, "--resume")))
                assert set(codes) == {0}, said
            assert answer(out) == alone[form]
            note(fault, seconds, began - before)


@needs_network
def test_a_link_that_is_cut_for_some_seconds(place, alone, tmp_path):
    row = "link cut for 5 s"
    with trial(f"hosts: {row}"), Hosts(2) as hosts:
        processes = run(hosts, 2, argv(place / "gram", tmp_path / "o"))
        saved(tmp_path / "o")
        hosts.cut(1)
        time.sleep(5)
        hosts.cut(1, mended=True)
        codes, said = ended(processes)
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["gram"]
        note(row, None, None)


@needs_network
@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="needs /dev/net/tun")
@pytest.mark.parametrize(("delay", "loss"), [(0.01, 0.0), (0.002, 0.01)])
def test_a_slow_and_lossy_link(place, alone, tmp_path, delay, loss):
    row = f"{1000 * delay:g} ms latency, {100 * loss:g} % of the packets lost"
    with trial(f"hosts: {row}"), Hosts(2, delay, loss) as hosts:
        codes, said = ended(run(hosts, 2, argv(place / "gram", tmp_path / "o")))
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["gram"]
        note(row, None, None)


@needs_network
def test_clocks_that_differ_by_a_day(place, alone, tmp_path):
    with trial("hosts: clocks that differ by a day"), Hosts(2) as hosts:
        codes, said = ended(run(hosts, 2, argv(place / "dense", tmp_path / "o"), skew=86400))
        assert codes == [0, 0], said
        assert answer(tmp_path / "o") == alone["dense"]
        note("clocks that differ by a day", None, None)


def test_a_stop_of_one_host_saves_and_ends_all(place, alone, tmp_path):
    """A host that is drained (SIGTERM to its process alone) stops the run, which goes on later."""
    with trial("hosts: one of them is told to stop"):
        with Hosts(2) as hosts:
            processes = run(hosts, 2, argv(place / "gram", tmp_path / "o"))
            saved(tmp_path / "o")
            began = time.time()
            stop(processes[1], signal.SIGTERM)
            codes, said = ended(processes, 60)
            assert codes == [0, 0], said
            assert "Stopped by SIGTERM" in said[0]
            seconds = max(p.ended_at for p in processes) - began
        with Hosts(1) as hosts:
            ended(run(hosts, 1, argv(place / "gram", tmp_path / "o", "--resume")))
        assert answer(tmp_path / "o") == alone["gram"]
        note("SIGTERM to one process", seconds, 0.0)


def test_a_table_that_differs_in_one_cell(tmp_path):
    import numpy as np

    table = np.random.default_rng(0).standard_normal((120, 8))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / "r.csv", table, delimiter=",", header="a,b,c,d,e,f,g,h",
                   comments="")  # fmt: skip
        table[60, 2] += 1e-6
    with trial("hosts: a table that differs in one cell"), Hosts(2) as hosts:
        began = time.time()
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
        note("a table that differs in one cell", *refused(processes, began))
