"""The command line, run as a user would."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from symnmf.cli import main
from symnmf.data.samples import sp500_prices
from symnmf.groups.naming import ordered

S = np.kron(np.eye(2), np.ones((3, 3)))


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: its exit code is checked, its words are returned."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["symnmf", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with pytest.raises(SystemExit) as ended:
                main()
        out = "".join(capsys.readouterr())
        assert ended.value.code == code, out
        return out

    return call


def test_as_a_module():
    command = [sys.executable, "-m", "symnmf", "fit", "--matrix", "no.csv", "--k", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: no.csv: does not exist. Check the path.\n"


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "S.csv"
    pd.DataFrame(S, index=list("abcdef"), columns=list("abcdef")).to_csv(path)
    return path


def test_demo(run, tmp_path):
    out = run("demo", "--out", tmp_path / "demo", "--synthetic", "--n", 64)
    assert out.count("CONVERGED") == 2
    assert "least possible error" in out
    for kind in ("tpdm", "corr"):
        assert sn.load(tmp_path / "demo" / kind).status.good
        page = (tmp_path / "demo" / kind / "report.html").read_text()
        assert "Plotly.react" in page
        assert 'src="http' not in page


def test_demo_on_real_prices(run, tmp_path):
    out = run("demo", "--out", tmp_path / "demo")
    assert "20 S&P 500 stocks, 1990-01-03 to 2022-12-28" in out
    assert out.count("CONVERGED") == 2
    line = next(line for line in out.splitlines() if "XOM" in line)
    assert "CVX" in line  # the oil companies are in one group
    assert sn.load(tmp_path / "demo" / "tpdm").names[0] == "AAPL"


@pytest.mark.parametrize("dependence", ["tail", "correlation"])
def test_fit_of_a_table(run, tmp_path, dependence):
    sp500_prices().iloc[:1500].to_csv(tmp_path / "p.csv")
    command = ("fit", "--prices", tmp_path / "p.csv", "--k", 4, "--dependence", dependence)
    out = run(*command, "--out", tmp_path / "out")
    assert "CONVERGED" in out
    assert "log returns of prices" in out
    record = json.loads((tmp_path / "out" / "data.json").read_text())
    assert record["summary"]["columns"] == 20
    assert len(record["dependence"]) >= 2
    assert "agreement of starts" in out


def test_what_the_file_is_has_to_be_said_once(run, tmp_path, matrix):
    assert "exactly one of" in run("fit", "--k", 2, "--out", tmp_path / "o", code=2)
    both = run("fit", "--k", 2, "--matrix", matrix, "--returns", matrix, code=2)
    assert "--matrix and --returns were given together" in both
    out = run("fit", "--k", 2, "--prices", matrix, "--dependence", "copula", code=2)
    assert "Error:" in out


def test_fit(run, matrix, tmp_path):
    out = run("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "out")
    assert "EXACT" in out
    assert "2 blocks of rank one" in out
    result = sn.load(tmp_path / "out")
    assert result.names == tuple("abcdef")
    again = ("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "out")
    assert "already holds a result" in run(*again, code=2)
    run(*again, "--force")


def test_fit_stopped_short_can_go_on(run, tmp_path):
    np.save(tmp_path / "S.npy", sn.benchmark_matrix("corr", 64, seed=1, samples=1000).operator.S)
    command = ("fit", "--matrix", tmp_path / "S.npy", "--k", 8, "--out", tmp_path / "out")
    out = run(*command, "--max-iter", 20, code=1)
    assert "NotConvergedWarning: sketched ended MAX_ITER" in out
    assert "CONVERGED" in run(*command, "--resume")


def test_wrong_input_is_one_line(run, tmp_path, matrix):
    out = run("fit", "--matrix", tmp_path / "no.csv", "--k", 2, "--out", tmp_path / "o", code=2)
    assert "does not exist" in out
    out = run("fit", "--matrix", matrix, "--k", 9, "--out", tmp_path / "o", code=2)
    assert "k: got 9. Pass a whole number from 1 to n = 6." in out
    out = run("fit", "--matrix", matrix, "--k", 2, "--solver", "admn", code=2)
    assert "Did you mean 'admm'" in out


def test_solvers_and_help(run):
    out = run("solvers")
    for name in sn.solvers():
        assert name in out
    assert "Exit codes" in run("--help")


def test_generate_plan_and_fit_from_a_folder(run, tmp_path):
    folder = tmp_path / "tpdm"
    words = ("generate", "tpdm", "--n", 64, "--samples", 2000, "--out", folder)
    assert "gram, float32 (64, 20)" in run(*words)
    assert "gram, float32 (64, 20)" in run(*words)  # found
    assert "CONVERGED" in run("fit", "--matrix", folder, "--k", 8, "--out", tmp_path / "fit")
    (folder / "data.npy").write_bytes(b"x" * 5248)
    out = run("fit", "--matrix", folder, "--k", 8, "--out", tmp_path / "no", code=2)
    assert "data.npy: is no .npy file" in out
    out = run("plan", "--n", 1_000_000, "--form", "dense")
    assert "4 TB" in out
    assert "Not enough memory here" in out
    assert "unknown matrix 'copula'" in run(
        "generate", "copula", "--n", 64, "--out", tmp_path / "c", code=2
    )


@pytest.mark.slow
def test_wrong_input_is_said_once_by_two_processes(tmp_path):
    words = ["--matrix", str(tmp_path / "no.npy"), "--k", "99", "--nproc", "2"]
    command = [sys.executable, "-m", "symnmf", "fit", *words]
    wrong = subprocess.run(command, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr.count("Error: ") == 1


def test_two_processes_from_one_command(tmp_path):
    path = tmp_path / "S.npy"
    np.save(path, sn.benchmark_matrix("corr", 64, seed=1, samples=1000).operator.S)
    words = ["--matrix", str(path), "--k", "8", "--nproc", "2", "--out", str(tmp_path / "two")]
    command = [sys.executable, "-m", "symnmf", "fit", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("CONVERGED") == 1
    alone = ordered(sn.factorize(np.load(path), 8, n_init=5))
    both = sn.load(tmp_path / "two")
    assert "Group 8:" in (tmp_path / "two" / "report.html").read_text("utf-8")
    assert both.labels().tolist() == alone.labels().tolist()


def test_roll_as_documented(run, tmp_path):
    path = tmp_path / "prices.csv"
    sp500_prices().iloc[:2100].to_csv(path)
    words = ("roll", "--prices", path, "--window", 1000, "--step", 500, "--k", 4)
    out = run(*words, "--out", tmp_path / "r")
    assert "3 windows" in out
    windows = pd.read_csv(tmp_path / "r" / "windows.csv")
    assert list(windows["status"]) == ["CONVERGED"] * 3
    assert pd.read_csv(tmp_path / "r" / "labels.csv").shape == (3, 21)
    assert len(pd.read_parquet(tmp_path / "r" / "loadings.parquet")) == 60
    assert "already holds a set of windows" in run(*words, "--out", tmp_path / "r", code=2)
    out = run(*words[:3], "--window", 500, "--step", 500, "--k", 4, "--out", tmp_path / "q", code=2)
    assert "leaves 25 exceedances" in out
    run(*words[:3], "--window", 500, "--step", 800, "--k", 3, "--q", 0.1, "--out", tmp_path / "q")


def test_rank_and_bench(run, tmp_path):
    np.save(tmp_path / "S.npy", sn.benchmark_matrix("corr", 100, seed=7).operator.S)
    out = run("rank", "--matrix", tmp_path / "S.npy")
    assert "10 groups" in out
    assert "gap after 10" in out
    words = ("bench", "spectral", "--sizes", 36, "--seeds", 7, "--out", tmp_path / "results")
    assert "2 runs made" in run(*words)
    assert "0 runs made" in run(*words)
    assert "r_eff" in (tmp_path / "results" / "spectral.md").read_text()
    assert "whole numbers" in run("bench", "spectral", "--sizes", "many", code=2)


def test_comparison_with_the_users_classes(run, tmp_path, matrix):
    path = tmp_path / "sectors.csv"
    path.write_text("name,sector\na,x\nb,x\nc,x\nd,=y\ne,=y\n")
    words = ("fit", "--matrix", matrix, "--k", 2, "--compare")
    out = run(*words, path, "--out", tmp_path / "o")
    assert "ARI 1.00, NMI 1.00; 1 names have no class" in out
    assert "'=y" in (tmp_path / "o" / "classes.csv").read_text()
    assert "does not exist" in run(*words, tmp_path / "no.csv", "--out", tmp_path / "p", code=2)
    assert not (tmp_path / "p").exists()  # said before the work
