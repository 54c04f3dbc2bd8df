"""``symnmf inspect``: what a folder holds, and whether it is intact."""

import pytest

import symnmf as sn


def test_inspect(run_streams, strange_matrix, tmp_path):
    run_streams("fit", "--matrix", strange_matrix, "--k", 2, "--out", tmp_path / "o", "--no-report")
    out, _ = run_streams("inspect", tmp_path / "o")
    assert "EXACT" in out
    assert "alert(1)" in out
    assert "Files: certificate.json" in out
    sn.generate("tpdm", 64, tmp_path / "T", samples=2000)
    out, _ = run_streams("inspect", tmp_path / "T")
    assert "64 rows, checksums verified" in out
    assert "gram, float32 (64, 20)" in out
    assert "contains no symnmf result" in run_streams("inspect", tmp_path, code=2)[1]
    (model,) = (tmp_path / "o").glob("model-*")
    model.write_bytes(model.read_bytes()[:-1] + b"x")
    assert "damaged" in run_streams("inspect", tmp_path / "o", code=2)[1]
    (tmp_path / "o" / "manifest.json").write_text("{")
    assert "manifest.json: cannot be read" in run_streams("inspect", tmp_path / "o", code=2)[1]


def test_inspect_of_a_run_that_can_go_on(run_streams, tmp_path):
    S = sn.benchmark_matrix("corr", 64, seed=1, samples=1000).operator
    checkpoint = tmp_path / "o" / "checkpoint"
    with pytest.warns(UserWarning, match="MAX_ITER"):
        sn.factorize(S, 8, max_iter=20, checkpoint=checkpoint)
    assert "--resume continues it" in run_streams("inspect", tmp_path / "o")[0]
