"""Studies: which runs they ask for, what is stored, what the tables show."""

import json
from dataclasses import replace

import numpy as np
import pytest

import faults
from helpers import dense, market
from symnmf import NUMERICS
from symnmf.bench import figures, results_store, tables
from symnmf.bench import study as studies
from symnmf.bench.peers import PEERS
from symnmf.bench.results_store import Store
from symnmf.bench.runner import run_study, stands_for
from symnmf.bench.study import Run, expand, load, names
from symnmf.bench.tasks import TASKS
from symnmf.core.problem import Problem
from symnmf.core.spectrum import diagnostics
from symnmf.errors import InvalidFile, InvalidInput, UnknownName
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
[paper]
columns = ["kind", "n", "configuration", "error", "of 18"]
rows = [["corr", 36, "admm", 0.5, 17]]
[why]
error = "It is made up."
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
        assert {part.task for part in study.parts} <= set(TASKS)
        assert study.columns
        assert len({run.key for run in runs}) == len(runs)
        known = registry.available()
        for run in runs:
            if run.task == "factorize":
                known[run.solver].make(**run.options)
    assert len({run.configuration for run in load("phase1").runs()}) >= 100
    assert all(run.claim for run in load("claims").runs())
    starts = {run.options["start"] for run in load("published").runs()}
    assert starts == {"random", "uniform"}


def test_a_study_runs_once(small, tmp_path):
    study, store, heard = load(small), Store(tmp_path / "results"), []
    assert len(tables.missing(study, store)) == 8
    assert run_study(study, store, lambda *words: heard.append(words)) == 8
    assert len(heard) == 8
    assert run_study(study, store) == 0
    assert run_study(load(small, seeds=[99]), store) == 4
    made = tables.table(study, store)
    assert list(made["configuration"]) == [
        "admm",
        "admm (penalty=0.5)",
        "admm (penalty=2)",
        "adagrad",
    ]
    assert list(made["paper: error"].dropna()) == [0.5]
    assert "corr 36 admm" in tables.differences(study, made)[0]
    assert tables.differences(study, made)[0].endswith("0.5 there. It is made up.")
    counted = tables.counts(study, store).set_index("configuration")
    assert counted.loc["admm", "paper: of 18"] == 17
    assert counted.loc["adagrad", "n=36: converged"] == "2/2"
    assert list(made["converged"]) == ["2/2"] * 4
    best = tables.best(study, store)
    assert len(best) == 2
    for path in tables.write_study(study, store):
        text = path.read_text()
        assert "| admm" in text
        assert path.with_suffix(".html").exists()
        assert path.with_suffix(".csv").exists()


def test_a_column_that_no_run_has_yet_is_left_out(small, tmp_path):
    small.write_text(small.read_text().replace('"excess"]', '"excess", "resets"]'))
    study, store = load(small, solvers=["admm"], seeds=[7]), Store(tmp_path / "results")
    run_study(study, store)
    made = tables.table(study, store)
    assert len(made) == 3
    assert "resets" not in made


def test_a_line_that_was_cut_off_is_run_again(small, tmp_path):
    study, store = load(small), Store(tmp_path / "results")
    run_study(study, store)
    path = store.path("small")
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert len(store.done("small")) == 7
    assert run_study(study, store) == 1
    assert len(path.read_text().splitlines()) == 8
    for line in path.read_text().splitlines():
        record = json.loads(line)
        assert (record["schema"], record["numerics"]) == (2, NUMERICS)
        assert record["threads"] >= 1


def test_results_hold_for_a_numerics_number_and_not_for_a_version(small, tmp_path, monkeypatch):
    study, store = load(small, seeds=[7]), Store(tmp_path / "results")
    assert run_study(study, store) == 4
    monkeypatch.setattr("symnmf.__version__", "99.0")
    assert run_study(study, store) == 0
    monkeypatch.setattr(results_store, "NUMERICS", NUMERICS + 1)
    assert len(tables.missing(study, store)) == 4
    assert run_study(study, store) == 4  # also nothing is taken over
    assert {record["numerics"] for record in store.results("small")} == {NUMERICS, NUMERICS + 1}


CODE = """
from symnmf.bench.runner import run_study
from symnmf.bench.results_store import Store
from symnmf.bench.study import load
run_study(load({study!r}), Store({folder!r}))
"""


