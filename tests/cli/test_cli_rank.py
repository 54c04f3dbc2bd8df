"""``symnmf rank``: how many groups the spectrum suggests."""

import numpy as np

import symnmf as sn


def test_rank(run, tmp_path):
    np.save(tmp_path / "S.npy", sn.benchmark_matrix("corr", 100, seed=7).operator.S)
    out = run("rank", "--matrix", tmp_path / "S.npy")
    assert "10 groups" in out
    assert "gap after 10" in out
