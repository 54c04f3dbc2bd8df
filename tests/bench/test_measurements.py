"""Measurements: rows, what is published, what counts as worse, and that each of them starts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from symnmf.bench import (
    figures,
    optimum_programs,
    prediction_candidates,
    prediction_panels,
    results_store,
    tables,
)
from symnmf.bench.measurement import (
    Choices,
    MeasuredRow,
    MeasuredTable,
    Measurement,
    find_measurement,
    measurement_names,
    published_rows,
)
from symnmf.bench.measurements import intervals, predict
from symnmf.bench.measurements.portfolios import walk_forward
from symnmf.bench.prediction_candidates import CANDIDATES, REFERENCE
from symnmf.bench.prediction_scores import crash_lift
from symnmf.bench.published_table import compare, got_worse
from symnmf.bench.results_store import Store, is_current
from symnmf.bench.runner import publish_rows, run_measurement
from symnmf.bench.study import Run
from symnmf.bench.study import names as study_names
from symnmf.bench.table_files import markdown
from symnmf.errors import InvalidInput, UnknownName

RESULTS = Path(__file__).parents[2] / "results"
TABLE = MeasuredTable("toy", "A toy", ("row", "n"), ("cost", "note"), {"cost": "higher"})


def toy(cost, named=False):
    """A measurement of two rows, the first of which has this cost."""

    def measure(choices):
        for n in choices.sizes or (10, 20):
            yield TABLE.row("first", n, cost, "any")

    return Measurement("toy", "A toy", (TABLE,), ("sizes",), measure, named)


def worse(measurement, store, **options):
    return [
        line for table in run_measurement(measurement, store, **options) for line in table.worse
    ]


# ---- what is published ----


def test_rows_are_stored_like_runs_and_shown_by_the_same_tables(tmp_path):
    store = Store(tmp_path / "results")
    assert worse(toy(1.5), store) == []
    assert not store.folder.exists()  # nothing is stored unless asked for
    run_measurement(toy(1.5), store, publish=True)
    first, second = store.results("toy")
    assert first["found"] == {"cost": 1.5, "note": "any"}
    assert first["labels"] == {"row": "first", "n": 10}
    assert is_current(first)
    assert first["threads"] >= 1
    assert first["key"] == MeasuredRow.of(first).key != second["key"]
    assert tables.measured_table(toy(1), TABLE, store).to_numpy().tolist() == [
        ["first", "10", "1.5", "any"],
        ["first", "20", "1.5", "any"],
    ]
    (path,) = tables.write_measurement(toy(1), store)
    assert "| first | 10 | 1.5 | any |" in path.read_text()
    assert path.with_suffix(".csv").exists()


def test_a_row_replaces_the_same_row(tmp_path):
    store = Store(tmp_path)
    run_measurement(toy(1.5, named=True), store, publish=True)
    run_measurement(toy(2.5, named=True), store, Choices(sizes=(20, 30)), publish=True)
    found = [(r["labels"]["n"], r["found"]["cost"]) for r in store.results("toy")]
    assert found == [(10, 1.5), (20, 2.5), (30, 2.5)]
    publish_rows(toy(0), store, [TABLE.row("other", 1, 1.0, "")], replace=True)
    assert [r["labels"]["row"] for r in store.results("toy")] == ["other"]


def test_rows_that_do_not_name_a_choice_are_neither_compared_nor_published(tmp_path):
    store, other = Store(tmp_path), Choices(sizes=(10,))
    run_measurement(toy(1.0), store, publish=True)
    assert worse(toy(9.0), store, choices=other) == []
    with pytest.raises(InvalidInput, match="--publish: got other sizes"):
        run_measurement(toy(9.0), store, other, publish=True)
    assert len(worse(toy(9.0, named=True), store, choices=other)) == 1


def test_other_digits_are_compared_and_not_shown(tmp_path, monkeypatch):
    store = Store(tmp_path)
    run_measurement(toy(1.0), store, publish=True)
    monkeypatch.setattr(results_store, "NUMERICS", results_store.NUMERICS + 1)
    assert published_rows(toy(1.0), store) == []
    assert tables.measured_table(toy(1.0), TABLE, store).empty
    assert len(worse(toy(2.0), store)) == 2
    run_measurement(toy(2.0), store, publish=True)
    assert len(store.results("toy")) == 2


def test_published_records_have_the_keys_of_their_content():
    names = Store(RESULTS).benchmarks()
    every = set(study_names()) | set(measurement_names())
    assert set(names) == every
    for name in names:
        records = Store(RESULTS).results(name)
        assert len({record["key"] for record in records}) == len(records)
        for record in records:
            assert is_current(record)
            assert "threads" in record
            assert not {"worth", "looks", "version"} & (set(record) | set(record["found"]))
            run = MeasuredRow.of if "measurement" in record else of_run
            assert run(record).key == record["key"]


def of_run(record):
    return Run(**{name: record[name] for name in Run.__dataclass_fields__})


@pytest.mark.parametrize("name", sorted(measurement_names()))
def test_published_tables_are_those_of_the_records(name):
    measurement, store = find_measurement(name), Store(RESULTS)
    assert measurement.name == name
    for table in measurement.tables:
        made = tables.measured_table(measurement, table, store)
        assert not made.empty
        written = (RESULTS / f"{table.name}.md").read_text("utf-8")
        assert written == f"# {table.title}\n\n{markdown(made)}"
        for row in published_rows(measurement, store):
            if row.table == table.name:
                assert (*row.labels, *row.found) == table.headings


# ---- what got worse ----


@pytest.mark.parametrize(
    ("direction", "now", "before", "expected"),
    [
        ("higher", 1.0, 1.0, False),
        ("higher", 1.19, 1.0, False),
        ("higher", 1.21, 1.0, True),
        ("higher", 0.5, 1.0, False),
        ("lower", 0.9, 1.0, False),
        ("lower", 0.8, 1.0, True),
        ("lower", 2.0, 1.0, False),
        ("higher", 1e-6, 0.0, True),
        ("lower", "99 (99 %)", "100 %", True),
        ("lower", None, None, False),
    ],
)
def test_worse_is_a_fifth(direction, now, before, expected):
    assert got_worse(direction, now, before) is expected


def test_a_worse_figure_is_marked_beside_the_published_one(tmp_path):
    store = Store(tmp_path)
    run_measurement(toy(1.0), store, publish=True)
    assert worse(toy(1.0), store) == []
    (table,) = run_measurement(toy(2.0), store)
    assert table.cells[0][2] == "2 (worse: was 1)"
    assert table.worse[0] == "toy: cost of first, 10: 2 (worse: was 1)"
    assert table.as_rich().row_count == 2


def test_only_the_rows_that_do_not_follow_the_clock_are_compared():
    measurement = find_measurement("speed")
    table = next(t for t in measurement.tables if t.name == "speed-corr")
    before = [table.row(name, 0.1, 1.0, 10.0, 5.0, "no") for name in ("sketched", "mu")]
    now = [table.row(name, 0.9, 1.0, 90.0, 5.0, "no") for name in ("sketched", "mu")]
    (found,) = compare(measurement, now, before)
    assert len(found.worse) == 2
    assert all("sketched" in line for line in found.worse)


# ---- each of them starts ----


def run_tiny(name, tmp_path, **choices):
    measurement, notes = find_measurement(name), []
    rows = list(measurement.measure(Choices(note=notes.append, **choices)))
    publish_rows(measurement, Store(tmp_path), rows)
    tables.write_measurement(measurement, Store(tmp_path))
    figures.write_measurement(measurement, Store(tmp_path))
    return {table: [r for r in rows if r.table == table] for table in {r.table for r in rows}}


def test_speed(tmp_path):
    found = run_tiny("speed", tmp_path, sizes=(64,), solvers=("admm",), seconds=0.3)
    assert [r.labels["row"] for r in found["speed-corr"]] == ["sketched", "admm"]
    assert [r.labels["row"] for r in found["speed-tpdm"]] == ["sketched", "admm"]
    assert len(found["speed-costs"]) == 10
    assert found["speed-corr"][0].found["reached the error"] == "yes"


def test_large(tmp_path):
    found = run_tiny("large", tmp_path / "r", sizes=(64,), data=tmp_path / "matrices")
    assert {r.labels["matrix"] for r in found["large"]} >= {"corr+dense", "tpdm"}
    assert found["large-mapped"][0].found["factors differ by"] == 0
    assert len(list((tmp_path / "matrices").iterdir())) == 3  # a second run finds them


@pytest.mark.slow
def test_steps(tmp_path):
    (rows,) = run_tiny("steps", tmp_path, sizes=(16,)).values()
    assert len(rows) == 4
    assert (tmp_path / "steps-figure.html").exists()
    assert all(r.found["error"] <= r.found["error of ours"] for r in rows)


@pytest.mark.slow
def test_scaling(tmp_path, monkeypatch):
    monkeypatch.setattr("symnmf.bench.measurements.scaling.GROUPS", ((1, 1), (2, 1)))
    (rows,) = run_tiny("scaling", tmp_path, sizes=(500,)).values()
    assert [r.labels["processes"] for r in rows] == [1, 2, 1, 2]
    assert all(r.found["ms a product"] > 0 for r in rows)
    assert rows[0].found["of it gathering"] is None
    assert rows[1].found["of it gathering"] > 0


def test_tailcosts(tmp_path):
    found = run_tiny("tailcosts", tmp_path, sizes=(300,))
    assert [r.labels["estimator"] for r in found["tailcosts-gram"]] == [
        "chi",
        "chi",
        "ramp",
        "ramp",
    ]
    assert all(r.found["ratio"] > 0 for r in found["tailcosts-gram"])
    assert [r.labels["instruments"] for r in found["tailcosts-pairwise"]] == [3]


def test_repeats(tmp_path, monkeypatch):
    for name, few in {"DRAWS": 3, "WINDOWS": 3, "SHUFFLED": 3, "WINDOW": 100}.items():
        monkeypatch.setattr(f"symnmf.bench.measurements.repeats.{name}", few)
    (rows,) = run_tiny("repeats", tmp_path, sizes=(24, 30)).values()
    assert [r.labels["what"] for r in rows] == [
        "3 draws, n = 24",
        "3 draws, n = 24",
        *["3 windows, n = 30", "3 windows and their test, n = 30"] * 2,
    ]
    for row in rows:
        assert row.found["of a window or draw"] == pytest.approx(
            row.found["estimates and fits"] / 3
        )


@pytest.mark.slow
def test_iteration(tmp_path, monkeypatch):
    monkeypatch.setattr("symnmf.bench.measurements.iteration.PROCESSES", (1, 2))
    found = run_tiny("iteration", tmp_path, sizes=(500,))
    rows = found["iteration-split"]
    assert [r.labels["processes"] for r in rows] == [1, 2, 1, 2]
    assert all(r.found["product"] > 0 and r.found["host"] > 0 for r in rows)
    assert [r.found["exchange"] is None for r in rows] == [True, False, True, False]
    assert rows[0].found["product by the model"] == pytest.approx(
        2 * rows[1].found["product by the model"]
    )
    assert all(
        r.found["a check"] > 0 and r.found["a checkpoint"] > 0 for r in found["iteration-extra"]
    )
    profile = found["iteration-profile"]
    assert [r.found["communication"] is None for r in profile] == [True, False, True, False]
    assert all(r.found["product"] > 0 and r.found["host"] > 0 for r in profile)


@pytest.fixture
def data(tmp_path):
    """Small tables with the names of the real ones: three industries of twenty stocks."""
    rng = np.random.default_rng(0)
    factors = rng.standard_t(4, size=(1260, 3))
    stocks = np.repeat(factors, 20, axis=1) + rng.standard_t(4, size=(1260, 60))
    names = [f"S{m}" for m in range(60)]
    days = pd.date_range("2013-01-01", periods=1260, freq="B")
    returns = pd.DataFrame(0.01 * stocks, index=days, columns=names)
    returns.iloc[:750].to_parquet(tmp_path / "us_rsr_logret_2013_2017.parquet")
    returns.iloc[:, ::2].to_parquet(tmp_path / "ff30_daily_returns_pct.parquet")
    industries = pd.DataFrame({"ticker": names, "industry": np.repeat(["a", "b", "c"], 20)})
    industries.to_csv(tmp_path / "us_rsr_industry.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_predict(data, tmp_path, monkeypatch):
    """Two candidates, one window of each panel, and a panel with classes of its own."""
    some = {name: CANDIDATES[name] for name in (REFERENCE, "ramp q=0.5")}
    monkeypatch.setattr(predict, "CANDIDATES", some)
    monkeypatch.setattr(prediction_panels, "MAX_WINDOWS", 1)
    returns = pd.read_parquet(data / "us_rsr_logret_2013_2017.parquet").iloc[:, 20:50]
    returns.to_csv(data / "own.csv")
    classes = {name: "b" if m < 20 else "c" for m, name in enumerate(returns)}
    pd.Series(classes, name="class").rename_axis("name").to_csv(data / "own.classes.csv")
    found = run_tiny("predict", tmp_path / "r", data=data)
    panels = {row.labels["panel"] for row in found["predict"]}
    assert {panel.partition(",")[0] for panel in panels} == {
        "20 bundled stocks", "60 US stocks", "30 industry portfolios", "own",
        "simulated: max-linear", "simulated: factors of t(3)",
    }  # fmt: skip
    for panel in ("60 US stocks, k = 3", "own, k = 2"):
        rows = {r.labels["groups"]: r.found for r in found["predict"] if r.labels["panel"] == panel}
        assert rows["classes"]["lift"] > 1  # members of an industry share a factor
        assert rows["classes"]["ARI classes"] == 1
        assert rows[REFERENCE]["ARI classes"] > 0.5
        assert rows[REFERENCE]["5 %"] == rows[REFERENCE]["95 %"] == 0
        assert rows["ramp q=0.5"]["ARI halves"] > 0.3
    means = {r.labels["groups"]: r.found for r in found["predict-means"]}
    assert means["ramp q=0.5"]["panels"] == 4  # without the simulated ones


def test_scores_of_windows_are_kept(data, tmp_path, monkeypatch):
    monkeypatch.setattr(predict, "CANDIDATES", {REFERENCE: CANDIDATES[REFERENCE]})
    monkeypatch.setattr(prediction_panels, "MAX_WINDOWS", 1)
    monkeypatch.setattr(prediction_panels, "_simulated", lambda: iter(()))
    choices = Choices(scratch=tmp_path / "partial")
    first = list(predict.measure(choices))
    with monkeypatch.context() as patch:
        patch.setattr(predict, "window_score", None)  # would fail if it were called again
        patch.setattr(predict, "fitted", None)
        assert [row.labels for row in predict.measure(choices)] == [row.labels for row in first]
        other = {REFERENCE: CANDIDATES["max(correlation, 0)"]}
        patch.setattr(predict, "CANDIDATES", other)  # another estimate of the same name
        with pytest.raises(TypeError):
            list(predict.measure(choices))


def test_large_panels_leave_out_blends(tmp_path, monkeypatch):
    names = (REFERENCE, prediction_candidates.LEFT_OUT[-1])
    monkeypatch.setattr(predict, "CANDIDATES", {name: CANDIDATES[name] for name in names})
    monkeypatch.setattr(prediction_panels, "MAX_WINDOWS", 1)
    monkeypatch.setattr(prediction_panels, "LARGE", 10)
    monkeypatch.setattr(prediction_panels, "_simulated", lambda: iter(()))
    monkeypatch.setattr(predict, "halves_agree", lambda *_: 0.5)
    rows = list(predict.measure(Choices()))
    shown = {row.labels["groups"] for row in rows if row.table == "predict"}
    assert shown == {REFERENCE, predict.WARD}


def test_the_order_of_candidates_is_judged_in_other_windows():
    """One candidate is best in odd windows and worst in even ones; another always gains 10 %."""
    odd, even = np.array([2.0, 2.0]), np.array([1.0, 1.0])
    each = {
        REFERENCE: np.ones(4),
        "lucky": np.stack([odd, even / 2], axis=1).ravel(),
        "good": np.full(4, 1.1),
        "bad": np.full(4, 0.9),
    }
    first, second = (row.found for row in predict._repeats("panel", each))
    assert (first["best"], second["best"]) == ("lucky", "good")
    assert first["its % above |correlation|"] == pytest.approx(100)
    assert first["there % above |correlation|"] == pytest.approx(-50)
    assert second["there % above |correlation|"] == pytest.approx(10)
    assert first["rank correlation"] == pytest.approx(-0.5)


@pytest.mark.slow
def test_stocks(data, tmp_path):
    found = run_tiny("stocks", tmp_path / "r", data=data)
    assert set(found) == {t.name for t in find_measurement("stocks").tables}
    assert found["stocks-shrinkage"][0].found["gap"] < 1e-12
    scores = {r.labels["method"]: r.found["seed 0"] for r in found["stocks-industries"]}
    assert scores["symnmf"] > 0.5


def test_portfolios_of_known_weights():
    """Equal weights of two stocks of which one pays 1 % on odd days; fitted twice, held twice."""

    class Equal:
        def fit(self, returns):
            self.weights_ = np.full(returns.shape[1], 1 / returns.shape[1])

    returns = pd.DataFrame({"a": np.tile([0.0, 0.01], 10), "b": np.zeros(20)})
    volatility, worst, drawdown, turnover, fits = walk_forward(returns, Equal, 10, 5)
    assert fits == 2
    assert volatility == pytest.approx(100 * 0.0025 * 252**0.5, abs=1e-3)
    assert worst == drawdown == turnover == 0
    falls = walk_forward(-returns, Equal, 10, 5)
    assert falls[1] == pytest.approx(0.5)
    assert falls[2] == pytest.approx(100 * (1 - 0.995**5), abs=0.3)


def test_joint_crashes():
    crashes = np.zeros((10, 4), dtype=bool)
    crashes[0, :2] = crashes[1, 2:] = crashes[2, [0, 2]] = True
    assert crash_lift(crashes, [0, 0, 1, 1]) == pytest.approx((4 / 4) / (6 / 12))
    assert np.isnan(crash_lift(np.zeros((3, 4)), [0, 0, 1, 1]))


# ---- what is refused ----


def test_verdicts(tmp_path):
    found = run_tiny("verdicts", tmp_path, sizes=(1,))["verdicts"]
    about = {}
    for row in found:
        about[row.labels["about"]] = about.get(row.labels["about"], 0) + row.found["panels"]
    assert about == dict.fromkeys(("fit", "clarity", "starts", "chance", "halves"), 8)


def test_published_sentences_mean_what_they_say():
    rows = published_rows(find_measurement("verdicts"), Store(RESULTS))
    right = {row.labels["sentence"]: row.found["right"] for row in rows}
    assert right["The groups are stable."] >= 0.9
    assert right["Other starts find the same groups."] >= 0.9
    for wrong in (
        "Dependence in crashes is hardly above chance.",
        "Other starts find other groups.",
        "The groups are blurred.",
    ):
        assert right[wrong] <= 0.1


def test_measurements_that_cannot_run(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(UnknownName, match="unknown name 'nothing'"):
        find_measurement("nothing")
    with pytest.raises(InvalidInput, match="trust: is measured by the tests"):
        run_measurement(find_measurement("trust"), store)
    with pytest.raises(InvalidInput, match="--data: is not given"):
        run_measurement(find_measurement("stocks"), store)
    with pytest.raises(InvalidInput, match="has no us_rsr_industry.csv"):
        run_measurement(find_measurement("stocks"), store, Choices(data=tmp_path))
    with pytest.raises(InvalidInput, match="--solvers: steps does not take this option"):
        run_measurement(find_measurement("steps"), store, Choices(solvers=("mu",)))
    with pytest.raises(InvalidInput, match="--sizes: got 2 sizes"):
        run_measurement(find_measurement("speed"), store, Choices(sizes=(1, 2)))
    with pytest.raises(ValueError, match="shorter"):
        TABLE.row("first", 1)


def test_names_are_unique():
    assert not set(study_names()) & set(measurement_names())
    every = [table.name for name in measurement_names() for table in find_measurement(name).tables]
    assert len(set(every)) == len(every)


def test_intervals_hold_what_they_should(tmp_path, monkeypatch):
    """Two estimates of a few small panels; the published run has 200."""
    some = {name: intervals.ESTIMATES[name] for name in ("|correlation|", "ramp q=0.5")}
    monkeypatch.setattr(intervals, "ESTIMATES", some)
    monkeypatch.setattr(intervals, "SERIES", ("independent days",))
    monkeypatch.setattr(intervals, "MANY_ROWS", 50_000)
    found = run_tiny("intervals", tmp_path, sizes=(6,))
    held = {row.labels["of"]: row.found["held"] for row in found["intervals-coverage"]}
    assert held["entries, |correlation|"] > 0.6
    assert held["entries, ramp q=0.5"] > 0.6
    (test,) = found["intervals-size"]
    assert test.found["rejected"] <= 0.5
    assert test.found["panels"] == 12


def test_optimum_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    """The corpus up to 20 rows is one matrix; a second run asks no program again."""
    monkeypatch.setattr(optimum_programs, "SECONDS", 0.05)
    choices = {"sizes": (20,), "scratch": tmp_path / "partial"}
    found = run_tiny("optimum", tmp_path / "r", **choices)
    (row,) = found["optimum"]
    assert row.labels["matrix"] == "20 stocks"
    assert 0 <= row.found["best precision"] <= row.found["one start"] + 1e-9
    shares = {r.labels["program"]: r.found for r in found["optimum-shares"]}
    assert shares["best precision"]["within 0.5 %"] == 1
    assert {r.labels["program"] for r in found["optimum-profile"]} == set(shares)
    monkeypatch.setattr(optimum_programs, "solve", None)  # would fail if it were called again
    again = run_tiny("optimum", tmp_path / "r", **choices)
    assert again["optimum"] == found["optimum"]


def test_seeding(tmp_path):
    rows = run_tiny("seeding", tmp_path, sizes=(100,))["seeding"]
    plain = next(r.found for r in rows if r.labels["first centres"] == "plain")
    assert plain["of them first centres and exchanges"] == pytest.approx(3)
    assert all(r.found["ARI"] > 0.7 for r in rows)