def without_times(store, study):
    found = tables.frame(study, store).drop(columns=["seconds", "ms_per_iteration", "checks"])
    return found.sort_values(["configuration", "seed"]).to_dict("records")


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, 10])
def test_a_killed_study_goes_on_to_the_same_table(small, tmp_path, kills):
    study = load(small)
    undisturbed, killed = Store(tmp_path / "a"), Store(tmp_path / "b")
    whole = faults.nursery().run(code=CODE.format(study=str(small), folder=str(undisturbed.folder)))
    code = CODE.format(study=str(small), folder=str(killed.folder))
    moments = faults.random_moments(kills, whole["seconds"], seed=1)
    assert any([faults.run_killed_after(code, moment) for moment in moments])
    assert not faults.run_killed_after(code, 300)
    assert len(killed.results("small")) == 8  # nothing twice, nothing lost
    found, expected = without_times(killed, study), without_times(undisturbed, study)
    for a, b in zip(found, expected, strict=True):
        assert a["status"] == b["status"]
        assert a["iterations"] == b["iterations"]
        assert a["error"] == pytest.approx(b["error"], rel=1e-3)


def test_a_new_row_of_the_registry_is_in_every_table(small, tmp_path, monkeypatch):
    rows = dict(registry.available())
    rows["brand-new"] = replace(rows["admm"], name="brand-new")
    monkeypatch.setattr(studies, "available", lambda: rows)
    monkeypatch.setattr("symnmf.bench.fits.find", lambda name: rows[name])
    for name in ("phase1", "k25"):
        assert any(run.solver == "brand-new" for run in load(name, sizes=[36]).runs())
    small_study = load(small, solvers=["brand-new"], seeds=[7])
    store = Store(tmp_path / "results")
    run_study(small_study, store)
    assert list(tables.table(small_study, store)["configuration"]) == ["brand-new"]


@pytest.mark.slow
def test_two_processes_find_what_one_finds(small, tmp_path):
    study, alone, pair = load(small), Store(tmp_path / "a"), Store(tmp_path / "b")
    run_study(study, alone)
    assert run_study(study, pair, jobs=2) == 8
    found, expected = without_times(pair, study), without_times(alone, study)
    for a, b in zip(found, expected, strict=True):
        assert a["status"] == b["status"]
        assert a["error"] == pytest.approx(b["error"], rel=1e-3)
    with pytest.raises(InvalidInput, match="jobs"):
        run_study(study, pair, jobs=0)


def test_what_another_study_found_is_taken_over(small, tmp_path):
    store = Store(tmp_path / "results")
    run_study(load(small), store)
    other = tmp_path / "other.toml"
    other.write_text(SMALL)
    assert run_study(load(other), store) == 0
    assert store.done("other") == store.done("small")
    assert run_study(load(other, seconds=90.0), store) == 0  # none had spent the smaller budget
    assert not any(
        stands_for({"seconds": s, "found": {"status": "TIME_OUT"}}, RUN) for s in (5, 80)
    )
    assert stands_for({"seconds": RUN.seconds, "found": {"status": "TIME_OUT"}}, RUN)
    assert stands_for({"seconds": 5, "found": {"status": "CONVERGED"}}, RUN)
    assert not stands_for({"seconds": 80, "found": {"status": "CONVERGED"}}, RUN)


RUN = Run("any", "factorize", "corr", 36, 6, 7, "admm", seconds=60.0)


def test_a_size_goes_to_the_part_that_names_it():
    assert {run.n for run in load("phase1", sizes=[10_000]).runs()} == {10_000}
    assert {run.seconds for run in load("phase1", sizes=[36]).runs()} == {30.0}
    assert {run.kind for run in load("phase1", sizes=[10_000], seeds=[42]).runs()} == {"tpdm"}
    assert {run.solver for run in load("claims", solvers=["mu"]).runs()} == {"mu"}


def test_a_program_that_is_not_installed_stays_missing(tmp_path, monkeypatch):
    def absent(S, k, seed):
        raise ImportError("no such program")

    monkeypatch.setitem(PEERS, "absent", absent)
    study, store = (
        load("peers", sizes=[36], seeds=[7], solvers=["absent", "sketched"]),
        Store(tmp_path),
    )
    assert run_study(study, store) == 2
    assert {run.solver for run in tables.missing(study, store)} == {"absent"}


def test_rules_stop_where_they_say(tmp_path):
    study = load("stopping", sizes=[36], seeds=[7], solvers=["adagrad"])
    store = Store(tmp_path)
    run_study(study, store)
    found = tables.frame(study, store).query("kind == 'corr'").set_index("configuration")
    loose = found.loc["adagrad (rule=error decreases by less than, tolerance=0.001)"]
    tight = found.loc["adagrad (rule=error decreases by less than, tolerance=0.0001)"]
    assert loose["fired"]
    assert loose["iterations"] <= tight["iterations"]
    assert not found.loc["adagrad"]["fired"]


