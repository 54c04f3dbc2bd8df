"""Ctrl-C ends what is made of many fits; it does not cut one of them short and go on."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

import faults
import symnmf as sn
from symnmf import many_problems
from symnmf.analysis.other_dependence import other_dependence
from symnmf.bench.results_store import Store
from symnmf.bench.runner import run_study
from symnmf.bench.study import load
from symnmf.engine import driver
from trust.tally import trial


@pytest.fixture
def panel():
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (900, 3)) @ np.repeat(np.eye(3), 4, axis=0).T
    return sn.read_panel(X + 0.5 * rng.standard_t(3, X.shape), kind="returns")


@pytest.fixture
def pressed(monkeypatch):
    """Ctrl-C in the midst of the second fit, and no other fit at the same time."""
    begun, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)

    def begin(self, resume):
        begun.append(1)
        return old_begin(self, resume)

    def notify(self, callbacks):
        if len(begun) == 2:
            signal.raise_signal(signal.SIGINT)
        return old_notify(self, callbacks)

    def fit_batch(problems):  # of a bootstrap: it has no driver
        begun.append(1)
        signal.raise_signal(signal.SIGINT)
        return old_batch(problems)

    old_begin, old_notify = driver._Driver.begin, driver._Driver._notify
    old_batch = many_problems.fitted_starts
    monkeypatch.setattr(many_problems, "fitted_starts", fit_batch)
    monkeypatch.setattr(driver._Driver, "begin", begin)
    monkeypatch.setattr(driver._Driver, "_notify", notify)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    yield begun
    signal.signal(signal.SIGINT, before)
    torch.set_num_threads(threads)


def fit(panel, dependence="correlation"):
    estimate = sn.abs_correlation if dependence == "correlation" else sn.tail_dependence
    S = estimate(panel)
    return S, sn.factorize(S, 3, "admm")


def rolled(panel, place):
    return sn.rolling(panel, 300, 150, 3, "correlation", folder=place)


def bootstrapped(panel, place):
    return sn.bootstrap(panel, fit(panel)[1], "correlation", draws=4)


def significant(panel, place):
    return sn.significance(panel, *fit(panel, "tail"), draws=4)


def benched(panel, place):
    (place / "small.toml").write_text(faults.STUDY)
    return run_study(load(str(place / "small.toml")), Store(place / "results"))


def reported(panel, place):
    return other_dependence(panel, *fit(panel))


WORK = [rolled, bootstrapped, significant, benched, reported]


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_ends_the_whole(work, panel, tmp_path, pressed):
    with trial("Ctrl-C in something made of many fits"):
        with pytest.raises(KeyboardInterrupt):
            work(panel, tmp_path)
        assert len(pressed) == 2  # no third fit was begun


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_in_a_terminal_ends_a_study_with_a_word(tmp_path, jobs):
    """All processes hear it, as in a terminal; one word is said, and the same command goes on."""
    seeds = ", ".join(map(str, range(200)))
    study = faults.STUDY.replace(', "admm"', "").replace("7, 42", seeds)
    study = study.replace("[20]", "[300]").replace("40", "4000")
    (tmp_path / "small.toml").write_text(study)
    words = f"bench {tmp_path / 'small.toml'} --out {tmp_path / 'r'} --jobs {jobs}"
    with trial("Ctrl-C in something made of many fits"):
        child = subprocess.Popen(
            [sys.executable, "-m", "symnmf", *words.split()],
            env=faults.ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert child.stdout.readline().startswith("1 of 200")
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=60)
        assert child.returncode == 130
        assert said == "Interrupted. Finished work is stored: the same command continues.\n"
        lines = (tmp_path / "r" / "small.jsonl").read_text().splitlines()
        assert 1 <= len(lines) < 200
        assert all(json.loads(line)["found"]["status"] != "STOPPED" for line in lines)
