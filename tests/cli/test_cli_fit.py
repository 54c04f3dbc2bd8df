"""``symnmf fit``: a matrix or a table becomes a folder of results."""

import json

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from helpers import STRANGE_NAMES
from symnmf import storage
from symnmf.data.samples import sp500_prices
from symnmf.storage.kinds import RESULT


def test_fit(run, matrix, tmp_path):
    out = run("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "out", "--verbose")
    assert "EXACT" in out
    assert "2 blocks of rank one" in out
    result = sn.load(tmp_path / "out")
    assert result.names == tuple("abcdef")
    again = ("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "out")
    assert "already holds a result" in run(*again, code=2)
    run(*again, "--force")


@pytest.mark.parametrize("dependence", ["tail", "correlation"])
def test_fit_of_a_table(run, tmp_path, dependence):
    sp500_prices().iloc[:1500].to_csv(tmp_path / "p.csv")
    command = ("fit", "--prices", tmp_path / "p.csv", "--k", 4, "--dependence", dependence)
    out = run(*command, "--out", tmp_path / "out", "--verbose")
    assert "CONVERGED" in out
    assert "log returns of prices" in out
    record = json.loads((tmp_path / "out" / "data.json").read_text())
    assert record["summary"]["columns"] == 20
    assert len(record["dependence"]) >= 2
    assert "agreement of starts" in out


def test_what_the_file_is_has_to_be_said_once(run, tmp_path, matrix):
    assert "exactly one of" in run("fit", "--k", 2, "--out", tmp_path / "o", code=2)
    both = run("fit", "--k", 2, "--matrix", matrix, "--returns", matrix, code=2)
    assert "--returns and --matrix were given together" in both
    out = run("fit", "--k", 2, "--prices", matrix, "--dependence", "copula", code=2)
    assert "Error:" in out


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


def test_comparison_with_the_users_classes(run, tmp_path, matrix):
    path = tmp_path / "sectors.csv"
    path.write_text("name,sector\na,x\nb,x\nc,x\nd,=y\ne,=y\n")
    words = ("fit", "--matrix", matrix, "--k", 2, "--compare")
    out = run(*words, path, "--out", tmp_path / "o")
    assert "ARI 1.00, NMI 1.00; 1 name has no class" in out
    assert "'=y" in (tmp_path / "o" / "classes.csv").read_text()
    assert "does not exist" in run(*words, tmp_path / "no.csv", "--out", tmp_path / "p", code=2)
    assert not (tmp_path / "p").exists()  # said before the work


def test_a_folder_has_everything(run_streams, tmp_path):
    prices = sp500_prices().iloc[:1500]
    prices.columns = [*STRANGE_NAMES, *prices.columns[len(STRANGE_NAMES) :]]
    prices.to_parquet(tmp_path / "p.parquet")
    (tmp_path / "classes.csv").write_text(f"name,class\n{STRANGE_NAMES[1]},=x\nAMD,y\n", "utf-8")
    (tmp_path / "w.csv").write_text("name,weight\nXOM,0.5\nKO,0.5\n")
    words = ("fit", "--prices", tmp_path / "p.parquet", "--compare", tmp_path / "classes.csv")
    folder = tmp_path / "o"
    out, _ = run_streams(*words, "--k", 4, "--out", folder, "--weights", tmp_path / "w.csv")
    assert "report.html in a browser" in out
    for name in (*RESULT.files, storage.MANIFEST):
        assert (folder / name).stat().st_size > 0, name
    assert list(sn.load(folder).names) == list(prices.columns)
    assert list(pd.read_parquet(folder / "loadings.parquet").index) == list(prices.columns)
    assert json.loads((folder / "data.json").read_text())["summary"]["kind"] == "prices"
    for name in ("loadings.csv", "labels.csv", "classes.csv"):
        cells = pd.read_csv(folder / name, header=None, dtype=str)
        words_ = [c for c in [*cells[0], *cells.iloc[0]] if isinstance(c, str)]
        assert not [c for c in words_ if c.startswith(storage.FORMULA)]
    assert f"'{STRANGE_NAMES[1]}" in (folder / "labels.csv").read_text("utf-8")


def test_the_number_of_groups_is_suggested(run_streams, tmp_path):
    b = sn.benchmark_matrix("corr", 100, seed=7)
    np.save(tmp_path / "S.npy", b.operator.S)
    run_streams("fit", "--matrix", tmp_path / "S.npy", "--out", tmp_path / "o", "--no-report")
    result = sn.load(tmp_path / "o")
    assert result.H.shape[1] == 10
    assert result.notes[0].startswith("k = 10 was suggested: 10 factors predict hidden entries")
    assert "k = 10" in (tmp_path / "o" / "config.toml").read_text()


def test_foreign_files_are_not_replaced(run_streams, strange_matrix, tmp_path):
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "report.html").write_text("mine")
    words = ("fit", "--matrix", strange_matrix, "--k", 2, "--out", tmp_path / "o")
    assert "report.html: already exists" in run_streams(*words, code=2)[1]
    assert (tmp_path / "o" / "report.html").read_text() == "mine"
    run_streams(*words, "--force")
    assert "<!doctype html>" in (tmp_path / "o" / "report.html").read_text("utf-8")
    run_streams(*words, "--force", "--no-report")
    assert not (tmp_path / "o" / "report.html").exists()  # it was about another fit