def test_the_published_gates_accept_the_plateau_from_the_public_start(tmp_path):
    study = load("published", sizes=[1000], seeds=[7], solvers=["adagrad"])
    every = [{"start": "uniform"}]
    parts = (replace(p, kinds=("tpdm",), configurations={"every": every}) for p in study.parts)
    study, store = replace(study, parts=tuple(parts)), Store(tmp_path)
    run_study(study, store)
    found = tables.frame(study, store).iloc[0]
    assert found["paper_converged"]
    assert found["status"] == "COLLAPSED"
    assert found["excess"] == pytest.approx(1.0, abs=0.01)  # the rank-one plateau
    assert abs(found["ari"]) < 0.05


def test_memory_of_the_residual_is_five_matrices_and_of_the_trace_one(tmp_path):
    study, store = load("memory", sizes=[500], solvers=["residual", "trace"]), Store(tmp_path)
    run_study(study, store)
    found = tables.frame(study, store).set_index("configuration")["bytes_per_n2"]
    assert 16 <= found["residual"] <= 24  # the paper says about 20
    assert 4 <= found["trace"] <= 5.5  # S and six n×k arrays; the paper says about 4


def test_figures_show_every_row_once(small, tmp_path):
    study, store = load(small), Store(tmp_path / "results")
    run_study(study, store)
    results = tables.frame(study, store)
    profile = figures.profiles(results)
    assert {line.name for line in profile.data} == set(results["configuration"])
    assert all(0 <= min(line.y) <= max(line.y) <= 1 for line in profile.data)
    lines = figures.traces(results[results["seed"] == 7], "seconds").data
    assert len(lines) == 4
    assert lines[0].y[-1] == pytest.approx(results["error"].iloc[0], rel=1e-3)
    written = figures.write_study(study, store)
    assert all("plotly.min.js" in path.read_text() for path in written)
    assert (store.folder / "plotly.min.js").exists()


@pytest.mark.parametrize("name", ["spectral", "kmeans", "precision"])
def test_the_other_tasks(name, tmp_path):
    study, store = load(name, sizes=[36], seeds=[7]), Store(tmp_path)
    assert run_study(study, store) == 2
    made = tables.table(study, store)
    assert set(study.columns) <= set(made.columns)
    assert (made[study.columns[0]] != "").all()


def test_products_of_halves_are_judged_on_the_matrix_itself(tmp_path):
    study, store = load("half-products", sizes=[64], seeds=[7], solvers=["admm"]), Store(tmp_path)
    assert run_study(study, store) == 6
    found = tables.frame(study, store)
    found = found.assign(off=(found["seen"] / found["error"] - 1).abs())
    for _, part in found.groupby("kind"):
        off = part.set_index("configuration")["off"]
        whole = off.pop("admm (product=float32)")
        assert whole < 1e-5  # the error that a run sees is that of S, unless products are rounded
        assert off["admm (product=float16)"] > 10 * whole
        assert off["admm (product=bfloat16)"] > 1e-3
    assert found["excess"].max() < 0.1


def test_what_is_refused(tmp_path):
    with pytest.raises(UnknownName, match="unknown study 'phase9'"):
        load("phase9")
    path = tmp_path / "broken.toml"
    path.write_text("title = ")
    with pytest.raises(InvalidFile, match="is not a study"):
        load(path)
    path.write_text('title = "x"\ntask = "y"\nsizes = [10]\n')
    with pytest.raises(UnknownName, match="unknown task 'y'"):
        run_study(load(path), Store(tmp_path))
    assert expand({"a": [{"x": 1}, {"y": [2, 3]}]}) == {"a": [{"x": 1}, {"y": 2}, {"y": 3}]}


def test_the_spectral_table_has_the_eigenvalue_in_the_noise(tmp_path):
    """Ritz values of the spectrum of a fit are too small there: its gap is 1.1 times this one."""
    b = market("corr", 300)
    found = TASKS["spectral"](Run("spectral", "spectral", "corr", 300, b.k, 7), tmp_path)
    values = np.linalg.eigvalsh(dense(b.operator).double().numpy())[::-1]
    assert found["gamma_k1"] == pytest.approx(values[b.k] / values[b.k + 1], rel=1e-5)
    assert found["lambda_min"] == pytest.approx(values[-1], rel=1e-3)
    fit = diagnostics(Problem(b.operator, b.k, 7).spectrum, b.k)
    assert fit.gamma_k1 > 1.02 * found["gamma_k1"]
