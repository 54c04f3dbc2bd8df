"""Options from files, JSON for machines, help for people, and what a folder holds."""

import json
import re
import sys
import tomllib
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
import typer

import symnmf as sn
from symnmf import files
from symnmf.cli import app, main
from symnmf.data.samples import sp500_prices
from symnmf.results import WRITTEN

NAMES = ["a", "=cmd|'/c calc'!A0", "</script><script>alert(1)</script>", "مرحبا", "🚀", "x" * 500]
COMMANDS = typer.main.get_command(app).commands


@pytest.fixture
def run(monkeypatch, capfd):
    """The command in this process; its exit code is checked, standard output and error returned."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["symnmf", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert ended.value.code == code, out + err
        return out, err

    return call


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "S.parquet"
    S = np.kron(np.eye(2), np.ones((3, 3)))
    pd.DataFrame(S, index=NAMES, columns=NAMES).to_parquet(path)
    return path


def test_options_of_a_file(run, matrix, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(f'k = 3\nmatrix = "{matrix}"\nseed = 5\nmax_seconds = 60\nreport = false\n')
    run("fit", "--config", config, "--k", 2, "--out", tmp_path / "out")  # the command line wins
    result = sn.load(tmp_path / "out")
    assert result.H.shape == (6, 2)
    assert result.seed == 5
    assert not (tmp_path / "out" / "report.html").exists()
    written = tomllib.loads((tmp_path / "out" / "config.toml").read_text("utf-8"))
    assert written["k"] == 2
    assert written["seed"] == 5
    assert written["max-seconds"] == 60.0
    assert written["starts"] == 5
    assert written["report"] is False
    assert "force" not in written
    run("fit", "--config", tmp_path / "out" / "config.toml", "--out", tmp_path / "again")
    assert torch.equal(sn.load(tmp_path / "again").H, result.H)
    assert (tmp_path / "again" / "config.toml").read_text("utf-8") != ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kk = 3", "unknown key 'kk'. Did you mean 'k'?"),
        ("config = 'x'", "unknown key 'config'"),
        ("k = [1]", "gives 'k' a list"),
        ("k = ", "is no TOML"),
        ("[fit]\nk = 3", "unknown key 'fit'"),
        ("k = 'many'", "Invalid value for '--k'"),
    ],
)
def test_a_wrong_file_is_refused(run, matrix, tmp_path, text, words):
    config = tmp_path / "c.toml"
    config.write_text(text)
    _, err = run("fit", "--config", config, "--matrix", matrix, "--out", tmp_path / "o", code=2)
    assert words in err
    assert not (tmp_path / "o").exists()


def test_a_missing_file_is_refused(run, tmp_path):
    assert "does not exist" in run("fit", "--config", tmp_path / "no.toml", code=2)[1]


def test_strange_words_survive_the_file(run, matrix, tmp_path):
    strange = matrix.rename(tmp_path / 'a "b" \\ é.parquet')
    run("fit", "--matrix", strange, "--k", 2, "--no-report", "--out", tmp_path / "o")
    written = tomllib.loads((tmp_path / "o" / "config.toml").read_text("utf-8"))
    assert written["matrix"] == str(strange)


def test_one_document_for_machines(run, matrix, tmp_path):
    out, err = run("fit", "--matrix", matrix, "--k", 2, "--json", "--out", tmp_path / "o")
    found = json.loads(out)
    assert err == ""
    assert found["status"] == "EXACT"
    assert found["certificate"]["converged"] is True
    assert {g["leader"] for g in found["groups"]} <= set(NAMES)
    assert sum(g["size"] for g in found["groups"]) == 6
    assert json.loads(run("inspect", tmp_path / "o", "--json")[0])["kind"] == "result"
    assert json.loads(run("rank", "--matrix", matrix, "--json")[0])["k"] >= 1
    assert len(json.loads(run("solvers", "--json")[0])) == len(sn.solvers())
    assert json.loads(run("plan", "--n", 1000, "--json")[0])["plans"][0]["n"] == 1000
    words = ("generate", "tpdm", "--n", 64, "--samples", 2000, "--out", tmp_path / "T", "--json")
    assert json.loads(run(*words)[0])["shape"] == [64, 20]
    demo = json.loads(run("demo", "--out", tmp_path / "d", "--json")[0])
    assert [demo[kind]["k"] for kind in ("tpdm", "corr")] == [4, 4]
    words = ("bench", "spectral", "--sizes", 36, "--seeds", 7, "--out", tmp_path / "r", "--json")
    assert json.loads(run(*words)[0])["runs"] == 2


def test_windows_for_machines(run, tmp_path):
    path = tmp_path / "prices.csv"
    sp500_prices().iloc[:1600].to_csv(path)
    words = ("roll", "--prices", path, "--window", 1000, "--step", 500, "--k", 3, "--json")
    found = json.loads(run(*words, "--out", tmp_path / "r")[0])
    assert [w["status"] for w in found["windows"]] == ["CONVERGED"] * 2
    assert tomllib.loads((tmp_path / "r" / "config.toml").read_text())["window"] == 1000


def test_errors_do_not_disturb_the_document(run, tmp_path):
    out, err = run("fit", "--matrix", tmp_path / "no.npy", "--k", 2, "--json", code=2)
    assert out == ""
    assert err.startswith("Error: ")


def test_a_folder_has_everything(run, tmp_path):
    prices = sp500_prices().iloc[:1500]
    prices.columns = [*NAMES, *prices.columns[len(NAMES) :]]
    prices.to_parquet(tmp_path / "p.parquet")
    (tmp_path / "classes.csv").write_text(f"name,class\n{NAMES[1]},=x\nAMD,y\n", "utf-8")
    words = ("fit", "--prices", tmp_path / "p.parquet", "--compare", tmp_path / "classes.csv")
    folder = tmp_path / "o"
    out, _ = run(*words, "--k", 4, "--out", folder)
    assert "report.html in a browser" in out
    for name in (*WRITTEN, files.MANIFEST):
        assert (folder / name).stat().st_size > 0, name
    assert list(sn.load(folder).names) == list(prices.columns)
    assert list(pd.read_parquet(folder / "loadings.parquet").index) == list(prices.columns)
    assert json.loads((folder / "data.json").read_text())["summary"]["kind"] == "prices"
    for name in ("loadings.csv", "labels.csv", "classes.csv"):
        cells = pd.read_csv(folder / name, header=None, dtype=str)
        words_ = [c for c in [*cells[0], *cells.iloc[0]] if isinstance(c, str)]
        assert not [c for c in words_ if c.startswith(files.FORMULA)]
    assert f"'{NAMES[1]}" in (folder / "labels.csv").read_text("utf-8")


def test_the_number_of_groups_is_suggested(run, tmp_path):
    b = sn.benchmark_matrix("corr", 100, seed=7)
    np.save(tmp_path / "S.npy", b.operator.S)
    run("fit", "--matrix", tmp_path / "S.npy", "--out", tmp_path / "o", "--no-report")
    result = sn.load(tmp_path / "o")
    assert result.H.shape[1] == 10
    assert result.notes[0].startswith("k = 10 was suggested: the spectrum has a gap")
    assert "k = 10" in (tmp_path / "o" / "config.toml").read_text()


def test_foreign_files_are_not_replaced(run, matrix, tmp_path):
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "report.html").write_text("mine")
    words = ("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "o")
    assert "report.html: is there already" in run(*words, code=2)[1]
    assert (tmp_path / "o" / "report.html").read_text() == "mine"
    run(*words, "--force")
    assert "<!doctype html>" in (tmp_path / "o" / "report.html").read_text("utf-8")
    run(*words, "--force", "--no-report")
    assert not (tmp_path / "o" / "report.html").exists()  # it was about another fit


def test_inspect(run, matrix, tmp_path):
    run("fit", "--matrix", matrix, "--k", 2, "--out", tmp_path / "o", "--no-report")
    out, _ = run("inspect", tmp_path / "o")
    assert "EXACT" in out
    assert "alert(1)" in out
    assert "Files: certificate.json" in out
    sn.generate("tpdm", 64, tmp_path / "T", samples=2000)
    out, _ = run("inspect", tmp_path / "T")
    assert "64 rows, checksums right" in out
    assert "gram, float32 (64, 20)" in out
    assert "holds nothing of ours" in run("inspect", tmp_path, code=2)[1]
    (model,) = (tmp_path / "o").glob("model-*")
    model.write_bytes(model.read_bytes()[:-1] + b"x")
    assert "damaged" in run("inspect", tmp_path / "o", code=2)[1]
    (tmp_path / "o" / "manifest.json").write_text("{")
    assert "manifest.json: cannot be read" in run("inspect", tmp_path / "o", code=2)[1]


def test_inspect_of_a_run_that_can_go_on(run, tmp_path):
    S = sn.benchmark_matrix("corr", 64, seed=1, samples=1000).operator
    checkpoint = tmp_path / "o" / "checkpoint"
    with pytest.warns(UserWarning, match="MAX_ITER"):
        sn.factorize(S, 8, max_iter=20, checkpoint=checkpoint)
    assert "--resume goes on" in run("inspect", tmp_path / "o")[0]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_fits_and_says_everything(run, name):
    text, _ = run(name, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(rf"^ +symnmf {name}\b", text, re.MULTILINE), "no example"
    for option in COMMANDS[name].params:
        assert option.help, option.name
        flag = isinstance(option.default, bool)
        if option.default in (None, "") and not option.required:
            assert "default" in option.help, option.name
        elif not option.required and not flag:
            assert option.show_default is not False
            shown = " ".join(text.split())
            assert f"[default: {option.default}]" in shown, option.name
    if name in ("fit", "demo", "roll"):
        assert "Exit codes: 0 converged" in text
