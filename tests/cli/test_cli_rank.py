"""``symnmf rank``: how many groups a table or a matrix suggests."""

import json

import numpy as np
import pandas as pd

import symnmf as sn
from symnmf.data.samples import sp500_prices


def test_rank_of_a_matrix(run, tmp_path):
    np.save(tmp_path / "S.npy", sn.benchmark_matrix("corr", 100, seed=7).operator.S)
    out = run("rank", "--matrix", tmp_path / "S.npy")
    assert "10 groups" in out
    assert "gap after 10" in out
    assert "only the matrix is known" in out


def test_rank_of_a_table(run, tmp_path):
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(500, 3)), 8, axis=1) + rng.normal(size=(500, 24))
    table = pd.DataFrame(values, columns=[f"s{i}" for i in range(24)])
    table.to_csv(tmp_path / "r.csv", index=False)
    out = run("rank", "--returns", tmp_path / "r.csv", "--dependence", "correlation", "--json")
    found = json.loads(out)
    assert found["k"] == found["by_noise"] == 3
    assert len(found["prediction"]) == 10
    sp500_prices().iloc[-900:].to_parquet(tmp_path / "p.parquet")
    assert "groups" in run("rank", "--prices", tmp_path / "p.parquet")


def test_exactly_one_input(run, tmp_path):
    assert "Pass a file, or exactly one of" in run("rank", code=2)
