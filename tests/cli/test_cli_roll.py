"""``symnmf roll``: groups through time."""

import tomllib

import pandas as pd

from symnmf.data.samples import sp500_prices


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
    config = tomllib.loads((tmp_path / "r" / "config.toml").read_text("utf-8"))
    assert (config["window"], config["step"]) == (1000, 500)
    assert "already holds a set of windows" in run(*words, "--out", tmp_path / "r", code=2)
    few = (*words[:3], "--window", 500, "--step", 500, "--k", 4, "--q", 0.04)
    out = run(*few, "--out", tmp_path / "q", code=2)
    assert "leaves 20 exceedances" in out
    run(*words[:3], "--window", 500, "--step", 800, "--k", 3, "--q", 0.1, "--out", tmp_path / "q")
