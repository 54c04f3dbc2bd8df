"""Studies as data: what is asked for, what is kept, what the tables show."""

import json

import pytest

import faults
from symnmf.bench import study as studies
from symnmf.bench import tables
from symnmf.bench.runner import run_study
from symnmf.bench.store import Store
from symnmf.bench.study import expand, load, names
from symnmf.bench.tasks import TASKS
from symnmf.errors import InvalidFile, UnknownName
from symnmf.solvers import registry

SMALL = """
title = "Two rows"
task = "factorize"
kinds = ["corr"]
sizes = [36]
seeds = [7, 42]
solvers = ["admm", "adagrad"]
iterations = 300
columns = ["converged", "iterations", "error", "excess"]
[configurations.admm]
penalty = [0.5, 2.0]
[[paper]]
kind = "corr"
n = 36
column = "error"
value = 0.5
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_every_study_that_comes_along_makes_sense():
    assert {"spectral", "phase1", "k25", "logspace", "phase2", "kmeans", "claims"} <= set(names())
    for name in names():
        study = load(name)
        runs = list(study.runs())
        assert study.task in TASKS
        assert study.columns
        assert len({run.key for run in runs}) == len(runs)
        known = registry.solvers()
        for run in runs:
            if run.solver:
                known[run.solver].make(**run.options)
    assert len({run.configuration for run in load("phase1").runs()}) >= 100
    assert all(run.claim for run in load("claims").runs())


def test_a_study_runs_once(small, tmp_path):
    study, store, told = load(small), Store(tmp_path / "results"), []
    assert tables.missing(study, store) == 8
    assert run_study(study, store, lambda *words: told.append(words)) == 8
    assert len(told) == 8
    assert run_study(study, store) == 0
    assert run_study(load(small, seeds=[99]), store) == 4
    made = tables.table(study, store)
    assert list(made["configuration"]) == [
        "admm",
        "admm (penalty=0.5)",
        "admm (penalty=2)",
        "adagrad",
    ]
    assert (made["paper: error"] == 0.5).all()
    assert set(made["converged"]) <= {"0/2", "1/2", "2/2"}
    best = tables.best(study, store)
    assert len(best) == 2
    for path in tables.write(study, store):
        text = path.read_text()
        assert "| admm" in text
        assert path.with_suffix(".html").exists()
        assert path.with_suffix(".csv").exists()


def test_a_line_that_was_cut_off_is_run_again(small, tmp_path):
    study, store = load(small), Store(tmp_path / "results")
    run_study(study, store)
    path = store.path("small")
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert len(store.done("small")) == 7
    assert run_study(study, store) == 1
    assert len(path.read_text().splitlines()) == 8
    assert all(json.loads(line)["schema"] == 1 for line in path.read_text().splitlines())


CODE = """
from symnmf.bench.runner import run_study
from symnmf.bench.store import Store
from symnmf.bench.study import load
run_study(load({study!r}), Store({folder!r}))
"""


def without_times(store, study):
    found = tables.frame(study, store).drop(columns=["seconds", "ms_per_iteration", "looks"])
    return found.sort_values(["configuration", "seed"]).to_dict("records")


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_killed_study_goes_on_to_the_same_table(small, tmp_path, kills):
    study = load(small)
    undisturbed, killed = Store(tmp_path / "a"), Store(tmp_path / "b")
    run_study(study, undisturbed)
    code = CODE.format(study=str(small), folder=str(killed.folder))
    for moment in faults.random_moments(kills, 4.5, seed=1):
        faults.run_killed_after(code, moment)
    assert not faults.run_killed_after(code, 300)
    assert len(killed.results("small")) == 8  # nothing twice, nothing lost
    ours, theirs = without_times(killed, study), without_times(undisturbed, study)
    for a, b in zip(ours, theirs, strict=True):
        assert a["status"] == b["status"]
        assert a["iterations"] == b["iterations"]
        assert a["error"] == pytest.approx(b["error"], rel=1e-3)


def test_a_new_row_of_the_registry_is_in_every_table(small, tmp_path, monkeypatch):
    from dataclasses import replace

    rows = dict(registry.solvers())
    rows["brand-new"] = replace(rows["admm"], name="brand-new")
    monkeypatch.setattr(studies, "solvers", lambda: rows)
    monkeypatch.setattr("symnmf.bench.tasks.find", lambda name: rows[name])
    study = load("phase1", sizes=[36], seeds=[7])
    assert any(run.solver == "brand-new" for run in study.runs())
    small_study = load(small, solvers=["brand-new"], seeds=[7])
    store = Store(tmp_path / "results")
    run_study(small_study, store)
    assert list(tables.table(small_study, store)["configuration"]) == ["brand-new"]


@pytest.mark.parametrize("name", ["spectral", "kmeans", "precision"])
def test_the_other_tasks(name, tmp_path):
    study, store = load(name, sizes=[36], seeds=[7]), Store(tmp_path)
    assert run_study(study, store) == 2
    made = tables.table(study, store)
    assert set(study.columns) <= set(made.columns)
    assert (made[study.columns[0]] != "").all()


def test_what_is_refused(tmp_path):
    with pytest.raises(UnknownName, match="unknown study 'phase9'"):
        load("phase9")
    path = tmp_path / "broken.toml"
    path.write_text("title = ")
    with pytest.raises(InvalidFile, match="is no study"):
        load(path)
    path.write_text('title = "x"\ntask = "y"\nsizes = [10]\n')
    with pytest.raises(UnknownName, match="unknown task 'y'"):
        run_study(load(path), Store(tmp_path))
    assert expand({"a": [{"x": 1}, {"y": [2, 3]}]}) == {"a": [{"x": 1}, {"y": 2}, {"y": 3}]}
