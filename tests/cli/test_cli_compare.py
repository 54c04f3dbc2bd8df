"""``symnmf compare``: what changed since the last run, and whether it is more than chance."""

import json

import numpy as np
import pandas as pd
import pytest

from symnmf.bench.measurements.changes import simulated_history


@pytest.fixture(scope="module")
def returns(tmp_path_factory):
    """Three of forty instruments change sides in the middle."""
    values = simulated_history("normal", 1.0, 3, 0)
    table = pd.DataFrame(values, pd.bdate_range("2015-01-01", periods=len(values)))
    table.columns = [f"s{i}" for i in range(values.shape[1])]
    path = tmp_path_factory.mktemp("compare") / "returns.csv"
    table.to_csv(path)
    return path, table.index


@pytest.mark.slow
def test_two_fits(run_streams, returns, tmp_path):
    def run(*words):
        return "".join(run_streams(*words))

    path, days = returns
    words = ("fit", "--returns", path, "--k", 4, "--dependence", "correlation", "--no-report")
    at = {"a": (0, 400), "b": (150, 590), "c": (620, 1199)}
    for name, (first, last) in at.items():
        dates = [str(days[i])[:10] for i in (first, last)]
        run(*words, "--from", dates[0], "--to", dates[1], "--out", tmp_path / name)
    out = run("compare", tmp_path / "a", tmp_path / "c")
    assert "MORE THAN CHANCE" in out
    assert "Moves by chance between two such fits" in out
    shown = json.loads(run_streams("compare", tmp_path / "a", tmp_path / "c", "--json")[0])
    change = shown["change"]
    assert change["p_value"] <= 0.02
    assert set(change["movers"]) <= {"s0", "s1", "s2"}
    assert set(shown["moved"]) == {"s0", "s1", "s2"}
    assert change["shared_days"] == 0
    shown = json.loads(run_streams("compare", tmp_path / "a", tmp_path / "b", "--json")[0])
    assert not shown["change"]["more_than_chance"]
    assert shown["moved"] == {}
    assert 0.4 < shown["change"]["shared_days"] < 0.7
    out = run("compare", tmp_path / "a", tmp_path / "c", "--no-chance")
    assert "chance)" in out
    assert "CHANCE" not in out


def test_what_cannot_be_judged_is_said(run_streams, returns, tmp_path):
    path, days = returns
    folder = tmp_path / "f"
    words = ("fit", "--returns", path, "--k", 4, "--dependence", "correlation", "--no-report")
    run_streams(*words, "--to", str(days[300])[:10], "--out", folder)
    names = pd.read_csv(folder / "labels.csv")["name"]
    (tmp_path / "classes.csv").write_text(
        "name,class\n" + "\n".join(f"{name},x{i % 2}" for i, name in enumerate(names))
    )
    out = json.loads(run_streams("compare", tmp_path / "classes.csv", folder, "--json")[0])
    assert out["change"]["tested"] is False
    assert "classes.csv" in out["change"]["why"]
    out = json.loads(run_streams("compare", folder, folder, "--json")[0])
    assert out["ari"] == 1
    assert "different periods" in out["change"]["why"]
    assert out["change"]["why"].startswith(f"{folder}:")
    missing = tmp_path / "none.csv"
    out = json.loads(run_streams("compare", folder, folder, "--data", missing, "--json")[0])
    assert "does not exist" in out["change"]["why"]
    assert np.isfinite(out["nmi"])


@pytest.mark.slow
def test_two_rolls(run_streams, returns, tmp_path):
    def run(*words):
        return "".join(run_streams(*words))

    path, days = returns
    words = ("roll", "--returns", path, "--k", 4, "--dependence", "correlation", "--window", 300,
             "--step", 300, "--draws", 19)  # fmt: skip
    for name, last in (("early", 599), ("late", 1199)):
        out = run(*words, "--to", str(days[last])[:10], "--out", tmp_path / name)
    assert (
        "BREAK with the window from" in out
        or "The groups did not change by more than chance" in out
    )
    assert (tmp_path / "late" / "report.html").is_file()
    assert pd.read_csv(tmp_path / "late" / "memberships.csv").shape == (4 * 40, 8)
    shown = json.loads(run_streams("compare", tmp_path / "early", tmp_path / "late", "--json")[0])
    assert shown["change"]["more_than_chance"]
