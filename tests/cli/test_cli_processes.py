"""The command as a module, and over several processes."""

import subprocess
import sys

import numpy as np
import pytest

import symnmf as sn


@pytest.mark.slow
def test_as_a_module():
    command = [sys.executable, "-m", "symnmf", "fit", "--matrix", "no.csv", "--k", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: no.csv: does not exist. Check the path.\n"


@pytest.mark.slow
def test_wrong_input_is_said_once_by_two_processes(tmp_path):
    words = ["--matrix", str(tmp_path / "no.npy"), "--k", "99", "--nproc", "2"]
    command = [sys.executable, "-m", "symnmf", "fit", *words]
    wrong = subprocess.run(command, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr.count("Error: ") == 1


@pytest.mark.slow
def test_two_processes_from_one_command(tmp_path):
    path = tmp_path / "S.npy"
    np.save(path, sn.benchmark_matrix("corr", 64, seed=1, samples=1000).operator.S)
    words = ["--matrix", str(path), "--k", "8", "--nproc", "2", "--out", str(tmp_path / "two")]
    command = [sys.executable, "-m", "symnmf", "fit", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("CONVERGED") == 1
    alone = sn.factorize(np.load(path), 8, n_init=5)
    both = sn.load(tmp_path / "two")
    assert "Group 8:" in (tmp_path / "two" / "report.html").read_text("utf-8")
    assert both.labels().tolist() == alone.labels().tolist()
