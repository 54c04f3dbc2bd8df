"""``--json``: one document on standard output, from every command that has results."""

import json

import pytest

import symnmf as sn
from helpers import STRANGE_NAMES
from symnmf.data.samples import sp500_prices


@pytest.fixture
def document(run_streams):
    """The document that a command prints; it prints nothing else."""

    def parsed(*arguments):
        out, err = run_streams(*arguments, "--json")
        assert err == ""
        return json.loads(out)

    return parsed


def test_fit_and_inspect(document, strange_matrix, tmp_path):
    found = document("fit", "--matrix", strange_matrix, "--k", 2, "--out", tmp_path / "o")
    assert found["status"] == "EXACT"
    assert found["certificate"]["converged"] is True
    assert {g["leader"] for g in found["groups"]} <= set(STRANGE_NAMES)
    assert sum(g["size"] for g in found["groups"]) == 6
    assert document("inspect", tmp_path / "o")["kind"] == "result"


def test_rank(document, strange_matrix):
    assert document("rank", "--matrix", strange_matrix)["k"] >= 1


def test_solvers(document):
    assert len(document("solvers")) == len(sn.solvers.available())


def test_plan(document):
    assert document("plan", "--n", 1000)["plans"][0]["n"] == 1000


def test_generate(document, tmp_path):
    words = ("generate", "tpdm", "--n", 64, "--samples", 2000, "--out", tmp_path / "T")
    assert document(*words)["shape"] == [64, 20]


@pytest.mark.slow
def test_demo(document, tmp_path):
    demo = document("demo", "--out", tmp_path / "d")
    assert [demo[kind]["k"] for kind in ("tpdm", "corr")] == [4, 4]


def test_bench(document, tmp_path):
    words = ("bench", "spectral", "--sizes", 36, "--seeds", 7, "--out", tmp_path / "r")
    assert document(*words)["runs"] == 2


def test_roll(document, tmp_path):
    sp500_prices().iloc[:1600].to_csv(tmp_path / "prices.csv")
    words = ("roll", "--prices", tmp_path / "prices.csv", "--window", 1000, "--step", 500, "--k", 3)
    found = document(*words, "--out", tmp_path / "r")
    assert [w["status"] for w in found["windows"]] == ["CONVERGED"] * 2


def test_errors_do_not_disturb_the_document(run_streams, tmp_path):
    out, err = run_streams("fit", "--matrix", tmp_path / "no.npy", "--k", 2, "--json", code=2)
    assert out == ""
    assert err.startswith("Error: ")
