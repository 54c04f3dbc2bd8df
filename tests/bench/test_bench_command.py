"""``symnmf bench``: exit codes, options, and what it prints."""

import json
import sys

import pytest

from symnmf.bench.measurement import MeasuredTable, Measurement
from symnmf.bench.results_store import Store
from symnmf.cli import main

TABLE = MeasuredTable("toy", "A toy", ("row",), ("cost",), {"cost": "higher"})


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: its exit code is checked, its output is returned."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["symnmf", "bench", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out = "".join(capsys.readouterr())
        assert (ended.value.code or 0) == code, out
        return out

    return call


@pytest.fixture
def toy(monkeypatch):
    import symnmf.bench.study  # noqa: F401  imported before the names are replaced

    """A measurement named toy, whose figure is what the test sets."""
    costs = [1.0]

    def measure(choices):
        yield TABLE.row("only", costs[-1])

    made = Measurement("toy", "A toy", (TABLE,), ("sizes",), measure)
    monkeypatch.setattr("symnmf.bench.measurement.measurement_names", lambda: ["toy"])
    monkeypatch.setattr("symnmf.bench.measurement.find_measurement", lambda name: made)
    return costs


def test_a_figure_that_got_worse_fails_the_command(run, toy, tmp_path):
    words = ("toy", "--out", tmp_path)
    assert "0 figures are worse" in run(*words, "--publish")
    assert "0 figures are worse" in run(*words)
    toy.append(1.5)
    out = run(*words, code=1)
    assert "1 figures are worse" in out
    assert "1.5 (worse: was 1)" in out
    toy.append(0.5)
    run(*words)
    assert [r["found"]["cost"] for r in Store(tmp_path).results("toy")] == [1.0]


def test_worse_figures_are_published_when_asked(run, toy, tmp_path):
    run("toy", "--out", tmp_path, "--publish")
    toy.append(2.0)
    run("toy", "--out", tmp_path, "--publish", code=1)
    run("toy", "--out", tmp_path)
    assert "| only | 2 |" in (tmp_path / "toy.md").read_text()


def test_a_measurement_for_machines(run, toy, tmp_path):
    run("toy", "--out", tmp_path, "--publish")
    toy.append(2.0)
    found = json.loads(run("toy", "--out", tmp_path, "--json", code=1))
    assert found["tables"]["toy"] == [["row", "cost"], ["only", "2 (worse: was 1)"]]
    assert found["worse"] == ["toy: cost of only: 2 (worse: was 1)"]


@pytest.mark.parametrize("option", ["--sizes", "--seeds"])
def test_a_wrong_number_is_reported_with_its_option(run, option, tmp_path):
    other = {"--sizes": "--seeds", "--seeds": "--sizes"}[option]
    out = run("spectral", option, "7,a", "--out", tmp_path, code=2)
    assert f"Error: {option}: got '7,a'. Write whole numbers" in out
    assert other not in out


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("spectral", "--publish"), "--publish"),
        (("spectral", "--data", "x"), "--data"),
        (("speed", "--seeds", "7"), "--seeds"),
        (("speed", "--jobs", "2"), "--jobs"),
        (("scaling", "--solvers", "mu"), "--solvers"),
        (("scaling", "--budget", "3"), "--budget"),
    ],
)
def test_an_option_that_does_not_suit_is_named(run, words, option, tmp_path):
    out = run(*words, "--out", tmp_path, code=2)
    assert f"Error: {option}: {words[0]} does not take this option" in out
    assert not any(tmp_path.iterdir())


def test_an_unknown_name_gets_all_names(run):
    out = run("nothing", code=2)
    for name in ("phase1", "speed", "stocks", ".toml"):
        assert name in out
